// How would people write digits? Strokes in the unit square, several manners a digit, each varied by a seeded hand.

/** Manners of each digit: lists of strokes, each a list of points that a smooth line goes through. */
const MANNERS = {
  0: [
    [[[0.5, 0.0], [0.15, 0.2], [0.05, 0.55], [0.25, 0.95], [0.55, 1.0], [0.85, 0.75], [0.88, 0.35], [0.68, 0.05], [0.48, 0.0]]],
    [[[0.45, 0.05], [0.2, 0.3], [0.18, 0.7], [0.42, 1.0], [0.7, 0.85], [0.78, 0.45], [0.65, 0.1], [0.4, 0.03]]],
    [[[0.6, 0.08], [0.3, 0.05], [0.1, 0.45], [0.2, 0.9], [0.5, 0.98], [0.8, 0.6], [0.75, 0.15], [0.5, 0.02]]],
  ],
  1: [
    [[[0.5, 0.0], [0.5, 0.5], [0.5, 1.0]]],
    [[[0.3, 0.25], [0.55, 0.0]], [[0.55, 0.0], [0.55, 0.5], [0.55, 1.0]]],
    [[[0.58, 0.0], [0.5, 0.5], [0.45, 1.0]]],
  ],
  2: [
    [[[0.1, 0.25], [0.3, 0.02], [0.7, 0.05], [0.8, 0.3], [0.55, 0.65], [0.1, 1.0]], [[0.1, 1.0], [0.5, 0.97], [0.9, 1.0]]],
    [[[0.15, 0.2], [0.45, 0.0], [0.78, 0.2], [0.65, 0.5], [0.35, 0.78], [0.15, 0.97], [0.4, 0.92], [0.85, 0.98]]],
    [[[0.2, 0.15], [0.5, 0.0], [0.75, 0.18], [0.6, 0.55], [0.2, 0.95]], [[0.2, 0.95], [0.8, 0.95]]],
  ],
  3: [
    [[[0.15, 0.1], [0.5, 0.0], [0.8, 0.2], [0.65, 0.42], [0.4, 0.48]], [[0.4, 0.48], [0.75, 0.55], [0.85, 0.8], [0.5, 1.0], [0.1, 0.9]]],
    [[[0.2, 0.05], [0.6, 0.03], [0.75, 0.22], [0.45, 0.47], [0.78, 0.65], [0.7, 0.92], [0.4, 1.0], [0.15, 0.92]]],
    [[[0.15, 0.15], [0.45, 0.0], [0.72, 0.15], [0.6, 0.4], [0.38, 0.47]], [[0.38, 0.47], [0.72, 0.6], [0.72, 0.88], [0.4, 1.0], [0.12, 0.85]]],
  ],
  4: [
    [[[0.5, 0.0], [0.3, 0.3], [0.08, 0.62]], [[0.08, 0.62], [0.5, 0.62], [0.92, 0.6]], [[0.65, 0.3], [0.63, 0.65], [0.6, 1.0]]],
    [[[0.2, 0.0], [0.15, 0.3], [0.15, 0.55]], [[0.15, 0.55], [0.5, 0.57], [0.85, 0.52]], [[0.72, 0.05], [0.7, 0.5], [0.66, 1.0]]],
    [[[0.65, 1.0], [0.65, 0.5], [0.65, 0.0]], [[0.65, 0.0], [0.35, 0.35], [0.1, 0.68]], [[0.1, 0.68], [0.5, 0.68], [0.9, 0.68]]],
  ],
  5: [
    [[[0.85, 0.02], [0.5, 0.0], [0.22, 0.03]], [[0.22, 0.03], [0.18, 0.25], [0.15, 0.45]], [[0.15, 0.45], [0.5, 0.36], [0.8, 0.52], [0.78, 0.82], [0.45, 1.0], [0.1, 0.92]]],
    [[[0.3, 0.0], [0.27, 0.2], [0.24, 0.42]], [[0.24, 0.42], [0.55, 0.38], [0.76, 0.6], [0.66, 0.9], [0.38, 1.0], [0.14, 0.9]], [[0.3, 0.0], [0.55, 0.02], [0.8, 0.0]]],
    [[[0.8, 0.05], [0.35, 0.03]], [[0.35, 0.03], [0.25, 0.4]], [[0.25, 0.4], [0.6, 0.42], [0.75, 0.68], [0.55, 0.95], [0.2, 0.97]]],
  ],
};

/** Numbers in [-1, 1] that follow from the seed. */
export function random(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) * 2 - 1;
  };
}

/** Points along a smooth line through the given ones (Catmull-Rom). */
function smooth(points, steps = 5) {
  const at = (i) => points[Math.max(0, Math.min(points.length - 1, i))];
  const between = (i, t, k) => {
    const [a, b, c, d] = [at(i - 1)[k], at(i)[k], at(i + 1)[k], at(i + 2)[k]];
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t ** 3);
  };
  const line = [];
  for (let i = 0; i + 1 < points.length; i++) {
    for (let s = 0; s < steps; s++) line.push({ x: between(i, s / steps, 0), y: between(i, s / steps, 1) });
  }
  const [x, y] = points.at(-1);
  return [...line, { x, y }];
}

/** One digit as somebody might write it: strokes of points in a frame of `size`, somewhere near its middle. */
export function write(digit, seed, size = 1) {
  const next = random(seed * 31 + Number(digit) * 7 + 1);
  const manners = MANNERS[digit];
  const manner = manners[seed % manners.length];
  const [tilt, slant, narrow, scale] = [0.1 * next(), 0.14 * next(), 0.68 + 0.1 * next(), 0.62 + 0.14 * next()];
  const [x0, y0] = [0.5 + 0.06 * next(), 0.5 + 0.06 * next()];
  const ends = new Map();
  // Points shared by two strokes stay shared.
  const shaken = ([x, y]) => {
    const key = `${x} ${y}`;
    if (!ends.has(key)) ends.set(key, [x + 0.035 * next(), y + 0.035 * next()]);
    return ends.get(key);
  };
  const set = ({ x, y }) => {
    const [u, v] = [narrow * (x - 0.5) - slant * (y - 0.5), y - 0.5];
    const [c, s] = [Math.cos(tilt), Math.sin(tilt)];
    return { x: size * (x0 + scale * (c * u - s * v)), y: size * (y0 + scale * (s * u + c * v)) };
  };
  return manner.map((stroke) => smooth(stroke.map(shaken)).map(set));
}
