// What models take: units of the paper's learner, rows of a table, sentences, and a model that knows one class.

import assert from 'node:assert/strict';
import { answer, ask, classesOf, draw, obstacles, open, outcome, shoot, teach } from '../browser.mjs';
import { Server } from '../server.mjs';

export const kinds = {
  async 'a model of units shows which one wakes'(browser) {
    const server = new Server({ options: ['--empty', '--learner', 'reactivation'] });
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
    await outcome(page, 'learned in');
    assert.equal(await ask(page, 0, 9), 'ring');
    assert.equal(await page.locator('.unit.awake .gauge-given').count(), 1);
    await shoot(page, 'units');
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'a model of a table takes rows of numbers'(browser) {
    const server = new Server();
    const row = (i, name) => `${[i % 3, i % 2, name === 'low' ? 0 : 9, i % 5, 1].join(',')},${name}\n`;
    const table = Array.from({ length: 40 }, (_, i) => row(i, i % 2 ? 'low' : 'high')).join('');
    server.write('table.csv', `a,b,c,d,e,class\n${table}`);
    server.run('learn', 'model.aact', 'table.csv');
    const { page, wrong, close } = await open(browser, await server.start());
    assert.equal(await page.locator('#pad').isVisible(), false);
    await page.uncheck('#reject');
    await page.fill('#typed', '1, 2, x');
    assert.match(await page.textContent('#typed-problem'), /“x” is not a number/);
    await page.fill('#typed', '1 0 9 2 1');
    assert.equal(await answer(page), 'high');
    await page.fill('#class-name', 'other');
    for (const row of ['5 5 5 5 5', '5 5 4 5 5']) {
      await page.fill('#typed', row);
      await page.click('#add');
    }
    await page.click('#teach');
    await outcome(page, 'learned in');
    assert.ok((await classesOf(page)).includes('other'));
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },

  async 'a model of one class answers, and says that it cannot answer unknown yet'(browser) {
    const server = new Server({ options: ['--empty'] });
    const { page, wrong, close } = await open(browser, await server.start());
    await teach(page, 0, [3, 6]);
    assert.equal(await ask(page, 0, 9), '0');
    assert.match(await page.textContent('#verdict-text'), /cannot answer “unknown” yet/);
    await page.uncheck('#reject');
    await teach(page, 1, [3, 6]);
    await ask(page, 0, 9);
    assert.doesNotMatch(await page.textContent('#verdict-text'), /cannot answer/);
    assert.deepEqual(wrong, []);
    await close();
    await server.kill();
  },
};
