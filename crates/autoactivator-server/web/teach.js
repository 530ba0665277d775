// How is it taught? `Teach` sends the examples as one task, tells how it went, and takes a task back. What was typed and
// drawn survives an error.

import { api, patiently } from './api.js';
import { byId, listed, plural, quoted, say } from './dom.js';
import { Examples } from './examples.js';
import { History } from './history.js';
import { VARIATIONS, bodyOf } from './sample.js';

const BUILT_IN = 10;

export class Teach {
  canTeach = true;
  #busy = false;

  /**
   * `reader` and `words` return what the model takes and what that is called, `samples` what is shown now, `builtIn` the
   * classes that need no drawing. `onAdded` is called after examples were added, `onChange` after each change of the model.
   */
  constructor({ reader, words, samples, onAdded, onChange, builtIn }) {
    Object.assign(this, { reader, words, samples, onAdded, onChange, builtIn });
    this.examples = new Examples({ reader, onChange: () => this.refresh() });
    this.history = new History({ onUndo: (entry) => this.#undo(entry), shape: () => reader().shape });
    say('vary-count', String(VARIATIONS));
    byId('add').addEventListener('click', () => this.add());
    byId('class-name').addEventListener('input', () => this.#update());
    byId('built-in').addEventListener('click', () => this.#teachBuiltIn());
    byId('teach-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#teachExamples();
    });
  }

  get name() {
    return byId('class-name').value.trim();
  }

  /** Adds what is shown to the examples. */
  add() {
    const samples = this.samples();
    if (!samples.length) return say('teach-problem', this.words().missing);
    this.take(samples.map((sample) => ({ sample, own: this.name })));
  }

  /** Adds samples, each with a name of its own or with none, and lets the page prepare for the next ones. */
  take(samples) {
    this.examples.add(samples);
    say('teach-problem', '');
    say('teach-outcome', '');
    this.refresh();
    this.onAdded();
  }

  /** Shows the examples and what was taught, and what can be done now. */
  refresh() {
    this.examples.show();
    this.history.busy = this.#busy;
    this.history.show();
    this.#update();
  }

  /** Updates the buttons. */
  #update() {
    const n = this.examples.length;
    const names = this.#names();
    const button = byId('teach');
    const ready = n > 0 && !names.includes('');
    button.disabled = this.#busy || !this.canTeach;
    button.classList.toggle('primary', ready);
    button.textContent = ready ? `Teach ${listed(names, 2)} from ${plural(n, 'example')}` : 'Teach';
    byId('built-in').hidden = !this.#builtInName || n > 0;
    byId('built-in').disabled = this.#busy || !this.canTeach;
    byId('built-in').textContent = `Use ${BUILT_IN} built-in examples of ${this.#builtInName}`;
    byId('vary-line').hidden = !this.reader().shape;
    byId('examples-hint').hidden = n > 0;
    say('examples-hint', this.words().examples);
  }

  #names() {
    return [...new Set(this.examples.named(this.name).map(({ name }) => name))];
  }

  #teachExamples() {
    // What is shown and named is meant, also by those who have not added it.
    if (!this.examples.length && this.samples().length && this.name) this.add();
    const n = this.examples.length;
    if (!n) {
      const words = `Add an example${this.name && ` of “${this.name}”`} first.`;
      return say('teach-problem', words);
    }
    if (this.#names().includes('')) return this.#askForName();
    return this.#guard(async () => {
      await this.#send({ names: this.#names(), items: this.#lesson(), words: plural(n, 'example') });
      this.examples.clear();
    });
  }

  /** The examples as the server gets them. */
  #lesson() {
    const variations = byId('vary').checked ? VARIATIONS : 1;
    return this.examples.named(this.name).flatMap(({ sample, name }) =>
      this.reader()
        .items(sample, variations)
        .map((item, variation) => ({ name, ...item, variation })),
    );
  }

  /** The class that built-in examples would teach: the one in the name field, else the next. */
  get #builtInName() {
    return this.builtIn().find((name) => !this.name || name === this.name);
  }

  async #teachBuiltIn() {
    const name = this.#builtInName;
    await this.#guard(async () => {
      const { rows } = await api.examples(name, BUILT_IN);
      const items = rows.map((row) => ({ name, row }));
      await this.#send({ names: [name], items, words: `${rows.length} built-in examples` });
    });
  }

  async #send(taught) {
    const started = performance.now();
    await patiently(
      (key) => api.learn(bodyOf(taught.items), key),
      (seconds) => this.#sayBusy(seconds),
    );
    const seconds = (performance.now() - started) / 1000;
    await this.history.add({ ...taught, seconds });
    byId('class-name').value = '';
    say('teach-outcome', `${quoted(taught.names)} learned in ${seconds.toFixed(2)} s, on disk.`);
    await this.onChange();
  }

  /** Takes a task back; a class of which no row is left is dropped. */
  #undo(entry) {
    return this.#guard(async () => {
      try {
        await patiently(
          (key) => api.unlearn(bodyOf(entry.items), key),
          (seconds) => this.#sayBusy(seconds),
        );
      } catch (problem) {
        // What the model does not hold any more cannot be taken back, now or later.
        if (problem.status === 422) await this.history.remove(entry);
        throw problem;
      }
      await this.history.remove(entry);
      say('teach-outcome', `Undone: ${entry.words} of ${quoted(entry.names)} unlearned.`);
      await this.onChange();
    });
  }

  /** Runs a change with the buttons disabled, and reports what went wrong. */
  async #guard(change) {
    this.#setBusy(true);
    say('teach-problem', '');
    say('teach-outcome', 'Learning ...');
    try {
      await change();
    } catch (problem) {
      say('teach-outcome', '');
      say('teach-problem', problem.status === 401 ? `${problem.message}; enter it above.` : problem.message);
      if (problem.status === 401) byId('token').focus();
    } finally {
      this.#setBusy(false);
    }
  }

  #setBusy(busy) {
    this.#busy = busy;
    byId('teach-form').setAttribute('aria-busy', busy);
    this.refresh();
  }

  #askForName() {
    say('teach-problem', 'Give the class a name first.');
    byId('class-name').focus();
  }

  #sayBusy(seconds) {
    say('teach-outcome', `The server is busy learning; trying again in ${seconds} s.`);
  }
}
