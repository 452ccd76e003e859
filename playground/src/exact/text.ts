// Programs as text, as Python prints them: where(a > b + 12, a, 0).

import type { Operator } from "../learning/comparisons";
import { type Flag, type Node, type OneOf, type Term, type Variable, children } from "./program";
import { Rational } from "./rational";
import { durationText, durationUnit, isTemporal, pointText } from "./times";

const OR = 0,
  AND = 1,
  NOT = 2,
  COMPARE = 3,
  SUM = 4,
  PRODUCT = 5,
  ATOM = 6;

const PYTHON =
  "False None True and as assert async await break class continue def del elif else except finally for from global " +
  "if import in is lambda nonlocal not or pass raise return try while with yield";
const KEYWORDS = new Set(PYTHON.split(" "));
const WORDS = new Set(["and", "or", "not", "true", "false", "in", "is"]);
const MIRRORED: Record<Operator, Operator> = { ">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!=" };
const COUNTED: Partial<Record<Operator, string>> = {
  ">=": "at least",
  "<=": "at most",
  "=": "exactly",
  "!=": "not exactly",
};

export function textOf(node: Node, around = OR): string {
  switch (node.type) {
    case "where":
    case "count":
      return call(node.type, children(node));
    case "truth":
      return node.value ? "True" : "False";
    case "compare":
      return comparison(node, around);
    case "in":
    case "flag":
    case "missing":
      return condition(node, around);
    case "not":
      return bound(`not ${textOf(node.part, NOT)}`, NOT, around);
    case "and":
    case "or": {
      if (node.parts.length === 1) return textOf(node.parts[0], around);
      const binding = node.type === "and" ? AND : OR;
      return bound(node.parts.map((part) => textOf(part, binding)).join(` ${node.type} `), binding, around);
    }
    case "variable":
      return nameText(node.name);
    case "constant": {
      const written = numberText(node.value);
      return around > SUM && (node.value.sign < 0 || written.includes("/")) ? `(${written})` : written;
    }
    case "sum":
      return bound(sum(parts(node)), SUM, around);
    case "product":
      return bound(product(node.factors), PRODUCT, around);
    case "order":
      return order(node);
  }
}

/** A number as a person would write it: 4, 37.5, and 1/3 where the decimal does not terminate. */
export function numberText(value: Rational): string {
  if (value.isInteger) return `${value.above}`;
  let rest = value.below,
    digits = 0;
  for (const prime of [2n, 5n]) {
    let power = 0;
    for (; rest % prime === 0n; rest /= prime) power += 1;
    digits = Math.max(digits, power);
  }
  const size = value.above < 0n ? -value.above : value.above;
  let shifted = `${(size * 10n ** BigInt(digits)) / value.below}`;
  if (rest > 1n || digits > 25 || (digits > 15 && shifted.length > 17)) return value.toString();
  shifted = shifted.padStart(digits + 1, "0");
  return `${value.sign < 0 ? "-" : ""}${shifted.slice(0, -digits)}.${shifted.slice(-digits)}`;
}

/** A name: unchanged if it is an identifier, otherwise in backquotes. */
export function nameText(name: string): string {
  const plain = /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(name);
  if (plain && !KEYWORDS.has(name) && !WORDS.has(name.toLowerCase())) return name;
  return `\`${escaped(name).replaceAll("`", "``")}\``;
}

export function quoted(text: string): string {
  return `'${escaped(text).replaceAll("'", "''")}'`;
}

const ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

function escaped(text: string): string {
  return [...text]
    .map((letter) => {
      if (letter !== "\\" && (letter === " " || !/[\p{C}\p{Z}]/u.test(letter))) return letter;
      const code = letter.codePointAt(0)!,
        hex = code.toString(16);
      if (letter in ESCAPES) return ESCAPES[letter];
      return code < 256
        ? `\\x${hex.padStart(2, "0")}`
        : code < 65536
          ? `\\u${hex.padStart(4, "0")}`
          : `\\U${hex.padStart(8, "0")}`;
    })
    .join("");
}

function bound(written: string, binding: number, around: number): string {
  return binding < around ? `(${written})` : written;
}

