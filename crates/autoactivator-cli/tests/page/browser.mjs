// A browser that watches: pages opened here fail the test on any request to another host, any error on the console.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { write } from './hand.mjs';

const installed = createRequire(join(process.cwd(), 'package.json'));
const { chromium } = installed('playwright-core');
const AXE = readFileSync(installed.resolve('axe-core/axe.min.js'), 'utf8');

const QUIET = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
const ALONE = ['--disable-component-update', '--disable-sync', '--no-first-run'];
const CAMERA = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];

const PATIENCE = 90000;

/** What browsers say of requests that nobody could answer. */
export const CUT_OFF = /net::ERR_(CONNECTION_\w+|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)/;

export const launch = (executablePath) =>
  chromium.launch({ executablePath, args: [...QUIET, ...ALONE, ...CAMERA] });

/** A page in a context of its own, and what was wrong with it: `wrong` must stay empty. */
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  // A busy machine is no mistake of the page.
  page.setDefaultTimeout(PATIENCE);
  const wrong = [];
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (!['blob:', 'data:'].includes(protocol) && host !== new URL(address).host)
      wrong.push(`asked ${request.url()}`);
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      wrong.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  await page.goto(address);
  await page.waitForSelector('#classes > *, .method');
  return { page, wrong, close: () => context.close() };
}

/** Draws a digit with the pointer, stroke by stroke. */
export async function draw(page, digit, seed) {
  await page.locator('#pad').scrollIntoViewIfNeeded();
  const box = await page.locator('#pad').boundingBox();
  for (const stroke of write(digit, seed, box.width)) {
    await page.mouse.move(box.x + stroke[0].x, box.y + stroke[0].y);
    await page.mouse.down();
    for (const point of stroke.slice(1)) await page.mouse.move(box.x + point.x, box.y + point.y);
    await page.mouse.up();
  }
}

/** The settled answer to what is shown: the class, or "unknown". */
export async function answer(page) {
  await page.waitForSelector('#verdict[aria-busy=false]:not([data-state=idle])');
  return page.locator('#verdict-class').textContent();
}

/** Draws on an empty pad and reads the answer. */
export async function ask(page, digit, seed) {
  await page.click('#clear');
  await draw(page, digit, seed);
  return answer(page);
}

/**
 * How many hands write each digit so that it is recognised, and how many so that it is called unknown: the page's own
 * ink and the server's answers, without the pointer, which takes a second a digit.
 */
export async function recognised(page, digits, seeds, reject = 0) {
  const written = digits.map((digit) => ({
    digit: String(digit),
    hands: seeds.map((seed) => write(digit, seed, 320)),
  }));
  return page.evaluate(
    async ({ written, reject }) => {
      const { fromStrokes, measureHand } = await import('/assets/ink.js');
      const { image } = await (await fetch('/v1/model')).json();
      const { strip } = await (await fetch('/v1/held-out')).json();
      const hand = measureHand(
        strip.map(({ row }) => row),
        image,
      );
      const [right, unknown] = [[], []];
      for (const { digit, hands } of written) {
        const rows = hands.map((strokes) => fromStrokes(strokes, image, hand));
        const body = JSON.stringify({ rows, reject });
        const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
        const { answers } = await (await fetch('/v1/predict', request)).json();
        right.push(answers.filter((answer) => answer.class === digit).length);
        unknown.push(answers.filter((answer) => answer.class === null).length);
      }
      return { right, unknown };
    },
    { written, reject },
  );
}

/** Drops files or folders on a part of the page, as a hand with a mouse would. */
export async function drop(page, paths, selector) {
  const { x, y, width, height } = await page.locator(selector).boundingBox();
  const hand = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'])
    await hand.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
  await hand.detach();
}

/** Takes a picture of the whole page. */
export const shoot = (page, name) => page.screenshot({ path: `${name}.png`, fullPage: true });

/** The names of the classes that the page shows. */
export const classesOf = (page) => page.locator('.class-name').allTextContents();

/** Waits for what moves to come to rest. */
export const settled = (page) => page.waitForTimeout(700);

/** Waits until an element has text that contains these words. */
export const told = (page, id, words = '') =>
  page.waitForFunction(
    ([id, words]) => {
      const { textContent } = document.getElementById(id);
      return textContent !== '' && textContent.includes(words);
    },
    [id, words],
  );

/** Draws examples of a digit and teaches them under its name, or under another one. */
export async function teach(page, digit, seeds, name = String(digit)) {
  await page.click('#clear');
  await page.fill('#class-name', name);
  for (const seed of seeds) {
    await draw(page, digit, seed);
    await page.click('#add');
  }
  await page.click('#teach');
  await outcome(page, 'on disk');
}

/** Waits until teaching or undoing is done, and ended with these words. */
export async function outcome(page, words) {
  await page.waitForSelector('#teach-form[aria-busy=false]');
  const [told, problem] = [
    await page.textContent('#teach-outcome'),
    await page.textContent('#teach-problem'),
  ];
  if (!told.includes(words)) throw new Error(`“${told}” instead of “${words}”; ${problem}`);
}

/** What axe finds against WCAG 2 A and AA, as lines. */
export async function obstacles(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }),
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target }) => `${id}: ${help} at ${target}`),
  );
}
