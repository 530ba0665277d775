// What is this page? The parts wired together: samples go to the model, its answers to bars and network, and
// what is taught to the exam. Each part is a module of its own.

import { api } from './api.js';
import { Bars } from './bars.js';
import { listenForCamera } from './camera.js';
import { showClasses } from './classes.js';
import { byId, plural } from './dom.js';
import { listenForDownloads } from './downloads.js';
import { Live } from './live.js';
import { Network } from './network.js';
import { Pad } from './pad.js';
import { listenForPictures } from './pictures.js';
import { showPixels } from './pixels.js';
import { Reader, drawing, numbers, parseRow, photo } from './sample.js';
import { Strip } from './strip.js';
import { Tasks } from './tasks.js';
import { Teach } from './teach.js';

/** The server's name for the held-out rows of the built-in data set. */
const BUILT_IN = 'digits, test part';

let model = null;
let reader = null;
let exam = null;
let typed = null;
let tasks = new Tasks();

const taskOf = (name) => tasks.of(name);
const bars = new Bars();
const network = new Network();
const strip = new Strip();
const live = new Live({
  reader: () => reader,
  onAnswer: showAnswer,
  onBusy: (busy) => byId('verdict').setAttribute('aria-busy', busy),
  onProblem: (words) => say('answer-problem', words),
});
const pad = new Pad(byId('pad'), { onChange: showSample, onEnter: () => teach.add(current()) });
const teach = new Teach({
  reader: () => reader,
  current,
  onAdded: startOver,
  onChange: refresh,
  builtIn: unlearned,
  summary: () => strip.summary(),
});

/** The current sample, or null. */
function current() {
  if (!reader) return null;
  if (typed) return typed;
  if (pad.picture) return photo(pad.picture.bitmap, pad.picture.file);
  return pad.isEmpty ? null : drawing(pad.strokes);
}

function showSample() {
  byId('pad-hint').hidden = !pad.isEmpty;
  const sample = current();
  if (!reader) return;
  // A model that knows nothing yet has no answer, but what it sees is still shown.
  if (model.classes.length) live.show(sample);
  else showAnswer(null, sample && !reader.takesImages ? reader.row(sample) : null);
  teach.refresh();
}

function showAnswer(answer, row) {
  bars.show(answer);
  network.light(answer);
  showSeen(row);
}

function showSeen(row) {
  const seen = byId('seen');
  seen.hidden = !reader.shape;
  if (seen.hidden) return;
  seen.title = `${reader.shape.width} × ${reader.shape.height} pixels`;
  showPixels(seen, row, reader.shape);
}

function startOver() {
  pad.clear();
  byId('row').value = '';
  typed = null;
  showSample();
}

function take(pictures) {
  if (pictures.length === 1) return pad.show(pictures[0]);
  for (const { bitmap, file } of pictures) teach.add(photo(bitmap, file));
}

function readRow() {
  typed = null;
  try {
    const row = parseRow(byId('row').value, model?.n_features);
    if (row.length) typed = numbers(row);
    say('row-problem', '');
  } catch (problem) {
    say('row-problem', problem.message);
  }
  showSample();
}

/** What a visitor could teach next: built-in classes, which can be taught without drawing. */
function unlearned() {
  if (exam?.data !== BUILT_IN) return [];
  return exam.classes.filter(({ known }) => !known).map((one) => one.class);
}

function say(id, words) {
  if (byId(id).textContent !== words) byId(id).textContent = words;
}

/** Reloads everything that a change may affect. */
async function refresh() {
  const [fresh, growth] = await Promise.all([api.model(), api.growth()]);
  model = fresh;
  exam = await examine();
  const shown = exam?.strip?.map(({ row }) => row) ?? [];
  reader = new Reader(model, shown);
  tasks = new Tasks(growth.growth);
  model.classes = tasks.sorted(model.classes);
  bars.setClasses(model.classes, taskOf);
  network.grow(growth.kind, grown(growth.growth), model.classes);
  strip.show(exam && tasks.examined(exam), reader.shape);
  teach.canTeach = model.learns;
  teach.canUndo = model.undo;
  showModel();
  showSample();
}

