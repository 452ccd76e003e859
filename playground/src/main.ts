// The page: settings, the loop of frames, and what is drawn in each of them.

import { loadRule, programOf } from "./exact/program";
import { evaluate } from "./exact/evaluate";
import { cellOf, cellsOf, parseCsv, prediction } from "./exact/table";
import { Rational } from "./exact/rational";
import { textOf } from "./exact/text";
import { Adam } from "./learning/adam";
import {
  GRID,
  OPERATORS,
  type Operator,
  SIGNS,
  dependOnDifference,
  gridRows,
  labelsOf,
  rowsOfPairs,
} from "./learning/comparisons";
import { MLP } from "./learning/mlp";
import { type Rows, accuracy, rowsOf, sigmoid } from "./learning/model";
import { type Formula, expressionOf, isConstant, readRule, ruleFile, satisfies } from "./learning/reading";
import { Register, type Unit } from "./learning/register";
import { type Learner, type RecipeName, Session, type Settings } from "./learning/session";
import { forgetPalette, isVisible, onResize, palette, powerText } from "./view/canvas";
import { type Series, drawAccuracies, drawAnswer, drawBits, drawUnits } from "./view/charts";
import { element, make, percent, setText } from "./view/dom";
import { makeDrawable } from "./view/drawing";
import { FloatMap } from "./view/floats";
import { axisAt, drawMap, pairsAt } from "./view/maps";
import { RulePanel } from "./view/rules";

const BUDGET = 8; // milliseconds of training in a frame: the rest of 16 is for drawing
const LAST_EPOCH = 50_000;

const WORDS: Record<Operator, string> = {
  ">": "greater",
  "<": "less",
  ">=": "at least",
  "<=": "at most",
  "=": "equal",
  "!=": "unequal",
};
const DRAWINGS: Record<string, (a: number, b: number) => boolean> = {
  band: (a, b) => Math.abs(a - b) < 4,
  corner: (a, b) => a > 2 && b < 5,
  clear: () => false,
};

const settings: Settings = {
  operator: ">",
  labels: labelsOf(">"),
  scale: 1,
  delta: 1,
  redundancy: 10,
  constants: false,
  recipe: "exact",
  seed: 1,
};
const view = { lambda: 0, delta: 0, power: 0, kind: "near" as "near" | "far", cursor: null as number | null };
let session = new Session(settings);
let running = !matchMedia("(prefers-reduced-motion: reduce)").matches;
let dirty = true;
let rowsDirty = true; // the rows change less often than the models
let rule: Formula | null | undefined; // undefined: not read yet
let shown: Shown;
let frames = 0;
let curves: Series[] | null = null; // accuracy by magnitude: computed in every sixth frame

/** What the maps show: the pairs of the grid at a magnitude, and which of them are right. */
interface Shown {
  rows: Rows;
  truth: Uint8Array | null;
  answers: Float64Array;
  wrong: Uint8Array;
}

function lookAt(): void {
  const pairs = pairsAt(view.power, view.kind),
    { truth } = session;
  const known =
    view.power === 0 ? settings.labels : truth && Uint8Array.from(pairs, ([a, b]) => (satisfies(truth, a, b) ? 1 : 0));
  const rows = rowsOfPairs(pairs, known ?? new Uint8Array(pairs.length), settings.delta);
  shown = { rows, truth: known, answers: new Float64Array(rows.count), wrong: new Uint8Array(rows.count) };
  dirty = true;
}

/** Start again from new weights. */
function restart(): void {
  session = new Session(settings);
  setText(element("nsr-size"), `${session.register.parameters.length}`);
  rule = undefined;
  curves = null;
  rowsDirty = true;
  floats.reset(settings.operator, settings.seed);
  floats.select(view.lambda, view.delta);
  lookAt();
}

/** Draw the map of a model. Returns how many of its answers are wrong. */
function drawLearner(learner: Learner, id: "nsr" | "mlp"): number {
  const { rows, truth, answers, wrong } = shown;
  learner.model.logits(rows, answers);
  let errors = 0;
  for (let n = 0; n < rows.count; n++) {
    wrong[n] = truth && answers[n] > 0 !== truth[n] > 0 ? 1 : 0;
    errors += wrong[n];
    answers[n] = sigmoid(answers[n]);
  }
  const delta = view.delta ? powerText(view.delta) : "";
  const axis = axisAt(view.power, view.kind, powerText(view.power), delta);
  inView(id, (canvas) => drawMap(canvas, answers, wrong, axis));
  setText(element(`${id}-score`), truth ? percent(1 - errors / rows.count) : "");
  return errors;
}

