// Many classes and long names: the answer is always in view, and everything fits its place.

import assert from 'node:assert/strict';
import { answer, obstacles, open, outcome, settled, shoot } from '../browser.mjs';
import { Server } from '../server.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** Rows of `n` classes along a line, `each` of them, and their names. */
function lesson(n, each, name = (k) => `class ${k}`) {
  const rows = [];
  const classes = [];
  for (let k = 0; k < n; k++) {
    for (let i = 0; i < each; i++) {
      const angle = (2 * Math.PI * k) / n;
      rows.push([100 * Math.cos(angle), 100 * Math.sin(angle), k % 7, i / 10]);
      classes.push(name(k));
    }
  }
  return { rows, classes };
}

/** Elements that are wider than what they are in, or than the page. */
const overflowing = (page) =>
  page.evaluate(() => {
    const wide = [...document.querySelectorAll('main *')].filter((one) => {
      const { left, right, width } = one.getBoundingClientRect();
      const hidden = one.closest('.unseen, [hidden]');
      return width > 0 && !hidden && (right > innerWidth + 1 || left < -1);
    });
    return wide.map((one) => `${one.tagName} ${one.id} ${one.className}`);
  });

export const many = {
  async 'with 300 classes in 30 tasks the class that answers is always in view'(browser) {
    const server = new Server({ options: ['--empty', '--pool', 'uniform', '--pool-nodes', '300'] });
    await server.start();
    const { rows, classes } = lesson(300, 3);
    for (let from = 0; from < rows.length; from += 30)
      await server.ask('/v1/learn', { rows: rows.slice(from, from + 30), classes: classes.slice(from, from + 30) });
    const { page, wrong, close } = await open(browser, `http://${server.listen}/`);
    await page.uncheck('#reject');
    assert.match(await page.textContent('#headline'), /300 classes/);
    for (const k of [0, 7, 150, 299]) {
      await page.fill('#typed', rows[3 * k].join(' '));
      const said = await answer(page);
      assert.match(said, /^class \d+$/);
      assert.equal(await page.locator('.bar').count(), 5);
      assert.equal(await page.locator('.bar.best .bar-name').textContent(), said);
      assert.match(await page.textContent('#more'), /295 more/);
      assert.equal(await page.locator('#network .output.best').count(), 1);
      assert.equal(await page.locator('#network .output-name.best').textContent(), said);
      assert.ok((await page.locator('#network .link.best').count()) > 0, 'and so are nodes that speak for it');
    }
    await settled(page);
    await shoot(page, 'classes-300');
    await page.click('#more');
    assert.equal(await page.locator('.bar').count(), 300);
    await page.click('#more');
    assert.equal(await page.locator('#classes .class').count(), 24);
    await page.click('#classes + .more');
    assert.equal(await page.locator('#classes .class').count(), 300);
    assert.deepEqual(await overflowing(page), []);
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'names that are long, or written from right to left, fit their places'(browser) {
    const server = new Server({ options: ['--empty', '--pool', 'uniform', '--pool-nodes', '50'] });
    await server.start();
    const names = [
      'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
      'تفاحة حمراء كبيرة من الحديقة',
      'a name of many short words that goes on and on until it has reached a hundred characters, as allowed',
      'תפוח',
      '\u{1F34B}',
    ];
    const { rows, classes } = lesson(names.length, 4, (k) => names[k]);
    await server.ask('/v1/learn', { rows, classes });
    for (const [size, options] of Object.entries({ wide: {}, phone: PHONE })) {
      const { page, wrong, close } = await open(browser, `http://${server.listen}/`, options);
      await page.uncheck('#reject');
      for (const [k, name] of names.entries()) {
        await page.fill('#typed', rows[4 * k].join(' '));
        assert.equal(await answer(page), name);
        assert.deepEqual(await overflowing(page), [], `${size}: ${name}`);
        const { scrollWidth, clientWidth } = await page
          .locator('#verdict-class')
          .evaluate(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }));
        assert.ok(scrollWidth <= clientWidth + 1, `${size}: ${name} fits`);
        if (k < 3) await settled(page).then(() => shoot(page, `names-${size}-${k}`));
      }
      // A name in the field is written in its own direction.
      await page.fill('#class-name', names[1]);
      const direction = await page.locator('#class-name').evaluate((field) => getComputedStyle(field).direction);
      assert.equal(direction, 'rtl');
      assert.deepEqual(await obstacles(page), []);
      assert.deepEqual(wrong, []);
      await close();
    }
    const { page, close } = await open(browser, `http://${server.listen}/`);
    await page.fill('#class-name', names[1].replace('كبيرة', 'صغيرة'));
    await page.fill('#typed', '500 500 1 1\n510 500 1 1');
    await page.click('#add');
    await page.click('#teach');
    await outcome(page, 'learned in');
    assert.deepEqual(await overflowing(page), []);
    await close();
    await server.kill();
  },
};
