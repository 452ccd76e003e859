// Tables: CSV text, and its cells as exact values of the kinds that a program needs.

import { type Cell, type Row, evaluate } from "./evaluate";
import { InputError, type Kind, type Program, type Rule, isBoolean, variables } from "./program";
import { Rational } from "./rational";
import { numberText } from "./text";
import { parseDuration, parsePoint } from "./times";

export interface Table {
  header: string[];
  rows: string[][];
}

/** Texts that stand for a missing value, as for `nsr learn`. */
const MISSING = new Set([
  "",
  "NA",
  "N/A",
  "n/a",
  "#N/A",
  "#NA",
  "<NA>",
  "NaN",
  "nan",
  "NAN",
  "-NaN",
  "-nan",
  "NULL",
  "null",
  "None",
]);
export const MOST_ROWS = 200_000;

/** Read CSV with quotes; the separator that occurs most often in the first line is used. */
export function parseCsv(text: string): Table {
  const clean = text.replace(/^\uFEFF/, "");
  const firstLine = clean.split(/\r?\n/, 1)[0].replace(/"[^"]*"/g, "");
  const separator = [",", ";", "\t", "|"].reduce((best, each) =>
    firstLine.split(each).length > firstLine.split(best).length ? each : best,
  );
  const lines = records(clean, separator).filter((line) => line.length > 1 || line[0] !== "");
  const [header, ...rows] = lines;
  if (!header) throw new InputError("the table is empty");
  if (rows.length > MOST_ROWS)
    throw new InputError(`a table may have ${MOST_ROWS.toLocaleString("en")} rows here: use nsr apply`);
  const wrong = rows.findIndex((row) => row.length !== header.length);
  if (wrong >= 0) {
    throw new InputError(`row ${wrong + 2} has ${rows[wrong].length} cells, but the header has ${header.length}`);
  }
  return { header: header.map((name) => name.trim()), rows };
}

function records(text: string, separator: string): string[][] {
  const lines: string[][] = [[]];
  let cell = "",
    quoted = false;
  const endCell = () => {
    lines.at(-1)!.push(cell);
    cell = "";
  };
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[i + 1] === '"') {
        cell += '"';
        i++;
      } else quoted = false;
    } else if (letter === '"' && cell.trim() === "") {
      quoted = true;
      cell = "";
    } else if (letter === separator) endCell();
    else if (letter === "\n") {
      endCell();
      lines.push([]);
    } else if (letter !== "\r") cell += letter;
  }
  endCell();
  return lines;
}

const READ: Record<Kind, (text: string) => Cell> = {
  number: Rational.parse,
  text: (text) => text,
  boolean: (text) => (/^(true|True|TRUE)$/.test(text) ? true : /^(false|False|FALSE)$/.test(text) ? false : null),
  date: parsePoint,
  timestamp: parsePoint,
  duration: parseDuration,
};
const WANTED: Record<Kind, string> = {
  number: "a number",
  text: "a text",
  boolean: "true or false",
  date: "a date such as 2024-01-31",
  timestamp: "a time such as 2024-01-31T12:30:00",
  duration: "a duration such as 3 days",
};

/** The value of a text in a column of some kind. */
export function cellOf(text: string, kind: Kind, where: string): Cell {
  if (MISSING.has(kind === "text" ? text : text.trim())) return null;
  const value = READ[kind](text);
  if (value === null) throw new InputError(`${JSON.stringify(text.slice(0, 40))} is not ${WANTED[kind]} (${where})`);
  return value;
}

/** The rows of a table as exact values; only the columns that the program needs are read. */
export function cellsOf(program: Program, table: Table): Row[] {
  const needed = variables(program.expression).map((variable) => {
    const position = table.header.indexOf(variable.name);
    if (position < 0) {
      const known = table.header.slice(0, 8).join(", ");
      throw new InputError(`the table has no column ${JSON.stringify(variable.name)}; its columns are ${known}`);
    }
    return { ...variable, position };
  });
  return table.rows.map(
    (cells, row) =>
      new Map(
        needed.map(({ name, kind, position }) => [
          name,
          cellOf(cells[position], kind, `row ${row + 2}, column ${JSON.stringify(name)}`),
        ]),
      ),
  );
}

/** What a rule predicts for a row, as text; empty if it is missing. */
export function prediction(rule: Rule, row: Row): string {
  const value = evaluate(rule.program.expression, row);
  if (value === null) return "";
  if (!rule.classes) return typeof value === "boolean" ? `${value}` : numberText(value);
  const position = typeof value === "boolean" ? `${Number(value)}` : value.toString();
  const label = rule.classes[Number(position)];
  if (label === undefined) {
    throw new InputError(`the rule predicts class number ${position}, but its file has ${rule.classes.length} classes`);
  }
  return typeof label === "boolean" ? `${label}` : String(label);
}

/** Whether a cell of the table says the same as a prediction. */
export function agrees(rule: Rule, predicted: string, cell: string): boolean {
  if (predicted === cell) return true;
  if (MISSING.has(cell.trim())) return predicted === "";
  const one = Rational.parse(predicted),
    other = Rational.parse(cell);
  if (one && other) return one.equals(other);
  const truth = { true: "1", false: "0" } as Record<string, string>;
  const plain = isBoolean(rule.program.expression) && !rule.classes;
  const lower = cell.trim().toLowerCase();
  return predicted === lower || (plain && truth[predicted] === (truth[lower] ?? lower));
}
