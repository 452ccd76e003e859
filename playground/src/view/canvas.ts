// Drawing on a canvas in CSS pixels, sharp on every screen, with the colours of the page.

export interface Colours {
  ink: string;
  soft: string;
  line: string;
  card: string;
  nsr: string;
  mlp: string;
  yes: string;
  no: string;
  middle: string;
  sign: string;
  zero: string;
  bias: string;
  accent: string;
}

let colours: Colours | null = null;

/** The colours of the style sheet, for light or dark. */
export function palette(): Colours {
  if (!colours) {
    const style = getComputedStyle(document.documentElement);
    const names = [
      "ink",
      "soft",
      "line",
      "card",
      "nsr",
      "mlp",
      "yes",
      "no",
      "middle",
      "sign",
      "zero",
      "bias",
      "accent",
    ];
    colours = Object.fromEntries(
      names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
    ) as unknown as Colours;
  }
  return colours;
}

export function forgetPalette(): void {
  colours = null;
  scale = null;
}

let scale: string[] | null = null;
let lightness: number[] = [];

/** Black or white, whichever is easier to read on the colour of an answer: a contrast of at least 4.5. */
export function inkOn(answer: number): string {
  answerColour(answer);
  return lightness[Math.round(100 * answer)] > 0.179 ? "#000" : "#fff";
}

function luminance(colour: number[]): number {
  const [red, green, blue] = colour.map((value) =>
    value > 10 ? ((value / 255 + 0.055) / 1.055) ** 2.4 : value / 3294.6,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The colour of an answer from 0 (no) to 1 (yes). */
export function answerColour(answer: number): string {
  if (!scale) {
    lightness = [];
    const { yes, no, middle } = palette();
    const parse = (hex: string) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const ends = [parse(no), parse(middle), parse(yes)];
    scale = Array.from({ length: 101 }, (_, index) => {
      const [from, to] = index < 50 ? [ends[0], ends[1]] : [ends[1], ends[2]];
      const part = index < 50 ? index / 50 : index / 50 - 1;
      const mixed = from.map((value, i) => Math.round(value + (to[i] - value) * part));
      lightness.push(luminance(mixed));
      return `rgb(${mixed.join()})`;
    });
  }
  return scale[Math.round(100 * (answer >= 0 && answer <= 1 ? answer : 0))];
}

export interface Pen {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

const sizes = new WeakMap<HTMLCanvasElement, { width: number; height: number }>();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    sizes.set(target as HTMLCanvasElement, { width: contentRect.width, height: contentRect.height });
  }
  resized();
});
let resized: () => void = () => {};
const hidden = new WeakSet<Element>();
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) hidden.delete(target);
    else hidden.add(target);
  }
  resized();
});

/** Call back when a canvas has another size, or comes into view. */
export function onResize(callback: () => void): void {
  resized = callback;
}

/** Whether a canvas may be in view: others need not be drawn. */
export function isVisible(canvas: HTMLCanvasElement): boolean {
  return !hidden.has(canvas);
}

/** A cleared canvas; its size is observed rather than measured in each frame. */
export function pen(canvas: HTMLCanvasElement): Pen {
  let size = sizes.get(canvas);
  if (!size) {
    size = { width: canvas.clientWidth, height: canvas.clientHeight };
    sizes.set(canvas, size);
    observer.observe(canvas);
    watcher.observe(canvas);
  }
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(size.width * ratio),
    height = Math.round(size.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  context.font = "12px system-ui, sans-serif";
  return { context, ...size };
}

/** A text; no text is smaller than 11 pixels. */
export function write(
  { context }: Pen,
  text: string,
  x: number,
  y: number,
  colour: string,
  align: CanvasTextAlign = "left",
  font?: string,
): void {
  if (font) context.font = font;
  context.fillStyle = colour;
  context.textAlign = align;
  context.fillText(text, x, y);
  if (font) context.font = "12px system-ui, sans-serif";
}

export function line(
  { context }: Pen,
  points: ArrayLike<readonly [number, number]>,
  colour: string,
  width = 1,
  dash: number[] = [],
): void {
  context.beginPath();
  context.setLineDash(dash);
  for (let i = 0; i < points.length; i++) context.lineTo(points[i][0], points[i][1]);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
  context.setLineDash([]);
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10², 10⁻³. */
export function powerText(power: number): string {
  const digits = [...`${Math.abs(power)}`].map((digit) => RAISED[Number(digit)]).join("");
  return `10${power < 0 ? "⁻" : ""}${digits}`;
}
