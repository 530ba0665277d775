// The stories of the page, told by a headless browser to a real server: `node page.mjs PROGRAM CHROMIUM [WORDS]`, in a
// folder with the packages of package.json; with WORDS, only the stories that have them in their title. Screenshots are
// left in the folder. Ends with 1 when a story does not hold.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, ask, draw, launch, obstacles, open, outcome, recognised, teach } from './browser.mjs';
import { Server } from './server.mjs';

const [program, chromium, words = ''] = process.argv.slice(2);
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const HANDS = Array.from({ length: 60 }, (_, seed) => seed);
const EXAMPLES = [100, 101, 102];

const classesOf = (page) => page.locator('.class-name').allTextContents();
const shoot = (page, name) => page.screenshot({ path: `${name}.png`, fullPage: true });
const settled = (page) => page.waitForTimeout(700);

/** Prints and gives how many of the hands are recognised, digit by digit. */
async function tell(page, when, digits, reject) {
  const { right, unknown } = await recognised(page, digits, HANDS, reject);
  const called = reject ? `; called unknown ${unknown.join(' ')}` : '';
  console.log(
    `  recognised of ${HANDS.length} hands, ${digits.join(' ')}, ${when}: ${right.join(' ')}${called}`,
  );
  return right;
}

const stories = {
  async 'a new class is drawn, taught, undone, taught again, and survives reload and kill -9'(browser) {
    const server = new Server(program);
    const address = await server.start();
    const { page, wrong } = await open(browser, address);
    assert.deepEqual(await classesOf(page), ['0', '1', '2', '3', '4']);
    await page.uncheck('#reject');
    await shoot(page, 'start');

    const before = await tell(page, 'before', [0, 1, 2, 3, 4]);
    await tell(page, 'before, unknown allowed', [0, 1, 2, 3, 4, 5], 0.01);
    for (const digit of [0, 1, 2, 4, 3]) assert.equal(await ask(page, digit, 1), String(digit));
    await settled(page);
    await shoot(page, 'awake');
    assert.ok(await page.locator('.node.awake').count(), 'nodes light up');
    assert.ok((await page.locator('.link.best').count()) > 0, 'links lead to the answer');

    await teach(page, 5, EXAMPLES);
    assert.match(
      await page.textContent('#teach-outcome'),
      /“5” learned in \d+\.\d\d s, on disk\. Old classes: \d+ of \d+/,
    );
    const after = await tell(page, 'after three drawn 5s', [0, 1, 2, 3, 4, 5]);
    await tell(page, 'after, unknown allowed', [0, 1, 2, 3, 4, 5], 0.01);
    const [tasks, counts] = [page.locator('.exam-name'), page.locator('.exam-change')];
    const right = await counts.allTextContents();
    const exam = (await tasks.allTextContents()).map((classes, i) => `${classes}: ${right[i]}`);
    console.log(`  held-out rows, protocol instance, ${exam.join('; ')}`);
    const share = (counts) => counts.reduce((sum, n) => sum + n, 0) / (counts.length * HANDS.length);
    assert.ok(share(before) >= 0.95, 'drawn digits are recognised');
    assert.ok(after[5] >= 0.95 * HANDS.length, 'the new class is recognised');
    assert.ok(share(after.slice(0, 5)) >= share(before) - 0.02, 'the old ones are still there');
    for (const digit of [0, 1, 2, 3, 4, 5]) assert.equal(await ask(page, digit, 9), String(digit));
    await settled(page);
    await shoot(page, 'taught');

    const undo = async () => {
      await page.click('#history button');
      await outcome(page, 'Undone');
      assert.deepEqual(await classesOf(page), ['0', '1', '2', '3', '4']);
    };
    await undo();
    await page.uncheck('#vary');
    await teach(page, 5, EXAMPLES);
    await tell(page, 'undone and taught without variations', [0, 1, 2, 3, 4, 5]);
    await undo();
    await page.check('#vary');
    await teach(page, 5, EXAMPLES);
    await page.reload();
    await page.waitForSelector('.class');
    assert.deepEqual(await classesOf(page), ['0', '1', '2', '3', '4', '5']);

    assert.deepEqual(wrong, []);
    await server.kill();
    await page.click('#clear');
    await draw(page, 5, 3);
    await page.waitForSelector('.connection[data-state=off]');
    await server.start();
    await page.waitForSelector('.connection[data-state=on]', { timeout: 20000 });
    await page.waitForFunction(() => document.querySelectorAll('.class').length === 6);
    assert.equal(await ask(page, 5, 3), '5');
    // Requests that nobody could answer are on the console; nothing else may be.
    assert.deepEqual(
      wrong.filter((line) => !/net::ERR_(CONNECTION_\w+|EMPTY_RESPONSE)/.test(line)),
      [],
    );
    await server.kill();
  },

  async 'everything can be done with the keyboard'(browser) {
    const server = new Server(program);
    const { page, wrong, close } = await open(browser, await server.start());
    const focused = () => page.evaluate(() => document.activeElement.id);
    const tabTo = async (id) => {
      for (let i = 0; i < 40 && (await focused()) !== id; i++) await page.keyboard.press('Tab');
      assert.equal(await focused(), id, 'reached by Tab');
    };
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'pad', 'the first link leads to the pad');
    // A plus sign, which is no digit: with the pen up to the left, down to the right, and so on.
    const move = async (key, times) => {
      for (let i = 0; i < times; i++) await page.keyboard.press(key);
    };
    for (const shift of [0, 1, 2]) {
      await move('ArrowLeft', 6 + shift);
      await page.keyboard.press('Space');
      await move('ArrowRight', 12);
      await page.keyboard.press('Space');
      await move('ArrowLeft', 6);
      await move('ArrowUp', 7);
      await page.keyboard.press('Space');
      await move('ArrowDown', 14);
      await page.keyboard.press('Space');
      await move('ArrowUp', 7);
      await move('ArrowRight', shift);
      await page.keyboard.press('Enter');
    }
    assert.equal(await page.locator('.example').count(), 3);
    await tabTo('class-name');
    await page.keyboard.type('plus');
    await page.keyboard.press('Enter');
    await outcome(page, 'on disk');
    assert.ok((await classesOf(page)).includes('plus'));
    // And is dropped again, after a question that can be refused.
    const drop = page.getByRole('button', { name: 'Drop class plus' });
    await drop.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    assert.ok((await classesOf(page)).includes('plus'), 'the first answer keeps it');
    await drop.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('.class').length === 5);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'a picture is read like a drawing, built-in examples teach too, and mistakes are told'(browser) {
    const server = new Server(program);
    const { page, wrong, close } = await open(browser, await server.start());
    await page.uncheck('#reject');
    // Nothing typed is lost when something is missing.
    await page.fill('#class-name', 'cup');
    await page.click('#teach');
    assert.match(await page.textContent('#teach-problem'), /Draw an example of “cup”/);
    assert.equal(await page.inputValue('#class-name'), 'cup');
    // A photograph of dark ink on light paper.
    await draw(page, 2, 1);
    const paper = await page.locator('#pad').screenshot();
    assert.equal(await answer(page), '2');
    await page.click('#clear');
    await page.waitForFunction(() => document.getElementById('verdict').dataset.state === 'idle');
    await page.setInputFiles('#files', { name: 'two.png', mimeType: 'image/png', buffer: paper });
    await page.waitForFunction(() => document.getElementById('verdict-class').textContent === '2');
    await page.setInputFiles('#files', {
      name: 'no.png',
      mimeType: 'image/png',
      buffer: Buffer.from('no image'),
    });
    await page.waitForFunction(() => document.getElementById('input-problem').textContent.includes('no.png'));
    // The camera (the browser's made-up one) gives a picture too.
    await page.click('#camera');
    await page.click('#camera-take');
    await page.waitForFunction(() => !document.getElementById('camera-dialog').open);
    await page.fill('#class-name', '');
    await page.click('#built-in');
    await outcome(page, 'on disk');
    assert.deepEqual(await classesOf(page), ['0', '1', '2', '3', '4', '5']);
    assert.equal(await page.locator('.exam-task').count(), 3);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'a model of units shows which one wakes'(browser) {
    const server = new Server(program, { options: ['--empty', '--learner', 'reactivation'] });
    const { page, wrong, close } = await open(browser, await server.start());
    for (const [name, digit] of [
      ['ring', 0],
      ['line', 1],
    ]) {
      await page.fill('#class-name', name);
      for (const seed of [3, 6]) {
        await draw(page, digit, seed);
        await page.click('#add');
      }
    }
    await page.click('#teach');
    await outcome(page, '“ring” and “line” learned');
    assert.equal(await ask(page, 0, 9), 'ring');
    assert.equal(await page.locator('.unit.awake .gauge-given').count(), 1);
    await shoot(page, 'units');
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'a model of a table takes rows of numbers'(browser) {
    const server = new Server(program);
    const row = (i, name) => `${[i % 3, i % 2, name === 'low' ? 0 : 9, i % 5, 1].join(',')},${name}\n`;
    const table = Array.from({ length: 40 }, (_, i) => row(i, i % 2 ? 'low' : 'high')).join('');
    writeFileSync(join(server.folder, 'table.csv'), `a,b,c,d,e,class\n${table}`);
    execFileSync(program, ['learn', 'model.aact', 'table.csv'], { cwd: server.folder, stdio: 'ignore' });
    const { page, wrong, close } = await open(browser, await server.start());
    assert.equal(await page.locator('#pad').isVisible(), false);
    await page.uncheck('#reject');
    await page.fill('#row', '1, 2, x');
    assert.match(await page.textContent('#row-problem'), /“x” is not a number/);
    await page.fill('#row', '1 0 9 2 1');
    assert.equal(await answer(page), 'high');
    await page.fill('#class-name', 'other');
    for (const row of ['5 5 5 5 5', '5 5 4 5 5']) {
      await page.fill('#row', row);
      await page.click('#add');
    }
    await page.click('#teach');
    await outcome(page, '“other” learned');
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'a model of one class answers, and says that it cannot answer unknown yet'(browser) {
    const server = new Server(program, { options: ['--empty'] });
    const { page, wrong, close } = await open(browser, await server.start());
    await teach(page, 0, [3, 6]);
    assert.equal(await ask(page, 0, 9), '0');
    assert.match(await page.textContent('#verdict-text'), /cannot answer “unknown” yet/);
    await page.uncheck('#reject');
    await page.waitForFunction(() => !document.getElementById('verdict-text').textContent.includes('unknown'));
    await page.check('#reject');
    await teach(page, 1, [3, 6]);
    await ask(page, 0, 9);
    assert.doesNotMatch(await page.textContent('#verdict-text'), /cannot answer/);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'a token is asked for where one is needed, and a busy server is asked again'(browser) {
    const server = new Server(program, { env: { AUTOACTIVATOR_TOKEN: 'a-long-secret-of-the-lab' } });
    const { page, wrong, close } = await open(browser, await server.start());
    const told = (id) => page.waitForFunction((id) => document.getElementById(id).textContent !== '', id);
    assert.equal(await page.locator('#exam-title').isVisible(), false, 'held-out rows need the token');
    await draw(page, 2, 1);
    assert.equal(await answer(page), '2', 'predictions do not');
    assert.deepEqual(wrong, []);
    await page.click('#download-memory');
    await told('download-problem');
    await page.fill('#class-name', '2');
    await page.click('#add');
    await page.click('#teach');
    await told('teach-problem');
    await page.fill('#token', 'a-long-secret-of-the-lab');
    await page.press('#token', 'Enter');
    await page.waitForSelector('#exam-title', { state: 'visible' });
    const saved = page.waitForEvent('download');
    await page.click('#download-memory');
    const download = await saved;
    assert.equal(download.suggestedFilename(), 'model.aact');
    const same = readFileSync(join(server.folder, 'model.aact')).equals(readFileSync(await download.path()));
    assert.ok(same, 'what is downloaded is the model file');
    await page.waitForFunction(() => document.getElementById('download-problem').textContent === '');
    await page.locator('.example .remove').click();
    await page.fill('#class-name', '');
    const busy = {
      status: 429,
      headers: { 'retry-after': '1' },
      json: { error: { kind: 'Busy', message: 'busy' } },
    };
    await page.route('**/v1/learn', (route) => route.fulfill(busy), { times: 1 });
    await page.click('#built-in');
    await outcome(page, 'on disk');
    await close();
    await server.kill();
  },

  async 'light, dark and on a phone there is nothing in the way of anybody'(browser) {
    const server = new Server(program);
    const address = await server.start();
    for (const [name, options] of Object.entries({
      light: {},
      dark: { colorScheme: 'dark' },
      phone: PHONE,
      'phone-dark': { ...PHONE, colorScheme: 'dark', reducedMotion: 'reduce' },
    })) {
      const { page, wrong, close } = await open(browser, address, options);
      await draw(page, 2, 1);
      await answer(page);
      await page.click('#add');
      await draw(page, 2, 4);
      await answer(page);
      await settled(page);
      await shoot(page, name);
      assert.deepEqual(await obstacles(page), [], name);
      const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= room, `${name}: ${wide} pixels in ${room}`);
      assert.deepEqual(wrong, [], name);
      await close();
    }
    await server.kill();
  },

  async 'the API is shown route by route, and can be tried'(browser) {
    const server = new Server(program);
    const address = await server.start();
    const { page, wrong, close } = await open(browser, `${address}docs`);
    const { paths } = await (await fetch(`${address}openapi.json`)).json();
    const routes = Object.values(paths).flatMap((item) =>
      Object.keys(item).filter((key) => key !== 'parameters'),
    );
    assert.equal(await page.locator('.routes section').count(), routes.length);
    const health = page.locator('section', { has: page.locator('h2#get-health') });
    await health.getByRole('button', { name: 'Try it' }).click();
    await health.locator('pre').waitFor();
    assert.match(await health.locator('pre').textContent(), /ok/);
    await shoot(page, 'docs');
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },
};

const browser = await launch(chromium);
let failed = 0;
for (const [name, story] of Object.entries(stories)) {
  if (!name.includes(words)) continue;
  const started = performance.now();
  try {
    await story(browser);
    console.log(`ok: ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  } catch (problem) {
    failed += 1;
    console.error(`FAILED: ${name}\n${problem.stack}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
