// A short silent film of the page, from the real page: `node film.mjs PROGRAM CHROMIUM FILE.gif`, in a folder with the
// packages of package.json. A 5 is drawn, called unknown, taught, and turns; nothing but what changes is stored of a frame.

import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, launch, open } from './browser.mjs';
import { write } from './hand.mjs';
import { Server, settings } from './server.mjs';

const installed = createRequire(join(process.cwd(), 'package.json'));
const { GIFEncoder, applyPalette, quantize } = installed('gifenc');
const { PNG } = installed('pngjs');

const SIZE = { width: 1180, height: 800 };
const COLOURS = 96;
/** Milliseconds for which frames are shown: while something moves, and to read what has happened. */
const [MOVING, READING, LAST] = [70, 1100, 3600];

/** Frames as they are taken: pixels, and how long they are shown. */
class Film {
  frames = [];

  constructor(page, clip) {
    Object.assign(this, { page, clip });
  }

  async shoot(time = MOVING) {
    const { data } = PNG.sync.read(await this.page.screenshot({ clip: this.clip }));
    this.frames.push({ data, time });
  }

  /** Shows the last frame for longer. */
  hold(time) {
    this.frames.at(-1).time = time;
  }

  /** The film as GIF: one palette, and in each frame only what differs from the one before. */
  bytes() {
    const { width, height } = this.clip;
    const sample = Buffer.concat([this.frames[0], this.frames.at(-1)].map(({ data }) => data));
    // Colours are found in steps of 8, and the lightest step is white.
    const palette = quantize(sample, COLOURS).map((colour) => colour.map((part) => (part >= 248 ? 255 : part)));
    const [gif, unchanged] = [GIFEncoder(), palette.length];
    let before = null;
    for (const { data, time } of this.frames) {
      const indices = applyPalette(data, palette);
      const shown = before ? indices.map((index, i) => (index === before[i] ? unchanged : index)) : indices;
      const first = before ? {} : { palette: [...palette, [0, 0, 0]] };
      gif.writeFrame(shown, width, height, {
        ...first,
        delay: time,
        transparent: before !== null,
        transparentIndex: unchanged,
        dispose: 1,
      });
      before = indices;
    }
    gif.finish();
    return gif.bytes();
  }
}

/** Draws a digit, with a frame after every few points. */
async function draw(page, film, digit, seed) {
  const box = await page.locator('#pad').boundingBox();
  for (const stroke of write(digit, seed, box.width)) {
    await page.mouse.move(box.x + stroke[0].x, box.y + stroke[0].y);
    await page.mouse.down();
    for (const [i, point] of stroke.entries()) {
      await page.mouse.move(box.x + point.x, box.y + point.y);
      if (i % 4 === 3) await film.shoot();
    }
    await page.mouse.up();
  }
  await answer(page);
  await film.shoot();
}

const [program, chromium, file] = process.argv.slice(2);
settings.program = program;
const server = new Server();
const browser = await launch(chromium);
const { page } = await open(browser, await server.start(), { viewport: SIZE, bypassCSP: true });
await page.addStyleTag({ content: '* { caret-color: transparent !important; }' });
const bottom = await page.locator('.stage').evaluate((stage) => stage.getBoundingClientRect().bottom);
const film = new Film(page, { x: 0, y: 0, width: SIZE.width, height: Math.ceil(bottom) + 16 });
await film.shoot(READING);
for (const [i, seed] of [100, 101, 102].entries()) {
  await draw(page, film, 5, seed);
  film.hold(i === 2 ? READING : 500);
  if (i === 0) await page.fill('#class-name', '5');
  await page.click('#add');
  await film.shoot(i === 2 ? READING : 300);
}
await page.hover('#teach');
await page.click('#teach');
await page.waitForSelector('.turned');
for (let i = 0; i < 14; i++) await film.shoot();
film.hold(LAST);
writeFileSync(file, film.bytes());
console.log(`${file}: ${film.frames.length} frames`);
await browser.close();
process.exit(0);
