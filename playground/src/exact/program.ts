// Programs as data (the formats nsr-program/1 and /2): checked while they are read, nothing is executed.

import { OPERATORS, type Operator } from "../learning/comparisons";
import { Rational } from "./rational";

export const KINDS = ["number", "boolean", "text", "date", "timestamp", "duration"] as const;
export type Kind = (typeof KINDS)[number];

export interface Variable {
  type: "variable";
  name: string;
  kind: Kind;
}
export interface OneOf {
  type: "in";
  column: Variable;
  texts: string[];
  holds: boolean;
}
export interface Flag {
  type: "flag" | "missing";
  column: Variable;
  holds: boolean;
}
export type Term = readonly [Rational, Node];
export type Node =
  | Variable
  | { type: "constant"; value: Rational }
  | { type: "sum"; terms: Term[]; constant: Rational }
  | { type: "product"; factors: Node[] }
  | { type: "count"; formulas: Node[] }
  | { type: "order"; rank: number; parts: Node[] }
  | { type: "where"; condition: Node; then: Node; otherwise: Node }
  | { type: "truth"; value: boolean }
  | { type: "compare"; operator: Operator; left: Node; right: Node }
  | { type: "and" | "or"; parts: Node[] }
  | { type: "not"; part: Node }
  | OneOf
  | Flag;

export interface Program {
  names: string[];
  expression: Node;
}

/** A rule that predicts a column. `classes` are the labels that its outputs are positions of, or null. */
export interface Rule {
  target: string | null;
  classes: (string | number | boolean)[] | null;
  program: Program;
}

/** What is wrong with a file, in a sentence. */
export class InputError extends Error {}

const FORMULAS = new Set(["truth", "compare", "and", "or", "not", "in", "flag", "missing"]);
const CHARACTERS = 200_000,
  NODES = 5_000,
  DEPTH = 50,
  DIGITS = 1_000;

export function isBoolean(node: Node): boolean {
  return FORMULAS.has(node.type);
}

export function children(node: Node): Node[] {
  switch (node.type) {
    case "sum":
      return node.terms.map(([, atom]) => atom);
    case "product":
      return node.factors;
    case "count":
      return node.formulas;
    case "order":
    case "and":
    case "or":
      return node.parts;
    case "where":
      return [node.condition, node.then, node.otherwise];
    case "compare":
      return [node.left, node.right];
    case "not":
      return [node.part];
    case "in":
    case "flag":
    case "missing":
      return [node.column];
    default:
      return [];
  }
}

/** All variables, each once, in the order in which they occur. */
export function variables(node: Node): Variable[] {
  const found = new Map<string, Variable>();
  const visit = (each: Node): void => {
    if (each.type === "variable") found.set(each.name, each);
    children(each).forEach(visit);
  };
  visit(node);
  return [...found.values()];
}

type Data = Record<string, unknown>;

function isObject(data: unknown): data is Data {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (problem) {
    throw new InputError(`the file is not JSON: ${(problem as Error).message}`);
  }
}

/** Read a rule that `nsr learn --save` wrote, or a program that `emit("json")` wrote. */
export function loadRule(text: string): Rule {
  if (text.length > 100 * CHARACTERS) throw new InputError("a rule must have at most 20,000,000 characters");
  const data = parseJson(text);
  const format = isObject(data) ? data.format : undefined;
  if (!isObject(data) || typeof format !== "string") {
    throw new InputError("a rule must be an object with a format, such as nsr-rule/1");
  }
  if (format.startsWith("nsr-program/")) return { target: null, classes: null, program: programOf(data) };
  if (format.startsWith("nsr-model/")) {
    throw new InputError("this file holds a trained model, not a rule: use nsr apply to predict with it");
  }
  if (format !== "nsr-rule/1") throw new InputError(`the format must be nsr-rule/1 or nsr-program/2, got ${format}`);
  const { target, classes = null } = data;
  if (typeof target !== "string") throw new InputError("the target of a rule must be the name of a column");
  const isLabel = (label: unknown) => ["string", "number", "boolean"].includes(typeof label);
  if (classes !== null && !(Array.isArray(classes) && classes.every(isLabel))) {
    throw new InputError("the classes of a rule must be a list of texts, numbers or truth values");
  }
  return { target, classes, program: programOf(data.program) };
}

