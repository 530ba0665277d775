// What is about to be taught? `Examples` are samples with the names of their classes, shown class by class.

import { byId, make, named, plural } from './dom.js';
import { faceOf } from './face.js';
import { fold } from './fold.js';

/** Examples of a class shown at once. */
const MOST = 12;

export class Examples {
  #list = [];

  /** `reader` returns the current Reader, `onChange` is called when an example was removed. */
  constructor({ reader, onChange }) {
    Object.assign(this, { reader, onChange });
  }

  get length() {
    return this.#list.length;
  }

  /** All examples; those that were added without a name have the one of the name field. */
  named(name) {
    return this.#list.map(({ sample, own }) => ({ sample, name: own || name }));
  }

  /** Adds samples, each with a name of its own or with none. */
  add(samples) {
    this.#list.push(...samples.map(({ sample, own }) => ({ sample, own, item: this.reader().item(sample) })));
    this.#list = this.#list.filter(({ item }) => item);
  }

  clear() {
    this.#list = [];
  }

  /** Shows the examples, class by class. */
  show() {
    const names = [...new Set(this.#list.map(({ own }) => own))];
    byId('examples').replaceChildren(...names.map((own) => this.#group(own, names.length)));
  }

  #group(own, groups) {
    const members = this.#list.filter((one) => one.own === own);
    const list = make('ul', { className: 'faces' });
    const item = make('li', { className: 'group' }, list);
    fold(list, members.map((one) => this.#example(one)), MOST, `examples of ${own}`);
    if (own || groups > 1) {
      const words = plural(members.length, 'example');
      const title = make('p', { className: 'group-name' }, named('', own || 'without a name'), ` ${words}`);
      item.prepend(title);
    }
    return item;
  }

  #example(one) {
    const place = this.#list.indexOf(one);
    const words = `Example ${place + 1}${one.own ? ` of ${one.own}` : ''}`;
    const label = `Remove example ${place + 1}`;
    const remove = make('button', { type: 'button', className: 'remove', 'aria-label': label }, '×');
    remove.addEventListener('click', () => {
      this.#list.splice(place, 1);
      this.onChange();
      (byId('examples').querySelectorAll('.remove')[place] ?? byId('class-name')).focus();
    });
    return make('li', { className: 'example' }, faceOf(one.item, this.reader().shape, words), remove);
  }
}
