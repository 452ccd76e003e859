// Drawing labels on the grid, with a mouse, a finger or the keyboard.

import { GRID, LOW, SIDE } from "../learning/comparisons";
import { element, setText } from "./dom";
import { cellAt } from "./maps";

export interface Board {
  label(index: number): number;
  paint(index: number, label: number): void;
  moveTo(cursor: number | null): void;
}

const ORIGIN = -LOW * SIDE - LOW;
const MOVES: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

export function makeDrawable(canvas: HTMLCanvasElement, board: Board): void {
  drawWithPointer(canvas, board);
  drawWithKeys(canvas, board);
}

/** A stroke gives all of its cells the opposite label of the first. */
function drawWithPointer(canvas: HTMLCanvasElement, board: Board): void {
  let label: number | null = null;
  const paint = (event: PointerEvent) => {
    const index = cellAt(canvas, event.clientX, event.clientY);
    if (index === null) return;
    label ??= 1 - board.label(index);
    board.paint(index, label);
  };
  canvas.addEventListener("pointerdown", (event) => {
    label = null;
    canvas.setPointerCapture(event.pointerId);
    paint(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (label !== null) paint(event);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, () => {
      label = null;
    });
  }
}

function moved(from: number, [right, up]: [number, number]): number {
  const a = Math.floor(from / SIDE) + right,
    b = (from % SIDE) + up;
  return a < 0 || b < 0 || a >= SIDE || b >= SIDE ? from : a * SIDE + b;
}

function drawWithKeys(canvas: HTMLCanvasElement, board: Board): void {
  let cursor = ORIGIN;
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible")) board.moveTo(cursor);
  });
  canvas.addEventListener("blur", () => board.moveTo(null));
  canvas.addEventListener("keydown", (event) => {
    if (event.key in MOVES) cursor = moved(cursor, MOVES[event.key]);
    else if (event.key === " " || event.key === "Enter") board.paint(cursor, 1 - board.label(cursor));
    else return;
    event.preventDefault();
    board.moveTo(cursor);
    const [a, b] = GRID[cursor];
    setText(element("announce"), `a = ${a}, b = ${b}: ${board.label(cursor) ? "yes" : "no"}`);
  });
}
