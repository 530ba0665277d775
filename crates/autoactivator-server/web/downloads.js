// How is the model taken away? A link cannot send the token, so the page fetches the file and passes it to the browser.

import { api } from './api.js';
import { byId, make } from './dom.js';

/** How long the browser may take to begin saving a file. */
const KEPT = 60000;

export function listenForDownloads() {
  for (const link of byId('downloads').querySelectorAll('a')) link.addEventListener('click', take);
}

async function take(event) {
  event.preventDefault();
  try {
    save(await api.download(event.currentTarget.getAttribute('href')));
    byId('download-problem').textContent = '';
  } catch (problem) {
    byId('download-problem').textContent = problem.message;
  }
}

function save({ name, file }) {
  const href = URL.createObjectURL(file);
  make('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT);
}
