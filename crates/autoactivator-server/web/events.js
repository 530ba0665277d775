// Is the server there, and has anybody changed the model? `follow` listens to its events and never gives up.

import { Refused, api } from './api.js';

/** The server gives a sign of life every 5 seconds; it is lost when three of them are missing. */
const SILENCE = 15000;

/** How long to wait before trying again. */
const PAUSE = 500;

let listening = null;

/** Tells of each edition of the model, and, whenever that changes, whether the server is there. Never ends. */
export async function follow({ onEdition, onConnection }) {
  let there = null;
  const tell = (now) => {
    if (now === there) return;
    there = now;
    onConnection(now);
  };
  api.onLost(() => {
    tell(false);
    listening?.abort();
  });
  for (;;) {
    listening = new AbortController();
    try {
      const stream = await api.events(listening.signal);
      tell(true);
      for await (const edition of editionsOf(stream, listening)) onEdition(edition);
      // Ended by the server, which is there unless it does not answer now.
    } catch (problem) {
      tell(problem instanceof Refused);
      await pause(problem instanceof Refused ? 10 * PAUSE : PAUSE);
    }
  }
}

/** Listens anew, as after the token was entered. */
export const listenAgain = () => listening?.abort();

/** The editions in a stream of events; throws when the stream breaks or falls silent. */
async function* editionsOf(stream, controller) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const silent = setTimeout(() => controller.abort(), SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(silent));
    if (done) return;
    const events = (text + value).split('\n\n');
    text = events.pop();
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event);
      if (data) yield JSON.parse(data[1]);
    }
  }
}

const pause = (time) => new Promise((done) => setTimeout(done, time));
