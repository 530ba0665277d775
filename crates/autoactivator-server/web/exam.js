// What does it still know, in full? The accuracy of each task on held-out rows, now and before the last change, the two
// classes that are most often confused, and a strip of rows with mistakes marked.

import { api } from './api.js';
import { byId, make, named, percent, plural, say } from './dom.js';
import { addressOf, faceOf } from './face.js';
import { fold } from './fold.js';

/** Tasks and rows shown at once. */
const [TASKS, ROWS] = [6, 60];

/** Pictures that were fetched, by their place. */
const pictures = new Map();

/** Shows the result of the exam beside the one before the last change, if there was one. */
export function showExam(exam, before, shape) {
  byId('exam-title').closest('section').hidden = !exam;
  if (!exam) return;
  say(
    'exam-text',
    `${exam.data}: rows it has never learned from, each shown alone (protocol ${exam.protocol}).` +
      (before ? ' The mark is where it stood before the last change.' : ''),
  );
  fold(byId('exam-tasks'), exam.tasks.map((task) => taskOf(task, before)), TASKS);
  showConfused(exam.confused, shape);
  const strip = sorted(exam).map((one) => thumbnail(one, shape));
  byId('strip').hidden = !strip.length;
  fold(byId('strip'), strip, ROWS);
}

function taskOf({ task, classes, rows, right }, before) {
  const share = rows ? right / rows : 0;
  const was = before?.tasks.find((other) => other.task === task && other.rows === rows);
  const fill = make('span', { className: 'bar-fill' });
  fill.style.transform = `scaleX(${share})`;
  const track = make('span', { className: 'bar-track' }, fill);
  if (was) track.append(markAt(was.right / was.rows));
  return make(
    'li',
    { className: 'exam-task' },
    named('exam-name', classes.join(' · ')),
    track,
    make('span', { className: 'exam-figure' }, percent(share, 1)),
    make('span', { className: 'exam-change' }, changeOf(was, right, rows, before)),
  );
}

function changeOf(was, right, rows, before) {
  const count = `${right} of ${rows} right`;
  if (!before) return count;
  if (!was) return `${count}, new`;
  return `${count}, ${right === was.right ? 'as before' : `was ${was.right}`}`;
}

function markAt(share) {
  const mark = make('span', { className: 'bar-mark' });
  mark.style.left = `${100 * share}%`;
  return mark;
}

/** The most confused pair, side by side. */
function showConfused(confused, shape) {
  const place = byId('confused');
  place.hidden = !confused;
  if (!confused) return;
  const { class: name, answer, times, rows, shown } = confused;
  const words = make(
    'p',
    {},
    make('strong', {}, 'Most confused: '),
    `${times} of ${plural(rows, 'row')} of `,
    named('strong', name),
    times === 1 ? ' is answered ' : ' are answered ',
    named('strong', answer),
    '.',
  );
  const pair = shown.map((one, i) => {
    const face = faceOfHeldOut(one, shape, `${one.class}, held out`);
    const caption = make('figcaption', {}, named('', one.class), i ? '' : ', taken for the other');
    return make('figure', {}, ...(face ? [face] : []), caption);
  });
  place.replaceChildren(make('div', { className: 'pair' }, ...pair), words);
}

/** The rows of the strip in the order of the tasks; classes not learned yet come last. */
function sorted({ strip, tasks }) {
  const taskOf = new Map(tasks.flatMap(({ task, classes }) => classes.map((name) => [name, task])));
  const placed = strip.map((one) => ({ ...one, task: taskOf.get(one.class) ?? Infinity }));
  return placed.sort((a, b) => a.task - b.task || (a.class < b.class ? -1 : Number(a.class > b.class)) || 0);
}

function thumbnail({ task, ...one }, shape) {
  const { class: name, answer } = one;
  const state = task === Infinity ? 'waits' : answer === name ? 'right' : 'wrong';
  const said = { waits: 'not learned yet', right: 'right', wrong: `answered ${answer ?? 'unknown'}` }[state];
  const face = faceOfHeldOut(one, shape, `${name}, ${said}`);
  const item = make('li', { className: `thumb ${state}`, title: `${name}, ${said}` }, ...(face ? [face] : []));
  if (state === 'wrong') item.append(make('bdi', { className: 'mistake', 'aria-hidden': 'true' }, answer ?? '?'));
  return item;
}

/** A held-out row as it looks; nothing for one that has no looks. */
function faceOfHeldOut(one, shape, words) {
  if (one.text !== undefined) return faceOf({ text: one.text }, null, words);
  if (one.row) return faceOf({ row: one.row }, shape, words);
  if (one.picture === undefined) return null;
  const image = make('img', { className: 'face', alt: words, decoding: 'async' });
  if (!pictures.has(one.picture)) pictures.set(one.picture, api.picture(one.picture));
  pictures
    .get(one.picture)
    .then((file) => (image.src = addressOf(file)))
    .catch(() => pictures.delete(one.picture));
  return image;
}