function inView(id: string, paint: (canvas: HTMLCanvasElement) => void): void {
  const canvas = element<HTMLCanvasElement>(id);
  if (isVisible(canvas)) paint(canvas);
}

function drawRows(): void {
  const axis = axisAt(0, "near", "", view.delta ? powerText(view.delta) : "");
  inView("rows", (canvas) => {
    drawMap(canvas, settings.labels, null, axis, view.cursor);
    rowsDirty = false;
  });
}

/** Draw everything that is in view. */
function draw(): void {
  const { register, nsr, baseline } = session,
    { delta, labels } = settings;
  if (rowsDirty) drawRows();
  const errors = drawLearner(nsr, "nsr");
  const wrong = drawLearner(baseline, "mlp");
  frames += 1;
  if (!running || frames % 6 === 0 || !curves) curves = accuracyCurves();
  inView("accuracies", (canvas) => drawAccuracies(canvas, curves!, view.power));
  inView("bits", (canvas) => drawBits(canvas, register, delta));
  inView("answer", (canvas) => drawAnswer(canvas, register, labels, delta));
  inView("units", (canvas) => drawUnits(canvas, register));
  setText(element("epoch"), session.epochs.toLocaleString("en"));
  showRule(errors);
  describeBaseline(wrong);
}

/** The lines of the chart. Where the register errs beyond the rows, the rule that was read from it is a third one. */
function accuracyCurves(): Series[] {
  const { nsr, mlp, ink } = palette();
  const lines = [
    { name: "register", values: session.accuracies(session.nsr), colour: nsr, dash: [] as number[] },
    { name: "MLP", values: session.accuracies(session.baseline), colour: mlp, dash: [6, 4] },
  ];
  const errs = lines[0].values.some((share) => share < 1);
  if (rule && errs) lines.push({ name: "its rule", values: session.ruleAccuracies(rule), colour: ink, dash: [2, 3] });
  return lines.reverse();
}

function showRule(errors: number): void {
  const { nsr } = session,
    target = element("rule");
  if (nsr.rightSince === null) {
    rule = undefined;
    setText(target, session.epochs ? `Right on ${percent(nsr.accuracy)} of the rows.` : "Random weights.");
  } else if (rule === undefined) {
    rule = session.readRule();
    if (rule) {
      const written = textOf(expressionOf(rule, exactDelta()));
      target.replaceChildren(
        "It reads as ",
        make("code", {}, written),
        `, right on all rows since epoch ${nsr.rightSince}.`,
        make("span", { id: "errors" }),
      );
      setText(element("announce"), `The register reads as ${written}`);
    } else {
      const constant = "The answer is always the same: there is nothing to compare.";
      const none = "Right on all rows, but no formula of up to three comparisons says the same.";
      setText(target, isConstant(settings.labels) ? constant : none);
    }
  }
  const beyond = errors && view.power ? ` The register errs here, its rule does not.` : "";
  if (rule) setText(element("errors"), beyond);
  for (const id of ["use", "save"]) element<HTMLButtonElement>(id).disabled = !rule;
}

function describeBaseline(wrong: number): void {
  const { accuracy: share, rightSince } = session.baseline;
  const rows =
    rightSince === null ? `Right on ${percent(share)} of the rows.` : `Right on all rows since epoch ${rightSince}.`;
  const here = view.power && wrong ? ` Wrong here: ${wrong} of ${shown.rows.count}.` : "";
  setText(element("mlp-note"), session.epochs ? rows + here : "Random weights.");
}

function exactDelta(): Rational {
  return view.delta < 0 ? Rational.of(1n, 10n ** BigInt(-view.delta)) : Rational.of(10n ** BigInt(view.delta));
}

/** Draw what changed, and train if that is on. Returns the milliseconds it took. */
function frame(): number {
  const start = performance.now();
  if (running) {
    session.train(Number(element<HTMLSelectElement>("speed").value), start + BUDGET);
    if (session.epochs >= LAST_EPOCH) setRunning(false);
    dirty = true;
  }
  if (floats.busy) floats.work(start + BUDGET + 3);
  if (dirty) {
    dirty = false;
    draw();
  }
  return performance.now() - start;
}

