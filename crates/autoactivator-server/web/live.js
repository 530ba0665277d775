// What does the model say about the current sample? `Live` asks at most once per frame, with one request in
// flight, and always ends with an answer to the latest sample.

import { api } from './api.js';
import { bodyOf } from './sample.js';

/** The fraction of known rows that may be called unknown. */
const REJECT = 0.01;

/** Classes whose evidence is wanted. */
const TOP = 24;

export class Live {
  reject = true;
  /** Whether the model knows anything that it could answer. */
  asks = false;
  #sample = null;
  #asking = false;
  #stale = false;

  /**
   * `reader` returns the current Reader; `onAnswer(answer, item, sample)` gets each answer, or nulls without a sample, and
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

  /** Asks again about the same sample, after the model has changed. Resolves when the answer is there. */
  again() {
    this.settled ??= new Promise((settle) => (this.settle = settle));
    if (!this.#stale) {
      this.#stale = true;
      this.onBusy(true);
      requestAnimationFrame(() => this.#next());
    }
    return this.settled;
  }

  async #next() {
    if (this.#asking) return;
    this.#stale = false;
    const sample = this.#sample;
    const item = sample && this.reader().item(sample);
    if (item && this.asks) await this.#ask(sample, item);
    else this.onAnswer(null, item, sample);
    if (this.#stale) return requestAnimationFrame(() => this.#next());
    this.onBusy(false);
    this.settle();
    this.settled = undefined;
  }

  async #ask(sample, item) {
    this.#asking = true;
    try {
      const answer = await api.explain(bodyOf([item], { reject: this.reject ? REJECT : undefined, top: TOP }));
      this.onAnswer(answer, item, sample);
      this.onProblem('');
    } catch (problem) {
      this.onProblem(problem.message);
    } finally {
      this.#asking = false;
    }
  }
}
