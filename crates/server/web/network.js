// What happens inside? `Network` draws the nodes of each task and lights those that speak for the answer; for a model of
// units it draws each unit's threshold and which unit wakes. From /v1/growth and /v1/explain.

import { byId, hue, make, plural, svg } from './dom.js';

/** Dots drawn for a task at the most. */
const DOTS = 512;
const PITCH = 15;

/** The least width of a box: its title must fit. */
const LEAST = 132;

/** Classes that links lead to at the most. */
const LINKED = 10;

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

  /** Takes what each task caused, and draws it anew. */
  grow(kind, growth, classes) {
    Object.assign(this, { kind, classes });
    this.#growth = growth;
    this.#answer = null;
    this.#draw();
    this.#known = Math.max(this.#known, growth.length);
  }

  /** Lights up what an answer says about itself; null lets everything rest. */
  light(answer) {
    this.#answer = answer;
    if (this.kind === 'reactivation') this.#drawUnits();
    else this.#lightNodes();
  }

  #draw() {
    if (!this.kind || !this.place.clientWidth) return;
    if (this.kind === 'reactivation') this.#drawUnits();
    else if (this.#growth.length) this.#drawNodes();
    else this.place.replaceChildren(make('p', { className: 'help' }, 'No nodes yet: they are recruited with the first class.'));
  }

  // Consolidation: clusters of nodes on the left, classes on the right, links between them.

  #drawNodes() {
    const width = this.place.clientWidth;
    const narrow = width < 620;
    const clusters = narrow ? stack(this.#growth, width - 84) : line(this.#growth, width);
    const bottom = Math.max(...clusters.map((cluster) => cluster.y + cluster.height));
    const shown = this.classes.slice(-LINKED);
    const height = narrow ? Math.max(bottom, 40 * shown.length) + 2 : bottom + 120;
    const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' });
    picture.setAttribute('aria-label', this.#words());
    this.links = svg('g', {});
    picture.append(this.links);
    this.#dots = [];
    for (const cluster of clusters) picture.append(this.#cluster(cluster));
    const place = narrow ? (i) => [width - 22, spaced(i, shown.length, height, 46)] : (i) => [spaced(i, shown.length, width, 110), height - 22];
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
    const group = svg('g', { class: `cluster hue-${hue(task)}${task > this.#known && this.#known ? ' born' : ''}` });
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

  /** Without an answer, thin links from each task to the classes that came with it. */
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

  // Reactivation: each unit's threshold, what this input gives it, and which is nearest.

  #drawUnits() {
    const said = new Map((this.#answer?.units ?? []).map((unit) => [unit.task, unit]));
    byId('network-text').textContent =
      'One unit per task. The unit whose confidence is nearest its threshold wakes, and answers.';
    const units = this.#growth.map((entry, i) => {
      const task = entry.task ?? i + 1;
      return this.#unit(task, { ...entry, ...said.get(task) });
    });
    this.place.replaceChildren(make('ul', { className: 'units' }, ...units));
  }

  #unit(task, { nodes, classes, new_classes, threshold, given, distance, awake }) {
    const names = Array.isArray(classes) ? classes : (new_classes ?? []);
    const scale = svg('svg', { class: 'gauge', viewBox: '0 0 200 26', role: 'img' });
    scale.append(svg('line', { class: 'gauge-line', x1: 6, x2: 194, y1: 13, y2: 13 }));
    const at = (value) => 6 + 188 * Math.max(0, Math.min(1, value));
    const facts = [`${plural(nodes ?? 0, 'node')}`];
    if (threshold !== undefined) {
      facts.push(`threshold ${threshold.toFixed(3)}`);
      if (given !== undefined) {
        facts.push(`this input ${given.toFixed(3)}`, `apart ${distance.toFixed(3)}`);
        scale.append(svg('line', { class: 'gauge-gap', x1: at(given), x2: at(threshold), y1: 13, y2: 13 }));
        scale.append(svg('circle', { class: 'gauge-given', cx: at(given), cy: 13, r: 6 }));
      }
      scale.append(svg('rect', { class: 'gauge-threshold', x: at(threshold) - 2, y: 2, width: 4, height: 22, rx: 2 }));
    }
    scale.setAttribute('aria-label', facts.join(', '));
    const title = make('strong', {}, `Task ${task} · ${names.join(' ')}${awake ? ' · awake' : ''}`);
    const line = make('span', { className: 'help' }, facts.join(' · '));
    return make('li', { className: `unit hue-${hue(task)}${awake ? ' awake' : ''}` }, title, scale, line);
  }
}

/** Boxes one below the other, for narrow pages. */
function stack(growth, width) {
  const columns = Math.floor((width - 24) / PITCH);
  let y = 1;
  return growth.map((entry) => {
    const box = boxOf(entry, columns, PITCH, { x: 1, y, width });
    y += box.height + 12;
    return box;
  });
}

/** Boxes of one height side by side: with as few rows of dots as the width allows, then with as much air. */
function line(growth, width) {
  const gap = 16;
  const room = width - 2 - gap * (growth.length - 1);
  const dots = growth.map(({ recruited }) => Math.min(DOTS, recruited));
  const widths = (rows, pitch) => dots.map((n) => Math.max(LEAST, 26 + Math.ceil(n / rows) * pitch));
  const total = (rows, pitch) => widths(rows, pitch).reduce((sum, one) => sum + one, 0);
  let rows = 5;
  while (total(rows, PITCH) > room && rows < 40) rows++;
  const pitch = PITCH * Math.max(0.6, Math.min(1.5, room / total(rows, PITCH)));
  const spare = Math.max(0, room - total(rows, pitch)) / growth.length;
  let x = 1;
  return growth.map((entry, i) => {
    const own = widths(rows, pitch)[i] + spare;
    const box = boxOf(entry, Math.max(1, Math.ceil(dots[i] / rows)), pitch, { x, y: 1, width: own });
    x += own + gap;
    return { ...box, height: 56 + rows * pitch };
  });
}

function boxOf({ task, recruited, new_classes }, columns, pitch, place) {
  const dots = Math.min(DOTS, recruited);
  const names = (new_classes ?? []).join(' ');
  const title = names ? `Task ${task} · ${names.length > 14 ? `${names.slice(0, 13)}…` : names}` : `Task ${task}`;
  const part = recruited > DOTS ? `, ${DOTS} drawn` : '';
  const note = recruited ? `+ ${plural(recruited, 'node')}${part}` : 'no new nodes';
  const height = 56 + Math.max(1, Math.ceil(dots / columns)) * pitch;
  return { task, dots, columns, pitch, title, note, height, ...place };
}

/** Where the i-th of n stands in a length, at most `step` apart, around the middle. */
const spaced = (i, n, length, step) => length / 2 + (i - (n - 1) / 2) * Math.min(step, (length - 40) / n);

function sideways(from, x, y) {
  const [x0, y0] = [from.x + from.width, from.y + from.height / 2];
  return `M${x0} ${y0} C${x0 + 30} ${y0} ${x - 44} ${y} ${x - 18} ${y}`;
}

function downwards(from, x, y) {
  const [x0, y0] = [from.x + from.width / 2, from.y + from.height];
  return `M${x0} ${y0} C${x0} ${y0 + 50} ${x} ${y - 70} ${x} ${y - 18}`;
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
