// Live: a change that is made elsewhere is seen here, a lost server is shown and found again, and undo survives a reload.

import assert from 'node:assert/strict';
import { CUT_OFF, ask, classesOf, draw, open, outcome, teach, told } from '../browser.mjs';
import { Server } from '../server.mjs';

const EXAMPLES = [100, 101, 102];

/** Waits until the page shows so many classes. */
const shows = (page, n) => page.waitForFunction((n) => document.querySelectorAll('.class').length === n, n);

/** Prints how long it took until something was seen, from when it happened. */
async function timed(what, seen) {
  const began = performance.now();
  await seen;
  console.log(`  ${what} after ${Math.round(performance.now() - began)} ms`);
}

/** What the model answers to rows, to compare it with what it answers later. */
const answers = async (server, rows) => (await server.ask('/v1/predict', { rows, proba: true })).answers;

export const live = {
  async 'two tabs and another client: each sees what the others change'(browser) {
    const server = new Server();
    const address = await server.start();
    const [one, two] = [await open(browser, address), await open(browser, address)];
    await two.page.uncheck('#reject');
    await draw(two.page, 5, EXAMPLES[0]);
    await teach(one.page, 5, EXAMPLES);
    // The other tab was not touched, and has another answer to what it shows.
    await shows(two.page, 6);
    await told(two.page, 'verdict-class', '5');
    assert.match(await two.page.textContent('#check-text'), /Old classes: 178 of 180 rows right/);
    // Another client.
    const { rows } = await server.ask('/v1/examples?class=7&n=5');
    await server.ask('/v1/learn', { rows, classes: rows.map(() => 'seven') });
    await timed('two tabs show what another client has taught', Promise.all([one, two].map(({ page }) => shows(page, 7))));
    assert.ok((await classesOf(one.page)).includes('seven'));
    // What one tab has taught, it can take back, and the other tab follows.
    await one.page.getByRole('button', { name: 'Undo teaching 5' }).click();
    await outcome(one.page, 'Undone');
    await shows(two.page, 6);
    for (const { wrong, close } of [one, two]) {
      assert.deepEqual(wrong, []);
      await close();
    }
    await server.kill();
  },

  async 'a server that is killed is missed at once, and found again'(browser) {
    const server = new Server();
    const { page, wrong, close } = await open(browser, await server.start());
    await page.waitForSelector('.connection[data-state=on]');
    assert.deepEqual(wrong, []);
    await server.kill();
    // Without anybody asking for anything.
    await timed('a killed server is missed', page.waitForSelector('.connection[data-state=off]'));
    await page.screenshot({ path: 'lost.png' });
    await server.start();
    await timed('and found', page.waitForSelector('.connection[data-state=on]'));
    await shows(page, 5);
    assert.equal(await ask(page, 3, 1), '3');
    await server.ask('/v1/classes/4/rename', { name: 'four' });
    await page.waitForFunction(() => document.querySelector('#classes').textContent.includes('four'));
    assert.deepEqual(
      wrong.filter((line) => !CUT_OFF.test(line)),
      [],
    );
    await close();
    await server.kill();
  },

  async 'undo survives a reload and a restart, and gives back what was before'(browser) {
    const server = new Server();
    const address = await server.start();
    const { page, wrong, close } = await open(browser, address);
    const { rows } = await server.ask('/v1/examples?class=7&n=40');
    const before = await answers(server, rows);
    await teach(page, 5, EXAMPLES);
    await teach(page, 2, [3, 6], 'swan');
    await page.reload();
    await page.waitForSelector('#history li');
    assert.deepEqual(await page.locator('.taught').allTextContents(), ['swan', '5']);
    assert.equal(await page.locator('#history canvas').count(), 5, 'with what was drawn');
    assert.match(await page.textContent('#history-hint'), /kept in this browser only/);
    assert.deepEqual(wrong, []);
    await server.kill();
    await server.start();
    await page.waitForSelector('.connection[data-state=on]');
    for (const name of ['swan', '5']) {
      await page.getByRole('button', { name: `Undo teaching ${name}` }).click();
      await outcome(page, 'Undone');
    }
    assert.deepEqual(await classesOf(page), ['0', '1', '2', '3', '4']);
    const after = await answers(server, rows);
    const differences = after.map(({ class: name, probabilities }, i) => {
      assert.equal(name, before[i].class);
      return Math.max(...Object.entries(probabilities).map(([c, p]) => Math.abs(p - before[i].probabilities[c])));
    });
    console.log(`  largest change of a probability after undo: ${Math.max(...differences).toExponential(1)}`);
    assert.ok(Math.max(...differences) < 1e-6);
    await page.reload();
    await shows(page, 5);
    assert.equal(await page.locator('#history li').count(), 0, 'what was undone is forgotten');
    await close();
    await server.kill();
  },

  async 'what was taught to another model is not offered for undo'(browser) {
    const server = new Server();
    const { page, close } = await open(browser, await server.start());
    await teach(page, 5, EXAMPLES);
    await server.kill();
    // A new model at the same address.
    const other = new Server();
    other.listen = server.listen;
    await other.start();
    await page.reload();
    await shows(page, 5);
    assert.equal(await page.locator('#history li').count(), 0);
    await close();
    await other.kill();
  },
};
