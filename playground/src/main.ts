// The page: settings, the loop of frames, and what is drawn in each of them.

import { loadRule, programOf } from "./exact/program";
import { evaluate } from "./exact/evaluate";
import { cellOf, cellsOf, parseCsv, prediction } from "./exact/table";
import { Rational } from "./exact/rational";
import { textOf } from "./exact/text";
import { Adam } from "./learning/adam";
import { GRID, LOW, OPERATORS, type Operator, SIDE, SIGNS, gridRows, labelsOf, rowsOfPairs } from "./learning/comparisons";
import { MLP } from "./learning/mlp";
import { type Rows, accuracy, rowsOf, sigmoid } from "./learning/model";
import { type Formula, expressionOf, readRule, ruleFile, satisfies } from "./learning/reading";
import { Register } from "./learning/register";
import { type Learner, type RecipeName, Session, type Settings } from "./learning/session";
import { forgetPalette, onResize, powerText } from "./view/canvas";
import { drawAccuracies, drawAnswer, drawBits, drawUnits } from "./view/charts";
import { element, make, percent, setText } from "./view/dom";
import { FloatMap } from "./view/floats";
import { axisAt, cellAt, drawMap, pairsAt } from "./view/maps";
import { RulePanel } from "./view/rules";

const BUDGET = 8;  // milliseconds of training in a frame: the rest of 16 is for drawing
const LAST_EPOCH = 20_000;

const settings: Settings = {
  operator: ">", labels: labelsOf(">"), scale: 1, delta: 1, redundancy: 10, constants: false, recipe: "exact", seed: 1,
};
const view = { lambda: 0, delta: 0, power: 0, kind: "near" as "near" | "far", cursor: null as number | null };
let session = new Session(settings);
let running = !matchMedia("(prefers-reduced-motion: reduce)").matches;
let dirty = true;
let rule: Formula | null = null;
let shown: Shown;

/** What the maps show: the pairs of the grid at a magnitude, and which of them are right. */
interface Shown { rows: Rows; truth: Uint8Array | null; answers: Float64Array; wrong: Uint8Array }

function lookAt(): void {
  const pairs = pairsAt(view.power, view.kind), { truth } = session;
  const known = view.power === 0 ? settings.labels : truth && Uint8Array.from(pairs, ([a, b]) => (satisfies(truth, a, b) ? 1 : 0));
  const rows = rowsOfPairs(pairs, known ?? new Uint8Array(pairs.length), settings.delta);
  shown = { rows, truth: known, answers: new Float64Array(rows.count), wrong: new Uint8Array(rows.count) };
  dirty = true;
}

/** Start again from new weights. */
function restart(): void {
  session = new Session(settings);
  rule = null;
  floats.reset(settings.operator, settings.seed);
  floats.select(view.lambda, view.delta);
  lookAt();
}

function drawLearner(learner: Learner, id: "nsr" | "mlp"): void {
  const { rows, truth, answers, wrong } = shown;
  learner.model.logits(rows, answers);
  let right = 0;
  for (let n = 0; n < rows.count; n++) {
    wrong[n] = truth && answers[n] > 0 !== truth[n] > 0 ? 1 : 0;
    right += 1 - wrong[n];
    answers[n] = sigmoid(answers[n]);
  }
  const delta = view.delta ? powerText(view.delta) : "";
  drawMap(element<HTMLCanvasElement>(id), answers, wrong, axisAt(view.power, view.kind, powerText(view.power), delta));
  setText(element(`${id}-score`), truth ? percent(right / rows.count) : "");
}

function draw(): void {
  const { register, nsr, baseline } = session, { delta } = settings;
  drawMap(element<HTMLCanvasElement>("rows"), settings.labels, null, axisAt(0, "near", "", view.delta ? powerText(view.delta) : ""), view.cursor);
  drawLearner(nsr, "nsr");
  drawLearner(baseline, "mlp");
  drawAccuracies(element<HTMLCanvasElement>("accuracies"), session.accuracies(nsr), session.accuracies(baseline), view.power);
  drawBits(element<HTMLCanvasElement>("bits"), register, delta);
  drawAnswer(element<HTMLCanvasElement>("answer"), register, settings.labels, delta);
  drawUnits(element<HTMLCanvasElement>("units"), register);
  setText(element("epoch"), session.epochs.toLocaleString("en"));
  showRule();
}