export function programOf(data: unknown): Program {
  if (!isObject(data) || Object.keys(data).sort().join() !== "expression,format,names") {
    throw new InputError("a program must be an object of format, names and expression");
  }
  if (data.format !== "nsr-program/1" && data.format !== "nsr-program/2") {
    throw new InputError(`the format of a program must be nsr-program/1 or nsr-program/2, got ${data.format}`);
  }
  const names = data.names;
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string" && name)) {
    throw new InputError("names must be a list of non-empty strings");
  }
  if (new Set(names).size < names.length) throw new InputError("names must be unique");
  return { names, expression: new Reader(names).node(data.expression, 1, "any") };
}

const KEYS: Record<string, string[]> = {
  variable: ["variable", "kind?"],
  constant: ["constant"],
  sum: ["sum", "plus?"],
  where: ["where", "then", "else"],
  product: ["product"],
  count: ["count"],
  order: ["order", "of"],
  truth: ["truth"],
  compare: ["compare", "left", "right"],
  and: ["and"],
  or: ["or"],
  not: ["not"],
  in: ["in", "column"],
  "not in": ["not in", "column"],
  flag: ["flag", "column"],
  missing: ["missing", "column"],
};

class Reader {
  private readonly names: Set<string>;
  private readonly kinds = new Map<string, Kind>();
  private nodes = 0;

  constructor(names: string[]) {
    this.names = new Set(names);
  }

  node(data: unknown, depth: number, wanted: "any" | "number" | "formula"): Node {
    if (++this.nodes > NODES) throw new InputError("a program must have at most 5,000 nodes");
    if (depth > DEPTH) throw new InputError("a program must be nested at most 50 deep");
    const key = isObject(data) ? Object.keys(KEYS).find((each) => each in data) : undefined;
    if (!isObject(data) || key === undefined) {
      throw new InputError(`a node must be an object with one of ${Object.keys(KEYS).join(", ")}`);
    }
    const keys = KEYS[key].map((each) => each.replace("?", ""));
    const needed = KEYS[key].filter((each) => !each.endsWith("?"));
    if (!Object.keys(data).every((each) => keys.includes(each)) || !needed.every((each) => each in data)) {
      throw new InputError(`a node ${key} must have the keys ${keys.join(", ")}`);
    }
    const node = this.build(key, data, depth + 1);
    if (wanted !== "any" && isBoolean(node) !== (wanted === "formula")) {
      throw new InputError(`there must be a ${wanted} where there is a node ${key}`);
    }
    return node;
  }

  private build(key: string, data: Data, depth: number): Node {
    const number = (inner: unknown) => this.node(inner, depth, "number");
    const formula = (inner: unknown) => this.node(inner, depth, "formula");
    switch (key) {
      case "variable":
        return this.variable(data);
      case "constant":
        return { type: "constant", value: rational(data.constant) };
      case "sum":
        return this.sum(data, number);
      case "where":
        return { type: "where", condition: formula(data.where), then: number(data.then), otherwise: number(data.else) };
      case "product": {
        const factors = several(data.product, "product").map(number);
        if (factors.length < 2) throw new InputError("a product must have at least two factors, got one");
        return { type: "product", factors };
      }
      case "count":
        return { type: "count", formulas: several(data.count, "count").map(formula) };
      case "order":
        return this.order(data, number);
      case "truth":
        return { type: "truth", value: truth(data.truth) };
      case "compare":
        return this.compare(data, number);
      case "and":
      case "or":
        return { type: key, parts: several(data[key], "formula").map(formula) };
      case "not":
        return { type: "not", part: formula(data.not) };
      case "flag":
      case "missing": {
        const column = this.column(data);
        if (key === "flag" && column.kind !== "boolean") throw new InputError("the column of a flag must be boolean");
        return { type: key, column, holds: truth(data[key]) };
      }
      default:
        return this.oneOf(key, data);
    }
  }

