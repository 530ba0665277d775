// Which unit wakes? Each unit of a reactivation model with its threshold, how sure it is of this input, and
// the distance between the two; or, if units wake by density, how likely the input is the unit's.

import { make, plural, svg } from './dom.js';

/** A list of the units; at rest without an answer. */
export function unitsOf(growth, answer) {
  const said = new Map((answer?.units ?? []).map((one) => [one.task, one]));
  const units = growth.map((entry, i) => {
    const task = entry.task ?? i + 1;
    return unit(task, { ...entry, ...said.get(task) });
  });
  return make('ul', { className: 'units' }, ...units);
}

function unit(task, { nodes, classes, new_classes, threshold, given, distance, likely, awake }) {
  const names = Array.isArray(classes) ? classes : (new_classes ?? []);
  const scale = svg('svg', { class: 'gauge', viewBox: '0 0 200 26', role: 'img' });
  scale.append(svg('line', { class: 'gauge-line', x1: 6, x2: 194, y1: 13, y2: 13 }));
  const at = (value) => 6 + 188 * Math.max(0, Math.min(1, value));
  const facts = [`${plural(nodes ?? 0, 'node')}`];
  if (likely !== undefined) {
    facts.push(`likely ${(100 * likely).toFixed(1)} %`);
    scale.append(svg('line', { class: 'gauge-gap', x1: at(0), x2: at(likely), y1: 13, y2: 13 }));
    scale.append(svg('circle', { class: 'gauge-given', cx: at(likely), cy: 13, r: 6 }));
  } else if (threshold !== undefined) {
    facts.push(`threshold ${threshold.toFixed(3)}`);
    if (given !== undefined) {
      facts.push(`this input ${given.toFixed(3)}`, `distance ${distance.toFixed(3)}`);
      scale.append(svg('line', { class: 'gauge-gap', x1: at(given), x2: at(threshold), y1: 13, y2: 13 }));
      scale.append(svg('circle', { class: 'gauge-given', cx: at(given), cy: 13, r: 6 }));
    }
    scale.append(
      svg('rect', { class: 'gauge-threshold', x: at(threshold) - 2, y: 2, width: 4, height: 22, rx: 2 }),
    );
  }
  scale.setAttribute('aria-label', facts.join(', '));
  const title = make('strong', {}, `Task ${task} · ${names.join(' ')}${awake ? ' · awake' : ''}`);
  const line = make('span', { className: 'help' }, facts.join(' · '));
  return make('li', { className: `unit${awake ? ' awake' : ''}` }, title, scale, line);
}
