// The charts: bits, answers, accuracy by magnitude, and the weights of the units.

import { SIDE } from "../learning/comparisons";
import { rowsOf, sigmoid } from "../learning/model";
import type { Register } from "../learning/register";
import { type Pen, line, palette, pen, powerText, write } from "./canvas";

type Point = [number, number];

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

function axes(p: Pen, box: Box, ticks: [number, string][], y: (value: number) => number): void {
  const { line: rule, soft } = palette();
  for (const [value, label] of ticks) {
    line(
      p,
      [
        [box.left, y(value)],
        [box.right, y(value)],
      ],
      rule,
    );
    write(p, label, box.left - 6, y(value) + 4, soft, "right");
  }
}

/** A multiple of delta: −2δ, δ, 0. */
function inDelta(times: number): string {
  const size = Math.abs(times);
  return times ? `${times < 0 ? "−" : ""}${size === 1 ? "" : size}δ` : "0";
}

/** Sign and zero bit against the difference (Figures 2 and 3), relaxed by lambda; those of the units as thin lines. */
export function drawBits(canvas: HTMLCanvasElement, register: Register, delta: number): void {
  const p = pen(canvas),
    { sign, zero, soft, ink, card } = palette(),
    { scale } = register.sizes;
  const box: Box = { left: 34, right: p.width - 8, top: 12, bottom: p.height - 36 },
    reach = 4.4 * delta;
  const x = (value: number) => box.left + ((value / reach + 1) / 2) * (box.right - box.left);
  const y = (value: number) => box.top + ((1.1 - value) / 2.2) * (box.bottom - box.top);
  axes(
    p,
    box,
    [
      [1, "1"],
      [0, "0"],
      [-1, "−1"],
    ],
    y,
  );
  const curve = (bit: (step: number) => number, sharpness: number) =>
    Array.from({ length: 121 }, (_, i): [number, number] => {
      const difference = (i / 60 - 1) * reach;
      return [x(difference), y(bit(Math.tanh(sharpness * difference)))];
    });
  const bits = [(step: number) => step, (step: number) => 1 - 2 * step * step];
  p.context.globalAlpha = 0.45;
  for (let r = 0; r < register.sizes.redundancy; r++) {
    const unit = register.unit(r),
      weight = unit.first[0] - unit.second[0];
    bits.forEach((bit, i) => line(p, curve(bit, scale * weight), i ? zero : sign, 0.8));
  }
  p.context.globalAlpha = 1;
  bits.forEach((bit, i) => line(p, curve(bit, scale), i ? zero : sign, 2.5, i ? [6, 3] : []));
  for (let i = -4; i <= 4; i++) {
    const at = x(i * delta);
    p.context.lineWidth = 1.5;
    for (const [exact, colour, round] of [
      [i > 0 ? 1 : -1, sign, true],
      [i === 0 ? 1 : -1, zero, false],
    ] as const) {
      p.context.beginPath();
      if (round) p.context.arc(at, y(exact), 4.5, 0, 7);
      else p.context.rect(at - 3, y(exact) - 3, 6, 6);
      p.context.fillStyle = card;
      p.context.fill();
      p.context.strokeStyle = colour;
      p.context.stroke();
    }
    if (i % 2 === 0 || p.width > 300) write(p, inDelta(i), at, box.bottom + 14, soft, "center");
  }
  write(p, "difference of the operands", (box.left + box.right) / 2, p.height - 5, ink, "center");
}

/** The register's answer against a - b, with b = 0, and the labels of the rows with that difference. */
export function drawAnswer(
  canvas: HTMLCanvasElement,
  register: Register,
  labels: ArrayLike<number>,
  delta: number,
): void {
  const p = pen(canvas),
    { nsr, soft, ink, yes, no, line: rule } = palette();
  const box: Box = { left: 34, right: p.width - 10, top: 12, bottom: p.height - 36 },
    reach = SIDE - 1;
  const x = (value: number) => box.left + ((value / reach + 1) / 2) * (box.right - box.left);
  const y = (value: number) => box.bottom - (0.04 + 0.92 * value) * (box.bottom - box.top);
  axes(
    p,
    box,
    [
      [1, "yes"],
      [0.5, "½"],
      [0, "no"],
    ],
    y,
  );
  line(
    p,
    [
      [x(0), box.top],
      [x(0), box.bottom],
    ],
    rule,
  );
  const shares = Array.from({ length: 2 * reach + 1 }, () => [0, 0]);
  for (let i = 0; i < SIDE; i++) for (let j = 0; j < SIDE; j++) shares[i - j + reach][labels[i * SIDE + j]] += 1;
  shares.forEach((counts, index) =>
    counts.forEach((count, label) => {
      if (!count) return;
      p.context.globalAlpha = 0.35 + (0.65 * count) / (counts[0] + counts[1]);
      p.context.fillStyle = label ? yes : no;
      p.context.fillRect(x(index - reach) - 3, y(label) - 3, 6, 6);
    }),
  );
  p.context.globalAlpha = 1;
  const count = 8 * reach + 1,
    steps = Array.from({ length: count }, (_, i) => i / 4 - reach);
  const rows = rowsOf([steps.map((step) => step * delta), steps.map(() => 0)], steps);
  const z = new Float64Array(count);
  register.logits(rows, z);
  line(
    p,
    steps.map((step, i): [number, number] => [x(step), y(sigmoid(z[i]))]),
    nsr,
    2.5,
  );
  for (const at of [-10, 0, 10]) write(p, inDelta(at), x(at), box.bottom + 14, soft, "center");
  write(
    p,
    register.sizes.constants ? "a − b, where b = 0" : "a − b",
    (box.left + box.right) / 2,
    p.height - 5,
    ink,
    "center",
  );
}

