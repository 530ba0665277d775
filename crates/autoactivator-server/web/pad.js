// Where does one draw? `Pad` turns pointer and keys into strokes (lists of points in a square of 320 units)
// and shows them, or a picture instead. It knows nothing about models: `onChange` is called whenever its
// content changes.

export const SIZE = 320;
const PEN = 17;
const STEP = 12;

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Pad {
  strokes = [];
  picture = null;
  #pen = { x: SIZE / 2, y: SIZE / 2, down: false, shown: false };
  #pointer = null;

  constructor(canvas, { onChange, onEnter }) {
    this.canvas = canvas;
    this.onChange = onChange;
    this.onEnter = onEnter;
    this.context = canvas.getContext('2d');
    canvas.addEventListener('pointerdown', (event) => this.#begin(event));
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    for (const end of ['pointerup', 'pointercancel'])
      canvas.addEventListener(end, (event) => this.#end(event));
    canvas.addEventListener('keydown', (event) => this.#key(event));
    canvas.addEventListener('blur', () => this.#liftPen());
    new ResizeObserver(() => this.#fit()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  get isEmpty() {
    return this.strokes.length === 0 && !this.picture;
  }

  clear() {
    this.empty();
    this.onChange();
  }

  /** Clears without a word to anybody. */
  empty() {
    this.strokes = [];
    this.picture = null;
    this.#pen.down = false;
    this.draw();
  }

  /** Shows a picture {bitmap, file} instead of strokes. */
  show(picture) {
    this.strokes = [];
    this.picture = picture;
    this.#changed();
  }

  takeBack() {
    this.#pen.down = false;
    this.strokes.pop();
    this.#changed();
  }

  draw() {
    const { context, canvas } = this;
    const colours = getComputedStyle(canvas);
    context.setTransform(canvas.width / SIZE, 0, 0, canvas.height / SIZE, 0, 0);
    context.clearRect(0, 0, SIZE, SIZE);
    if (this.picture) drawContained(context, this.picture.bitmap);
    drawStrokes(context, this.strokes, colours.color);
    if (this.#pen.shown) this.#drawPen(colours.getPropertyValue('--accent'));
  }

  #fit() {
    const side = Math.max(1, Math.round(this.canvas.clientWidth * devicePixelRatio));
    if (this.canvas.width !== side) this.canvas.width = this.canvas.height = side;
    this.draw();
  }

  #changed() {
    this.draw();
    this.onChange();
  }

  #at(event) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return { x: ((event.clientX - left) / width) * SIZE, y: ((event.clientY - top) / height) * SIZE };
  }

  #begin(event) {
    if (event.button !== 0 || this.#pointer !== null) return;
    this.#pointer = event.pointerId;
    this.canvas.setPointerCapture(event.pointerId);
    this.#pen.shown = this.#pen.down = false;
    this.picture = null;
    this.strokes.push([this.#at(event)]);
    this.#changed();
  }

  #move(event) {
    if (event.pointerId !== this.#pointer) return;
    // All positions since the last frame, if the browser keeps them, so that fast strokes stay smooth.
    const passed = event.getCoalescedEvents?.() ?? [];
    this.strokes.at(-1).push(...(passed.length ? passed : [event]).map((one) => this.#at(one)));
    this.#changed();
  }

  #end(event) {
    if (event.pointerId === this.#pointer) this.#pointer = null;
  }

  #key(event) {
    const arrow = ARROWS[event.key];
    if (event.altKey || ((event.ctrlKey || event.metaKey) && event.key !== 'z')) return;
    if (arrow) this.#movePen(arrow, event.shiftKey ? STEP / 3 : STEP);
    else if (event.key === ' ') this.#switchPen();
    else if (event.key === 'Backspace' || event.key === 'z') this.takeBack();
    else if (event.key === 'Delete' || event.key === 'Escape') this.clear();
    else if (event.key === 'Enter') this.onEnter();
    else return;
    event.preventDefault();
  }

  #movePen([dx, dy], step) {
    const pen = this.#pen;
    const keep = (value) => Math.max(PEN / 2, Math.min(SIZE - PEN / 2, value));
    Object.assign(pen, { x: keep(pen.x + dx * step), y: keep(pen.y + dy * step), shown: true });
    if (pen.down) {
      this.strokes.at(-1).push({ x: pen.x, y: pen.y });
      this.#changed();
    } else this.draw();
  }

  #switchPen() {
    const pen = this.#pen;
    Object.assign(pen, { down: !pen.down, shown: true });
    if (!pen.down) return this.draw();
    this.picture = null;
    this.strokes.push([{ x: pen.x, y: pen.y }]);
    this.#changed();
  }

  #liftPen() {
    this.#pen.down = this.#pen.shown = false;
    this.draw();
  }

  #drawPen(colour) {
    const { context } = this;
    const { x, y, down } = this.#pen;
    context.beginPath();
    context.arc(x, y, PEN / 2 + 3, 0, 2 * Math.PI);
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 3;
    context.stroke();
    if (down) context.fill();
  }
}

/** Draws strokes as smooth lines through the midpoints of their points. */
export function drawStrokes(context, strokes, colour, pen = PEN) {
  Object.assign(context, { strokeStyle: colour, lineWidth: pen, lineCap: 'round', lineJoin: 'round' });
  for (const stroke of strokes) {
    context.beginPath();
    context.moveTo(stroke[0].x, stroke[0].y);
    for (let i = 1; i < stroke.length; i++) {
      const [a, b] = [stroke[i - 1], stroke[i]];
      context.quadraticCurveTo(a.x, a.y, (a.x + b.x) / 2, (a.y + b.y) / 2);
    }
    context.lineTo(stroke.at(-1).x, stroke.at(-1).y);
    context.stroke();
  }
}

function drawContained(context, bitmap) {
  const scale = SIZE / Math.max(bitmap.width, bitmap.height);
  const [width, height] = [bitmap.width * scale, bitmap.height * scale];
  context.drawImage(bitmap, (SIZE - width) / 2, (SIZE - height) / 2, width, height);
}
