// What outlives a reload? What was taught on this page, so that it can be undone: kept by this browser, in IndexedDB,
// and nowhere else. Where the browser keeps nothing, it lasts as long as the page.

const [NAME, TAUGHT, SEEN] = ['autoactivator', 'taught', 'seen'];

/** Stands in where the browser keeps nothing. */
const fleeting = new Map();
let database;

function open() {
  database ??= new Promise((opened, failed) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(TAUGHT, { keyPath: 'id' });
      request.result.createObjectStore(SEEN);
    };
    request.onsuccess = () => opened(request.result);
    request.onerror = () => failed(request.error);
  });
  return database;
}

/** The result of one request to a table of the database. */
async function within(table, mode, act) {
  const transaction = (await open()).transaction(table, mode);
  const request = act(transaction.objectStore(table));
  return new Promise((done, failed) => {
    transaction.oncomplete = () => done(request.result);
    transaction.onerror = transaction.onabort = () => failed(transaction.error);
  });
}

export const store = {
  /** Whether what is kept outlives a reload. */
  lasting: true,

  /** What was taught, the latest first. */
  async all() {
    const kept = await lastingly(() => within(TAUGHT, 'readonly', (table) => table.getAll()), []);
    return [...kept, ...fleeting.values()].sort((a, b) => b.id - a.id);
  },

  async keep(entry) {
    await lastingly(
      () => within(TAUGHT, 'readwrite', (table) => table.put(entry)),
      () => fleeting.set(entry.id, entry),
    );
  },

  async forget(id) {
    fleeting.delete(id);
    await lastingly(() => within(TAUGHT, 'readwrite', (table) => table.delete(id)));
  },

  /**
   * Forgets everything if it was taught to another model: one that has changed less often than the one that was last seen
   * here, or has changed as often and is not the same.
   */
  async belongTo({ version, sha256 }) {
    await lastingly(async () => {
      const seen = await within(SEEN, 'readonly', (table) => table.get('model'));
      if (seen && (version < seen.version || (version === seen.version && sha256 !== seen.sha256)))
        await within(TAUGHT, 'readwrite', (table) => table.clear());
      await within(SEEN, 'readwrite', (table) => table.put({ version, sha256 }, 'model'));
    });
  },
};

/** Does something with what the browser keeps, or something else if it keeps nothing. */
async function lastingly(act, otherwise) {
  try {
    return await act();
  } catch {
    store.lasting = false;
    return typeof otherwise === 'function' ? otherwise() : otherwise;
  }
}
