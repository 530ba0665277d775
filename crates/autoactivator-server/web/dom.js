// How are elements found, made and filled? Three helpers that every other module uses.

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

export const percent = (part, digits = 0) => `${(100 * part).toFixed(digits)}\u202f%`;

export const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** The colour of a task in the palette of six, from 1. */
export const hue = (task) => ((task - 1) % 6) + 1;
