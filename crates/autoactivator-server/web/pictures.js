// Where do pictures come from? From files chosen, dropped or pasted, and from the camera; each is passed on
// as a bitmap with its file. Files that cannot be read are reported.

import { byId } from './dom.js';

/** Listens to all sources of pictures; `onPictures` gets a list of {bitmap, file}. */
export function listenForPictures({ target, onPictures, onProblem }) {
  let latest = 0;
  const take = async (files) => {
    const turn = ++latest;
    const images = [...files].filter((file) => file.type.startsWith('image/'));
    if (!images.length) return onProblem(files.length ? 'That is not an image.' : '');
    const read = await Promise.all(images.map((file) => open(file).catch(() => null)));
    // Something newer was chosen while these were being read: it has the last word.
    if (turn !== latest) return;
    const opened = read.filter(Boolean);
    const lost = images.filter((_, i) => !read[i]).map(({ name }) => name);
    onProblem(lost.length ? `Cannot be read as an image: ${lost.join(', ')}.` : '');
    if (opened.length) onPictures(opened);
  };
  byId('files').addEventListener('change', ({ target: input }) => {
    take([...input.files]);
    // So that the same file can be chosen again.
    input.value = '';
  });
  document.addEventListener(
    'paste',
    (event) => event.clipboardData.files.length && take(event.clipboardData.files),
  );
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    target.classList.add('dropping');
  });
  document.addEventListener(
    'dragleave',
    (event) => event.relatedTarget ?? target.classList.remove('dropping'),
  );
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    target.classList.remove('dropping');
    take(event.dataTransfer.files);
  });
}

async function open(file) {
  return { bitmap: await createImageBitmap(file), file };
}
