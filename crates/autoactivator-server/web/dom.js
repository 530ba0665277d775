// How are elements found, made and filled? Small helpers that every other module uses.

export const byId = (id) => document.getElementById(id);

/** An element with properties, attributes (`aria-label`, `data-x`) and children; text is always text. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role') element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** The same in SVG, where everything is an attribute. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A name of any length and script, kept apart from the words around it; the whole of it is its title. */
export const named = (className, name) => make('bdi', { className, dir: 'auto', title: name }, name);

/** Writes words where others stand; the same words are not written again, so that nobody hears them twice. */
export function say(id, words) {
  if (byId(id).textContent !== words) byId(id).textContent = words;
}

export const percent = (part, digits = 0) => `${(100 * part).toFixed(digits)}\u202f%`;

/** A probability in words that never claim certainty. */
export function likely(p) {
  if (p >= 0.995) return `>\u202f${percent(0.99)}`;
  return p < 0.005 ? `<\u202f${percent(0.01)}` : percent(p);
}

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

/** Names in quotation marks, as isolated text: a name may be written from right to left. */
export const quoted = (names) => listed(names.map((name) => `“\u2068${name}\u2069”`));

/** A list in words; of long ones only the beginning. */
export function listed(names, most = 6) {
  const shown = names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} more`] : names;
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : (shown[0] ?? '');
}
