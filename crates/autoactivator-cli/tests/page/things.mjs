// Photographs of simple things, made in the browser: JPEG files of several shapes and sizes, the same for the same words.

/** Widths and heights: lying, standing, very wide, square, small. */
const SHAPES = [
  [1600, 1200],
  [900, 1600],
  [2400, 900],
  [640, 640],
  [300, 200],
];

/** The colours of the things that there are, as hues. */
const HUES = { lemon: 55, leaf: 120, ball: 5, box: 220 };

/** `n` photographs of a thing, as files for playwright; `seed` makes others. */
export async function photographs(page, thing, n, seed = 0) {
  const files = await page.evaluate(paint, { thing, n, seed, hue: HUES[thing], shapes: SHAPES });
  return files.map((base64, i) => ({
    name: `${thing}-${seed}-${i}.jpg`,
    mimeType: 'image/jpeg',
    buffer: Buffer.from(base64, 'base64'),
  }));
}

/** Runs in the page. */
async function paint({ thing, n, seed, hue, shapes }) {
  let state = (seed + 1) * 2654435761 + hue;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const files = [];
  for (let k = 0; k < n; k++) {
    const [width, height] = shapes[k % shapes.length];
    const sheet = new OffscreenCanvas(width, height);
    const context = sheet.getContext('2d');
    const table = context.createLinearGradient(0, 0, 0, height);
    table.addColorStop(0, `hsl(${205 + 20 * next()} 25% 86%)`);
    table.addColorStop(1, `hsl(${30 + 15 * next()} 22% 72%)`);
    context.fillStyle = table;
    context.fillRect(0, 0, width, height);
    const size = 0.36 * Math.min(width, height) * (0.85 + 0.3 * next());
    const [x, y] = [width * (0.45 + 0.1 * next()), height * (0.45 + 0.1 * next())];
    const light = context.createRadialGradient(x - size / 3, y - size / 3, size / 8, x, y, size);
    light.addColorStop(0, `hsl(${hue} 85% 72%)`);
    light.addColorStop(1, `hsl(${hue} 75% 34%)`);
    context.fillStyle = light;
    context.beginPath();
    if (thing === 'box') context.rect(x - size, y - 0.7 * size, 2 * size, 1.4 * size);
    else context.ellipse(x, y, size, size / { lemon: 1.4, leaf: 2.4, ball: 1 }[thing], 3 * next(), 0, 7);
    context.fill();
    const bytes = new Uint8Array(await (await sheet.convertToBlob({ type: 'image/jpeg', quality: 0.9 })).arrayBuffer());
    files.push(btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), '')));
  }
  return files;
}
