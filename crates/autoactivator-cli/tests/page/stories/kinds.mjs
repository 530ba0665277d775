// What models take: units of the paper's learner, rows of a table, sentences, and a model that knows one class.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answer, ask, classesOf, draw, obstacles, open, outcome, settled, shoot, teach, told } from '../browser.mjs';
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

  async 'sentences are taught, asked about and taken back'(browser) {
    const encoder = join(process.env.AUTOACTIVATOR_DATA ?? '', 'backbones/minilm');
    if (!existsSync(encoder)) return console.log('  skipped: there is no backbones/minilm in AUTOACTIVATOR_DATA');
    const server = new Server({ options: ['--empty', '--backbone', encoder] });
    if (!server.run('serve', '--help').includes('sentence'))
      return console.log('  skipped: this program was built without sentences');
    const { page, wrong, close } = await open(browser, await server.start());
    assert.match(await page.textContent('#headline'), /with sentences/);
    assert.equal(await page.locator('#pad, #photo-area').first().isVisible(), false);
    const lesson = {
      'book a table': ['Can I get a table for two tonight?', 'I need a reservation for dinner', 'Book us four seats at eight'],
      weather: ['Will it rain tomorrow?', 'How warm is it going to be today?', 'Do I need an umbrella?'],
    };
    for (const [name, sentences] of Object.entries(lesson)) {
      await page.fill('#class-name', name);
      await page.fill('#typed', sentences.join('\n'));
      await page.click('#add');
    }
    assert.equal(await page.locator('.example q').count(), 6);
    await page.click('#teach');
    await outcome(page, 'learned in');
    await page.fill('#typed', 'What is the forecast for Sunday?');
    assert.equal(await answer(page), 'weather');
    await page.fill('#class-name', 'lost card');
    await page.fill('#typed', 'I cannot find my credit card\nMy card is gone\nSomebody has stolen my bank card');
    assert.notEqual(await answer(page), 'lost card');
    await page.click('#add');
    await page.click('#teach');
    // What was typed last is asked about again by itself.
    await told(page, 'verdict-class', 'lost card');
    assert.ok(await page.locator('#before').isVisible());
    await settled(page);
    await shoot(page, 'sentences');
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('button', { name: 'Undo teaching lost card' }).click();
    await outcome(page, 'Undone');
    assert.deepEqual(await classesOf(page), ['book a table', 'weather']);
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
