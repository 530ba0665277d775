// How is a row of pixels shown? `showPixels` paints it on a small canvas that the style sheet enlarges.

/** Paints a row in the canvas's own text colour, which suits both colour schemes; null clears it. */
export function showPixels(canvas, row, { width, height, channels }) {
  canvas.width = width;
  canvas.height = height;
  if (!row) return;
  const context = canvas.getContext('2d');
  const picture = context.createImageData(width, height);
  const ink = getComputedStyle(canvas)
    .color.match(/[\d.]+/g)
    ?.slice(0, 3) ?? [0, 0, 0];
  for (let i = 0; i < width * height; i++) {
    const pixel = row.slice(i * channels, (i + 1) * channels).map((value) => 255 * value);
    picture.data.set(channels === 3 ? [...pixel, 255] : [...ink, pixel[0]], 4 * i);
  }
  context.putImageData(picture, 0, 0);
}
