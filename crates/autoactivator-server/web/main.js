// What is this page? The parts wired together: what is shown goes to the model, its answer to verdict, bars and network,
// and every change of the model, made here or elsewhere, to all of them. Each part is a module of its own.

import { api } from './api.js';
import { Bars } from './bars.js';
import { Check } from './check.js';
import { showClasses } from './classes.js';
import { byId, say } from './dom.js';
import { listenForDownloads } from './downloads.js';
import { follow, listenAgain } from './events.js';
import { showExam } from './exam.js';
import { deploys, showFacts } from './facts.js';
import { wordsOf } from './kinds.js';
import { Live } from './live.js';
import { Network } from './network.js';
import { Reader, picture } from './sample.js';
import { Show } from './show.js';
import { Tasks } from './tasks.js';
import { Teach } from './teach.js';
import { Unknown } from './unknown.js';
import { Verdict } from './verdict.js';

/** The server's name for the held-out rows of the built-in data set. */
const BUILT_IN = 'digits, test part';

let model = null;
let reader = null;
let exam = null;
let refreshing = Promise.resolve();

const words = () => wordsOf(reader.kind);
const verdict = new Verdict();
const bars = new Bars();
const check = new Check();
const network = new Network();
const live = new Live({
  reader: () => reader,
  onAnswer: showAnswer,
  onBusy: (busy) => byId('verdict').setAttribute('aria-busy', busy),
  onProblem: (problem) => say('answer-problem', problem),
});
const show = new Show({ onChange: (sample) => reader && live.show(sample), onMany: addMany, onEnter: () => teach.add() });
const teach = new Teach({
  reader: () => reader,
  words,
  samples: () => show.samples,
  onAdded: () => show.empty(),
  onChange: afterChange,
  builtIn: unlearned,
});
const unknown = new Unknown({ shape: () => reader.shape, words, onChange: refresh });

function showAnswer(answer, item, sample) {
  verdict.show(answer, item, sample, { shape: reader.shape, words: words(), classes: model.classes });
  bars.show(answer);
  network.light(answer);
}

/** Many pictures at once are examples; the last one is also asked about. */
function addMany(pictures) {
  const samples = pictures.map((one) => ({ sample: picture(one), own: one.folder ?? teach.name }));
  teach.take(samples);
  live.show(samples.at(-1).sample);
}

/** What a visitor could teach next: built-in classes, which can be taught without drawing. */
function unlearned() {
  if (exam?.data !== BUILT_IN) return [];
  return exam.classes.filter(({ known }) => !known).map((one) => one.class);
}

/** Reloads everything that a change may affect; one reload at a time. */
function refresh() {
  refreshing = refreshing.catch(() => {}).then(reload);
  return refreshing;
}

async function reload() {
  const [fresh, growth] = await Promise.all([api.model(), api.growth()]);
  exam = await examine(fresh);
  const tasks = new Tasks(growth.growth);
  model = { ...fresh, classes: tasks.sorted(fresh.classes) };
  reader = new Reader(model, exam?.strip?.map(({ row }) => row).filter(Boolean) ?? []);
  const examined = exam && tasks.examined(exam);
  check.show(examined, missingCheck());
  showExam(examined, check.before, reader.shape);
  network.grow(growth.kind, grown(growth.growth), model.classes);
  showFacts(model, unlearned()[0], words());
  showClasses(model, refresh);
  show.suit(reader, words());
  teach.canTeach = model.learns;
  teach.history.canUndo = model.undo;
  await teach.history.read(model);
  teach.refresh();
  allowUnknown();
  unknown.suit(model);
  await live.again();
}

/** The result on the held-out rows; null without them, or as long as the token that shows them is missing. */
async function examine({ held_out, needs_token }) {
  if (!held_out || (needs_token && !api.hasToken)) return null;
  try {
    return await api.heldOut();
  } catch (problem) {
    if (problem.status === 401) return null;
    throw problem;
  }
}

function missingCheck() {
  if (model.held_out) return 'Whether it still knows the old ones is shown once the token is entered.';
  return 'Held-out rows would show here that it still knows the old ones.';
}

/** Whether "unknown" is allowed, and whether the model can answer it yet. */
function allowUnknown() {
  const wanted = byId('reject').checked;
  live.asks = model.classes.length > 0;
  live.reject = wanted && model.rejects;
  verdict.cannotReject = wanted && !model.rejects && deploys(model);
}

/** The growth record; a deployed model has none and is shown as a single task. */
function grown(growth) {
  if (growth.length || !model.nodes) return growth;
  return [{ task: 1, recruited: model.nodes, nodes: model.nodes, new_classes: model.classes }];
}

/** Shows what a change made here has done: the answer turns before the visitor's eyes. */
async function afterChange() {
  await refresh();
  const { top, bottom } = byId('verdict').getBoundingClientRect();
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (byId('verdict').classList.contains('turned') && (top < 0 || bottom > innerHeight))
    byId('says').scrollIntoView({ behavior: still ? 'auto' : 'smooth', block: 'start' });
}

function listen() {
  byId('reject').addEventListener('change', () => {
    allowUnknown();
    live.again();
  });
  byId('token').addEventListener('input', ({ target }) => api.useToken(target.value));
  byId('token').addEventListener('change', () => start().then(listenAgain));
  byId('token-form').addEventListener('submit', (event) => event.preventDefault());
  listenForDownloads();
  // Pixels are painted in the colours of the scheme.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => reader && refresh());
  follow({
    onEdition: ({ sha256 }) => model && sha256 !== model.sha256 && start(),
    onConnection: (there) => {
      byId('connection').dataset.state = there ? 'on' : 'off';
      say('connection', there ? 'connected' : 'connection lost, trying again');
      if (there && model) start();
    },
  });
}

async function start() {
  try {
    await refresh();
    say('page-problem', '');
  } catch (problem) {
    // A server may show nothing without a token.
    if (problem.status === 401) byId('token-form').hidden = false;
    say('page-problem', problem.message);
  }
}

listen();
start();
