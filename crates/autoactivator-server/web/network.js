// What happens inside? `Network` draws the nodes that each task recruited (layout.js says where) and lights up those that
// speak for the answer, or the units of a reactivation model (units.js). The class that answers is always in view.

import { byId, make, plural, say, svg } from './dom.js';
import { chosen, downwards, fit, lines, pillWidth, sideways, spaced, stack } from './layout.js';
import { unitsOf } from './units.js';

/** Up to so many classes, each has a place of its own. */
const FEW = 10;

/** Of more classes, so many are drawn: the likeliest, or the latest if nothing is shown. */
const MOST = 6;

export class Network {
  #growth = [];
  #answer = null;
  #known = 0;
  #dots = [];
  #pinned = null;
  #places = new Map();

  constructor() {
    this.place = byId('network');
    let width = 0;
    new ResizeObserver(() => {
      if (Math.abs(this.place.clientWidth - width) < 2) return;
      width = this.place.clientWidth;
      this.#draw();
    }).observe(this.place);
  }

  /** Takes the growth record and redraws everything. */
  grow(kind, growth, classes) {
    Object.assign(this, { kind, classes });
    this.#growth = growth;
    this.#answer = null;
    this.#draw();
    this.#known = Math.max(this.#known, growth.length);
  }

  /** Lights up the explanation of an answer; null returns everything to rest. */
  light(answer) {
    this.#answer = answer;
    if (this.kind === 'reactivation') return this.#drawUnits();
    const pinned = this.#strongest();
    if (pinned !== this.#pinned && this.#growth.length) this.#draw();
    else this.#lightNodes();
  }

  /** The class that speaks loudest, also if the answer is "unknown". */
  get #winner() {
    return this.#ranked()[0];
  }

  #ranked() {
    const ranked = Object.entries(this.#answer?.probabilities ?? {}).sort(([, a], [, b]) => b - a);
    const names = ranked.map(([name]) => name);
    const best = this.#answer?.class;
    return best ? [best, ...names.filter((name) => name !== best)] : names;
  }

