// What is being shown? The panel where one draws, drops photographs or types, whichever the model takes. `current` is what
// could be added as an example; `onChange` gets it whenever it changes, `onMany` gets pictures or lines beyond one.

import { listenForCamera } from './camera.js';
import { byId, plural, say } from './dom.js';
import { addressOf } from './face.js';
import { DRAWINGS, PHOTOS } from './kinds.js';
import { Pad } from './pad.js';
import { listenForPictures } from './pictures.js';
import { drawing, picture } from './sample.js';

export class Show {
  #reader = null;
  #words = null;
  #photo = null;
  #typed = [];

  constructor({ onChange, onMany, onEnter }) {
    Object.assign(this, { onChange, onMany });
    this.pad = new Pad(byId('pad'), { onChange: () => this.#changed(), onEnter });
    byId('clear').addEventListener('click', () => this.clear());
    byId('typed').addEventListener('input', () => this.#read());
    byId('typed').addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onEnter();
    });
    const [onProblem, onProgress] = [(words) => say('input-problem', words), (words) => say('progress', words)];
    const wanted = () => this.#takesPictures;
    const onPictures = (pictures) => this.#take(pictures);
    listenForPictures({ target: byId('show'), wanted, onPictures, onProblem, onProgress });
    listenForCamera({ onPicture: (taken) => this.#take([taken]), onProblem });
  }

  get #takesPictures() {
    return this.#reader?.kind === DRAWINGS || this.#reader?.kind === PHOTOS;
  }

  /** Turns to what the model takes. */
  suit(reader, words) {
    const other = reader.kind !== this.#reader?.kind;
    this.#reader = reader;
    this.#words = words;
    byId('pad-area').hidden = reader.kind !== DRAWINGS;
    byId('photo-area').hidden = reader.kind !== PHOTOS;
    byId('text-area').hidden = this.#takesPictures;
    byId('picture-tools').hidden = !this.#takesPictures;
    byId('folder-button').hidden = reader.kind !== PHOTOS;
    say('show-words', words.show);
    say('show-help', words.help);
    say(reader.kind === PHOTOS ? 'photo-hint' : 'pad-hint', words.hint);
    say('typed-label', words.label ?? '');
    byId('typed').placeholder = words.hint;
    byId('files-words').textContent = reader.kind === PHOTOS ? 'Choose' : 'Picture';
    if (other) this.clear();
  }

  /** All that could be added now: one sample, or one for each line. */
  get samples() {
    const { kind } = this.#reader ?? {};
    if (kind === PHOTOS) return this.#photo ? [picture(this.#photo)] : [];
    if (kind !== DRAWINGS) return this.#typed;
    if (this.pad.picture) return [picture(this.pad.picture)];
    return this.pad.isEmpty ? [] : [drawing(this.pad.strokes)];
  }

  /** Empties the panel; what was asked about last is asked no more. */
  clear() {
    this.empty();
    this.onChange(null);
  }

  /** Empties the panel for the next example; the last answer stays. */
  empty() {
    this.#photo = null;
    this.#typed = [];
    byId('typed').value = '';
    say('typed-problem', '');
    this.pad.empty();
    this.#draw();
  }

  #take(pictures) {
    if (pictures.length > 1 || pictures[0].folder) return this.onMany(pictures);
    if (this.#reader.kind === DRAWINGS) return this.pad.show(pictures[0]);
    this.#photo = pictures[0];
    this.#changed();
  }

  #read() {
    this.#typed = [];
    const lines = byId('typed').value.split('\n');
    try {
      this.#typed = lines.map((line) => this.#reader.typed(line)).filter(Boolean);
      say('typed-problem', '');
    } catch (problem) {
      say('typed-problem', problem.message);
    }
    this.#changed();
  }

  #changed() {
    this.#draw();
    this.onChange(this.samples.at(-1) ?? null);
  }

  #draw() {
    byId('pad-hint').hidden = !this.pad.isEmpty;
    byId('photo').hidden = !this.#photo;
    byId('photo-hint').hidden = Boolean(this.#photo);
    if (this.#photo) byId('photo').src = addressOf(this.#photo.file);
    else byId('photo').removeAttribute('src');
    const n = this.samples.length;
    byId('add').disabled = n === 0;
    byId('add').textContent = n > 1 ? `Add ${plural(n, this.#words.one, this.#words.many)}` : 'Add as example';
  }
}
