// How is the server asked? One function per route; failures are `Refused` (the server said no, and why) or
// `Lost` (there was no answer). `api.onConnection` is called when the connection is lost or restored.

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

const KNOCK_EVERY = 1500;
let token = '';
let connected = null;
let listener = () => {};

export const api = {
  model: () => ask('/v1/model'),
  growth: () => ask('/v1/growth'),
  heldOut: () => ask('/v1/held-out'),
  examples: (name, n) => ask(`/v1/examples?class=${encodeURIComponent(name)}&n=${n}`),
  explain: (body) => ask('/v1/explain', { method: 'POST', body }),
  learn: (body) => ask('/v1/learn', { method: 'POST', body }),
  unlearn: (body) => ask('/v1/unlearn', { method: 'POST', body }),
  dropClass: (name) => ask(`/v1/classes/${encodeURIComponent(name)}`, { method: 'DELETE' }),
  download,
  useToken(value) {
    token = value.trim();
  },
  get hasToken() {
    return token !== '';
  },
  onConnection(hear) {
    listener = hear;
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
async function reach(path, { method = 'GET', body } = {}) {
  const headers = {};
  if (token) headers.authorization = `Bearer ${token}`;
  if (body && !(body instanceof FormData)) {
    headers['content-type'] = 'application/json';
    body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, { method, headers, body, cache: 'no-store' });
  } catch {
    setConnected(false);
    throw new Lost();
  }
  setConnected(true);
  if (response.ok) return response;
  const answer = await response.json().catch(() => null);
  const said = answer?.error ?? { kind: 'Unreadable', message: `The server answered ${response.status}.` };
  throw new Refused(response.status, said, Number(response.headers.get('retry-after')) || 1);
}

function setConnected(now) {
  if (now === connected) return;
  const before = connected;
  connected = now;
  listener(now, before);
  if (!now) setTimeout(knock, KNOCK_EVERY);
}

/** Polls the server's health until it answers. */
async function knock() {
  try {
    await fetch('/health', { cache: 'no-store' });
    setConnected(true);
  } catch {
    setTimeout(knock, KNOCK_EVERY);
  }
}

/** Repeats a change while the server is busy, after the delay it asks for, which `wait` is told. */
export async function patiently(change, wait, tries = 6) {
  for (;;) {
    try {
      return await change();
    } catch (problem) {
      if (problem.status !== 429 || --tries === 0) throw problem;
      wait(problem.retryAfter);
      await new Promise((done) => setTimeout(done, 1000 * problem.retryAfter));
    }
  }
}
