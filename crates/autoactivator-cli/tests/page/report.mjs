// Reports on every screen and on paper: `node report.mjs CHROMIUM FILE...`, in a folder with the packages of package.json.
// No page may be wider than its screen, ask for anything, complain, or be in the way of anybody. Screenshots are left in
// the folder. Ends with 1 when a report is not as it should be.

import assert from 'node:assert/strict';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, obstacles, shoot } from './browser.mjs';

const SCREENS = {
  wide: { viewport: { width: 1280, height: 900 } },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  tablet: { viewport: { width: 820, height: 1180 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  // A4 without its margins.
  print: { viewport: { width: 703, height: 1000 } },
};

const [chromium, ...files] = process.argv.slice(2);
const browser = await launch(chromium);

async function look(file, screen, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const address = pathToFileURL(resolve(file)).href;
  const wrong = [];
  page.on('request', (request) => {
    if (request.url() !== address && !request.url().startsWith('data:')) wrong.push(`asked ${request.url()}`);
  });
  page.on('console', (message) => wrong.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  if (screen === 'print') await page.emulateMedia({ media: 'print' });
  await page.goto(address);
  const name = `${basename(file, '.html')}-${screen}`;
  await shoot(page, name);
  const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= room, `${name}: ${width} pixels in ${room}`);
  assert.deepEqual(wrong, [], name);
  // What looks at the page for obstacles is a script, which the page itself would not let in.
  if (screen === 'wide' || screen === 'dark') {
    const open = await browser.newContext({ ...options, bypassCSP: true });
    const looked = await open.newPage();
    await looked.goto(address);
    assert.deepEqual(await obstacles(looked), [], name);
    await open.close();
  }
  await context.close();
}

let failed = 0;
for (const file of files)
  for (const [screen, options] of Object.entries(SCREENS))
    try {
      await look(file, screen, options);
      console.log(`ok: ${basename(file)}, ${screen}`);
    } catch (problem) {
      failed += 1;
      console.error(`FAILED: ${basename(file)}, ${screen}\n${problem.message}`);
    }
await browser.close();
process.exit(failed ? 1 : 0);
