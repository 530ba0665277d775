// What does the model take, and what is that called? Every word of the page about what is shown comes from here.

export const DRAWINGS = 'drawings';
export const PHOTOS = 'photos';
export const TEXTS = 'texts';
export const ROWS = 'rows';

const WORDS = {
  [DRAWINGS]: {
    one: 'drawing',
    many: 'drawings',
    show: 'Show it a drawing',
    hint: 'Draw here',
    help:
      'You can also drop or paste pictures. Keys: arrows move the pen, Space lowers and lifts it, Backspace undoes a ' +
      'stroke, Enter adds an example.',
    missing: 'Draw something first.',
    promise: (name) =>
      `Draw ${name ?? 'it'} three times, name it, and press Teach. It learns in a moment and keeps what it knew.`,
    examples: 'Draw it, add it as an example, draw it again. Three examples are a good start.',
  },
  [PHOTOS]: {
    one: 'photograph',
    many: 'photographs',
    show: 'Show it a photograph',
    hint: 'Drop photographs here',
    help: 'One to ask about, many to teach. A folder is a class, and its name is the name of the class.',
    missing: 'Choose a photograph first.',
    promise: () =>
      'Drop a few photographs of it, name it, and press Teach. It learns in a moment and keeps what it knew.',
    examples: 'Five photographs from different sides are a good start. Drop several at once, or whole folders.',
  },
  [TEXTS]: {
    one: 'sentence',
    many: 'sentences',
    show: 'Show it a sentence',
    hint: 'Type a sentence',
    label: 'A sentence, or several, one on each line',
    help: 'One sentence to ask about. Several lines are several examples.',
    missing: 'Type a sentence first.',
    promise: () =>
      'Type a few sentences that mean the same, name them, and press Teach. It learns in a moment and keeps what it knew.',
    examples: 'Five sentences in different words are a good start.',
  },
  [ROWS]: {
    one: 'row',
    many: 'rows',
    show: 'Show it a row',
    hint: 'Numbers, separated by commas or spaces',
    label: 'A row of numbers, or several, one on each line',
    help: 'One row to ask about. Several lines are several examples.',
    missing: 'Type a row first.',
    promise: () =>
      'Type a few rows of it, name it, and press Teach. It learns in a moment and keeps what it knew.',
    examples: 'A few typical rows are a good start.',
  },
};

/** The words for a kind. */
export const wordsOf = (kind) => WORDS[kind];

/** The kind of what a model takes. */
export function kindOf(model) {
  if (model.takes === 'images') return PHOTOS;
  if (model.takes === 'texts') return TEXTS;
  return shapeOf(model) ? DRAWINGS : ROWS;
}

/** The shape of the rows of a model that takes pixels; null for any other. */
export function shapeOf(model) {
  return model.takes === 'rows' ? (model.image ?? squareOf(model)) : null;
}

/** Rows without names may be pixels if their number is a square; a model that knows nothing yet gets 16 x 16. */
function squareOf({ n_features, features, origin }) {
  const side = n_features ? Math.sqrt(n_features) : 16;
  return !features && !origin && Number.isInteger(side) && side >= 6 ? { height: side, width: side, channels: 1 } : null;
}
