// Where do pictures come from? From files and folders that are chosen, dropped or pasted. Each is passed on as it
// travels (photo.js), with the name of its folder. Files that cannot be read are reported.

import { byId } from './dom.js';
import { pictureOf } from './photo.js';

/** Pictures that are read at the same time. */
const TOGETHER = 4;

/**
 * Listens to all sources of pictures as long as `wanted()`. `onPictures` gets a list of {file, bitmap, folder}, `onProblem`
 * and `onProgress` words.
 */
export function listenForPictures({ target, wanted, onPictures, onProblem, onProgress }) {
  let latest = 0;
  const take = async (found) => {
    const turn = ++latest;
    onProblem('');
    const files = await found;
    const images = files.filter(({ file }) => file.type.startsWith('image/'));
    if (!images.length) return onProblem(files.length ? 'That is not an image.' : '');
    const { read, lost } = await readAll(images, () => turn === latest, onProgress);
    onProgress('');
    // Something newer was chosen while these were being read: it has the last word.
    if (turn !== latest) return;
    if (lost.length) onProblem(`Cannot be read as an image: ${lost.slice(0, 5).join(', ')}.`);
    if (read.length) onPictures(read);
  };
  for (const id of ['files', 'folder']) {
    byId(id).addEventListener('change', ({ target: input }) => {
      take([...input.files].map((file) => ({ file, folder: parentOf(file.webkitRelativePath) })));
      // So that the same file can be chosen again.
      input.value = '';
    });
  }
  document.addEventListener('paste', ({ clipboardData: { files } }) => {
    if (wanted() && files.length) take([...files].map((file) => ({ file, folder: null })));
  });
  listenForDrops(target, wanted, take);
}

function listenForDrops(target, wanted, take) {
  document.addEventListener('dragover', (event) => {
    if (!wanted()) return;
    event.preventDefault();
    target.classList.add('dropping');
  });
  document.addEventListener(
    'dragleave',
    (event) => event.relatedTarget ?? target.classList.remove('dropping'),
  );
  document.addEventListener('drop', (event) => {
    target.classList.remove('dropping');
    if (!wanted()) return;
    event.preventDefault();
    take(dropped(event.dataTransfer));
  });
}

/** Every file that was dropped, those in folders with the name of the folder that they lie in. */
async function dropped({ items, files }) {
  // Before the first pause: afterwards the list of what was dropped is empty.
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...files].map((file) => ({ file, folder: null }));
  return (await Promise.all(entries.map((entry) => walk(entry, null)))).flat();
}

async function walk(entry, folder) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    return [{ file, folder }];
  }
  const [reader, inside] = [entry.createReader(), []];
  // A reader gives a part of the folder at a time, and nothing at its end.
  for (;;) {
    const part = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!part.length) break;
    inside.push(...part);
  }
  const visible = inside.filter(({ name }) => !name.startsWith('.'));
  return (await Promise.all(visible.map((one) => walk(one, entry.name)))).flat();
}

/** The folder that a file lies in; null for a file that was chosen alone. */
const parentOf = (path) => path?.split('/').at(-2) ?? null;

/** Reads pictures, a few at a time and in their order. */
async function readAll(images, goOn, onProgress) {
  const [read, lost] = [[], []];
  for (let i = 0; i < images.length && goOn(); i += TOGETHER) {
    if (images.length > 2 * TOGETHER) onProgress(`Reading ${i} of ${images.length} ...`);
    const part = images.slice(i, i + TOGETHER).map(async ({ file, folder }) => {
      const picture = await pictureOf(file).catch(() => lost.push(file.name) && null);
      return picture && { ...picture, folder };
    });
    read.push(...(await Promise.all(part)).filter(Boolean));
  }
  return { read, lost };
}
