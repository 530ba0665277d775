// What is shown to the model? A sample is one drawing, picture, sentence or row, and `Reader` turns it into what the model
// takes: rows of pixels (ink.js), image files, sentences, or rows as they are.

import { fromPicture, fromStrokes, measureHand, vary } from './ink.js';
import { DRAWINGS, PHOTOS, TEXTS, kindOf, shapeOf } from './kinds.js';

/** Longest side to which a picture is scaled before its pixels are read. */
const LOOK = 256;

/** Number of variations of one drawing when it is taught. */
export const VARIATIONS = 16;

export const drawing = (strokes) => ({ strokes: strokes.map((stroke) => [...stroke]) });
export const picture = ({ file, bitmap }) => ({ file, bitmap });

export class Reader {
  constructor(model, rows = []) {
    this.kind = kindOf(model);
    this.n = model.n_features;
    this.shape = shapeOf(model);
    this.hand = this.shape ? measureHand(rows, this.shape) : null;
  }

  /** The sample in a line of text; throws a readable error, and gives null for an empty line. */
  typed(line) {
    const text = line.trim();
    if (!text) return null;
    return this.kind === TEXTS ? { text } : { row: parseRow(text, this.n) };
  }

  /** What the server gets of a sample: {row}, {file} or {text}; null when there is nothing to see in it. */
  item(sample) {
    if (this.kind === PHOTOS) return { file: sample.file };
    if (this.kind === TEXTS) return { text: sample.text };
    const row = this.row(sample);
    return row && { row };
  }

  /** All that a sample is taught with: a drawing, in variations if they are wanted. */
  items(sample, variations) {
    if (this.kind !== DRAWINGS || !sample.strokes) return [this.item(sample)].filter(Boolean);
    return Array.from({ length: variations }, (_, k) => ({
      row: fromStrokes(vary(sample.strokes, k), this.shape, this.hand),
    }));
  }

  /** The row of a drawing, a picture or numbers; null when there is nothing to see in it. */
  row(sample) {
    if (sample.row) return sample.row;
    if (sample.strokes) return fromStrokes(sample.strokes, this.shape, this.hand);
    return this.#pictureRow(sample.bitmap);
  }

  #pictureRow(bitmap) {
    const { width, height, channels } = this.shape;
    if (channels !== 1) return coloursOf(bitmap, width, height);
    const scale = Math.min(1, LOOK / Math.max(bitmap.width, bitmap.height));
    const [w, h] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
    return fromPicture(greyOf(bitmap, w, h), w, h, this.shape, this.hand);
  }
}

/** The body of a request: what the server takes, and the class of each item if it is to learn them. */
export function bodyOf(items, extra = {}) {
  const named = items[0].name !== undefined;
  if (items[0].file) return formOf(items, extra);
  const key = items[0].text === undefined ? 'row' : 'text';
  const body = { [`${key}s`]: items.map((item) => item[key]), ...extra };
  if (named) body.classes = items.map(({ name }) => name);
  return body;
}

/** A form in which each image follows its class. */
function formOf(items, extra) {
  const form = new FormData();
  for (const [name, value] of Object.entries(extra)) if (value !== undefined) form.append(name, value);
  for (const { name, file } of items) {
    if (name !== undefined) form.append('class', name);
    form.append('image', file, 'image');
  }
  return form;
}

function pixelsOf(bitmap, width, height) {
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

function greyOf(bitmap, width, height) {
  const data = pixelsOf(bitmap, width, height);
  return Float32Array.from({ length: width * height }, (_, i) => {
    const [r, g, b] = data.subarray(4 * i, 4 * i + 3);
    return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
  });
}

/** Row after row of pixels, channels innermost, as the model's own images are. */
function coloursOf(bitmap, width, height) {
  const data = pixelsOf(bitmap, width, height);
  return Array.from({ length: width * height }, (_, i) => [...data.subarray(4 * i, 4 * i + 3)])
    .flat()
    .map((value) => Math.round((1000 * value) / 255) / 1000);
}

/** Parses numbers from text with any separators; throws a readable error. */
function parseRow(text, n) {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const wrong = words.find((word) => !Number.isFinite(Number(word)));
  if (wrong !== undefined) throw new Error(`“${wrong}” is not a number.`);
  if (n && words.length !== n)
    throw new Error(`The model takes rows of ${n} numbers; this one has ${words.length}.`);
  return words.map(Number);
}
