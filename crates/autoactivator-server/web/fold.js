// How is a long list shown? Its beginning, and a button for the rest; what was opened stays open.

import { make } from './dom.js';

const opened = new Set();

/** Fills a list with its first items, and a button behind it that shows all of them. `key` names the list. */
export function fold(list, items, most, key = list.id) {
  const rest = items.length - most;
  const all = opened.has(key) || rest <= 1;
  list.replaceChildren(...(all ? items : items.slice(0, most)));
  list.nextElementSibling?.matches('.more') && list.nextElementSibling.remove();
  if (rest <= 1) return;
  const more = make(
    'button',
    { type: 'button', className: 'more', 'aria-expanded': all },
    all ? 'Show fewer' : `${rest.toLocaleString('en')} more`,
  );
  more.addEventListener('click', () => {
    if (!opened.delete(key)) opened.add(key);
    fold(list, items, most, key);
    list.nextElementSibling?.focus();
  });
  list.after(more);
}
