// Looks at every page of the site on a phone: nothing wider than the screen, no request to another host, no error; and
// searches it. `node look.mjs SITE BROWSER`, in a folder that has playwright-core.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const installed = createRequire(join(process.cwd(), 'package.json'));
const { chromium } = installed('playwright-core');

const [site, executablePath] = process.argv.slice(2).map((path) => resolve(path));
const PHONE = { width: 390, height: 844 };
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json', '.svg': 'image/svg+xml' };

const server = createServer((request, response) => {
  const path = join(site, decodeURIComponent(new URL(request.url, 'http://site').pathname));
  try {
    response.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(path));
  } catch {
    response.writeHead(404).end();
  }
}).listen(0, '127.0.0.1');
await new Promise((ready) => server.once('listening', ready));
const address = `http://127.0.0.1:${server.address().port}`;

const pages = readdirSync(site, { recursive: true })
  .filter((name) => name.endsWith('.html'))
  .map((name) => relative(site, join(site, name)));
const wrong = [];
const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: PHONE });
let shown = '';
page.on('request', (request) => {
  const { protocol, host } = new URL(request.url());
  if (!['blob:', 'data:', 'file:'].includes(protocol) && `http://${host}` !== address) wrong.push(`${shown}: asked ${request.url()}`);
});
page.on('console', (message) => {
  if (message.type() === 'error') wrong.push(`${shown}: ${message.text()} ${message.location().url}`);
});
page.on('pageerror', (error) => wrong.push(`${shown}: ${error.message}`));

for (shown of pages) {
  await page.goto(`${address}/${shown}`, { waitUntil: 'load' });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > PHONE.width) wrong.push(`${shown}: ${wide} pixels wide`);
  if (!(await page.locator('h1').count())) wrong.push(`${shown}: no title`);
}

// The index of words is part of the site: from a server, and from a folder.
await page.setViewportSize({ width: 1280, height: 900 });
const found = [];
for (shown of [`${address}/index.html`, pathToFileURL(join(site, 'index.html')).href]) {
  await page.goto(shown);
  const results = page.locator('.md-search-result__item');
  try {
    await page.fill('[data-md-component=search-query]', 'unlearn', { timeout: 30000 });
    await results.first().waitFor({ timeout: 30000 });
  } catch {
    wrong.push(`${shown}: a search finds nothing`);
  }
  found.push(await results.count());
}

await browser.close();
server.close();
if (wrong.length) {
  console.error(wrong.join('\n'));
  process.exit(1);
}
console.log(`${pages.length} pages fit a phone; a search finds ${found[0]} of them, and ${found[1]} without a server; nothing was asked of another host`);
