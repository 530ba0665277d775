// What does the model say to what is shown right now? `Live` asks once per frame at most, one request in flight, and
// always ends with an answer to the latest sample.

import { Refused, api } from './api.js';

/** The part of known rows that may be called unknown. */
const REJECT = 0.05;

export class Live {
  reject = true;
  #sample = null;
  #asking = false;
  #stale = false;
  #explains = true;

  /** `reader` gives the current Reader; `onAnswer(answer, row)` hears each answer, nulls when nothing is shown. */
  constructor({ reader, onAnswer, onProblem }) {
    Object.assign(this, { reader, onAnswer, onProblem });
  }

  /** Shows a sample, or null; the answer follows. */
  show(sample) {
    this.#sample = sample;
    this.again();
  }

  /** Asks anew about the same sample: after the model changed. */
  again() {
    if (this.#stale) return;
    this.#stale = true;
    requestAnimationFrame(() => this.#next());
  }

  async #next() {
    if (this.#asking) return;
    this.#stale = false;
    const sample = this.#sample;
    const row = sample && !this.reader().takesImages ? this.reader().row(sample) : null;
    if (!sample || (!row && !this.reader().takesImages)) return this.onAnswer(null, null);
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
    }
  }

  async #ask(sample, row) {
    const reject = this.reject ? REJECT : undefined;
    if (this.#explains) {
      try {
        return await api.explain(await bodyOf(sample, row, { reject }));
      } catch (problem) {
        // A model that cannot explain itself still predicts.
        if (!(problem instanceof Refused) || ![404, 409].includes(problem.status)) throw problem;
        this.#explains = false;
      }
    }
    const { answers } = await api.predict(await bodyOf(sample, row, { reject, proba: true }));
    return answers[0];
  }
}

async function bodyOf(sample, row, options) {
  if (row) return { rows: [row], ...options };
  const form = new FormData();
  for (const [name, value] of Object.entries(options)) if (value !== undefined) form.append(name, value);
  form.append('image', sample.file, 'image');
  return form;
}
