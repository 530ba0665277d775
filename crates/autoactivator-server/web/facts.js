// What is this model? The words at the top of the page, and which of its parts a model of this kind has.

import { byId, listed, plural, quoted, say } from './dom.js';

/** A reactivation model cannot be deployed, and never answers "unknown". */
export const deploys = ({ learner }) => learner !== 'reactivation';

/** Shows what the model knows and can do; `next` is a class that could be taught without examples of one's own. */
export function showFacts(model, next, words) {
  const { classes, drift, learns, learner, nodes } = model;
  const strange = drift?.warnings ? ' · rows have become stranger than those it learned' : '';
  say('facts', `${learner} · ${plural(classes.length, 'class', 'classes')} · ${plural(nodes, 'node')}${strange}`);
  say('headline', headline(classes, learns, next, words));
  say('promise', learns ? promise(classes, next, words) : 'This model only predicts; it cannot be taught.');
  for (const id of ['teach-form', 'add']) byId(id).hidden = !learns;
  byId('teach').closest('section').hidden = !learns;
  byId('reject').closest('label').hidden = !deploys(model);
  byId('token-form').hidden = !model.needs_token;
  for (const kind of ['model', 'onnx']) byId(`download-${kind}`).closest('li').hidden = !deploys(model);
  byId('class-name').maxLength = model.limits?.class_name ?? 100;
}

function headline(classes, learns, next, { many }) {
  if (!classes.length) return `It knows nothing yet. Teach it with ${many}.`;
  const known = classes.length > 6 || classes.join('').length > 40
    ? plural(classes.length, 'class', 'classes')
    : listed(classes.map((name) => `\u2068${name}\u2069`));
  if (!learns) return `It knows ${known}`;
  return `It knows ${known}. Teach it ${next ?? 'another'}.`;
}

function promise(classes, next, words) {
  if (classes.length === 1)
    return `It knows only ${quoted(classes)}. Teach it a second class, and it can tell them apart and say “unknown”.`;
  return words.promise(next && `a ${next}`);
}
