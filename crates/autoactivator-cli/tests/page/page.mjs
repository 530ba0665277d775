// The stories of the page, told by a headless browser to a real server: `node page.mjs PROGRAM CHROMIUM BACKBONE [WORDS]`,
// in a folder with the packages of package.json; with WORDS, only the stories that have them in their title. Screenshots
// are left in the folder. Ends with 1 when a story does not hold.

import { launch } from './browser.mjs';
import { settings } from './server.mjs';
import { access } from './stories/access.mjs';
import { drawing } from './stories/drawing.mjs';
import { kinds } from './stories/kinds.mjs';
import { live } from './stories/live.mjs';
import { looks } from './stories/looks.mjs';
import { many } from './stories/many.mjs';
import { photos } from './stories/photos.mjs';
import { unknown } from './stories/unknown.mjs';

const [program, chromium, backbone, words = ''] = process.argv.slice(2);
Object.assign(settings, { program, backbone });
const stories = { ...drawing, ...photos, ...kinds, ...many, ...live, ...access, ...unknown, ...looks };

const browser = await launch(chromium);
let failed = 0;
for (const [name, story] of Object.entries(stories)) {
  if (!name.includes(words)) continue;
  const started = performance.now();
  try {
    await story(browser);
    console.log(`ok: ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  } catch (problem) {
    failed += 1;
    console.error(`FAILED: ${name}\n${problem.stack}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