function call(name: string, nodes: Node[]): string {
  return `${name}(${nodes.map((node) => textOf(node)).join(", ")})`;
}

function condition(node: OneOf | Flag, around: number): string {
  const column = nameText(node.column.name);
  if (node.type === "flag") return node.holds ? column : bound(`not ${column}`, NOT, around);
  if (node.type !== "in") return bound(`${column} is ${node.holds ? "missing" : "present"}`, COMPARE, around);
  const texts = node.texts.map(quoted);
  const single = `${column} ${node.holds ? "==" : "!="} ${texts[0]}`;
  const several = `${column} ${node.holds ? "in" : "not in"} (${texts.join(", ")})`;
  return bound(texts.length === 1 ? single : several, COMPARE, around);
}

function comparison(node: Node & { type: "compare" }, around: number): string {
  if (isTemporal(node)) {
    const written = temporal(node);
    if (written !== null) return bound(written, COMPARE, around);
  }
  const { operator, left, right } = node;
  if (left.type === "count" && right.type === "constant" && right.value.isInteger && right.value.sign >= 0) {
    const words = COUNTED[operator];
    if (words) {
      const written = call(`${words} ${right.value.above} of `, left.formulas);
      return bound(written, operator === "!=" ? NOT : COMPARE, around);
    }
  }
  return bound(`${textOf(left, SUM)} ${symbol(operator)} ${textOf(right, SUM)}`, COMPARE, around);
}

function symbol(operator: Operator): string {
  return operator === "=" ? "==" : operator;
}

type Part = readonly [Rational, Node | null];

/** Terms and constant in the order of addition; null stands for 1. `4 - x` is not written `-x + 4`. */
function parts(node: Node & { type: "sum" }): Part[] {
  const constant: Part[] = node.constant.sign ? [[node.constant, null]] : [];
  const first = node.constant.sign > 0 && node.terms.every(([coefficient]) => coefficient.sign < 0);
  return first ? [...constant, ...node.terms] : [...node.terms, ...constant];
}

function joinSign(written: string, coefficient: Rational): string {
  if (!written) return coefficient.sign < 0 ? "-" : "";
  return coefficient.sign < 0 ? " - " : " + ";
}

function sum(all: Part[]): string {
  return all.reduce((written, [c, atom]) => written + joinSign(written, c) + term(c.absolute(), atom), "");
}

function term(coefficient: Rational, atom: Node | null): string {
  const decimal = numberText(coefficient);
  if (!atom) return decimal;
  const halves = coefficient.above === 1n && coefficient.below < 10n; // a/2 rather than 0.5*a
  if (decimal.includes(".") && decimal.length <= 7 && !halves) return `${decimal}*${textOf(atom, PRODUCT)}`;
  const times = coefficient.above === 1n ? "" : `${coefficient.above}*`;
  const over = coefficient.isInteger ? "" : `/${coefficient.below}`;
  return `${times}${textOf(atom, PRODUCT)}${over}`;
}

/** Factors in order, those in a row that are equal as a power: a*b**2. */
function product(factors: Node[]): string {
  const runs: { node: Node; key: string; times: number }[] = [];
  for (const node of factors) {
    const key = keyOf(node),
      last = runs.at(-1);
    if (last?.key === key) last.times += 1;
    else runs.push({ node, key, times: 1 });
  }
  return runs
    .map(({ node, times }, index) => {
      const written = textOf(node, index || times > 1 ? ATOM : PRODUCT);
      return times > 1 ? `${written}**${times}` : written;
    })
    .join("*");
}

/** A text that only equal trees share. */
export function keyOf(node: Node): string {
  return JSON.stringify(node, (_, value) => (value instanceof Rational ? value.toString() : value));
}

function order(node: Node & { type: "order" }): string {
  const { rank, parts: all } = node;
  const inside = absolute(node);
  if (inside) return call("abs", [inside]);
  const bounds = all
    .flatMap((part) => (part.type === "constant" ? [part] : []))
    .sort((one, other) => one.value.compare(other.value));
  const others = all.filter((part) => part.type !== "constant");
  if (rank === 2 && bounds.length === 2 && others.length === 1 && !bounds[0].value.equals(bounds[1].value)) {
    return call("clip", [others[0], ...bounds]);
  }
  if (rank === 1) return call("min", all);
  if (rank === all.length) return call("max", all);
  if (2 * rank === all.length + 1) return call("median", all);
  return call("smallest", [{ type: "constant", value: Rational.of(rank) }, ...all]);
}

