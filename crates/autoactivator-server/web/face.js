// What does a sample look like, small? `faceOf` makes its picture: pixels, a photograph, or the beginning of the words.

import { make } from './dom.js';
import { showPixels } from './pixels.js';

/** Characters of a sentence or a row that fit. */
const MOST = 90;

/** Addresses of files, each made once; a file that is no longer needed takes its address with it. */
const addresses = new WeakMap();

export function addressOf(file) {
  if (!addresses.has(file)) addresses.set(file, URL.createObjectURL(file));
  return addresses.get(file);
}

/**
 * The face of what the server gets: {row}, {file} or {text}, or of a {picture} that it has kept; `shape` is that of rows of
 * pixels.
 */
export function faceOf(item, shape, words) {
  const src = item.file ? addressOf(item.file) : item.picture;
  if (src) return make('img', { className: 'face', src, alt: words, decoding: 'async' });
  if (item.row && shape) {
    const canvas = make('canvas', { className: 'face pixels', role: 'img', 'aria-label': words });
    requestAnimationFrame(() => showPixels(canvas, item.row, shape));
    return canvas;
  }
  const text = item.text ?? item.row.join('  ');
  const shown = text.length > MOST ? `${text.slice(0, MOST)}…` : text;
  return make('q', { className: item.row ? 'face snippet numbers' : 'face snippet', dir: 'auto', title: text }, shown);
}
