// Drawings: a new class is taught with the pointer, with the keyboard, from a picture, and turns before one's eyes.

import assert from 'node:assert/strict';
import { CUT_OFF, answer, ask, classesOf, draw, open, outcome, recognised, settled, shoot, teach, told } from '../browser.mjs';
import { Server } from '../server.mjs';

const HANDS = Array.from({ length: 60 }, (_, seed) => seed);
const EXAMPLES = [100, 101, 102];

/** Prints and gives how many of the hands are recognised, digit by digit. */
async function tell(page, when, digits, reject) {
  const { right, unknown } = await recognised(page, digits, HANDS, reject);
  const called = reject ? `; called unknown ${unknown.join(' ')}` : '';
  console.log(
    `  recognised of ${HANDS.length} hands, ${digits.join(' ')}, ${when}: ${right.join(' ')}${called}`,
  );
  return right;
}

export const drawing = {
  async 'a new class is drawn, taught, undone, taught again, and survives reload and kill -9'(browser) {
    const server = new Server();
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
    assert.match(await page.textContent('#teach-outcome'), /“\u20685\u2069” learned in \d+\.\d\d s, on disk/);
    assert.match(await page.textContent('#check-text'), /Old classes: \d+ of \d+ rows right/);
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
    await page.waitForSelector('.connection[data-state=on]');
    await page.waitForFunction(() => document.querySelectorAll('.class').length === 6);
    assert.equal(await ask(page, 5, 3), '5');
    // Requests that nobody could answer are on the console; nothing else may be.
    assert.deepEqual(
      wrong.filter((line) => !CUT_OFF.test(line)),
      [],
    );
    await server.kill();
  },

  async 'everything can be done with the keyboard'(browser) {
    const server = new Server();
    const { page, wrong, close } = await open(browser, await server.start());
    const focused = () => page.evaluate(() => document.activeElement.id);
    const tabTo = async (id) => {
      for (let i = 0; i < 40 && (await focused()) !== id; i++) await page.keyboard.press('Tab');
      assert.equal(await focused(), id, 'reached by Tab');
    };
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
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
    const server = new Server();
    const { page, wrong, close } = await open(browser, await server.start());
    await page.uncheck('#reject');
    // Nothing typed is lost when something is missing.
    await page.fill('#class-name', 'cup');
    await page.click('#teach');
    assert.match(await page.textContent('#teach-problem'), /Add an example of “cup”/);
    assert.equal(await page.inputValue('#class-name'), 'cup');
    // A photograph of dark ink on light paper.
    await draw(page, 2, 1);
    const paper = await page.locator('#pad').screenshot();
    assert.equal(await answer(page), '2');
    await page.click('#clear');
    await page.waitForFunction(() => document.getElementById('verdict').dataset.state === 'idle');
    await page.setInputFiles('#files', { name: 'two.png', mimeType: 'image/png', buffer: paper });
    await told(page, 'verdict-class', '2');
    await page.setInputFiles('#files', {
      name: 'no.png',
      mimeType: 'image/png',
      buffer: Buffer.from('no image'),
    });
    await told(page, 'input-problem', 'no.png');
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

  async 'the delight: the same drawing turns from unknown to its name, and the old classes stay'(browser) {
    const server = new Server();
    const { page, wrong, close } = await open(browser, await server.start());
    await page.fill('#class-name', '5');
    for (const seed of EXAMPLES) {
      await draw(page, 5, seed);
      await answer(page);
      await page.click('#add');
    }
    assert.equal(await answer(page), 'unknown', 'the last drawing stays in view');
    assert.equal(await page.locator('.bar').count(), 0, 'what is unknown has no bars');
    await told(page, 'nearest', 'Nearest of what it knows');
    await page.screenshot({ path: 'delight-before.png' });
    await page.click('#teach');
    // Nothing is touched from here on.
    await page.waitForSelector('.turned');
    assert.equal(await page.textContent('#verdict-class'), '5');
    assert.equal(await page.textContent('#before'), 'was unknown');
    assert.equal(await page.getAttribute('#check', 'data-state'), 'kept');
    await told(page, 'check-text', 'Old classes: 178 of 180 rows right');
    for (const id of ['verdict', 'check']) {
      const { y, height } = await page.locator(`#${id}`).boundingBox();
      assert.ok(y >= 0 && y + height <= 900, `${id} is above the fold`);
    }
    await told(page, 'spoken', 'It says 5, no longer unknown');
    await settled(page);
    await page.screenshot({ path: 'delight-after.png' });
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },
};
