// How does a drawing become the pixels of the model? Strokes, or the ink of a picture, go in; one row of
// numbers comes out.
//
// The rows that a model knows are in a certain hand: a certain size within their frame, a certain amount of
// ink. `measureHand` measures it on rows from the server, and drawings are framed and inked to match. Ink is
// 1 on a background of 0. No DOM: sample.js uses this, and so do the tests.

/** Number of sample points along each side of a pixel. */
const FINE = 4;

/** The hand assumed if the server shows no rows: a margin of a twentieth, a sixth of the pixels inked. */
const PLAIN = { height: 0.9, width: 0.9, usual: null, x: 0.5, y: 0.5, ink: 0.17 };

/** How far a drawing's width is pulled towards the usual one: 0 not at all, 1 all the way. */
const PULL = 0.3;

/** The value from which a pixel counts as ink when a frame is measured. */
const SEEN = 0.25;

/**
 * The mean frame and ink of rows, as fractions of the image: `height` and `width` are the largest extent of ink,
 * `usual` its usual width, `x` and `y` its centre.
 */
export function measureHand(rows, shape) {
  const boxes = rows.map((row) => ({ row, box: boxOf((x, y) => row[y * shape.width + x] > SEEN, shape) }));
  const seen = boxes.filter(({ box }) => box);
  if (seen.length < 5 || shape.channels !== 1) return PLAIN;
  const mean = (of) => seen.reduce((sum, one) => sum + of(one), 0) / seen.length;
  const widths = seen.map(({ box }) => box.right - box.left).sort((a, b) => a - b);
  return {
    height: mean(({ box }) => box.bottom - box.top) / shape.height,
    width: widths[Math.floor(0.9 * widths.length)] / shape.width,
    usual: widths[widths.length >> 1] / shape.width,
    x: mean(({ box }) => (box.left + box.right) / 2) / shape.width,
    y: mean(({ box }) => (box.top + box.bottom) / 2) / shape.height,
    ink: mean(({ row }) => row.reduce((sum, value) => sum + value, 0) / row.length),
  };
}

/** Pixels of strokes (lists of points {x, y}), framed and inked like the hand; null when nothing is drawn. */
export function fromStrokes(strokes, shape, hand = PLAIN) {
  const points = strokes.flat();
  if (points.length === 0) return null;
  const drawn = {
    left: Math.min(...points.map((p) => p.x)),
    right: Math.max(...points.map((p) => p.x)),
    top: Math.min(...points.map((p) => p.y)),
    bottom: Math.max(...points.map((p) => p.y)),
  };
  // The thickness that gives as much ink as the hand has, found by bisection.
  let [thin, thick] = [0.03 * shape.height, 0.3 * shape.height];
  let pixels;
  for (let i = 0; i < 7; i++) {
    const thickness = (thin + thick) / 2;
    pixels = rasterise(place(strokes, drawn, shape, hand, thickness), shape, thickness);
    if (meanOf(pixels) < hand.ink) thin = thickness;
    else thick = thickness;
  }
  return spread(pixels, shape.channels);
}

/**
 * Pixels of the ink in a picture: `grey` holds width x height values in [0, 1]. Light backgrounds are inverted and
 * the rest of the background is removed; null for a picture without contrast.
 */
export function fromPicture(grey, width, height, shape, hand = PLAIN) {
  const ink = inkOf(grey, width, height);
  if (!ink) return null;
  const box = boxOf((x, y) => ink[y * width + x] > 0.4, { width, height });
  if (!box) return null;
  const scale = scaleOf(box, shape, hand, 0);
  const [middleX, middleY] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const pixels = new Float32Array(shape.width * shape.height);
  const step = 1 / (scale * FINE * 2);
  for (let y = box.top; y < box.bottom; y += step) {
    for (let x = box.left; x < box.right; x += step) {
      const px = Math.floor((x - middleX) * scale + hand.x * shape.width);
      const py = Math.floor((y - middleY) * scale + hand.y * shape.height);
      if (px < 0 || py < 0 || px >= shape.width || py >= shape.height) continue;
      pixels[py * shape.width + px] += ink[Math.floor(y) * width + Math.floor(x)] * (step * scale) ** 2;
    }
  }
  return spread(
    pixels.map((value) => Math.min(1, value)),
    shape.channels,
  );
}

/** The strokes slightly rotated, sheared and stretched: variation `k`, always the same for the same k. */
export function vary(strokes, k) {
  if (k === 0) return strokes;
  const swing = (step) => 2 * ((k * step) % 1) - 1;
  const [angle, shear, stretch] = [0.14 * swing(0.618), 0.16 * swing(0.755), 1 + 0.13 * swing(0.57)];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const bend = (p) => ({ x: stretch * (p.x + shear * p.y), y: p.y });
  return strokes.map((stroke) =>
    stroke.map(bend).map((p) => ({ x: cos * p.x - sin * p.y, y: sin * p.x + cos * p.y })),
  );
}