function showRule(): void {
  const { nsr, baseline } = session, target = element("rule");
  if (nsr.rightSince === null) {
    rule = null;
    setText(target, session.epochs ? `right on ${percent(nsr.accuracy)} of the rows` : "random weights");
  } else if (!rule) {
    rule = session.readRule();
    if (rule) {
      const written = textOf(expressionOf(rule, exactDelta()));
      target.replaceChildren("It reads as ", make("code", {}, written), `, right on all rows since epoch ${nsr.rightSince}.`);
    } else {
      setText(target, "right on all rows, but not one comparison or a few");
    }
  }
  for (const id of ["use", "save"]) element<HTMLButtonElement>(id).disabled = !rule;
  const words = baseline.rightSince === null ? `right on ${percent(baseline.accuracy)} of the rows` : `right on all rows since epoch ${baseline.rightSince}`;
  setText(element("mlp-note"), session.epochs ? words : "random weights");
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
  if (!on) describe();
}

/** Put what the canvases show into words. */
function describe(): void {
  const at = view.power ? `at ${powerText(view.power)}` : "on the rows";
  element("nsr").setAttribute("aria-label", `Answers of the register: ${element("nsr-score").textContent} right ${at}`);
  element("mlp").setAttribute("aria-label", `Answers of the MLP: ${element("mlp-score").textContent} right ${at}`);
  const list = (learner: Learner) => session.accuracies(learner).map(percent).join(", ");
  element("accuracies").setAttribute("aria-label",
    `Accuracy on the rows and from 10^1 to 10^15. Register: ${list(session.nsr)}. MLP: ${list(session.baseline)}.`);
  const units = Array.from({ length: settings.redundancy }, (_, r) => session.register.unit(r));
  element("units").setAttribute("aria-label", units.map((unit, r) =>
    `Unit ${r + 1}: selects a with ${percent(unit.first[0])} and ${percent(unit.second[0])}, sign weight ${unit.sign.toFixed(1)}, zero weight ${unit.zero.toFixed(1)}, bias ${unit.bias.toFixed(1)}.`).join(" "));
}

function chooseOperator(operator: Operator | null): void {
  settings.operator = operator;
  settings.labels = operator ? labelsOf(operator) : settings.labels.slice();
  element<HTMLInputElement>(`op-${operator ?? "draw"}`).checked = true;
  restart();
}

function showLambdaAndDelta(): void {
  const product = settings.scale * settings.delta, zero = 1 - 2 * Math.tanh(product) ** 2;
  setText(element("lambda-value"), powerText(view.lambda));
  setText(element("delta-value"), powerText(view.delta));
  const number = (value: number) => (Math.abs(value) < 0.001 ? value.toExponential(0) : value.toFixed(Math.abs(value) > 0.99 && Math.abs(value) < 1 ? 4 : 2)).replace("-", "−");
  const bits = `Numbers that differ by δ have sign bit ${number(Math.tanh(product))} and zero bit ${number(zero)}.`;
  const meaning = zero > 0
    ? " The zero bit has the wrong sign: = and ≠ cannot be told apart. Increase λ."
    : product > 20 ? " The bits are steps: almost no gradient reaches the selections." : " Both have the right sign.";
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
  const where = power === 0 ? "the rows learned from" : near ? `neighbours of ${powerText(power)}` : `everything up to ${powerText(power + 1)}`;
  setText(element("where"), where);
  element("power").setAttribute("aria-valuetext", where);
  setText(element("zoom-note"), session.truth
    ? "The chart: a random number of each magnitude against its neighbours, at most 5 away, as in Table 1 of the paper."
    : "What these labels mean beyond the grid is not known, so only the rows are counted.");
  lookAt();
}

function paintCell(index: number, label: number): void {
  if (settings.labels[index] === label) return;
  settings.labels[index] = label;
  if (settings.operator) chooseOperator(null);
  else restart();
  setPower(0);
  element<HTMLInputElement>("power").value = "0";
}

function drawWithPointer(canvas: HTMLCanvasElement): void {
  let label: number | null = null;
  const paint = (event: PointerEvent) => {
    const index = cellAt(canvas, event.clientX, event.clientY);
    if (index === null) return;
    label ??= 1 - settings.labels[index];
    paintCell(index, label);
  };
  canvas.addEventListener("pointerdown", (event) => {
    label = null;
    canvas.setPointerCapture(event.pointerId);
    paint(event);
  });
  canvas.addEventListener("pointermove", (event) => { if (label !== null) paint(event); });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { label = null; });
}

