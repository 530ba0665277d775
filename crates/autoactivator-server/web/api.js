// How is the server asked? One function per route; failures are `Refused` (the server said no, and why) or
// `Lost` (there was no answer). `api.onLost` is called for each of the latter.

/** A refusal, in the server's own words. */
export class Refused extends Error {
  constructor(status, { kind, message }, retryAfter) {
    super(message);
    Object.assign(this, { status, kind, retryAfter });
  }
}

/** There was no answer. */
export class Lost extends Error {
  constructor() {
    super('The server does not answer. Nothing was changed here; the page keeps trying to reconnect.');
  }
}

let token = '';
let whenLost = () => {};

export const api = {
  model: () => ask('/v1/model'),
  growth: () => ask('/v1/growth'),
  heldOut: () => ask('/v1/held-out'),
  picture: async (place) => (await reach(`/v1/held-out/${place}/picture`)).blob(),
  examples: (name, n) => ask(`/v1/examples?class=${encodeURIComponent(name)}&n=${n}`),
  explain: (body) => ask('/v1/explain', { method: 'POST', body }),
  learn: (body, key) => ask('/v1/learn', { method: 'POST', body, key }),
  unlearn: (body, key) => ask('/v1/unlearn', { method: 'POST', body, key }),
  unknown: () => ask('/v1/unknown'),
  unknownGroups: () => ask('/v1/unknown/groups'),
  nameUnknown: (body, key) => ask('/v1/unknown/learn', { method: 'POST', body, key }),
  dismissAllUnknown: () => ask('/v1/unknown', { method: 'DELETE' }),
  dismissUnknown: (ids) => ask('/v1/unknown/dismiss', { method: 'POST', body: { ids } }),
  dropClass: (name) => ask(`/v1/classes/${encodeURIComponent(name)}`, { method: 'DELETE' }),
  /** The stream of changes. It cannot be an EventSource: that sends no token. */
  events: async (signal) => (await reach('/v1/events', { signal })).body,
  download,
  useToken(value) {
    token = value.trim();
  },
  get hasToken() {
    return token !== '';
  },
  onLost(hear) {
    whenLost = hear;
  },
};

async function ask(path, options) {
  const response = await reach(path, options);
  return response.json().catch(() => null);
}

/** A file of the server and its name. */
async function download(path) {
  const response = await reach(path);
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition'))?.[1] ?? 'model';
  const file = await response.blob().catch(() => {
    throw new Lost();
  });
  return { name, file };
}

/** The response to a request that the server accepts. */
async function reach(path, { method = 'GET', body, key, signal } = {}) {
  const headers = {};
  if (token) headers.authorization = `Bearer ${token}`;
  if (key) headers['idempotency-key'] = key;
  if (body && !(body instanceof FormData)) {
    headers['content-type'] = 'application/json';
    body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, { method, headers, body, signal, cache: 'no-store' });
  } catch {
    if (!signal?.aborted) whenLost();
    throw new Lost();
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => null);
  const said = answer?.error ?? { kind: 'Unreadable', message: `The server answered ${response.status}.` };
  throw new Refused(response.status, said, Number(response.headers.get('retry-after')) || 1);
}

/** A random word, by which the server knows a change that is sent again. */
const word = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join('-');

/** Makes a change, again and again while the server is busy, after the delay it asks for, which `wait` is told. */
export async function patiently(change, wait, tries = 6) {
  const key = word();
  for (;;) {
    try {
      return await change(key);
    } catch (problem) {
      if (problem.status !== 429 || --tries === 0) throw problem;
      wait(problem.retryAfter);
      await new Promise((done) => setTimeout(done, 1000 * problem.retryAfter));
    }
  }
}
