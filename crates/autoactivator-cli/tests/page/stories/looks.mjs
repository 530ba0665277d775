// How it looks, and to whom: light, dark, on a tablet and a phone, without obstacles; and the page of the API.

import assert from 'node:assert/strict';
import { answer, draw, obstacles, open, settled, shoot } from '../browser.mjs';
import { Server } from '../server.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const TABLET = { viewport: { width: 820, height: 1180 } };

export const looks = {
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