  /** The task whose nodes speak most for the answer. */
  #strongest() {
    const winner = this.#winner;
    const groups = this.#answer?.groups ?? [];
    if (!winner || !groups.length) return null;
    return groups.reduce((a, b) => ((b.evidence[winner] ?? 0) > (a.evidence[winner] ?? 0) ? b : a)).task;
  }

  #draw() {
    if (!this.kind || !this.place.clientWidth) return;
    if (this.kind === 'reactivation') this.#drawUnits();
    else if (this.#growth.length) this.#drawNodes();
    else
      this.place.replaceChildren(
        make('p', { className: 'help' }, 'No nodes yet: they are recruited with the first class.'),
      );
  }

  #drawUnits() {
    say('network-text', 'One unit per task. The unit whose confidence is nearest its threshold wakes up and answers.');
    this.place.replaceChildren(unitsOf(this.#growth, this.#answer));
  }

  #drawNodes() {
    const width = this.place.clientWidth;
    const narrow = width < 620;
    this.#pinned = this.#strongest();
    const tasks = chosen(this.#growth, this.#pinned);
    const clusters = narrow ? stack(tasks, width - 116) : lines(tasks, width);
    const bottom = Math.max(...clusters.map((cluster) => cluster.y + cluster.height));
    const places = Math.min(this.classes.length, this.classes.length > FEW ? MOST : FEW);
    const height = narrow ? Math.max(bottom, 44 * places) + 2 : bottom + 112;
    const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' });
    picture.setAttribute('aria-label', this.#words());
    Object.assign(this, { clusters, narrow, width, height });
    [this.links, this.outputs] = [svg('g', {}), svg('g', {})];
    this.#dots = [];
    picture.append(this.links, ...clusters.map((cluster) => this.#cluster(cluster)), this.outputs);
    this.place.replaceChildren(picture);
    const titles = [...picture.querySelectorAll('.cluster-title')];
    clusters.forEach(({ title, width }, i) => fit(titles[i], title, width - 24));
    say('network-text', this.#words());
    this.#lightNodes();
  }

  #words() {
    const nodes = this.#growth.at(-1)?.nodes ?? 0;
    const tasks = plural(this.#growth.length, 'task');
    return `${plural(nodes, 'node')} recruited in ${tasks}. Filled dots speak for the answer, rings against it; the more, the larger.`;
  }

  #cluster({ task, x, y, width, height, columns, pitch, dots, note }) {
    const born = this.#known && task > this.#known ? ' born' : '';
    const group = svg('g', { class: `cluster${born}` });
    group.append(svg('rect', { class: 'cluster-box', x, y, width, height, rx: 12 }));
    const heading = svg('text', { class: 'cluster-title', x: x + 12, y: y + 21 });
    const small = svg('text', { class: 'cluster-note', x: x + 12, y: y + 37 });
    small.textContent = note;
    group.append(heading, small);
    const left = x + width / 2 - ((columns - 1) * pitch) / 2;
    for (let i = 0; i < dots; i++) {
      const [cx, cy] = [left + (i % columns) * pitch, y + 56 + Math.floor(i / columns) * pitch];
      const dot = svg('circle', { class: 'node', cx, cy, r: 0.31 * pitch });
      dot.style.animationDelay = `${Math.min(900, 12 * i)}ms`;
      this.#dots.push({ task, i, dot });
      group.append(dot);
    }
    return group;
  }

  /** The classes to draw: all of few; of many, the likeliest, or the latest. */
  #shown() {
    if (this.classes.length <= FEW) return this.classes;
    return this.#answer ? this.#ranked().slice(0, MOST) : this.classes.slice(-MOST);
  }

  /** Draws the classes and returns where each is. */
  #placeOutputs() {
    const names = this.#shown();
    // Most answers while one draws are like the one before: then nothing is measured again.
    const same = JSON.stringify([names, this.#answer?.class]);
    if (this.outputs.dataset.shown === same) return this.#places;
    this.outputs.dataset.shown = same;
    const room = this.narrow ? 100 : (this.width - 8) / names.length - 10;
    const places = new Map();
    const pills = names.map((name, i) => {
      const width = pillWidth(name, Math.min(room, 190));
      const x = this.narrow ? this.width - width / 2 - 2 : spaced(i, names.length, this.width, 200);
      const y = this.narrow ? spaced(i, names.length, this.height, 50) : this.height - 20;
      places.set(name, { x, y, width });
      const best = name === this.#answer?.class ? ' best' : '';
      const pill = svg('rect', { class: `output${best}`, x: x - width / 2, y: y - 17, width, height: 34, rx: 17 });
      const label = svg('text', { class: `output-name${best}`, x, y: y + 5 });
      const title = svg('title');
      title.textContent = name;
      return svg('g', {}, title, pill, label);
    });
    this.outputs.replaceChildren(...pills);
    names.forEach((name, i) => fit(pills[i].lastChild, name, places.get(name).width - 18));
    this.#places = places;
    return places;
  }

  #lightNodes() {
    if (!this.clusters) return;
    const { nodes = [], groups = this.#atRest() } = this.#answer ?? {};
    const most = Math.max(1e-9, ...nodes.map((node) => Math.abs(node.evidence)));
    const ofTask = byTask(nodes);
    for (const { task, i, dot } of this.#dots) {
      const part = (ofTask.get(task)?.[i]?.evidence ?? 0) / most;
      dot.classList.toggle('awake', part > 0.04);
      dot.classList.toggle('against', part < -0.04);
      dot.style.setProperty('--evidence', Math.sqrt(Math.abs(part)).toFixed(3));
    }
    this.#link(groups, this.#placeOutputs());
  }

  /** Without an answer: thin links from each task to the classes that came with it. */
  #atRest() {
    return this.#growth.map(({ task, new_classes }) => ({
      task,
      evidence: Object.fromEntries((new_classes ?? []).map((name) => [name, 0])),
    }));
  }

  #link(groups, places) {
    const winner = this.#winner;
    const drawn = groups.filter(({ task }) => this.clusters.some((cluster) => cluster.task === task));
    const all = drawn.flatMap(({ evidence }) => [...places.keys()].map((name) => Math.abs(evidence[name] ?? 0)));
    const most = Math.max(1e-9, ...all);
    const strongest = this.#answer && this.#strongest();
    const links = [];
    for (const { task, evidence } of drawn) {
      const from = this.clusters.find((cluster) => cluster.task === task);
      for (const [name, place] of places) {
        let part = (evidence[name] ?? -1) / most;
        // The answer is always linked to the task that speaks most for it, or least against it.
        if (name === winner && task === strongest) part = Math.max(0.05, part);
        if (part < (this.#answer ? 0.05 : 0)) continue;
        const d = this.narrow ? sideways(from, place) : downwards(from, place);
        const best = name === winner && this.#answer?.class !== null ? ' best' : '';
        const link = svg('path', { d, class: `link${best}` });
        link.style.strokeWidth = `${(1 + 6 * part).toFixed(1)}px`;
        links.push(link);
      }
    }
    this.links.replaceChildren(...links);
  }
}

function byTask(nodes) {
  const groups = new Map();
  for (const node of nodes) {
    if (!groups.has(node.task)) groups.set(node.task, []);
    groups.get(node.task).push(node);
  }
  return groups;
}
