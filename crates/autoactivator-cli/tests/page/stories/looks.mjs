// How it looks, and to whom: light, dark, on a tablet and a phone, without obstacles; and the page of the API.

import assert from 'node:assert/strict';
import { answer, draw, obstacles, open, outcome, settled, shoot } from '../browser.mjs';
import { Server } from '../server.mjs';
import { photographs as things } from '../things.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const TABLET = { viewport: { width: 820, height: 1180 } };

/** How long it takes until the answer to what is shown stands there, each time that something is shown. */
async function waits(page, times, show) {
  await page.evaluate(() => {
    globalThis.waits = [];
    let began = null;
    new MutationObserver(() => {
      const busy = document.getElementById('verdict').getAttribute('aria-busy') === 'true';
      if (busy) began ??= performance.now();
      else if (began !== null) globalThis.waits.push(performance.now() - began), (began = null);
    }).observe(document.getElementById('verdict'), { attributeFilter: ['aria-busy'] });
  });
  for (let i = 0; i < times; i++) await show(i);
  await page.waitForSelector('#verdict[aria-busy=false]');
  const found = (await page.evaluate(() => globalThis.waits)).sort((a, b) => a - b);
  return `${Math.round(found[found.length >> 1])} ms, at most ${Math.round(found.at(-1))} ms`;
}

export const looks = {
  async 'figures: the first paint, and answers while something is shown'(browser) {
    const server = new Server();
    const address = await server.start();
    const paints = [];
    for (let i = 0; i < 5; i++) {
      const { page, close } = await open(browser, address);
      const [paint] = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint'));
      paints.push(Math.round(paint.startTime));
      await close();
    }
    console.log(`  first paint after ${paints.join(', ')} ms`);
    const { page, wrong, close } = await open(browser, address);
    console.log(`  an answer while drawing: ${await waits(page, 4, (i) => draw(page, i, 1))}`);
    await close();
    const photographs = Server.ofPhotographs();
    const other = await open(browser, await photographs.start());
    for (const thing of ['lemon', 'leaf']) {
      await other.page.fill('#class-name', thing);
      await other.page.setInputFiles('#files', await things(other.page, thing, 5));
      await other.page.waitForSelector('.example');
      await other.page.click('#teach');
      await outcome(other.page, 'learned in');
    }
    const shown = await things(other.page, 'leaf', 5, 3);
    const show = async (i) => {
      await other.page.setInputFiles('#files', shown[i]);
      await other.page.waitForFunction((i) => globalThis.waits.length > i, i);
    };
    console.log(`  an answer to a photograph, with a backbone that takes no time: ${await waits(other.page, 5, show)}`);
    assert.deepEqual([...wrong, ...other.wrong], []);
    await other.close();
    await server.kill();
    await photographs.kill();
  },

  async 'light, dark and on a phone there is nothing in the way of anybody'(browser) {
    const server = new Server();
    const address = await server.start();
    for (const [name, options] of Object.entries({
      light: {},
      dark: { colorScheme: 'dark' },
      tablet: TABLET,
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
    const server = new Server();
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
