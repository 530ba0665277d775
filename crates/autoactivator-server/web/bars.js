// How sure is it? `Bars` keeps one bar per class, in order of arrival, and the verdict above them; both move
// while the visitor draws. A screen reader is told once the answer has settled.

import { byId, hue, make, percent } from './dom.js';

/** Largest number of bars shown: those of the likeliest classes. */
const MOST = 12;

/** How long an answer must stay the same before it is spoken. */
const SETTLED = 900;

export class Bars {
  /** Whether "unknown" is wanted from a model that cannot answer it yet. */
  cannotReject = false;
  #rows = new Map();
  #spoken;

  /** Sets the classes and the task that each came with. */
  setClasses(classes, taskOf) {
    this.taskOf = taskOf;
    this.classes = classes;
    const list = byId('bars');
    for (const [name, { item }] of this.#rows) {
      if (classes.includes(name)) continue;
      item.remove();
      this.#rows.delete(name);
    }
    for (const name of classes) {
      if (!this.#rows.has(name)) this.#rows.set(name, this.#bar(name));
      list.append(this.#rows.get(name).item);
    }
    this.show(null);
  }

  #bar(name) {
    const fill = make('span', { className: 'bar-fill' });
    const value = make('span', { className: 'bar-value' });
    const label = make('span', { className: 'bar-name', title: name }, name);
    const track = make('span', { className: 'bar-track' }, fill);
    const item = make('li', { className: `bar hue-${hue(this.taskOf(name))}` }, label, track, value);
    return { item, fill, value };
  }

  /** Shows an answer; null when nothing is shown to the model. */
  show(answer) {
    const probabilities = answer?.probabilities ?? {};
    const shown = new Set(this.#likeliest(probabilities));
    for (const [name, { item, fill, value }] of this.#rows) {
      const p = probabilities[name] ?? 0;
      item.hidden = !shown.has(name);
      item.classList.toggle('best', answer?.class === name);
      fill.style.transform = `scaleX(${p})`;
      value.textContent = answer ? percent(p) : '';
    }
    this.#verdict(answer, probabilities);
  }

  #likeliest(probabilities) {
    if (this.classes.length <= MOST) return this.classes;
    return [...this.classes].sort((a, b) => (probabilities[b] ?? 0) - (probabilities[a] ?? 0)).slice(0, MOST);
  }

  #verdict(answer, probabilities) {
    const verdict = byId('verdict');
    const state = !answer ? 'idle' : answer.class === null ? 'unknown' : 'known';
    const text = {
      idle: () => 'Waiting for a drawing',
      unknown: () => 'Unknown: unlike any class it has learned',
      known: () =>
        `${percent(probabilities[answer.class] ?? 0)} sure` +
        (this.cannotReject ? '; it cannot answer “unknown” yet' : ''),
    }[state]();
    verdict.dataset.state = state;
    const colour = `hue-${hue(state === 'known' ? this.taskOf(answer.class) : 1)}`;
    verdict.className = `verdict ${colour}`;
    byId('glance').className = `glance ${state} ${colour}`;
    const shown = { idle: '·', unknown: '?', known: answer?.class }[state];
    byId('verdict-class').textContent = byId('glance').textContent = shown;
    byId('verdict-class').dataset.length = shown.length > 9 ? 'long' : shown.length > 3 ? 'middle' : 'short';
    byId('verdict-text').textContent = text;
    clearTimeout(this.#spoken);
    if (state === 'idle') return;
    const said = state === 'known' ? `It says ${answer.class}, ${text}.` : `${text}.`;
    this.#spoken = setTimeout(() => (byId('spoken').textContent = said), SETTLED);
  }
}
