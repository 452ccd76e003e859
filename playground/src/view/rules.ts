// The panel for saved rules: drop a rule and a table, and see its exact answers.

import { agrees, cellOf, cellsOf, parseCsv, prediction, type Table } from "../exact/table";
import type { Row } from "../exact/evaluate";
import { InputError, type Rule, loadRule, variables } from "../exact/program";
import { nameText, textOf } from "../exact/text";
import { element, make, percent, setText } from "./dom";

const SHOWN = 200;
const EXAMPLE_RULE = {
  format: "nsr-rule/1",
  target: "late",
  classes: [false, true],
  program: {
    format: "nsr-program/2",
    names: ["paid", "due", "amount", "discount"],
    expression: {
      and: [
        {
          compare: ">",
          left: { variable: "paid", kind: "date" },
          right: { sum: [[1, { variable: "due", kind: "date" }]], plus: 259200000000 },
        },
        {
          compare: ">",
          left: { variable: "amount" },
          right: { sum: [["3/10", { variable: "discount" }]], plus: "1/10" },
        },
      ],
    },
  },
};
const EXAMPLE_TABLE = `paid,due,amount,discount,late
2024-03-04,2024-03-01,100,0,false
2024-03-05,2024-03-01,100,0,true
2024-03-05,2024-03-01,0.4,1,false
2024-03-05,2024-03-01,0.4000000000000000000000000000001,1,true
2024-02-29,,250,0,false
2024-12-31,2024-12-01,1000000000000000000000000000000,3333333333333333333333333333332,true
2024-12-31,2024-12-01,1000000000000000000000000000000,3333333333333333333333333333333,false
`;

export class RulePanel {
  private rule: Rule | null = null;
  private table: Table | null = null;

  constructor() {
    const drop = element("drop");
    for (const name of ["dragenter", "dragover"]) {
      addEventListener(name, (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
    }
    for (const name of ["dragleave", "drop"]) addEventListener(name, () => drop.classList.remove("over"));
    addEventListener("drop", (event) => {
      event.preventDefault();
      void this.open([...(event.dataTransfer?.files ?? [])]);
    });
    const files = element<HTMLInputElement>("files");
    files.addEventListener("change", () => {
      void this.open([...(files.files ?? [])]).then(() => {
        files.value = "";
      });
    });
    element("example").addEventListener("click", () => this.load(JSON.stringify(EXAMPLE_RULE), EXAMPLE_TABLE));
    element("try").addEventListener("input", () => this.tryRow());
    element("try").addEventListener("submit", (event) => event.preventDefault());
  }

  private async open(files: File[]): Promise<void> {
    let rule: string | null = null,
      table: string | null = null;
    for (const file of files) {
      const text = await file.text();
      if (/\.json$/i.test(file.name) || text.trimStart().startsWith("{")) rule = text;
      else table = text;
    }
    this.load(rule, table);
  }

  /** Show a rule, a table or both; what is null stays as it is. */
  load(rule: string | null, table: string | null): void {
    const problem = element("problem");
    setText(problem, "");
    try {
      if (rule !== null) {
        this.rule = loadRule(rule);
        if (table === null) this.table = null;
      }
      if (table !== null) this.table = parseCsv(table);
      this.show();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      setText(problem, error.message);
    }
  }

  private show(): void {
    const { rule, table } = this;
    element("loaded").hidden = !rule;
    if (!rule) throw new InputError("there is a table, but no rule yet: open a rule too");
    const { target, classes, program } = rule;
    const labels = classes ? ` → ${classes.map(String).join(", ")}` : "";
    const means = classes && classes.length === 2 && classes[0] === false ? "" : labels;
    element("formula").textContent =
      `${target === null ? "" : `${nameText(target)} = `}${textOf(program.expression)}${means}`;
    const form = element("try");
    form.replaceChildren(
      ...variables(program.expression).map(({ name, kind }) =>
        make(
          "label",
          {},
          `${name}${kind === "number" ? "" : ` (${kind})`}`,
          make("input", { name, autocomplete: "off", spellcheck: "false" }),
        ),
      ),
    );
    if (table?.rows.length) {
      for (const input of form.querySelectorAll("input")) {
        input.value = table.rows[0][table.header.indexOf(input.name)] ?? "";
      }
    }
    element("table").hidden = !table;
    setText(element("table-note"), "");
    this.tryRow();
    if (table) this.showTable(rule, table, cellsOf(program, table));
  }

  private tryRow(): void {
    const { rule } = this,
      tried = element("tried");
    if (!rule) return;
    try {
      const inputs = [...element("try").querySelectorAll("input")];
      const kinds = new Map(variables(rule.program.expression).map(({ name, kind }) => [name, kind]));
      const row: Row = new Map(
        inputs.map((input) => [input.name, cellOf(input.value, kinds.get(input.name)!, input.name)]),
      );
      const answer = prediction(rule, row);
      tried.replaceChildren(`${rule.target ?? "answer"}: `, make("code", {}, answer === "" ? "missing" : answer));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      tried.textContent = error.message;
    }
  }

  private showTable(rule: Rule, table: Table, rows: Row[]): void {
    const predicted = rows.map((row) => prediction(rule, row));
    const position = rule.target === null ? -1 : table.header.indexOf(rule.target);
    const differs = predicted.map((text, i) => position >= 0 && !agrees(rule, text, table.rows[i][position]));
    const wrong = differs.filter(Boolean).length;
    const count = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? "row" : "rows"}`;
    const right = rows.length - wrong,
      share = percent(right / Math.max(1, rows.length));
    const agreement = `; agrees with the column ${rule.target} on ${share} (${right.toLocaleString("en")})`;
    const limit = rows.length > SHOWN ? `, the first ${SHOWN} are shown` : "";
    setText(element("table-note"), `${count}, evaluated exactly${position < 0 ? "" : agreement}${limit}.`);
    const order = rows
      .map((_, i) => i)
      .sort((one, other) => Number(differs[other]) - Number(differs[one]) || one - other);
    const head = make(
      "tr",
      {},
      ...["row", ...table.header].map((name) => make("th", { scope: "col" }, name)),
      make("th", { scope: "col" }, "the rule says"),
    );
    const body = order
      .slice(0, SHOWN)
      .map((i) =>
        make(
          "tr",
          differs[i] ? { class: "differs" } : {},
          make("th", { scope: "row" }, `${i + 2}`),
          ...table.rows[i].map((cell) => make("td", { title: cell }, cell)),
          make("td", { class: "predicted" }, `${differs[i] ? "≠ " : ""}${predicted[i] || "missing"}`),
        ),
      );
    element("table").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
  }
}