  private variable(data: Data): Variable {
    const { variable: name, kind = "number" } = data;
    if (typeof name !== "string" || !this.names.has(name)) {
      throw new InputError(`a variable must be one of the names, got ${JSON.stringify(name)}`);
    }
    if (!KINDS.includes(kind as Kind))
      throw new InputError(`the kind of a variable must be one of ${KINDS.join(", ")}`);
    if ((this.kinds.get(name) ?? kind) !== kind) throw new InputError(`the column ${name} must be of one kind`);
    this.kinds.set(name, kind as Kind);
    return { type: "variable", name, kind: kind as Kind };
  }

  private column(data: Data): Variable {
    const column = data.column;
    if (!isObject(column) || !Object.keys(column).every((key) => key === "variable" || key === "kind")) {
      throw new InputError("the column of a condition must be a variable");
    }
    return this.variable(column);
  }

  private sum(data: Data, number: (inner: unknown) => Node): Node {
    const terms = several(data.sum, "sum").map((term): Term => {
      if (!Array.isArray(term) || term.length !== 2) {
        throw new InputError("a term of a sum must be a list of a coefficient and a node");
      }
      const coefficient = rational(term[0]);
      if (coefficient.sign === 0) throw new InputError("a coefficient of a sum must not be 0");
      return [coefficient, number(term[1])];
    });
    return { type: "sum", terms, constant: rational(data.plus ?? 0) };
  }

  private order(data: Data, number: (inner: unknown) => Node): Node {
    const parts = several(data.of, "order").map(number),
      rank = data.order;
    if (typeof rank !== "number" || !Number.isInteger(rank) || rank < 1 || rank > parts.length) {
      throw new InputError(`the rank of an order must be an integer from 1 to ${parts.length}`);
    }
    return { type: "order", rank, parts };
  }

  private compare(data: Data, number: (inner: unknown) => Node): Node {
    const operator = data.compare as Operator;
    if (!OPERATORS.includes(operator)) throw new InputError(`a comparison must be one of ${OPERATORS.join(" ")}`);
    const left = number(data.left),
      right = number(data.right);
    const kinds = [left, right].map((side) => (side.type === "variable" ? side.kind : "number"));
    const texts = kinds.filter((kind) => kind === "text").length;
    if (kinds.includes("boolean") || texts === 1 || (texts && operator !== "=" && operator !== "!=")) {
      throw new InputError("texts can only be compared with texts, by = and !=");
    }
    return { type: "compare", operator, left, right };
  }

  private oneOf(key: string, data: Data): Node {
    const texts = several(data[key], "list of texts"),
      column = this.column(data);
    if (!texts.every((text) => typeof text === "string")) throw new InputError("texts must be strings");
    if (column.kind !== "text") throw new InputError("the column of a list of texts must hold texts");
    return { type: "in", column, texts: texts as string[], holds: key === "in" };
  }
}

function several(data: unknown, what: string): unknown[] {
  if (!Array.isArray(data) || !data.length) throw new InputError(`the parts of a ${what} must be a non-empty list`);
  return data;
}

function truth(data: unknown): boolean {
  if (typeof data !== "boolean") throw new InputError("a truth value must be true or false");
  return data;
}

function rational(data: unknown): Rational {
  if (typeof data === "number" && Number.isSafeInteger(data)) return Rational.of(data);
  const found = typeof data === "string" ? /^(-?(?:0|[1-9]\d*))(?:\/([1-9]\d*))?$/.exec(data) : null;
  if (!found || data === null || (data as string).length > 2 * DIGITS + 2) {
    throw new InputError(`a number must be an integer or a string such as "1/3", got ${JSON.stringify(data)}`);
  }
  return Rational.of(BigInt(found[1]), BigInt(found[2] ?? "1"));
}