function setRunning(on: boolean): void {
  running = on;
  setText(element("play"), on ? "Pause" : "Train");
  dirty = true;
  if (!on) describe();
}

function unitText(unit: Unit, index: number): string {
  const selected = `${percent(unit.first[0])} and ${percent(unit.second[0])}`;
  const [sign, zero, bias] = [unit.sign, unit.zero, unit.bias].map((weight) => weight.toFixed(1));
  return `Unit ${index + 1}: selects a with ${selected}, sign weight ${sign}, zero weight ${zero}, bias ${bias}.`;
}

/** Put what the canvases show into words. */
function describe(): void {
  const at = view.power ? `at ${powerText(view.power)}` : "on the rows";
  element("nsr").setAttribute("aria-label", `Answers of the register: ${element("nsr-score").textContent} right ${at}`);
  element("mlp").setAttribute("aria-label", `Answers of the MLP: ${element("mlp-score").textContent} right ${at}`);
  const list = (learner: Learner) => session.accuracies(learner).map(percent).join(", ");
  element("accuracies").setAttribute(
    "aria-label",
    `Accuracy on the rows and from 10^1 to 10^15. Register: ${list(session.nsr)}. MLP: ${list(session.baseline)}.`,
  );
  const units = Array.from({ length: settings.redundancy }, (_, r) => session.register.unit(r));
  element("units").setAttribute("aria-label", units.map(unitText).join(" "));
}

/** Learn a comparison, or what is drawn; with constants where more than the difference matters. */
function chooseOperator(operator: Operator | null): void {
  settings.constants = !operator && !dependOnDifference(settings.labels);
  element<HTMLInputElement>("constants").checked = settings.constants;
  settings.operator = operator;
  setText(element("word"), operator ? WORDS[operator] : "this");
  settings.labels = operator ? labelsOf(operator) : settings.labels.slice();
  element<HTMLInputElement>(`op-${operator ?? "draw"}`).checked = true;
  restart();
}

/** A bit with as many digits as show that it is not 0 or 1. */
function bitText(value: number): string {
  const size = Math.abs(value);
  const text = size < 0.001 ? value.toExponential(0) : value.toFixed(size > 0.99 && size < 1 ? 4 : 2);
  return text.replace("-", "−");
}

function showLambdaAndDelta(): void {
  const product = settings.scale * settings.delta,
    zero = 1 - 2 * Math.tanh(product) ** 2;
  setText(element("lambda-value"), powerText(view.lambda));
  setText(element("delta-value"), powerText(view.delta));
  const bits = `Numbers that differ by δ have sign bit ${bitText(Math.tanh(product))} and zero bit ${bitText(zero)}.`;
  const meaning =
    zero > 0
      ? " The zero bit has the wrong sign: = and ≠ cannot be told apart. Increase λ."
      : product > 20
        ? " The bits are steps: almost no gradient reaches the selections."
        : " Both have the right sign.";
  setText(element("bits-note"), bits + meaning);
}

function setLambdaAndDelta(lambda: number, delta: number): void {
  Object.assign(view, { lambda, delta });
  settings.scale = 10 ** lambda;
  settings.delta = 10 ** delta;
  element<HTMLInputElement>("lambda").value = `${lambda}`;
  element<HTMLInputElement>("delta").value = `${delta}`;
  element("lambda").setAttribute("aria-valuetext", powerText(lambda));
  element("delta").setAttribute("aria-valuetext", powerText(delta));
  showLambdaAndDelta();
  restart();
}

function setPower(power: number): void {
  view.power = power;
  const near = view.kind === "near";
  const far = near ? `neighbours of ${powerText(power)}` : `everything up to ${powerText(power + 1)}`;
  const where = power === 0 ? "the rows learned from" : far;
  setText(element("where"), where);
  element("power").setAttribute("aria-valuetext", where);
  const paper = "The chart: a random number of each magnitude against its neighbours, at most 5 away, as in Table 1.";
  const drawn = "The chart: pairs around a large number and its negative, labelled by the rule that was drawn.";
  const unknown = "What these labels mean beyond the grid is not known, so only the rows are counted.";
  setText(element("zoom-note"), !session.truth ? unknown : settings.operator ? paper : drawn);
  lookAt();
}

function showPower(power: number): void {
  setPower(power);
  element<HTMLInputElement>("power").value = `${power}`;
}

