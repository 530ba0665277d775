// Does it still know the old ones? One line beside the answer, from the held-out rows, as it was before the last change
// and as it is now. exam.js shows the same in full.

import { byId, plural, say } from './dom.js';

/** The share of held-out rows that may be lost before the line is a warning. */
const SOME = 0.02;

export class Check {
  #before = null;
  #now = null;

  /** The result of the exam before the last change; null as long as there was none. */
  get before() {
    return this.#before;
  }

  /** Takes the result of the exam (with tasks.js), or words that say why there is none. */
  show(exam, missing) {
    if (exam && this.#now && this.#now.version !== exam.version) this.#before = this.#now;
    if (exam) this.#now = exam;
    const line = byId('check');
    line.hidden = !exam && !missing;
    line.dataset.state = exam ? this.#state() : 'none';
    say('check-text', exam ? this.summary() : missing);
  }

  /** What to compare with: nothing as long as nothing was known. */
  get #compared() {
    return this.#before?.classes.some((one) => one.known) ? this.#before : null;
  }

  /** The classes that were known before the last change and still are: right answers then and now. */
  #old() {
    const before = this.#compared ?? this.#now;
    const known = new Set(before.classes.filter((one) => one.known).map((one) => one.class));
    const both = ({ classes }) => classes.filter((one) => one.known && known.has(one.class));
    const still = new Set(both(this.#now).map((one) => one.class));
    const sum = (exam, key) =>
      both(exam)
        .filter((one) => still.has(one.class))
        .reduce((total, one) => total + one[key], 0);
    return { rows: sum(this.#now, 'rows'), now: sum(this.#now, 'right'), then: sum(before, 'right') };
  }

  #state() {
    const { rows, now, then } = this.#old();
    if (!rows) return 'none';
    return then - now > SOME * rows ? 'lost' : 'kept';
  }

  /** One sentence about the old classes. */
  summary() {
    if (!this.#now) return '';
    const { rows, now, then } = this.#old();
    if (!rows) return 'Nothing learned yet that the held-out rows could check.';
    const compared = this.#compared ? `, ${now === then ? 'as before' : `was ${then}`}` : '';
    return `${this.#compared ? 'Old classes' : 'Held-out rows'}: ${now} of ${plural(rows, 'row')} right${compared}.`;
  }
}
