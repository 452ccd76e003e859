// Reading a rule from answers on the grid: the shortest formula of comparisons that gives the same 400 answers.

import type { Node, Variable } from "../exact/program";
import { Rational } from "../exact/rational";
import { GRID, LOW, OPERATORS, type Operator, SIDE, holds } from "./comparisons";

/** What is compared with a constant: a - b, a or b. */
type Sum = "a - b" | "a" | "b";

export interface Comparison {
  sum: Sum;
  operator: Operator;
  constant: number;
}
/** Comparisons that are joined; of one comparison, the join does not matter. */
export interface Formula {
  join: "and" | "or";
  parts: Comparison[];
}

interface Candidate extends Comparison {
  bits: Uint32Array;
}

const WORDS = Math.ceil(GRID.length / 32);

function valueOf(sum: Sum, a: number, b: number): number {
  return sum === "a" ? a : sum === "b" ? b : a - b;
}

/** Whether a formula holds for two integers. */
export function satisfies(formula: Formula, a: number, b: number): boolean {
  const test = ({ sum, operator, constant }: Comparison) => holds(operator, Math.sign(valueOf(sum, a, b) - constant));
  return formula.join === "and" ? formula.parts.every(test) : formula.parts.some(test);
}

function bitsOf(truth: (index: number) => boolean): Uint32Array {
  const bits = new Uint32Array(WORDS);
  for (let i = 0; i < GRID.length; i++) if (truth(i)) bits[i >> 5] |= 1 << (i & 31);
  return bits;
}

function candidates(sums: readonly Sum[]): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const sum of sums) {
    const [low, high] = sum === "a - b" ? [1 - SIDE, SIDE - 1] : [LOW, LOW + SIDE - 1];
    const constants = Array.from({ length: high - low + 1 }, (_, i) => low + i);
    constants.sort((one, other) => Math.abs(one) - Math.abs(other)); // a > b rather than a >= b + 1
    for (const constant of constants) {
      for (const operator of OPERATORS) {
        const bits = bitsOf((i) => holds(operator, Math.sign(valueOf(sum, ...GRID[i]) - constant)));
        const key = bits.join();
        if (!found.has(key)) found.set(key, { sum, operator, constant, bits });
      }
    }
  }
  return [...found.values()];
}

const cache = new Map<boolean, Candidate[]>();

/** The shortest formula of at most three comparisons with these answers; null if there is none.
 * Without constants, a register sees the difference a - b alone. */
export function readRule(answers: ArrayLike<number>, constants: boolean): Formula | null {
  if (!cache.has(constants)) cache.set(constants, candidates(constants ? ["a - b", "a", "b"] : ["a - b"]));
  if (isConstant(answers)) return null;
  const wanted = bitsOf((i) => answers[i] > 0);
  const all = cache.get(constants)!;
  const single = all.find(({ bits }) => same(bits, wanted));
  if (single) return { join: "and", parts: [plain(single)] };
  const usable = { and: tightest(all, wanted, "and"), or: tightest(all, wanted, "or") };
  for (const size of [2, 3]) {
    for (const join of ["and", "or"] as const) {
      const chosen = combination(usable[join], wanted, join, size);
      if (chosen) return { join, parts: chosen.map(plain) };
    }
  }
  return null;
}

/** Whether all answers are the same: then nothing is compared. */
export function isConstant(answers: ArrayLike<number>): boolean {
  for (let i = 1; i < answers.length; i++) if (answers[i] > 0 !== answers[0] > 0) return false;
  return true;
}

function same(one: Uint32Array, other: Uint32Array): boolean {
  for (let w = 0; w < WORDS; w++) if (one[w] !== other[w]) return false;
  return true;
}

function contains(large: Uint32Array, small: Uint32Array): boolean {
  for (let w = 0; w < WORDS; w++) if (small[w] & ~large[w]) return false;
  return true;
}

/** The comparisons that can be joined: they contain the wanted bits (and), or are contained in them (or), and no other
 * one is closer to them. */
function tightest(all: Candidate[], wanted: Uint32Array, join: "and" | "or"): Candidate[] {
  const within = (one: Uint32Array, other: Uint32Array) =>
    join === "and" ? contains(one, other) : contains(other, one);
  const usable = all.filter(({ bits }) => within(bits, wanted));
  return usable.filter((each) => !usable.some((other) => other !== each && within(each.bits, other.bits)));
}

function plain({ sum, operator, constant }: Comparison): Comparison {
  return { sum, operator, constant };
}

/** So many comparisons that together give the wanted bits: each contains them (and), or is contained in them (or). */
function combination(usable: Candidate[], wanted: Uint32Array, join: "and" | "or", size: number): Candidate[] | null {
  const merge = (one: Uint32Array, other: Uint32Array) =>
    one.map((word, w) => (join === "and" ? word & other[w] : word | other[w]));
  const extend = (from: number, chosen: Candidate[], bits: Uint32Array): Candidate[] | null => {
    if (chosen.length === size) return same(bits, wanted) ? chosen : null;
    for (let i = from; i < usable.length; i++) {
      const merged = merge(bits, usable[i].bits);
      if (chosen.length && same(merged, bits)) continue; // it adds nothing
      const found = extend(i + 1, [...chosen, usable[i]], merged);
      if (found) return found;
    }
    return null;
  };
  return extend(
    0,
    [],
    bitsOf(() => join === "and"),
  );
}

const A: Variable = { type: "variable", name: "a", kind: "number" };
const B: Variable = { type: "variable", name: "b", kind: "number" };

/** A formula as an exact program, for numbers that are multiples of delta. */
export function expressionOf(formula: Formula, delta: Rational): Node {
  const parts = formula.parts.map(({ sum, operator, constant }): Node => {
    const value = delta.times(Rational.of(constant));
    const number: Node = { type: "constant", value };
    if (sum !== "a - b") return { type: "compare", operator, left: sum === "a" ? A : B, right: number };
    const right: Node = constant ? { type: "sum", terms: [[Rational.ONE, B]], constant: value } : B;
    return { type: "compare", operator, left: A, right };
  });
  return parts.length === 1 ? parts[0] : { type: formula.join, parts };
}

/** A program as the JSON that Python loads. */
export function dataOf(node: Node): unknown {
  const number = (value: Rational) =>
    value.isInteger && value.absolute().above < 2n ** 53n ? Number(value.above) : value.toString();
  switch (node.type) {
    case "variable":
      return node.kind === "number" ? { variable: node.name } : { variable: node.name, kind: node.kind };
    case "constant":
      return { constant: number(node.value) };
    case "sum": {
      const sum = node.terms.map(([coefficient, atom]) => [number(coefficient), dataOf(atom)]);
      return node.constant.sign ? { sum, plus: number(node.constant) } : { sum };
    }
    case "compare":
      return { compare: node.operator, left: dataOf(node.left), right: dataOf(node.right) };
    case "and":
    case "or":
      return { [node.type]: node.parts.map(dataOf) };
    default:
      throw new TypeError(`no register computes a ${node.type}`);
  }
}

/** The file that `nsr apply` and this page read: a rule that predicts the column `answer`. */
export function ruleFile(formula: Formula, delta: Rational): string {
  const expression = expressionOf(formula, delta);
  const program = { format: "nsr-program/1", names: ["a", "b"], expression: dataOf(expression) };
  return `${JSON.stringify({ target: "answer", classes: [false, true], format: "nsr-rule/1", program }, null, 1)}\n`;
}