/** The number whose absolute value an order is: the larger of two numbers that add up to 0. */
function absolute(node: Node & { type: "order" }): Node | null {
  const { rank, parts: all } = node;
  if (rank !== 2 || all.length !== 2 || all.some((part) => part.type === "constant")) return null;
  const total = new Map<string, Rational>();
  for (const part of all) {
    const terms: Term[] = part.type === "sum" ? part.terms : [[Rational.ONE, part]];
    if (part.type === "sum") total.set("", (total.get("") ?? Rational.ZERO).plus(part.constant));
    for (const [coefficient, atom] of terms) {
      const key = keyOf(atom);
      total.set(key, (total.get(key) ?? Rational.ZERO).plus(coefficient));
    }
  }
  return [...total.values()].every((coefficient) => coefficient.sign === 0) ? all[0] : null;
}

/** A comparison of dates, times or durations, with constants as such; null where that cannot be. */
function temporal(node: Node & { type: "compare" }): string | null {
  const [one, other] = [node.left, node.right].map(points);
  if (one === null || other === null) return null;
  const isPoint = !one.equals(other);
  const together = [one.toString(), other.toString()].sort().join();
  if (isPoint && together !== "0,1") return null;
  let { operator, left, right } = node;
  if (right.type === "sum" && right.constant.sign < 0 && !isPoint) {
    // not due < paid - 3 days
    const constant = right.constant.negated();
    [operator, left, right] = [MIRRORED[operator], shifted(right, constant), shifted(left, constant)];
  }
  const sides = [left, right].map((side) => temporalSide(side, isPoint));
  return sides.includes(null) ? null : `${sides[0]} ${symbol(operator)} ${sides[1]}`;
}

/** A sum of columns plus a constant. */
function shifted(node: Node, by: Rational): Node {
  const terms: Term[] = node.type === "sum" ? node.terms : node.type === "constant" ? [] : [[Rational.ONE, node]];
  const before = node.type === "sum" ? node.constant : node.type === "constant" ? node.value : Rational.ZERO;
  const constant = before.plus(by);
  if (!terms.length) return { type: "constant", value: constant };
  if (constant.sign === 0 && terms.length === 1 && terms[0][0].equals(Rational.ONE)) return terms[0][1];
  return { type: "sum", terms, constant };
}

function temporalSide(side: Node, isPoint: boolean): string | null {
  const all: Part[] =
    side.type === "sum" ? parts(side) : side.type === "constant" ? [[side.value, null]] : [[Rational.ONE, side]];
  let written = "";
  for (const [coefficient, atom] of all) {
    const part = temporalPart(coefficient.absolute(), atom, isPoint);
    if (part === null || (coefficient.sign < 0 && !atom && isPoint)) return null;
    written += joinSign(written, coefficient) + part;
  }
  return written;
}

function temporalPart(size: Rational, atom: Node | null, isPoint: boolean): string | null {
  if (!atom) return isPoint ? pointText(size) : durationText(size);
  if (atom.type !== "variable" || atom.kind !== "number") return term(size, atom);
  const [unit, times] = durationUnit(size); // a column of days, say
  return `${term(times, atom)} ${unit}s`;
}

const isPointColumn = (node: Variable) => node.kind === "date" || node.kind === "timestamp";

/** The total weight of points in time in a sum of columns; null for anything else. */
function points(side: Node): Rational | null {
  if (side.type === "constant") return Rational.ZERO;
  if (side.type === "variable") return isPointColumn(side) ? Rational.ONE : Rational.ZERO;
  if (side.type !== "sum") return null;
  let total = Rational.ZERO;
  for (const [coefficient, atom] of side.terms) {
    if (atom.type !== "variable") return null;
    if (isPointColumn(atom)) total = total.plus(coefficient);
  }
  return total;
}
