// What is it that was answered "unknown"? Rows that the server has kept, if it keeps any: one quiet line with their number,
// and behind it the groups that might be new classes, to be named or dismissed.

import { api, patiently } from './api.js';
import { byId, make, named, percent, plural, quoted, say } from './dom.js';
import { faceOf } from './face.js';
import { fold } from './fold.js';

/** How often the server is asked how many there are, in milliseconds. */
const EVERY = 5000;

/** Rows without a group that are shown at once. */
const MOST = 6;

export class Unknown {
  #model = null;
  #open = false;
  #asking = null;
  #grouping = null;

  /** `shape` returns that of rows of pixels, `words` what rows are called; `onChange` is called after each change. */
  constructor({ shape, words, onChange }) {
    Object.assign(this, { shape, words, onChange });
    byId('unknown-line').addEventListener('click', () => this.#turn(!this.#open));
    byId('unknown-clear').addEventListener('click', () =>
      this.#dismiss([byId('unknown-clear')], () => api.dismissAllUnknown()),
    );
  }

  /** Turns to a model, or to what it has become. */
  suit(model) {
    const changed = model.sha256 !== this.#model?.sha256;
    this.#model = model;
    clearInterval(this.#asking);
    if (!model.unknown || (model.needs_token && !api.hasToken)) return this.#hide();
    this.#asking = setInterval(() => document.hidden || this.#count(), EVERY);
    this.#count();
    if (this.#open && changed) this.#grouping = this.#group();
  }

  #hide() {
    byId('unknown').hidden = true;
    this.#open = false;
  }

  /** Shows how many there are now. A server that is gone is noticed elsewhere. */
  async #count() {
    try {
      this.#tell(await api.unknown());
    } catch (problem) {
      if (problem.status === 401) this.#hide();
    }
  }

  #tell({ rows, known, limit }) {
    const times = rows === 1 ? 'once' : plural(rows, 'time');
    const more = rows + known >= limit ? ` (only the last ${limit.toLocaleString('en')} are kept)` : '';
    say('unknown-line', rows ? `I have seen something new ${times}${more}. What is it?` : 'There is nothing new any more.');
    byId('unknown').hidden = rows === 0 && !this.#open && byId('unknown-outcome').textContent === '';
    byId('unknown-line').hidden = rows === 0 && !this.#open;
  }

  #turn(open) {
    this.#open = open;
    byId('unknown-line').ariaExpanded = String(open);
    byId('unknown-area').hidden = !open;
    say('unknown-outcome', '');
    say('unknown-problem', '');
    if (open) this.#grouping = this.#group();
    else this.#count();
  }

  /** Asks for the groups, and shows them. */
  async #group() {
    say('unknown-help', 'Looking for groups ...');
    byId('unknown-area').setAttribute('aria-busy', true);
    try {
      this.#show(await api.unknownGroups());
    } catch (problem) {
      say('unknown-help', '');
      say('unknown-problem', problem.message);
    }
    byId('unknown-area').setAttribute('aria-busy', false);
  }

  #show(found) {
    this.#tell(found);
    const { groups, alone, reason } = found;
    byId('unknown-clear').hidden = found.rows + found.known === 0;
    say('unknown-help', [reason && `${reason}.`, helpOf(found, this.words())].filter(Boolean).join(' '));
    const alones = alone.shown.map((row) => this.#found([row], [row.id], 'By itself'));
    const items = groups.map((group) => this.#foundGroup(group));
    fold(byId('unknown-groups'), [...items, ...alones], Math.max(items.length + 1, MOST));
  }

  #foundGroup(group) {
    const { shown, ids, rows } = group;
    return this.#found(shown, ids, plural(rows, this.words().one, this.words().many), whyOf(group));
  }

  /** Rows with a field for their name. */
  #found(shown, ids, title, why = []) {
    const faces = shown.map((row, i) => make('li', {}, faceOf(row, this.shape(), `${title}: ${i + 1} of ${shown.length}`)));
    const field = make('input', {
      type: 'text',
      'aria-label': `What is this? ${title}`,
      placeholder: 'What is it?',
      maxLength: this.#model.limits?.class_name ?? 100,
      dir: 'auto',
      spellcheck: false,
      autocomplete: 'off',
    });
    const teach = make('button', { type: 'submit' }, 'Name it');
    const dismiss = make('button', { type: 'button', className: 'quiet' }, 'Dismiss');
    const form = make('form', { className: 'naming' }, field, teach, dismiss);
    field.addEventListener('input', () => teach.classList.toggle('primary', field.value.trim() !== ''));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!field.value.trim()) return field.focus();
      this.#name(form.elements, ids, field.value.trim());
    });
    dismiss.addEventListener('click', () => this.#dismiss(form.elements, () => api.dismissUnknown(ids)));
    form.hidden = !this.#model.learns;
    return make(
      'li',
      {},
      make('p', { className: 'group-name' }, title),
      make('ul', { className: 'faces' }, ...faces),
      make('p', { className: 'help' }, ...why),
      form,
    );
  }

  #name(controls, ids, name) {
    return this.#guard(controls, async () => {
      const started = performance.now();
      const learned = await patiently(
        (key) => api.nameUnknown({ ids, class: name }, key),
        (seconds) => say('unknown-outcome', `The server is busy learning; trying again in ${seconds} s.`),
      );
      const seconds = ((performance.now() - started) / 1000).toFixed(2);
      await this.onChange();
      await this.#grouping;
      return `${quoted([name])} learned from ${plural(learned.rows, 'row')} in ${seconds} s, on disk.`;
    });
  }

  #dismiss(controls, change) {
    return this.#guard(controls, async () => {
      const { dismissed } = await change();
      await this.#group();
      return `${plural(dismissed, 'row')} dismissed.`;
    });
  }

  /** Runs a change with these controls disabled, and says how it went; after an error, what was typed stays. */
  async #guard(controls, change) {
    const enable = (enabled) => {
      for (const control of controls) control.disabled = !enabled;
    };
    enable(false);
    say('unknown-problem', '');
    say('unknown-outcome', '');
    try {
      say('unknown-outcome', await change());
      // What was pressed may be gone with its rows.
      byId('unknown-line').focus();
    } catch (problem) {
      say('unknown-outcome', '');
      say('unknown-problem', problem.message);
    }
    enable(true);
  }
}

/** What can be done, or that there is nothing to do. */
function helpOf({ rows, known, groups, alone }, { one, many }) {
  const beside = known ? ` Since they were kept, it has learned to know ${plural(known, 'other', 'others')}.` : '';
  if (!rows) return `There is nothing left that it would call unknown.${beside}`;
  const hidden = alone.ids.length - alone.shown.length;
  const rest = hidden > 0 ? ` Of those by themselves, the newest ${alone.shown.length} are shown.` : '';
  const what = groups.length
    ? 'These might be new classes. Name a group to teach it as a class, or dismiss it.'
    : `No group looks like a new class yet. ${rows === 1 ? `Name the ${one}` : `Name ${many}`} that you recognise, or wait for more.`;
  return `${what}${rest}${beside}`;
}

/** Why a group is not the known class that is nearest to it. */
function whyOf({ known, nearest, tightness }) {
  const own = nearest.own.toFixed(2);
  return [
    'Nearest of what it knows: ',
    named('strong', nearest.class),
    `. Its own rows are ${own} like its mean, but these are only ${nearest.likeness.toFixed(2)} like it, and ${tightness.toFixed(2)} like their own mean. `,
    `Half of them are stranger than ${known < 0.005 ? 'nearly all' : `${percent(1 - known)} of`} known rows.`,
  ];
}
