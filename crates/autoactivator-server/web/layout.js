// Where do nodes go? Boxes for the tasks, dots for the nodes that each recruited, places for the classes, and the paths
// of the links.

import { plural } from './dom.js';

/** Largest number of dots drawn for a task. */
const DOTS = 512;

/** Largest number of tasks drawn. */
const MOST = 24;

const PITCH = 15;
const GAP = 14;

/** The smallest width of a box: its title must fit. */
const LEAST = 132;

/** The tasks to draw: the latest ones, and `needed`, which may be older. */
export function chosen(growth, needed) {
  const latest = growth.slice(-MOST);
  const older = growth.slice(0, -MOST).find(({ task }) => task === needed);
  return older ? [older, ...latest.slice(1)] : latest;
}

/** Boxes stacked vertically, for narrow pages. */
export function stack(tasks, width) {
  const columns = Math.floor((width - 24) / PITCH);
  let y = 1;
  return tasks.map((entry) => {
    const box = boxOf(entry, columns, PITCH, { x: 1, y, width });
    y += box.height + 12;
    return box;
  });
}

/** Boxes side by side, in as many lines as needed. */
export function lines(tasks, width) {
  const each = Math.max(1, Math.floor((width + GAP) / (LEAST + GAP)));
  const boxes = [];
  let y = 1;
  for (let from = 0; from < tasks.length; from += each) {
    const next = line(tasks.slice(from, from + each), width, y);
    boxes.push(...next);
    y += next[0].height + GAP;
  }
  return boxes;
}

/** Boxes of equal height: with as few rows of dots as the width allows, then spread out. */
function line(tasks, width, y) {
  const room = width - 2 - GAP * (tasks.length - 1);
  const dots = tasks.map(({ recruited }) => Math.min(DOTS, recruited));
  const widths = (rows, pitch) => dots.map((n) => Math.max(LEAST, 26 + Math.ceil(n / rows) * pitch));
  const total = (rows, pitch) => widths(rows, pitch).reduce((sum, one) => sum + one, 0);
  let rows = Math.max(1, Math.min(5, ...[Math.max(...dots)]));
  while (total(rows, PITCH) > room && rows < 40) rows++;
  const pitch = PITCH * Math.max(0.6, Math.min(1.5, room / total(rows, PITCH)));
  const spare = Math.max(0, room - total(rows, pitch)) / tasks.length;
  let x = 1;
  return tasks.map((entry, i) => {
    const own = widths(rows, pitch)[i] + spare;
    const box = boxOf(entry, Math.max(1, Math.ceil(dots[i] / rows)), pitch, { x, y, width: own });
    x += own + GAP;
    return { ...box, height: 56 + rows * pitch };
  });
}

function boxOf({ task, recruited, new_classes }, columns, pitch, place) {
  const dots = Math.min(DOTS, recruited);
  const names = (new_classes ?? []).join(', ');
  const title = names ? `Task ${task} · ${names}` : `Task ${task}`;
  const part = recruited > DOTS ? `, ${DOTS} drawn` : '';
  const note = recruited ? `+ ${plural(recruited, 'node')}${part}` : 'no new nodes';
  const height = 56 + Math.max(recruited ? 1 : 0, Math.ceil(dots / columns)) * pitch;
  return { task, dots, columns, pitch, title, note, height, ...place };
}

/** Writes a text that is on the page already, cut to a width. */
export function fit(label, text, room) {
  const letters = [...text];
  let n = letters.length;
  label.textContent = text;
  while (n > 1 && label.getComputedTextLength() > room) {
    n = Math.max(1, Math.floor(n * Math.min(0.95, room / label.getComputedTextLength())));
    label.textContent = `${letters.slice(0, n).join('')}…`;
  }
}

/** The width of a pill for a name, at most `room`. */
export const pillWidth = (name, room) => Math.min(room, Math.max(36, 9 * [...name].length + 26));

/** Position of the i-th of n items along a length: centred, at most `step` apart. */
export const spaced = (i, n, length, step) =>
  length / 2 + (i - (n - 1) / 2) * Math.min(step, (length - 8) / n);

/** A link from the right edge of a box to a class beside it. */
export function sideways(from, { x, y, width }) {
  const [x0, y0, x1] = [from.x + from.width, from.y + from.height / 2, x - width / 2];
  return `M${x0} ${y0} C${x0 + 26} ${y0} ${x1 - 26} ${y} ${x1} ${y}`;
}

/** A link from the bottom of a box to a class below it. */
export function downwards(from, { x, y }) {
  const [x0, y0] = [from.x + from.width / 2, from.y + from.height];
  return `M${x0} ${y0} C${x0} ${y0 + 50} ${x} ${y - 66} ${x} ${y - 17}`;
}