function paintCell(index: number, label: number): void {
  if (settings.labels[index] === label) return;
  settings.labels[index] = label;
  chooseOperator(null);
  showPower(0);
}

function setUp(): void {
  const choices = element("operators");
  for (const operator of [...OPERATORS, null]) {
    const label = operator ? `a ${SIGNS[operator]} b` : "draw labels",
      id = `op-${operator ?? "draw"}`;
    const input = make("input", { type: "radio", name: "operator", id, "aria-label": label });
    if (operator === ">") input.setAttribute("checked", "");
    input.addEventListener("change", () => {
      chooseOperator(operator);
      setPower(view.power);
      setRunning(true);
    });
    choices.append(make("label", {}, input, make("span", {}, operator ? SIGNS[operator] : "draw")));
  }
  element("play").addEventListener("click", () => setRunning(!running));
  element("step").addEventListener("click", () => {
    setRunning(false);
    session.train(1, Infinity);
    dirty = true;
  });
  element("again").addEventListener("click", () => {
    settings.seed += 1;
    restart();
    setRunning(true);
  });
  for (const [id, label] of Object.entries(DRAWINGS)) {
    element(id).addEventListener("click", () => {
      settings.labels = Uint8Array.from(GRID, ([a, b]) => (label(a, b) ? 1 : 0));
      chooseOperator(null);
      showPower(0);
      setRunning(true);
    });
  }
  const power = element<HTMLInputElement>("power");
  power.addEventListener("input", () => setPower(Number(power.value)));
  for (const input of document.querySelectorAll<HTMLInputElement>("input[name=view]")) {
    input.addEventListener("change", () => {
      view.kind = input.value as "near" | "far";
      showPower(view.power || 3);
    });
  }
  const lambda = element<HTMLInputElement>("lambda"),
    delta = element<HTMLInputElement>("delta");
  for (const slider of [lambda, delta]) {
    slider.addEventListener("input", () => {
      setLambdaAndDelta(Number(lambda.value), Number(delta.value));
      setRunning(true);
    });
  }
  const redundancy = element<HTMLSelectElement>("redundancy"),
    recipe = element<HTMLSelectElement>("recipe");
  const constants = element<HTMLInputElement>("constants");
  for (const control of [redundancy, recipe, constants]) {
    control.addEventListener("change", () => {
      Object.assign(settings, {
        redundancy: Number(redundancy.value),
        recipe: recipe.value as RecipeName,
        constants: constants.checked,
      });
      restart();
      setRunning(true);
    });
  }
  element("use").addEventListener("click", () => {
    if (rule) rules.load(ruleFile(rule, exactDelta()), null);
  });
  element("save").addEventListener("click", saveRule);
  makeDrawable(element<HTMLCanvasElement>("rows"), {
    label: (index) => settings.labels[index],
    paint: paintCell,
    moveTo: (cursor) => {
      view.cursor = cursor;
      dirty = rowsDirty = true;
    },
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forgetPalette();
    floats.paint();
    curves = null;
    dirty = rowsDirty = true;
  });
  onResize(() => {
    dirty = rowsDirty = true;
  });
}

function saveRule(): void {
  if (!rule) return;
  const url = URL.createObjectURL(new Blob([ruleFile(rule, exactDelta())], { type: "application/json" }));
  const link = make("a", { href: url, download: "rule.json" });
  link.click();
  URL.revokeObjectURL(url);
}

const floats = new FloatMap((lambda, delta) => {
  setLambdaAndDelta(lambda, delta);
  setRunning(true);
});
const rules = new RulePanel();

/** What the page is made of, for tests and for the console of the browser. */
const nsr = {
  Adam,
  MLP,
  Rational,
  Register,
  accuracy,
  cellOf,
  cellsOf,
  evaluate,
  frame,
  gridRows,
  labelsOf,
  loadRule,
  parseCsv,
  prediction,
  programOf,
  readRule,
  rowsOf,
  ruleFile,
  textOf,
  pause: () => setRunning(false),
  get session() {
    return session;
  },
};
declare global {
  interface Window {
    nsr: typeof nsr;
  }
}
window.nsr = nsr;

setUp();
showLambdaAndDelta();
floats.select(0, 0);
setPower(0);
setRunning(running);
requestAnimationFrame(function loop() {
  frame();
  requestAnimationFrame(loop);
});
