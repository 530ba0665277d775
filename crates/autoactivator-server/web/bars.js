// How sure is it? The likeliest classes, ranked, and the rest behind a button. What is unknown has no bars: the classes
// that it is nearest to are only named.

import { byId, likely, make, named } from './dom.js';

/** Bars shown at once. */
const MOST = 5;

export class Bars {
  #all = false;
  #answer = null;

  constructor() {
    byId('more').addEventListener('click', () => {
      this.#all = !this.#all;
      this.show(this.#answer);
    });
  }

  /** Shows an answer; null when nothing is shown to the model. */
  show(answer) {
    this.#answer = answer;
    const ranked = Object.entries(answer?.probabilities ?? {}).sort(([, a], [, b]) => b - a);
    const unknown = answer?.class === null;
    const alone = ranked.length < 2;
    const shown = unknown || alone ? [] : ranked.slice(0, this.#all ? ranked.length : MOST);
    this.#list(shown, answer?.class);
    const rest = alone || unknown ? 0 : ranked.length - MOST;
    byId('more').hidden = rest <= 0;
    byId('more').textContent = this.#all ? 'Show fewer' : `${rest.toLocaleString('en')} more`;
    byId('more').ariaExpanded = String(this.#all);
    byId('nearest').hidden = !unknown || alone;
    if (unknown && !alone)
      byId('nearest').replaceChildren(
        'Nearest of what it knows: ',
        ...ranked.slice(0, 3).flatMap(([name], i) => (i ? [', ', named('', name)] : [named('', name)])),
      );
  }

  /** The same bars with other widths, so that they move rather than appear. */
  #list(shown, best) {
    const list = byId('bars');
    while (list.children.length > shown.length) list.lastChild.remove();
    while (list.children.length < shown.length) list.append(bar());
    shown.forEach(([name, p], i) => {
      const [label, track, value] = list.children[i].children;
      label.textContent = label.title = name;
      track.firstChild.style.transform = `scaleX(${p})`;
      value.textContent = likely(p);
      list.children[i].classList.toggle('best', name === best);
    });
  }
}

function bar() {
  const track = make('span', { className: 'bar-track' }, make('span', { className: 'bar-fill' }));
  const label = make('bdi', { className: 'bar-name', dir: 'auto' });
  return make('li', { className: 'bar' }, label, track, make('span', { className: 'bar-value' }));
}