/** Pixels per unit of drawing such that the ink, outline included, fills the hand's frame and keeps its proportions. */
function scaleOf(drawn, shape, hand, thickness) {
  const room = (part, size) => Math.max(1, part * size - thickness);
  const high = room(hand.height, shape.height) / Math.max(1e-6, drawn.bottom - drawn.top);
  const wide = room(hand.width, shape.width) / Math.max(1e-6, drawn.right - drawn.left);
  return Math.min(high, wide);
}

/** Factor that brings a width nearer to the usual one: rows of one hand are seldom as narrow as visitors draw. */
function widening(width, shape, hand, thickness) {
  if (hand.usual === null || width < 0.5) return 1;
  const outer = width + thickness;
  const wanted = outer ** (1 - PULL) * (hand.usual * shape.width) ** PULL;
  return Math.max(0.3, Math.min(wanted, hand.width * shape.width) - thickness) / width;
}

/** Strokes moved into the hand's frame, in pixels. */
function place(strokes, drawn, shape, hand, thickness) {
  const scale = scaleOf(drawn, shape, hand, thickness);
  const widen = widening((drawn.right - drawn.left) * scale, shape, hand, thickness);
  const [middleX, middleY] = [(drawn.left + drawn.right) / 2, (drawn.top + drawn.bottom) / 2];
  const move = (p) => ({
    x: (p.x - middleX) * scale * widen + hand.x * shape.width,
    y: (p.y - middleY) * scale + hand.y * shape.height,
  });
  return strokes.map((stroke) => stroke.map(move));
}

/** How much of each pixel lies within half a thickness of the strokes. */
function rasterise(strokes, { width, height }, thickness) {
  const fine = new Uint8Array(width * height * FINE * FINE);
  for (const stroke of strokes) {
    for (let i = 0; i < stroke.length; i++) {
      ink(fine, width * FINE, height * FINE, stroke[Math.max(0, i - 1)], stroke[i], thickness / 2);
    }
  }
  const pixels = new Float32Array(width * height);
  fine.forEach((inked, at) => {
    const [x, y] = [at % (width * FINE), Math.floor(at / (width * FINE))];
    pixels[Math.floor(y / FINE) * width + Math.floor(x / FINE)] += inked / (FINE * FINE);
  });
  return pixels;
}

/** Inks the fine points within `radius` pixels of the line from a to b. */
function ink(fine, width, height, a, b, radius) {
  const clamp = (value, most) => Math.max(0, Math.min(most, value));
  const [left, right] = [Math.min(a.x, b.x) - radius, Math.max(a.x, b.x) + radius].map((x) => x * FINE);
  const [top, bottom] = [Math.min(a.y, b.y) - radius, Math.max(a.y, b.y) + radius].map((y) => y * FINE);
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  for (let y = clamp(Math.floor(top), height); y < clamp(Math.ceil(bottom), height); y++) {
    for (let x = clamp(Math.floor(left), width); x < clamp(Math.ceil(right), width); x++) {
      const [px, py] = [(x + 0.5) / FINE - a.x, (y + 0.5) / FINE - a.y];
      const along = length > 0 ? clamp((px * dx + py * dy) / length, 1) : 0;
      if ((px - along * dx) ** 2 + (py - along * dy) ** 2 <= radius * radius) fine[y * width + x] = 1;
    }
  }
}

/** Ink in [0, 1] of a picture: what differs from its border; null when nothing does. */
function inkOf(grey, width, height) {
  const border = [];
  for (let x = 0; x < width; x++) border.push(grey[x], grey[(height - 1) * width + x]);
  for (let y = 0; y < height; y++) border.push(grey[y * width], grey[y * width + width - 1]);
  const ground = border.sort((a, b) => a - b)[border.length >> 1];
  const away = Float32Array.from(grey, (value) => (ground > 0.5 ? ground - value : value - ground));
  const most = [...away].sort((a, b) => b - a)[Math.floor(0.01 * away.length)];
  return most < 0.12 ? null : away.map((value) => Math.max(0, Math.min(1, (value / most - 0.2) / 0.6)));
}

/** The smallest box around everything that `isInk`, right and bottom excluded; null when there is nothing. */
function boxOf(isInk, { width, height }) {
  let box = null;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!isInk(x, y)) continue;
      box ??= { left: x, right: x + 1, top: y, bottom: y + 1 };
      box = { left: Math.min(box.left, x), right: Math.max(box.right, x + 1), top: box.top, bottom: y + 1 };
    }
  }
  return box;
}

const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Repeats each grey value for every channel, rounded to a few digits for JSON. */
function spread(pixels, channels) {
  return Array.from(pixels, (value) => Array(channels).fill(Math.round(value * 1000) / 1000)).flat();
}
