// How does a picture travel? As a file that the server can read and that is no larger than a backbone needs. The same
// file is asked about, learned and unlearned.

/** Longest side of what is sent. Backbones look at 224 pixels or so. */
const LONGEST = 640;

/** What the server reads. The browser reads more, and hands that on as JPEG. */
const READ = ['image/jpeg', 'image/png', 'image/webp'];

/** Files up to this size are sent as they are. */
const SMALL = 256 << 10;

/** A picture as it travels; throws if the browser cannot read it. */
export async function pictureOf(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
  if (READ.includes(file.type) && file.size <= SMALL && scale === 1) return { file, bitmap };
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
  const sheet = new OffscreenCanvas(width, height);
  const context = sheet.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return {
    file: await sheet.convertToBlob({ type: 'image/jpeg', quality: 0.92 }),
    bitmap: await createImageBitmap(sheet),
  };
}
