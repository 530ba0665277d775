// What does it know? The classes with the number of rows learned of each, and a button that drops one after asking.

import { api } from './api.js';
import { byId, make, named, plural } from './dom.js';
import { fold } from './fold.js';

/** Classes shown at once. */
const MOST = 24;

/** Shows the classes; `onDropped(name)` is called after one was dropped. */
export function showClasses({ classes, rows, learns, undo }, onDropped) {
  fold(
    byId('classes'),
    classes.map((name) => {
      const count = rows?.[name];
      const label = named('class-name', name);
      const small = make(
        'span',
        { className: 'class-rows' },
        count == null ? '' : plural(Math.round(count), 'row'),
      );
      const item = make('li', { className: 'class' }, label, small);
      if (learns && undo) item.append(dropButton(name, onDropped));
      return item;
    }),
    MOST,
  );
  if (!classes.length) byId('classes').replaceChildren(make('li', { className: 'help' }, 'Nothing yet.'));
}

function dropButton(name, onDropped) {
  const button = make(
    'button',
    { type: 'button', className: 'remove', 'aria-label': `Drop class ${name}` },
    '×',
  );
  button.addEventListener('click', async () => {
    if (
      !(await confirmed(
        `Drop “${name}”? The model forgets it; only teaching it again brings it back.`,
        `Drop ${name}`,
      ))
    )
      return button.focus();
    button.disabled = true;
    try {
      await api.dropClass(name);
      byId('classes-problem').textContent = '';
      await onDropped(name);
    } catch (problem) {
      byId('classes-problem').textContent = problem.message;
      button.disabled = false;
    }
  });
  return button;
}

function confirmed(question, yes) {
  const dialog = byId('confirm');
  byId('confirm-text').textContent = question;
  byId('confirm-yes').textContent = yes;
  dialog.showModal();
  // Not on the close event, which comes late: the dialog may be asking another question by then.
  return new Promise((answer) => {
    dialog.onsubmit = ({ submitter }) => answer(submitter.value === 'yes');
    dialog.oncancel = () => answer(false);
  });
}
