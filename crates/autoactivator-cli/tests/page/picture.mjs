// A picture of a report for documents, down to its table of results: `node picture.mjs CHROMIUM REPORT.html FILE.png`, in a
// folder with the packages of package.json.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';

const WIDTH = 1280;
/** Pixels below the table. */
const MARGIN = 28;

const [chromium, report, file] = process.argv.slice(2);
const browser = await launch(chromium);
const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 } });
await page.goto(pathToFileURL(resolve(report)).href);
const { y, height } = await page.locator('.summary').first().boundingBox();
const clip = { x: 0, y: 0, width: WIDTH, height: Math.ceil(y + height) + MARGIN };
await page.screenshot({ path: file, clip, fullPage: true });
await browser.close();
