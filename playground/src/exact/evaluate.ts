// Evaluating programs exactly. A missing cell is null: comparisons with it are false, and so are their negations.

import { holds, type Operator } from "../learning/comparisons";
import type { Node } from "./program";
import { Rational } from "./rational";

/** A number (also of microseconds, for dates and durations), a text, a truth value, or a missing cell. */
export type Cell = Rational | string | boolean | null;
export type Row = ReadonlyMap<string, Cell>;

const NEGATED: Record<Operator, Operator> = { ">": "<=", "<=": ">", "<": ">=", ">=": "<", "=": "!=", "!=": "=" };

/** The truth value of a formula or the value of a number; null if that is missing. */
export function evaluate(node: Node, row: Row): Rational | boolean | null {
  switch (node.type) {
    case "truth":
    case "compare":
    case "and":
    case "or":
    case "not":
    case "in":
    case "flag":
    case "missing":
      return formula(node, row, true);
    default:
      return number(node, row);
  }
}

/** Whether a formula holds, or with `wanted` false its negation. */
function formula(node: Node, row: Row, wanted: boolean): boolean {
  switch (node.type) {
    case "truth":
      return node.value === wanted;
    case "not":
      return formula(node.part, row, !wanted);
    case "and":
    case "or": {
      const every = (node.type === "and") === wanted;
      return every
        ? node.parts.every((part) => formula(part, row, wanted))
        : node.parts.some((part) => formula(part, row, wanted));
    }
    case "missing":
      return (cell(row, node.column.name) === null) === (node.holds === wanted);
    case "flag":
      return cell(row, node.column.name) === (node.holds === wanted);
    case "in": {
      const text = cell(row, node.column.name);
      return text !== null && node.texts.includes(text as string) === (node.holds === wanted);
    }
    case "compare":
      return comparison(node, row, wanted ? node.operator : NEGATED[node.operator]);
    default:
      throw new TypeError(`a ${node.type} is not a formula`);
  }
}

function comparison(node: Node & { type: "compare" }, row: Row, operator: Operator): boolean {
  if (node.left.type === "variable" && node.left.kind === "text" && node.right.type === "variable") {
    const left = cell(row, node.left.name),
      right = cell(row, node.right.name);
    return left !== null && right !== null && (left === right) === (operator === "=");
  }
  const left = number(node.left, row),
    right = number(node.right, row);
  return left !== null && right !== null && holds(operator, left.compare(right));
}

function number(node: Node, row: Row): Rational | null {
  switch (node.type) {
    case "variable":
      return cell(row, node.name) as Rational | null;
    case "constant":
      return node.value;
    case "where":
      return number(formula(node.condition, row, true) ? node.then : node.otherwise, row);
    case "count":
      return Rational.of(node.formulas.filter((part) => formula(part, row, true)).length);
    case "sum": {
      let total = node.constant;
      for (const [coefficient, atom] of node.terms) {
        const value = number(atom, row);
        if (value === null) return null;
        total = total.plus(coefficient.times(value));
      }
      return total;
    }
    case "product": {
      const values = numbers(node.factors, row);
      return values && values.reduce((one, other) => one.times(other));
    }
    case "order": {
      const values = numbers(node.parts, row);
      return values && values.sort((one, other) => one.compare(other))[node.rank - 1];
    }
    default:
      throw new TypeError(`a ${node.type} is not a number`);
  }
}

function numbers(nodes: Node[], row: Row): Rational[] | null {
  const values = nodes.map((node) => number(node, row));
  return values.includes(null) ? null : (values as Rational[]);
}

function cell(row: Row, name: string): Cell {
  return row.get(name) ?? null;
}
