// What is shown to the model? A `Sample` is one drawing, picture or row of numbers, and `Reader` turns it into what the
// model takes: rows of pixels (ink.js), rows as they are, or image files.

import { fromPicture, fromStrokes, measureHand, vary } from './ink.js';
import { SIZE, drawStrokes } from './pad.js';

/** Longest side to which a picture is scaled before its pixels are read. */
const LOOK = 256;

/** Number of variations of one drawing when it is taught. */
export const VARIATIONS = 16;

export const drawing = (strokes) => ({ strokes: strokes.map((stroke) => [...stroke]) });
export const photo = (bitmap, file) => ({ bitmap, file });
export const numbers = (row) => ({ row });

export class Reader {
  constructor(model, rows = []) {
    this.takesImages = model.takes === 'images';
    this.shape = this.takesImages ? null : (model.image ?? squareOf(model.n_features));
    this.hand = this.shape ? measureHand(rows, this.shape) : null;
  }

  /** Whether drawings can be shown at all. */
  get draws() {
    return this.takesImages || this.shape !== null;
  }

  /** The image file of a sample. */
  async file(sample) {
    sample.file ??= await sheetOf(sample.strokes);
    return sample.file;
  }

  /** The row of a sample; null when there is nothing to see in it. */
  row(sample) {
    if (sample.row) return sample.row;
    if (sample.strokes) return fromStrokes(sample.strokes, this.shape, this.hand);
    return this.#pictureRow(sample.bitmap);
  }

  /** All rows that a sample is taught with. */
  rows(sample, variations) {
    if (!sample.strokes) return [this.row(sample)];
    return Array.from({ length: variations }, (_, k) =>
      fromStrokes(vary(sample.strokes, k), this.shape, this.hand),
    );
  }

  #pictureRow(bitmap) {
    const { width, height, channels } = this.shape;
    if (channels !== 1) return coloursOf(bitmap, width, height);
    const scale = Math.min(1, LOOK / Math.max(bitmap.width, bitmap.height));
    const [w, h] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
    return fromPicture(greyOf(bitmap, w, h), w, h, this.shape, this.hand);
  }
}

/** Rows of unknown shape may be pixels if their number is a square; a model that knows nothing yet gets 16 x 16. */
function squareOf(n) {
  const side = n ? Math.sqrt(n) : 16;
  return Number.isInteger(side) && side >= 6 ? { height: side, width: side, channels: 1 } : null;
}

/** A drawing as a picture: always dark ink on white, whatever the page's colours. */
function sheetOf(strokes) {
  const sheet = new OffscreenCanvas(SIZE, SIZE);
  const context = sheet.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, SIZE, SIZE);
  drawStrokes(context, strokes, 'black');
  return sheet.convertToBlob({ type: 'image/png' });
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
export function parseRow(text, n) {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const wrong = words.find((word) => !Number.isFinite(Number(word)));
  if (wrong !== undefined) throw new Error(`“${wrong}” is not a number.`);
  if (n && words.length !== n)
    throw new Error(`The model takes rows of ${n} numbers; this one has ${words.length}.`);
  return words.map(Number);
}
