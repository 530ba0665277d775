// What does the model say about the current sample? `Live` asks at most once per frame, with one request in
// flight, and always ends with an answer to the latest sample.

import { api } from './api.js';

/** The fraction of known rows that may be called unknown. */
const REJECT = 0.01;

export class Live {
  reject = true;
  #sample = null;
  #asking = false;
  #stale = false;

  /**
   * `reader` returns the current Reader; `onAnswer(answer, row)` gets each answer, or nulls without a sample, and
   * `onBusy` whether an answer is pending.
   */
  constructor({ reader, onAnswer, onBusy, onProblem }) {
    Object.assign(this, { reader, onAnswer, onBusy, onProblem });
  }

  /** Sets the sample, or null; the answer follows. */
  show(sample) {
    this.#sample = sample;
    this.again();
  }

  /** Asks again about the same sample, after the model has changed. */
  again() {
    if (this.#stale) return;
    this.#stale = true;
    this.onBusy(true);
    requestAnimationFrame(() => this.#next());
  }

  async #next() {
    if (this.#asking) return;
    this.#stale = false;
    const sample = this.#sample;
    const row = sample && !this.reader().takesImages ? this.reader().row(sample) : null;
    if (!sample || (!row && !this.reader().takesImages)) {
      this.onAnswer(null, null);
      return this.onBusy(false);
    }
    this.#asking = true;
    try {
      const answer = await this.#ask(sample, row);
      this.onAnswer(answer, row);
      this.onProblem('');
    } catch (problem) {
      this.onProblem(problem.message);
    } finally {
      this.#asking = false;
      if (this.#stale) requestAnimationFrame(() => this.#next());
      else this.onBusy(false);
    }
  }

  async #ask(sample, row) {
    const reject = this.reject ? REJECT : undefined;
    const file = row ? null : await this.reader().file(sample);
    return api.explain(bodyOf(file, row, reject));
  }
}

function bodyOf(file, row, reject) {
  if (row) return { rows: [row], reject };
  const form = new FormData();
  if (reject !== undefined) form.append('reject', reject);
  form.append('image', file, 'image');
  return form;
}
