// The grid of (a, b): the rows to learn from, and the answers of a model.

import { GRID, LOW, SIDE } from "../learning/comparisons";
import { type Pen, answerColour, palette, pen, write } from "./canvas";

const LEFT = 30,
  BOTTOM = 24,
  TOP = 4,
  RIGHT = 4;

export interface Axis {
  first: string;
  middle: string;
  last: string;
}

function frame(p: Pen): { x: number; y: number; cell: number } {
  const cell = Math.max(1, Math.min((p.width - LEFT - RIGHT) / SIDE, (p.height - TOP - BOTTOM) / SIDE));
  return { x: LEFT + (p.width - LEFT - RIGHT - cell * SIDE) / 2, y: TOP, cell };
}

/** Which cell of the grid a point of the canvas is in. */
export function cellAt(canvas: HTMLCanvasElement, clientX: number, clientY: number): number | null {
  const box = canvas.getBoundingClientRect();
  const { x, y, cell } = frame({ width: box.width, height: box.height } as Pen);
  const column = Math.floor((clientX - box.left - x) / cell),
    row = Math.floor((clientY - box.top - y) / cell);
  if (column < 0 || row < 0 || column >= SIDE || row >= SIDE) return null;
  return column * SIDE + (SIDE - 1 - row);
}

/** Draw answers from 0 to 1 for each pair of the grid, a to the right and b upwards. Wrong ones have a cross. */
export function drawMap(
  canvas: HTMLCanvasElement,
  answers: ArrayLike<number>,
  wrong: ArrayLike<number> | null,
  axis: Axis,
  cursor: number | null = null,
): void {
  const p = pen(canvas),
    { context } = p,
    { ink, soft, card, accent } = palette();
  const { x, y, cell } = frame(p);
  const gap = cell > 9 ? 1 : 0.5;
  const corner = (index: number): [number, number] => [
    x + Math.floor(index / SIDE) * cell,
    y + (SIDE - 1 - (index % SIDE)) * cell,
  ];
  for (let i = 0; i < GRID.length; i++) {
    const [left, top] = corner(i);
    context.fillStyle = answerColour(answers[i]);
    context.fillRect(left, top, cell - gap, cell - gap);
  }
  if (wrong) drawCrosses(context, wrong, corner, cell, ink, card);
  if (cursor !== null) {
    const [left, top] = corner(cursor);
    context.lineWidth = 2;
    context.strokeStyle = accent;
    context.strokeRect(left - 1, top - 1, cell + 1, cell + 1);
  }
  const end = cell * SIDE,
    below = y + end + 16;
  write(p, axis.first, x, below, soft);
  write(p, axis.last, x + end, below, soft, "right");
  const room = end - 16 - context.measureText(axis.first).width - context.measureText(axis.last).width;
  write(p, context.measureText(axis.middle).width < room ? axis.middle : "a", x + end / 2, below, soft, "center");
  context.save();
  context.translate(x - 10, y + end);
  context.rotate(-Math.PI / 2);
  write(p, axis.first, 0, 0, soft);
  write(p, axis.last, end, 0, soft, "right");
  write(p, "b", end / 2, 0, soft, "center");
  context.restore();
}

function drawCrosses(
  context: CanvasRenderingContext2D,
  wrong: ArrayLike<number>,
  corner: (index: number) => [number, number],
  cell: number,
  ink: string,
  halo: string,
): void {
  const inset = cell * 0.33;
  context.beginPath();
  for (let i = 0; i < wrong.length; i++) {
    if (!wrong[i]) continue;
    const [left, top] = corner(i);
    context.moveTo(left + inset, top + inset);
    context.lineTo(left + cell - inset - 1, top + cell - inset - 1);
    context.moveTo(left + cell - inset - 1, top + inset);
    context.lineTo(left + inset, top + cell - inset - 1);
  }
  for (const [colour, width] of [
    [halo, 2.4],
    [ink, 1.1],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke();
  }
}

/** The pairs of the grid at a magnitude: neighbours of n = 10^power, or everything up to about 10^(power + 1). */
export function pairsAt(power: number, view: "near" | "far"): [number, number][] {
  const n = 10 ** power;
  if (power === 0) return GRID.map(([a, b]) => [a, b]);
  return GRID.map(([a, b]) => (view === "near" ? [n + a, n + b] : [n * a, n * b]));
}

export function axisAt(power: number, view: "near" | "far", raised: string, delta: string): Axis {
  const times = delta && ` × ${delta}`;
  const last = LOW + SIDE - 1;
  if (power === 0) return { first: "−10", middle: `a${times && ` (numbers${times})`}`, last: `${last}` };
  if (view === "near") return { first: "−10", middle: `a: ${raised} and neighbours${times}`, last: `+${last}` };
  return { first: "−10", middle: `a × ${raised}${times}`, last: `${last}` };
}
