// What was taught on this page? Each task with its pictures, and a button that takes it back. Kept by the browser
// (store.js), so that a reload loses nothing.

import { byId, make, named, plural, say } from './dom.js';
import { faceOf } from './face.js';
import { store } from './store.js';

/** Faces shown of a task. */
const FACES = 6;

export class History {
  entries = [];
  canUndo = true;
  busy = false;

  /** `onUndo(entry)` is called when a task is to be taken back; `shape` returns that of rows of pixels. */
  constructor({ onUndo, shape }) {
    Object.assign(this, { onUndo, shape });
  }

  /** Reads what was kept of this model: another tab may have taught or taken back something. */
  async read(model) {
    await store.belongTo(model);
    this.entries = await store.all();
    this.show();
  }

  async add(entry) {
    const kept = { id: Date.now(), ...entry };
    await store.keep(kept);
    this.entries = [kept, ...this.entries];
  }

  async remove({ id }) {
    await store.forget(id);
    this.entries = this.entries.filter((entry) => entry.id !== id);
  }

  show() {
    const kept = store.lasting
      ? 'Your examples are kept in this browser only, until they are undone.'
      : 'Your examples are kept in this page only, until it is closed.';
    say('history-hint', this.entries.length ? kept : `Nothing yet. What you teach can be undone here. ${kept}`);
    byId('history').replaceChildren(...this.entries.map((entry) => this.#entry(entry)));
  }

  #entry(entry) {
    const { names, items, words, seconds } = entry;
    const undo = make('button', { type: 'button', 'aria-label': `Undo teaching ${names.join(', ')}` }, 'Undo');
    undo.disabled = this.busy;
    undo.hidden = !this.canUndo;
    undo.addEventListener('click', () => this.onUndo(entry));
    // Of drawings that were varied, the first variation is the drawing itself.
    const looks = items.filter(({ variation }) => !variation).slice(0, FACES);
    const faces = looks.map((item) => make('li', {}, faceOf(item, this.shape(), `An example of ${item.name}`)));
    const title = make('p', { className: 'taught' }, ...between(names.map((name) => named('strong', name))));
    const facts = make('p', { className: 'help' }, `${words}, ${plural(items.length, 'row')}, ${seconds.toFixed(2)} s`);
    return make('li', {}, make('div', {}, title, facts), make('ul', { className: 'faces' }, ...faces), undo);
  }
}

/** Elements with commas between them. */
const between = (elements) => elements.flatMap((one, i) => (i ? [', ', one] : [one]));