function drawWithKeys(canvas: HTMLCanvasElement): void {
  const say = () => {
    const [a, b] = GRID[view.cursor!];
    setText(element("announce"), `a = ${a}, b = ${b}: ${settings.labels[view.cursor!] ? "yes" : "no"}`);
  };
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible")) view.cursor ??= (0 - LOW) * SIDE - LOW;
    dirty = true;
  });
  canvas.addEventListener("blur", () => { view.cursor = null; dirty = true; });
  canvas.addEventListener("keydown", (event) => {
    const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const move = moves[event.key], from = view.cursor ?? (0 - LOW) * SIDE - LOW;
    if (move) {
      const a = Math.floor(from / SIDE) + move[0], b = (from % SIDE) + move[1];
      view.cursor = a < 0 || b < 0 || a >= SIDE || b >= SIDE ? from : a * SIDE + b;
    } else if (event.key === " " || event.key === "Enter") {
      view.cursor = from;
      paintCell(from, 1 - settings.labels[from]);
    } else {
      return;
    }
    event.preventDefault();
    dirty = true;
    say();
  });
}

function setUp(): void {
  const choices = element("operators");
  for (const operator of [...OPERATORS, null]) {
    const input = make("input", { type: "radio", name: "operator", id: `op-${operator ?? "draw"}`, "aria-label": operator ? `a ${operator} b` : "labels you draw" });
    if (operator === ">") input.setAttribute("checked", "");
    input.addEventListener("change", () => { chooseOperator(operator); setPower(view.power); setRunning(true); });
    choices.append(make("label", {}, input, make("span", {}, operator ? SIGNS[operator] : "draw")));
  }
  element("play").addEventListener("click", () => setRunning(!running));
  element("step").addEventListener("click", () => { setRunning(false); session.train(1, Infinity); dirty = true; });
  element("again").addEventListener("click", () => { settings.seed += 1; restart(); setRunning(true); });
  element("clear").addEventListener("click", () => {
    settings.labels = new Uint8Array(GRID.length);
    chooseOperator(null);
    setPower(0);
  });
  const power = element<HTMLInputElement>("power");
  power.addEventListener("input", () => setPower(Number(power.value)));
  for (const input of document.querySelectorAll<HTMLInputElement>("input[name=view]")) {
    input.addEventListener("change", () => { view.kind = input.value as "near" | "far"; setPower(view.power || 3); power.value = `${view.power}`; });
  }
  const lambda = element<HTMLInputElement>("lambda"), delta = element<HTMLInputElement>("delta");
  for (const slider of [lambda, delta]) {
    slider.addEventListener("input", () => { setLambdaAndDelta(Number(lambda.value), Number(delta.value)); setRunning(true); });
  }
  const redundancy = element<HTMLSelectElement>("redundancy"), recipe = element<HTMLSelectElement>("recipe");
  const constants = element<HTMLInputElement>("constants");
  for (const control of [redundancy, recipe, constants]) {
    control.addEventListener("change", () => {
      Object.assign(settings, { redundancy: Number(redundancy.value), recipe: recipe.value as RecipeName, constants: constants.checked });
      restart();
      setRunning(true);
    });
  }
  element("use").addEventListener("click", () => { if (rule) rules.load(ruleFile(rule, exactDelta()), null); });
  element("save").addEventListener("click", saveRule);
  drawWithPointer(element<HTMLCanvasElement>("rows"));
  drawWithKeys(element<HTMLCanvasElement>("rows"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { forgetPalette(); floats.paint(); dirty = true; });
  onResize(() => { dirty = true; });
}

function saveRule(): void {
  if (!rule) return;
  const url = URL.createObjectURL(new Blob([ruleFile(rule, exactDelta())], { type: "application/json" }));
  const link = make("a", { href: url, download: "rule.json" });
  link.click();
  URL.revokeObjectURL(url);
}

const floats = new FloatMap((lambda, delta) => { setLambdaAndDelta(lambda, delta); setRunning(true); });
const rules = new RulePanel();

/** What the page is made of, for tests and for the console of the browser. */
const nsr = {
  Adam, MLP, Rational, Register, accuracy, cellOf, cellsOf, evaluate, frame, gridRows, labelsOf, loadRule, parseCsv,
  prediction, programOf, readRule, rowsOf, ruleFile, textOf,
  pause: () => setRunning(false),
  get session() { return session; },
};
declare global { interface Window { nsr: typeof nsr } }
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
