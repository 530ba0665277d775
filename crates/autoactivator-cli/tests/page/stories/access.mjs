// Who may do what: a token that is asked for where one is needed, and a server that is busy.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, draw, open, outcome, told } from '../browser.mjs';
import { Server } from '../server.mjs';

export const access = {
  async 'a token is asked for where one is needed, and a busy server is asked again'(browser) {
    const server = new Server({ env: { AUTOACTIVATOR_TOKEN: 'a-long-secret-of-the-lab' } });
    const { page, wrong, close } = await open(browser, await server.start());
    assert.equal(await page.locator('#exam-title').isVisible(), false, 'held-out rows need the token');
    await draw(page, 2, 1);
    assert.equal(await answer(page), '2', 'predictions do not');
    assert.deepEqual(wrong, []);
    await page.click('#download-memory');
    await told(page, 'download-problem');
    await page.fill('#class-name', '2');
    await page.click('#add');
    await page.click('#teach');
    await told(page, 'teach-problem');
    await page.fill('#token', 'a-long-secret-of-the-lab');
    await page.press('#token', 'Enter');
    await page.waitForSelector('#exam-title', { state: 'visible' });
    const saved = page.waitForEvent('download');
    await page.click('#download-memory');
    const download = await saved;
    assert.equal(download.suggestedFilename(), 'model.aact');
    const same = readFileSync(join(server.folder, 'model.aact')).equals(readFileSync(await download.path()));
    assert.ok(same, 'what is downloaded is the model file');
    await page.waitForFunction(() => document.getElementById('download-problem').textContent === '');
    await page.locator('.example .remove').click();
    await page.fill('#class-name', '');
    const busy = {
      status: 429,
      headers: { 'retry-after': '1' },
      json: { error: { kind: 'Busy', message: 'busy' } },
    };
    await page.route('**/v1/learn', (route) => route.fulfill(busy), { times: 1 });
    await page.click('#built-in');
    await outcome(page, 'on disk');
    await close();
    await server.kill();
  },
};
