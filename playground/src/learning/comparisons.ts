// The six comparisons (Section 4.1): all pairs in a range, and pairs around a large number.

import { type Rows, rowsOf } from "./model";
import type { Random } from "./random";

export type Operator = ">" | "<" | ">=" | "<=" | "=" | "!=";

export const OPERATORS: readonly Operator[] = [">", "<", ">=", "<=", "=", "!="];
export const SIGNS: Record<Operator, string> = { ">": ">", "<": "<", ">=": "≥", "<=": "≤", "=": "=", "!=": "≠" };
export const LOW = -10,
  SIDE = 20;

/** Whether a comparison holds, given the sign of the difference. */
export function holds(operator: Operator, sign: number): boolean {
  switch (operator) {
    case ">":
      return sign > 0;
    case "<":
      return sign < 0;
    case ">=":
      return sign >= 0;
    case "<=":
      return sign <= 0;
    case "=":
      return sign === 0;
    case "!=":
      return sign !== 0;
  }
}

/** The comparison that is true for a smaller, an equal and a greater first number as given. */
export function comparisonOf(less: boolean, equal: boolean, greater: boolean): Operator | null {
  const same = (name: Operator) => holds(name, -1) === less && holds(name, 0) === equal && holds(name, 1) === greater;
  return OPERATORS.find(same) ?? null;
}

/** The 400 pairs of integers from -10 to 9: a row for each cell of the grid, those of the smallest a first. */
export const GRID: readonly (readonly [number, number])[] = Array.from({ length: SIDE * SIDE }, (_, index) => [
  LOW + Math.floor(index / SIDE),
  LOW + (index % SIDE),
]);

export function labelsOf(operator: Operator): Uint8Array {
  return Uint8Array.from(GRID, ([a, b]) => (holds(operator, a - b) ? 1 : 0));
}

/** Whether pairs with the same difference have the same label: then a register needs no constants. */
export function dependOnDifference(labels: ArrayLike<number>): boolean {
  return GRID.every(([a, b], n) => labels[n] === labels[Math.max(a - b, 0) * SIDE + Math.max(b - a, 0)]);
}

/** The rows to learn from: the grid, with every number multiplied by delta (Section 4.2). */
export function gridRows(labels: ArrayLike<number>, delta: number): Rows {
  return rowsOf([GRID.map(([a]) => a * delta), GRID.map(([, b]) => b * delta)], labels);
}

/** The same loss and gradient on fewer rows: pairs with the same difference and label are one row with more weight.
 * For registers without constants, which see differences only. */
export function foldedRows(labels: ArrayLike<number>, delta: number): Rows {
  const weights = new Map<number, number>();
  GRID.forEach(([a, b], n) => {
    const key = 2 * (a - b) + labels[n];
    weights.set(key, (weights.get(key) ?? 0) + 1 / GRID.length);
  });
  const keys = [...weights.keys()].sort((one, other) => one - other);
  const y = keys.map((key) => key & 1);
  return rowsOf([keys.map((key) => (key >> 1) * delta), keys.map(() => 0)], y, [
    ...keys.map((key) => weights.get(key)!),
  ]);
}

/** The paper's test set at one magnitude: a random n in [10^power, 10^(power + 1)) and its neighbours, at most 5 away.
 * For = and != every n + i is also paired with itself, which makes 11 equal pairs of 21. */
export function pairsAround(operator: Operator, random: Random, power: number): [number, number][] {
  const n = Math.floor(10 ** power * (1 + 9 * random() * (power < 15 ? 1 : 0.8))); // below 2^53
  const pairs: [number, number][] = [];
  for (let i = -5; i <= 5; i++) pairs.push([n, n + i]);
  if (operator === "=" || operator === "!=") for (let i = -5; i <= 5; i++) if (i) pairs.push([n + i, n + i]);
  return pairs;
}

export function rowsOfPairs(pairs: readonly [number, number][], labels: ArrayLike<number>, delta: number): Rows {
  return rowsOf([pairs.map(([a]) => a * delta), pairs.map(([, b]) => b * delta)], labels);
}