/** The result on the held-out rows; null without them, or as long as the token that shows them is missing. */
async function examine() {
  if (!model.held_out || (model.needs_token && !api.hasToken)) return null;
  try {
    return await api.heldOut();
  } catch (problem) {
    if (problem.status === 401) return null;
    throw problem;
  }
}

/** Whether "unknown" is allowed, and whether the model can answer it yet. */
function allowUnknown() {
  const wanted = byId('reject').checked;
  live.reject = wanted && model.rejects;
  bars.cannotReject = wanted && !model.rejects && deploys();
}

/** A reactivation model cannot be deployed, and never answers "unknown". */
function deploys() {
  return model.learner !== 'reactivation';
}

/** The growth record; a deployed model has none and is shown as a single task. */
function grown(growth) {
  if (growth.length || !model.nodes) return growth;
  return [{ task: 1, recruited: model.nodes, nodes: model.nodes, new_classes: model.classes }];
}

function showModel() {
  const known = model.classes;
  const next = unlearned()[0];
  say(
    'facts',
    `${model.learner} · ${plural(known.length, 'class', 'classes')} · ${plural(model.nodes, 'node')}`,
  );
  say('headline', headline(next));
  say('promise', promise(next));
  byId('teach-form').closest('section').hidden = byId('add').hidden = !model.learns;
  byId('reject').closest('label').hidden = !deploys();
  allowUnknown();
  byId('token-form').hidden = !model.needs_token;
  byId('pad-area').hidden = !reader.draws;
  byId('row-area').hidden = reader.takesImages || Boolean(model.image);
  for (const kind of ['model', 'onnx']) byId(`download-${kind}`).closest('li').hidden = !deploys();
  showSeen(null);
  byId('class-name').maxLength = model.limits?.class_name ?? 200;
  byId('class-name').placeholder = next ?? 'star, my cup ...';
  showClasses(model, taskOf, refresh);
  teach.show();
}

function headline(next) {
  if (!model.learns) return `It knows ${listOf(model.classes)}`;
  return next ? `It knows ${listOf(model.classes)}. Teach it ${next}.` : 'Teach it something new';
}

function promise(next) {
  if (!model.learns) return 'This model only predicts; it cannot be taught.';
  if (!next) return 'Draw it a few times, name it, and press Teach. It learns in a moment and keeps what it knew.';
  return `Draw a ${next} three times, name it, and press Teach. It learns in a moment and keeps what it knew.`;
}

function listOf(names) {
  if (names.length > 6) return plural(names.length, 'class', 'classes');
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? 'nothing');
}

function listen() {
  byId('clear').addEventListener('click', startOver);
  byId('row').addEventListener('input', readRow);
  byId('reject').addEventListener('change', () => {
    allowUnknown();
    live.again();
  });
  byId('token').addEventListener('input', ({ target }) => api.useToken(target.value));
  byId('token').addEventListener('change', start);
  byId('token-form').addEventListener('submit', (event) => event.preventDefault());
  const onProblem = (words) => say('input-problem', words);
  listenForPictures({ target: byId('pad-area'), onPictures: take, onProblem });
  listenForDownloads();
  listenForCamera({ onPicture: (picture) => take([picture]), onProblem });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => reader && refresh());
  api.onConnection((now, before) => {
    byId('connection').dataset.state = now ? 'on' : 'off';
    say('connection', now ? 'connected' : 'connection lost, trying again');
    if (now && before === false) start();
  });
}

async function start() {
  try {
    await refresh();
  } catch (problem) {
    // A server may show nothing without a token.
    if (problem.status === 401) byId('token-form').hidden = false;
    say('input-problem', problem.message);
  }
}

listen();
start();
