// What does it say? `Verdict` shows what was asked about and the answer. When the model changes, the same sample is asked
// about again, and what was said before stays beside what is said now.

import { byId, likely, make, named } from './dom.js';
import { faceOf } from './face.js';

/** How long an answer must stay the same before it is spoken. */
const SETTLED = 900;

/** Lengths of a name from which its letters get smaller. */
const SIZES = [
  [4, 'huge'],
  [10, 'large'],
  [22, 'middle'],
  [48, 'small'],
];

export class Verdict {
  /** Whether "unknown" is wanted from a model that cannot answer it yet. */
  cannotReject = false;
  #shown = { sample: null, said: undefined, version: 0 };
  #was = null;
  #spoken;

  /** Shows an answer to a sample that the server gets as `item`; nulls when nothing is shown to the model. */
  show(answer, item, sample, { shape, words, classes }) {
    this.#remember(answer, sample);
    const state = !item ? 'idle' : !answer ? 'nothing' : answer.class === null ? 'unknown' : 'known';
    byId('verdict').dataset.state = state;
    byId('idle').hidden = state !== 'idle';
    byId('asked').replaceChildren(...(item ? [faceOf(item, shape, `The ${words.one} that was shown`)] : []));
    const name = { idle: '', nothing: 'Nothing learned yet', unknown: 'unknown', known: answer?.class }[state];
    byId('verdict-class').replaceChildren(named('', name));
    byId('verdict-class').dataset.size = SIZES.find(([most]) => [...name].length <= most)?.[1] ?? 'tiny';
    byId('glance').replaceChildren(named('', name));
    byId('glance').dataset.state = state;
    byId('verdict-text').textContent = this.#words(state, answer, classes);
    this.#showBefore(name);
    this.#speak(state, name);
  }

  /** Notices when the same sample gets another answer from a changed model. */
  #remember(answer, sample) {
    const now = { sample, said: answer ? answer.class : undefined, version: answer?.version };
    const before = this.#shown;
    if (sample !== before.sample || !sample) this.#was = null;
    else if (now.version > before.version && now.said !== before.said) this.#was = before;
    else if (this.#was && now.said === this.#was.said) this.#was = null;
    this.#shown = now;
  }

  #words(state, answer, classes) {
    if (state === 'idle' || state === 'nothing') return '';
    if (state === 'unknown') return 'It is unlike anything it has learned.';
    const p = answer.probabilities[answer.class] ?? 0;
    if (classes.length === 1) return `The only class it knows; it cannot answer “unknown” yet.`;
    return `${likely(p)} sure${this.cannotReject ? '; it cannot answer “unknown” yet' : ''}`;
  }

  /** What was said before the model changed. */
  #showBefore(name) {
    const turned = this.#was !== null;
    const before = byId('before');
    const already = !before.hidden && byId('verdict').classList.contains('turned');
    before.hidden = !turned;
    byId('verdict').classList.toggle('turned', turned);
    if (!turned || (already && before.dataset.now === name)) return;
    before.dataset.now = name;
    const was = this.#was.said === undefined ? 'nothing' : (this.#was.said ?? 'unknown');
    before.replaceChildren('was ', make('s', {}, named('', was)));
  }

  #speak(state, name) {
    clearTimeout(this.#spoken);
    if (state !== 'known' && state !== 'unknown') return;
    const before = this.#was && `, no longer ${this.#was.said ?? 'unknown'}`;
    const said = `It says ${name}${before ?? ''}. ${byId('verdict-text').textContent}`;
    this.#spoken = setTimeout(() => (byId('spoken').textContent = said), SETTLED);
  }
}
