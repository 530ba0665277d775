// Does it still know the old ones? `Strip` shows the held-out rows with the model's answers, and the accuracy
// of each task now and before the last change.

import { byId, hue, make, percent, plural } from './dom.js';
import { showPixels } from './pixels.js';

export class Strip {
  #before = null;
  #now = null;

  /** Shows the result of the exam; the previous one stays as a mark if the model has changed since. */
  show(exam, shape) {
    byId('exam-title').closest('section').hidden = !exam;
    if (!exam) return;
    if (this.#now && this.#now.version !== exam.version) this.#before = this.#now;
    this.#now = exam;
    byId('exam-text').textContent =
      `${exam.data}: rows it has never learned from, each shown alone (protocol ${exam.protocol}).` +
      (this.#before ? ' The mark is where it stood before the last change.' : '');
    byId('exam-tasks').replaceChildren(...exam.tasks.map((task) => this.#task(task)));
    byId('strip').replaceChildren(...this.#sorted(exam).map((one) => this.#thumbnail(one, shape)));
  }

  #task({ task, classes, rows, right }) {
    const share = rows ? right / rows : 0;
    const was = this.#before?.tasks.find((other) => other.task === task && other.rows === rows);
    const fill = make('span', { className: 'bar-fill' });
    fill.style.transform = `scaleX(${share})`;
    const track = make('span', { className: 'bar-track' }, fill);
    if (was) track.append(markAt(was.right / was.rows));
    const name = make('span', { className: 'exam-name' }, classes.join(' '));
    const figure = make('span', { className: 'exam-figure' }, percent(share, 1));
    const change = make('span', { className: 'exam-change' }, this.#change(was, right, rows));
    return make('li', { className: `exam-task hue-${hue(task)}` }, name, track, figure, change);
  }

  #change(was, right, rows) {
    const count = `${right} of ${rows} right`;
    if (!this.#before) return count;
    if (!was) return `${count}, new`;
    const moved = right - was.right;
    return `${count}, ${moved === 0 ? 'as before' : `was ${was.right}`}`;
  }

  /** The rows of the strip in the order of the tasks; classes not learned yet come last. */
  #sorted({ strip, tasks }) {
    const taskOf = (name) => tasks.find(({ classes }) => classes.includes(name))?.task ?? Infinity;
    const placed = strip.map((one) => ({ ...one, task: taskOf(one.class) }));
    return placed.sort(
      (a, b) => a.task - b.task || (a.class < b.class ? -1 : Number(a.class > b.class)) || 0,
    );
  }

  #thumbnail({ class: name, row, answer, task }, shape) {
    const state = task === Infinity ? 'waits' : answer === name ? 'right' : 'wrong';
    const said = { waits: 'not learned yet', right: 'right', wrong: `answered ${answer ?? 'unknown'}` }[
      state
    ];
    const canvas = make('canvas', {
      role: 'img',
      'aria-label': `${name}, ${said}`,
      title: `${name}, ${said}`,
    });
    const item = make(
      'li',
      { className: `thumb ${state} ${state === 'waits' ? '' : `hue-${hue(task)}`}` },
      canvas,
    );
    if (state === 'wrong')
      item.append(make('span', { className: 'mistake', 'aria-hidden': 'true' }, answer ?? '?'));
    requestAnimationFrame(() => showPixels(canvas, row, shape));
    return item;
  }

  /** One sentence that compares the old tasks now and before the last change; empty without a change. */
  summary() {
    if (!this.#before) return '';
    const old = this.#now.tasks.filter(({ task }) => this.#before.tasks.some((other) => other.task === task));
    const sum = (tasks, key) => tasks.reduce((total, task) => total + task[key], 0);
    const was = this.#before.tasks.filter(({ task }) => old.some((other) => other.task === task));
    if (!sum(old, 'rows')) return '';
    const [now, then] = [sum(old, 'right'), sum(was, 'right')];
    const rows = plural(sum(old, 'rows'), 'held-out row');
    return `Old classes: ${now} of ${rows} right, ${now === then ? 'as before' : `was ${then}`}.`;
  }
}

function markAt(share) {
  const mark = make('span', { className: 'bar-mark' });
  mark.style.left = `${100 * share}%`;
  return mark;
}
