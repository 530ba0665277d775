// How is it taught? `Teach` collects examples under the name of their class, sends them as one task, and
// keeps them as long as the page is open, so that teaching can be undone. What was typed and drawn survives an error.

import { api, patiently } from './api.js';
import { byId, make, plural } from './dom.js';
import { showPixels } from './pixels.js';
import { VARIATIONS } from './sample.js';

const BUILT_IN = 10;

/** Number of empty places shown for examples: a good start. */
const SLOTS = 4;

export class Teach {
  examples = [];
  history = [];
  canTeach = true;
  canUndo = true;
  #busy = false;

  /**
   * `reader` returns the current Reader, `current` the current sample, `builtIn` the classes that need no drawing and
   * `summary` how the old ones fare; `onAdded` is called after each example, `onChange` after each change of the model.
   */
  constructor({ reader, current, onAdded, onChange, builtIn, summary }) {
    Object.assign(this, { reader, current, onAdded, onChange, builtIn, summary });
    byId('vary-count').textContent = VARIATIONS;
    byId('add').addEventListener('click', () => this.add(this.current()));
    byId('class-name').addEventListener('input', () => this.refresh());
    byId('built-in').addEventListener('click', () => this.#teachBuiltIn());
    byId('teach-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#teachExamples();
    });
  }

  get name() {
    return byId('class-name').value.trim();
  }

  /** Adds a sample to the examples, and lets the page prepare for the next one. */
  add(sample) {
    if (!sample) return this.#say('problem', 'Draw something first.');
    this.examples.push({ ...sample, name: this.name });
    this.#say('problem', '');
    this.#say('outcome', '');
    this.#list();
    this.onAdded();
  }

  /** Updates the buttons to what can be done now. */
  refresh() {
    const [n, names] = [this.examples.length, this.#names()];
    const [button, ready] = [byId('teach'), n > 0 && !names.includes('')];
    byId('add').disabled = !this.current() || this.#busy;
    byId('add').textContent = n ? `Add as example ${n + 1}` : 'Add as example';
    button.disabled = this.#busy || !this.canTeach;
    button.classList.toggle('primary', ready);
    button.textContent = ready ? `Teach ${quoted(names)} from ${plural(n, 'example')}` : 'Teach';
    byId('built-in').hidden = !this.#builtInName;
    byId('built-in').disabled = this.#busy || !this.canTeach;
    byId('built-in').textContent = `Use ${BUILT_IN} built-in examples of ${this.#builtInName}`;
    byId('vary-line').hidden = !this.reader().shape;
    byId('examples-hint').hidden = n >= SLOTS - 1;
  }

  /** The class of an example: the name it was added under, else the one in the name field. */
  #nameOf(sample) {
    return sample.name || this.name;
  }

