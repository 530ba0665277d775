// How is the server asked? One function per route; failures are `Refused` (the server said no, in words) or `Lost`
// (nobody answered). `api.onConnection` hears when the connection goes and comes back.

/** The server's own words for why not. */
export class Refused extends Error {
  constructor(status, { kind, message }, retryAfter) {
    super(message);
    Object.assign(this, { status, kind, retryAfter });
  }
}

/** Nobody answered. */
export class Lost extends Error {
  constructor() {
    super('The server does not answer. Nothing was changed here; it is tried again by itself.');
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
  useToken(value) {
    token = value.trim();
  },
  onConnection(hear) {
    listener = hear;
  },
};

async function ask(path, { method = 'GET', body } = {}) {
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
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
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

/** Asks for the server's health until it answers. */
async function knock() {
  try {
    await fetch('/health', { cache: 'no-store' });
    setConnected(true);
  } catch {
    setTimeout(knock, KNOCK_EVERY);
  }
}

/** Runs a change again when the server is busy, after the time it asks for, and says so to `wait`. */
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