const CHART_LEFT = 44,
  CHART_RIGHT = 66,
  LABEL = "600 12px system-ui, sans-serif";

export interface Series {
  name: string;
  /** Accuracy on the rows, at 10^1, 10^2 ... */
  values: number[];
  colour: string;
  dash: number[];
}

/** Accuracy from the training rows to 10^15, with the name of each line at its end. */
export function drawAccuracies(canvas: HTMLCanvasElement, series: Series[], power: number): void {
  const p = pen(canvas),
    { ink, soft, accent } = palette();
  const box: Box = { left: CHART_LEFT, right: p.width - CHART_RIGHT, top: 14, bottom: p.height - 26 };
  const x = (value: number) => box.left + (value / 15) * (box.right - box.left);
  const y = (value: number) => box.bottom - value * (box.bottom - box.top);
  const ticks: [number, string][] = [1, 0.5, 0].map((share) => [share, `${100 * share} %`]);
  axes(p, box, ticks, y);
  const every = p.width > 620 ? 1 : p.width > 420 ? 3 : 5;
  for (let i = 0; i <= 15; i += every) {
    write(p, i ? powerText(i) : "rows", x(i), p.height - 8, i === power ? ink : soft, "center");
  }
  const top: Point = [x(power), box.top - 8];
  line(p, [top, [x(power), box.bottom + 6]], accent, 1.5);
  for (const { values, colour, dash } of series) {
    const points = values.map((value, i): Point => [x(i), y(value)]);
    line(p, points, colour, 2.5, dash);
    for (const [at, height] of points) {
      p.context.beginPath();
      p.context.arc(at, height, 3, 0, 7);
      p.context.fillStyle = colour;
      p.context.fill();
    }
  }
  let free = -Infinity;
  const ends = series.map(({ values, ...rest }) => ({ ...rest, at: x(values.length - 1), height: y(values.at(-1)!) }));
  for (const { name, colour, at, height } of ends.sort((one, other) => one.height - other.height)) {
    free = Math.max(height + 4, free + 14); // names do not overlap
    write(p, name, at + 7, free, colour, "left", LABEL);
  }
}

/** Selections and weights of every unit: what it compares, and how much its bits count. */
export function drawUnits(canvas: HTMLCanvasElement, register: Register): void {
  const p = pen(canvas),
    colours = palette(),
    { redundancy, constants } = register.sizes;
  const units = Array.from({ length: redundancy }, (_, r) => register.unit(r));
  const top = 34,
    height = (p.height - top - 4) / Math.max(redundancy, 4);
  const wide = p.width > 520,
    start = wide ? 52 : 22,
    gap = wide ? 18 : 8;
  const column = (p.width - start - 4 * gap) / 5;
  const left = (index: number) => start + index * (column + gap);
  const titles = wide
    ? ["operand 1", "operand 2", "sign weight", "zero weight", "bias"]
    : ["op. 1", "op. 2", "sign", "zero", "bias"];
  titles.forEach((title, i) => write(p, title, left(i) + column / 2, 13, colours.ink, "center"));
  const largest = Math.max(1, ...units.flatMap((unit) => [unit.sign, unit.zero, unit.bias].map(Math.abs)));
  units.forEach((unit, r) => {
    const y = top + r * height,
      bar = Math.min(height - 3, 18);
    write(p, wide ? `unit ${r + 1}` : `${r + 1}`, 0, y + bar / 2 + 4, colours.soft);
    [unit.first, unit.second].forEach((weights, i) => drawSelection(p, weights, left(i), y, column, bar));
    (
      [
        [unit.sign, colours.sign],
        [unit.zero, colours.zero],
        [unit.bias, colours.bias],
      ] as const
    ).forEach(([value, colour], i) => {
      const middle = left(i + 2) + column / 2;
      p.context.fillStyle = colour;
      const width = (value / largest) * (column / 2);
      p.context.fillRect(Math.min(middle, middle + width), y, Math.abs(width), bar);
      p.context.fillStyle = colours.line;
      p.context.fillRect(middle - 0.5, y - 1.5, 1, bar + 3);
    });
  });
  const names = constants ? ["a", "b", "0"] : ["a", "b"];
  for (const i of [0, 1]) {
    const last = names.length - 1;
    names.forEach((name, k) => {
      const align = k === 0 ? "left" : k === last ? "right" : "center";
      write(p, name, left(i) + (k / last) * column, 28, colours.soft, align);
    });
  }
  for (const i of [2, 3, 4]) {
    const limit = largest >= 10 ? largest.toFixed(0) : largest.toFixed(1);
    write(p, `−${limit}`, left(i), 28, colours.soft);
    write(p, limit, left(i) + column, 28, colours.soft, "right");
  }
}

/** How a unit weighs its operands: shares of one bar. */
function drawSelection(p: Pen, weights: number[], left: number, y: number, width: number, height: number): void {
  const { nsr, middle, bias } = palette();
  let at = left;
  weights.forEach((weight, i) => {
    p.context.fillStyle = [nsr, middle, bias][i];
    p.context.fillRect(at, y, Math.max(0, weight * width - (i < weights.length - 1 ? 1 : 0)), height);
    at += weight * width;
  });
  p.context.strokeStyle = palette().soft;
  p.context.lineWidth = 1;
  p.context.strokeRect(left + 0.5, y + 0.5, width - 1, height - 1);
}
