// Photographs: dragged in, taught, examined on held-out ones, and a folder for each class.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, classesOf, drop, obstacles, open, outcome, settled, shoot, told } from '../browser.mjs';
import { Server } from '../server.mjs';
import { photographs } from '../things.mjs';

/** Writes photographs of things into one folder each. */
async function write(page, folder, things, n, seed) {
  for (const thing of things) {
    mkdirSync(join(folder, thing), { recursive: true });
    for (const { name, buffer } of await photographs(page, thing, n, seed))
      writeFileSync(join(folder, thing, name), buffer);
  }
  return things.map((thing) => join(folder, thing));
}

/** Whether pictures were painted, and not only asked for. */
const painted = (page, selector) =>
  page.waitForFunction((selector) => {
    const images = [...document.querySelectorAll(selector)];
    return images.length > 0 && images.every((image) => image.complete && image.naturalWidth > 0);
  }, selector);

export const photos = {
  async 'photographs of different shapes are dragged, taught, asked about and taken back'(browser) {
    const server = Server.ofPhotographs();
    const { page, wrong, close } = await open(browser, await server.start());
    assert.match(await page.textContent('#headline'), /photographs/);
    assert.equal(await page.locator('#pad').isVisible(), false);
    const folders = await write(page, server.folder, ['lemon', 'leaf'], 5);
    // Two folders at once are two classes.
    await drop(page, folders, '#photo-area');
    await page.waitForFunction(() => document.querySelectorAll('.example').length === 10);
    assert.deepEqual(await page.locator('.group-name bdi').allTextContents(), ['lemon', 'leaf']);
    await painted(page, '.example img');
    await shoot(page, 'photos-dragged');
    await page.click('#teach');
    await outcome(page, 'learned in');
    assert.deepEqual(await classesOf(page), ['leaf', 'lemon']);
    assert.match(await page.textContent('#history'), /10 examples, 10 rows/);
    await painted(page, '#history img');
    // Others of the same things, one at a time.
    for (const thing of ['leaf', 'lemon']) {
      await page.setInputFiles('#files', await photographs(page, thing, 1, 7));
      await painted(page, '#photo');
      await told(page, 'verdict-class', thing);
    }
    // Many at once have the name in the field, and the last of them is asked about by itself.
    const balls = await photographs(page, 'ball', 5);
    await page.fill('#class-name', 'ball');
    await page.setInputFiles('#files', balls);
    await page.waitForFunction(() => document.querySelectorAll('.example').length === 5);
    assert.notEqual(await answer(page), 'ball');
    await page.click('#teach');
    await outcome(page, 'learned in');
    await told(page, 'verdict-class', 'ball');
    assert.ok(await page.locator('#before').isVisible(), 'what it said before');
    await settled(page);
    await shoot(page, 'photos-taught');
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('button', { name: 'Undo teaching ball' }).click();
    await outcome(page, 'Undone');
    assert.deepEqual(await classesOf(page), ['leaf', 'lemon']);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'what is dropped and is no photograph is named, and nothing else is lost'(browser) {
    const server = Server.ofPhotographs();
    const { page, wrong, close } = await open(browser, await server.start());
    const [good] = await photographs(page, 'box', 1);
    const broken = { name: 'broken.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no image') };
    await page.setInputFiles('#files', [good, broken]);
    await told(page, 'input-problem', 'broken.jpg');
    await painted(page, '#photo');
    server.write('words.txt', 'no image either');
    await drop(page, [join(server.folder, 'words.txt')], '#photo-area');
    await told(page, 'input-problem', 'not an image');
    // A model that knows nothing has no answer, and says so.
    await told(page, 'verdict-class', 'Nothing learned yet');
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'held-out photographs show mistakes and the most confused pair'(browser) {
    const server = Server.ofPhotographs(['--held-out', 'photos', '--no-cache']);
    const maker = await browser.newPage();
    await write(maker, join(server.folder, 'photos/train'), ['lemon', 'leaf', 'ball'], 5);
    const test = join(server.folder, 'photos/test');
    await write(maker, test, ['lemon', 'leaf', 'ball', 'box'], 4, 3);
    // A leaf that somebody has put among the lemons: a mistake for certain.
    const [stray] = await photographs(maker, 'leaf', 1, 9);
    writeFileSync(join(test, 'lemon', 'stray.jpg'), stray.buffer);
    await maker.close();
    const { page, wrong, close } = await open(browser, await server.start());
    await drop(page, ['lemon', 'leaf', 'ball'].map((thing) => join(server.folder, 'photos/train', thing)), '#photo-area');
    await page.waitForFunction(() => document.querySelectorAll('.example').length === 15);
    await page.click('#teach');
    await outcome(page, 'learned in');
    assert.equal(await page.locator('.thumb').count(), 17);
    assert.equal(await page.locator('.thumb.waits').count(), 4, 'boxes are not learned yet');
    await page.waitForSelector('.thumb.wrong');
    await page.locator('#strip').scrollIntoViewIfNeeded();
    await painted(page, '#strip img');
    await painted(page, '.pair img');
    assert.match(await page.textContent('#confused'), /1 of 5 rows of lemon is answered leaf/);
    await shoot(page, 'photos-held-out');
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },
};