  #names() {
    return [...new Set(this.examples.map((sample) => this.#nameOf(sample)))];
  }

  #list() {
    const slots = Array.from({ length: Math.max(0, SLOTS - this.examples.length) }, () =>
      make('li', { className: 'slot', 'aria-hidden': 'true' }),
    );
    byId('examples').replaceChildren(
      ...this.examples.map((sample, i) => this.#thumbnail(sample, i)),
      ...slots,
    );
    this.refresh();
  }

  #thumbnail(sample, i) {
    const { shape, takesImages } = this.reader();
    const words = `Example ${i + 1}`;
    let picture;
    if (takesImages) picture = make('img', { alt: words });
    else if (shape) picture = make('canvas', { role: 'img', 'aria-label': words });
    else picture = make('code', {}, sample.row.slice(0, 4).join(' '));
    const remove = make(
      'button',
      { type: 'button', className: 'remove', 'aria-label': `Remove example ${i + 1}` },
      '×',
    );
    remove.addEventListener('click', () => {
      this.examples.splice(i, 1);
      this.#list();
      (byId('examples').querySelectorAll('button')[i] ?? byId('add')).focus();
    });
    if (takesImages)
      this.reader()
        .file(sample)
        .then((file) => (picture.src = sample.url ??= URL.createObjectURL(file)));
    else if (shape) requestAnimationFrame(() => showPixels(picture, this.reader().row(sample), shape));
    const label = make('span', { className: 'example-name' }, sample.name);
    return make('li', { className: 'example' }, picture, label, remove);
  }

  #teachExamples() {
    const n = this.examples.length;
    if (!n)
      return this.#say('problem', `Draw an example${this.name && ` of “${this.name}”`} and add it first.`);
    if (this.#names().includes('')) return this.#ask('Give the class a name first.');
    return this.#guard(async () => {
      await this.#send({ names: this.#names(), lesson: await this.#lesson(), words: plural(n, 'example') });
      this.examples = [];
    });
  }

  /** The examples as the server takes them: files, or rows with every drawing in its variations. */
  async #lesson() {
    const variations = byId('vary').checked ? VARIATIONS : 1;
    const lessons = this.examples.map(async (sample) => {
      const name = this.#nameOf(sample);
      if (this.reader().takesImages) return [{ name, file: await this.reader().file(sample) }];
      return this.reader()
        .rows(sample, variations)
        .map((row) => ({ name, row }));
    });
    return (await Promise.all(lessons)).flat();
  }

  /** The class that built-in examples would teach: the one in the name field, else the next. */
  get #builtInName() {
    return this.builtIn().find((name) => !this.name || name === this.name);
  }

  async #teachBuiltIn() {
    const name = this.#builtInName;
    await this.#guard(async () => {
      const { rows } = await api.examples(name, BUILT_IN);
      const lesson = rows.map((row) => ({ name, row }));
      await this.#send({ names: [name], lesson, words: `${rows.length} built-in examples` });
    });
  }

  async #send(taught) {
    const started = performance.now();
    const changed = await patiently(
      () => api.learn(bodyOf(taught.lesson)),
      (seconds) => this.#sayBusy(seconds),
    );
    const seconds = (performance.now() - started) / 1000;
    const entry = { ...taught, seconds, count: changed.rows };
    this.history.unshift(entry);
    byId('class-name').value = '';
    const outcome = `${quoted(taught.names)} learned in ${seconds.toFixed(2)} s, on disk.`;
    this.#say('outcome', outcome);
    await this.onChange();
    this.#say('outcome', `${outcome} ${this.summary()}`);
  }

  /** Runs a change with the buttons disabled, and reports what went wrong. */
  async #guard(change) {
    this.#setBusy(true);
    this.#say('problem', '');
    this.#say('outcome', 'Learning ...');
    this.refresh();
    try {
      await change();
    } catch (problem) {
      this.#say('outcome', '');
      this.#say('problem', problem.status === 401 ? `${problem.message}; enter it above.` : problem.message);
      if (problem.status === 401) byId('token').focus();
    } finally {
      this.#setBusy(false);
      this.show();
    }
  }

  #setBusy(busy) {
    this.#busy = busy;
    byId('teach-form').setAttribute('aria-busy', busy);
  }

  /** Redraws examples and history. */
  show() {
    this.#list();
    this.#listHistory();
  }

  #listHistory() {
    byId('history-hint').hidden = this.history.length > 0;
    byId('history').replaceChildren(...this.history.map((entry) => this.#entry(entry)));
  }

  #entry(entry) {
    const words = `${entry.words}, ${plural(entry.count, 'row')}, ${entry.seconds.toFixed(2)} s`;
    const undo = make(
      'button',
      { type: 'button', 'aria-label': `Undo teaching ${entry.names.join(', ')}` },
      'Undo',
    );
    undo.disabled = this.#busy;
    undo.hidden = !this.canUndo;
    undo.addEventListener('click', () => this.#undo(entry));
    return make('li', {}, make('span', {}, make('strong', {}, entry.names.join(', ')), ` ${words}`), undo);
  }

  /** Unlearns rows; a class of which no row is left is dropped. */
  #undo(entry) {
    return this.#guard(async () => {
      await patiently(
        () => api.unlearn(bodyOf(entry.lesson)),
        (seconds) => this.#sayBusy(seconds),
      );
      this.history = this.history.filter((other) => other !== entry);
      this.#say('outcome', `Undone: ${entry.words} of ${quoted(entry.names)} unlearned.`);
      await this.onChange();
    });
  }

  #ask(words) {
    this.#say('problem', words);
    byId('class-name').focus();
  }

  #say(where, words) {
    byId(`teach-${where}`).textContent = words;
  }

  #sayBusy(seconds) {
    this.#say('outcome', `The server is busy learning; trying again in ${seconds} s.`);
  }
}

/** A request to learn or unlearn: rows with their classes, or a form where each image follows its class. */
function bodyOf(lesson) {
  if (lesson[0].row) return { rows: lesson.map(({ row }) => row), classes: lesson.map(({ name }) => name) };
  const form = new FormData();
  for (const { name, file } of lesson) {
    form.append('class', name);
    form.append('image', file, 'image');
  }
  return form;
}

const quoted = (names) => names.map((name) => `“${name}”`).join(' and ');
