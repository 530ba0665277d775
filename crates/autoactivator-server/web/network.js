// What happens inside? `Network` draws the nodes that each task recruited (layout.js says where) and lights
// up those that support the answer, or the units of a reactivation model (units.js). Uses /v1/growth and /v1/explain.

import { byId, hue, make, plural, svg } from './dom.js';
import { downwards, lines, sideways, spaced, stack } from './layout.js';
import { unitsOf } from './units.js';

/** Largest number of classes that links lead to: the latest ones. */
const LINKED = 20;

export class Network {
  #growth = [];
  #answer = null;
  #known = 0;
  #dots = [];

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
    if (this.kind === 'reactivation') this.#drawUnits();
    else this.#lightNodes();
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
    byId('network-text').textContent =
      'One unit per task. The unit whose confidence is nearest its threshold wakes up and answers.';
    this.place.replaceChildren(unitsOf(this.#growth, this.#answer));
  }

  #drawNodes() {
    const width = this.place.clientWidth;
    const narrow = width < 620;
    const clusters = narrow ? stack(this.#growth, width - 84) : lines(this.#growth, width);
    const bottom = Math.max(...clusters.map((cluster) => cluster.y + cluster.height));
    const shown = this.classes.slice(-LINKED);
    const height = narrow ? Math.max(bottom, 40 * shown.length) + 2 : bottom + 120;
    const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' });
    picture.setAttribute('aria-label', this.#words());
    this.links = svg('g', {});
    picture.append(this.links);
    this.#dots = [];
    for (const cluster of clusters) picture.append(this.#cluster(cluster));
    const place = narrow
      ? (i) => [width - 22, spaced(i, shown.length, height, 46)]
      : (i) => [spaced(i, shown.length, width, 110), height - 22];
    this.outputs = new Map(shown.map((name, i) => [name, this.#output(picture, name, ...place(i))]));
    Object.assign(this, { clusters, narrow });
    this.place.replaceChildren(picture);
    byId('network-text').textContent = this.#words();
    this.#lightNodes();
  }

  #words() {
    const nodes = this.#growth.at(-1)?.nodes ?? 0;
    const tasks = plural(this.#growth.length, 'task');
    return `${plural(nodes, 'node')} recruited in ${tasks}. Filled dots speak for the answer, rings against it; the more, the larger.`;
  }

  #cluster({ task, x, y, width, height, columns, pitch, dots, title, note }) {
    const group = svg('g', {
      class: `cluster hue-${hue(task)}${task > this.#known && this.#known ? ' born' : ''}`,
    });
    group.append(svg('rect', { class: 'cluster-box', x, y, width, height, rx: 12 }));
    const heading = svg('text', { class: 'cluster-title', x: x + 12, y: y + 20 });
    heading.textContent = title;
    const small = svg('text', { class: 'cluster-note', x: x + 12, y: y + 36 });
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

  #output(picture, name, x, y) {
    const ring = svg('circle', { class: 'output', cx: x, cy: y, r: 18 });
    const label = svg('text', { class: 'output-name', x, y: y + 5 });
    label.textContent = name.length > 4 ? `${name.slice(0, 3)}…` : name;
    picture.append(ring, label);
    return { x, y, ring, label };
  }

  #lightNodes() {
    if (!this.clusters) return;
    const { nodes = [], groups = this.#atRest(), class: best } = this.#answer ?? {};
    const winner = best ?? mostLikely(this.#answer?.probabilities);
    const most = Math.max(1e-9, ...nodes.map((node) => Math.abs(node.evidence)));
    const ofTask = byTask(nodes);
    for (const { task, i, dot } of this.#dots) {
      const part = (ofTask.get(task)?.[i]?.evidence ?? 0) / most;
      dot.classList.toggle('awake', part > 0.04);
      dot.classList.toggle('against', part < -0.04);
      dot.style.setProperty('--evidence', Math.sqrt(Math.abs(part)).toFixed(3));
    }
    for (const [name, { ring, label }] of this.outputs) {
      ring.classList.toggle('best', name === winner && best !== null);
      label.classList.toggle('best', name === winner && best !== null);
    }
    this.#link(groups, winner);
  }

  /** Without an answer: thin links from each task to the classes that came with it. */
  #atRest() {
    return this.#growth.map(({ task, new_classes }) => ({
      task,
      evidence: Object.fromEntries((new_classes ?? []).map((name) => [name, 0])),
    }));
  }

  #link(groups, winner) {
    const all = groups.flatMap(({ evidence }) => Object.values(evidence).map(Math.abs));
    const most = Math.max(1e-9, ...all);
    const links = [];
    for (const { task, evidence } of groups) {
      const from = this.clusters.find((cluster) => cluster.task === task);
      if (!from) continue;
      for (const [name, { x, y }] of this.outputs) {
        const part = (evidence[name] ?? -1) / most;
        if (part < (this.#answer ? 0.05 : 0)) continue;
        const d = this.narrow ? sideways(from, x, y) : downwards(from, x, y);
        const link = svg('path', { d, class: `link hue-${hue(task)}${name === winner ? ' best' : ''}` });
        link.style.strokeWidth = `${(1 + 7 * part).toFixed(1)}px`;
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

function mostLikely(probabilities = {}) {
  return Object.entries(probabilities).sort(([, a], [, b]) => b - a)[0]?.[0];
}
