// What is new: rows that other clients asked about and that were answered "unknown", grouped, named and dismissed on the page.

import assert from 'node:assert/strict';
import { classesOf, obstacles, open, outcome, settled, shoot, told } from '../browser.mjs';
import { Server } from '../server.mjs';
import { photographs } from '../things.mjs';

const KEEP = ['--keep-unknown', '500'];

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** Another client asks about rows of these digits. */
async function askAbout(server, digits, n) {
  for (const digit of digits) {
    const { rows } = await server.ask(`/v1/examples?class=${digit}&n=${n}`);
    await server.ask('/v1/predict', { rows, reject: 0.2 });
  }
}

/** Waits until the line says that something was seen, and gives what it says. */
async function line(page) {
  await told(page, 'unknown-line', 'I have seen something new');
  return page.textContent('#unknown-line');
}

/** Opens what is behind the line. */
async function look(page) {
  await page.click('#unknown-line');
  await grouped(page);
}

const grouped = (page) => page.waitForSelector('#unknown-area[aria-busy=false]');

export const unknown = {
  async 'what other clients asked about is grouped, named and dismissed, with the keyboard alone'(browser) {
    const server = new Server({ options: KEEP });
    const { page, wrong, close } = await open(browser, await server.start());
    assert.equal(await page.locator('#unknown').isVisible(), false, 'nothing is new yet');
    await askAbout(server, [7, 6], 60);
    // Nobody touched the page.
    assert.match(await line(page), /I have seen something new \d+ times\. What is it\?/);
    await page.focus('#unknown-line');
    await page.keyboard.press('Enter');
    await grouped(page);
    const groups = page.locator('#unknown-groups > li:has-text("Nearest of what it knows")');
    assert.ok((await groups.count()) >= 2, 'sixes and sevens');
    assert.ok((await groups.first().locator('canvas').count()) >= 3, 'as they look');
    await settled(page);
    await shoot(page, 'unknown');
    assert.deepEqual(await obstacles(page), []);
    const before = (await server.ask('/v1/unknown')).rows;
    await page.locator('.naming input').first().focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.textContent('#unknown-outcome'), '', 'nothing is learned without a name');
    await page.keyboard.type('something');
    await page.keyboard.press('Enter');
    await told(page, 'unknown-outcome', 'learned from');
    assert.ok((await classesOf(page)).includes('something'));
    assert.equal(await page.evaluate(() => document.activeElement.id), 'unknown-line', 'the keyboard is where it began');
    await settled(page);
    await shoot(page, 'unknown-named');
    const after = await server.ask('/v1/unknown');
    assert.ok(after.rows < before, `${after.rows} of ${before}`);
    await page.locator('.naming button[type=button]').first().click();
    await told(page, 'unknown-outcome', 'dismissed');
    assert.ok((await server.ask('/v1/unknown')).rows < after.rows);
    await askAbout(server, [8, 9], 40);
    await page.click('#unknown-line');
    await line(page);
    await look(page);
    await page.click('#unknown-clear');
    await told(page, 'unknown-help', 'There is nothing left that it would call unknown');
    await told(page, 'unknown-outcome', 'dismissed');
    assert.equal(await page.locator('#unknown-groups > li').count(), 0);
    const { rows, known } = await server.ask('/v1/unknown');
    assert.equal(rows + known, 0);
    await shoot(page, 'unknown-empty');
    assert.deepEqual(await obstacles(page), []);
    await page.click('#unknown-line');
    await page.waitForSelector('#unknown', { state: 'hidden' });
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'photographs that nobody knew are shown small, and one alone can be named'(browser) {
    const server = Server.ofPhotographs(KEEP);
    const { page, wrong, close } = await open(browser, await server.start());
    for (const thing of ['lemon', 'leaf']) {
      await page.fill('#class-name', thing);
      await page.setInputFiles('#files', await photographs(page, thing, 15));
      await page.waitForFunction(() => document.querySelectorAll('.example').length === 12);
      await page.click('#teach');
      await outcome(page, 'learned in');
    }
    const [box] = await photographs(page, 'box', 1);
    const form = new FormData();
    form.append('image', new Blob([box.buffer]), 'image');
    form.append('reject', '0.3');
    const response = await fetch(`http://${server.listen}/v1/predict`, { method: 'POST', body: form });
    assert.equal((await response.json()).answers[0].class, null);
    assert.match(await line(page), /something new once/);
    await look(page);
    await page.waitForFunction(() => document.querySelector('#unknown-groups img')?.naturalWidth > 0);
    assert.match(await page.textContent('#unknown-help'), /Name the photograph that you recognise/);
    await settled(page);
    await shoot(page, 'unknown-photo');
    await page.fill('.naming input', 'box');
    await page.click('.naming button[type=submit]');
    await told(page, 'unknown-outcome', 'learned from 1 row');
    assert.ok((await classesOf(page)).includes('box'));
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'what is new waits for the token, and a name that is refused stays in its field'(browser) {
    const server = new Server({ options: KEEP, env: { AUTOACTIVATOR_TOKEN: 'a-long-secret-of-the-lab' } });
    const { page, wrong, close } = await open(browser, await server.start());
    await askAbout(server, [7], 40);
    await page.reload();
    await page.waitForSelector('#classes > *');
    assert.equal(await page.locator('#unknown').isVisible(), false);
    assert.deepEqual(wrong, []);
    await page.fill('#token', 'a-long-secret-of-the-lab');
    await page.press('#token', 'Enter');
    await line(page);
    await look(page);
    const refused = { status: 413, json: { error: { kind: 'TooLarge', message: 'there are too many classes' } } };
    await page.route('**/v1/unknown/learn', (route) => route.fulfill(refused), { times: 1 });
    await page.locator('.naming input').first().fill('seven');
    await page.locator('.naming button[type=submit]').first().click();
    await told(page, 'unknown-problem', 'too many classes');
    assert.equal(await page.locator('.naming input').first().inputValue(), 'seven');
    await page.locator('.naming button[type=submit]').first().click();
    await told(page, 'unknown-outcome', 'learned from');
    assert.ok((await classesOf(page)).includes('seven'));
    await close();
    await server.kill();
  },

  async 'what is new in the dark and on a phone'(browser) {
    const server = new Server({ options: KEEP });
    const address = await server.start();
    await askAbout(server, [7, 6], 60);
    for (const [name, options] of Object.entries({
      dark: { colorScheme: 'dark' },
      phone: PHONE,
      'phone-dark': { ...PHONE, colorScheme: 'dark', reducedMotion: 'reduce' },
    })) {
      const { page, wrong, close } = await open(browser, address, options);
      await line(page);
      await settled(page);
      await shoot(page, `unknown-${name}-line`);
      await look(page);
      await settled(page);
      await shoot(page, `unknown-${name}`);
      assert.deepEqual(await obstacles(page), [], name);
      const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= room, `${name}: ${wide} pixels in ${room}`);
      assert.deepEqual(wrong, [], name);
      await close();
    }
    await server.kill();
  },
};
