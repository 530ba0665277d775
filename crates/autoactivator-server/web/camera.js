// How is a photograph taken? In a dialog with the camera's picture; `onPicture` gets its central square.

import { byId } from './dom.js';

const SIDE = 480;

export function listenForCamera({ onPicture, onProblem }) {
  const [dialog, video] = [byId('camera-dialog'), byId('viewfinder')];
  byId('camera').hidden = !navigator.mediaDevices;
  byId('camera').addEventListener('click', async () => {
    try {
      video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
      onProblem('');
      dialog.showModal();
      await video.play();
    } catch {
      onProblem('No camera is available to this page: allow it in the browser, or choose an image.');
    }
  });
  byId('camera-close').addEventListener('click', () => dialog.close());
  byId('camera-take').addEventListener('click', async () => {
    onPicture(await photograph(video));
    dialog.close();
  });
  dialog.addEventListener('close', () => {
    for (const track of video.srcObject?.getTracks() ?? []) track.stop();
    video.srcObject = null;
  });
}

async function photograph(video) {
  const side = Math.min(video.videoWidth, video.videoHeight);
  const [left, top] = [(video.videoWidth - side) / 2, (video.videoHeight - side) / 2];
  const sheet = new OffscreenCanvas(SIDE, SIDE);
  sheet.getContext('2d').drawImage(video, left, top, side, side, 0, 0, SIDE, SIDE);
  const file = await sheet.convertToBlob({ type: 'image/jpeg', quality: 0.92 });
  return { file, bitmap: await createImageBitmap(sheet), folder: null };
}
