// A register and an MLP that learn the same rows, side by side.

import { Adam } from "./adam";
import { type Operator, foldedRows, gridRows, holds, labelsOf, pairsAround, rowsOfPairs } from "./comparisons";
import { MLP } from "./mlp";
import { type Loss, type Model, type Rows, accuracy, allRight } from "./model";
import { uniform } from "./random";
import { type Formula, readRule, satisfies } from "./reading";
import { Register } from "./register";

export interface Settings {
  /** The comparison to learn; null: the labels that were drawn. */
  operator: Operator | null;
  labels: Uint8Array;
  scale: number;
  delta: number;
  redundancy: number;
  constants: boolean;
  recipe: RecipeName;
  seed: number;
}

export type RecipeName = "exact" | "paper";
/** The recipes of Python: EXACT and PAPER. */
export const RECIPES: Record<RecipeName, { loss: Loss; learningRate: number }> = {
  exact: { loss: "bce", learningRate: 0.01 },
  paper: { loss: "mae", learningRate: 0.001 },
};
export const POWERS = 15;
const CHECK_EVERY = 20,
  PATIENCE = 5;
const STEPS = [-9, -4, -3, -1, 0, 1, 3, 4, 9];

export class Learner {
  readonly adam: Adam;
  loss = NaN;
  accuracy = 0;
  /** The first epoch of those that are right on all rows up to now; null: the last check was wrong. */
  rightSince: number | null = null;
  private readonly z: Float64Array;

  constructor(
    readonly model: Model,
    private readonly rows: Rows,
  ) {
    this.adam = new Adam(model);
    this.z = new Float64Array(rows.count);
    this.check();
  }

  step(recipe: RecipeName): void {
    const { loss, learningRate } = RECIPES[recipe];
    this.loss = this.adam.step(this.rows, loss, learningRate);
  }

  check(): void {
    this.accuracy = accuracy(this.model, this.rows, this.z);
    if (!allRight(this.z, this.rows)) this.rightSince = null;
    else this.rightSince ??= this.adam.epochs;
  }
}

export class Session {
  readonly rows: Rows;
  readonly register: Register;
  readonly mlp: MLP;
  readonly nsr: Learner;
  readonly baseline: Learner;
  /** What the labels mean beyond the grid; null if no formula gives them. */
  readonly truth: Formula | null;
  private readonly tests: Test[];

  constructor(readonly settings: Settings) {
    const { labels, delta, scale, redundancy, constants, seed } = settings;
    this.rows = gridRows(labels, delta);
    this.register = new Register({ inputs: 2, redundancy, scale, constants }).initialise(uniform(seed));
    this.mlp = new MLP(2).initialise(uniform(seed + 1_000_003));
    this.nsr = new Learner(this.register, this.rows);
    this.baseline = new Learner(this.mlp, this.rows);
    this.truth = readRule(labels, true);
    this.tests = this.truth ? testRows(settings, this.truth) : [];
  }

  get epochs(): number {
    return this.nsr.adam.epochs;
  }

  /** Train both for so many epochs, or until the time is over. */
  train(epochs: number, until: number): void {
    for (let i = 0; i < epochs; i++) {
      this.nsr.step(this.settings.recipe);
      this.baseline.step(this.settings.recipe);
      if (performance.now() > until) break;
    }
    this.nsr.check();
    this.baseline.check();
  }

  /** Accuracy of a model at each magnitude from 10^1 to 10^15, those on the training rows first. */
  accuracies(learner: Learner): number[] {
    return [learner.accuracy, ...this.tests.map(({ rows }) => accuracy(learner.model, rows))];
  }

  /** Accuracy of a rule, as that of a model. */
  ruleAccuracies(rule: Formula): number[] {
    const right = ({ pairs, rows }: Test) =>
      pairs.filter(([a, b], n) => satisfies(rule, a, b) === rows.y[n] > 0.5).length / pairs.length;
    return [1, ...this.tests.map(right)];
  }

  /** The rule that the register computes on the grid, once it is right on all rows. */
  readRule(): Formula | null {
    if (this.nsr.rightSince === null) return null;
    const z = new Float64Array(this.rows.count);
    this.register.logits(this.rows, z);
    return readRule(
      Uint8Array.from(z, (logit) => (logit > 0 ? 1 : 0)),
      this.settings.constants,
    );
  }
}

/** Pairs of integers, and the rows of them: multiplied by delta, with their labels. */
interface Test {
  pairs: [number, number][];
  rows: Rows;
}

/** The rows for the magnitudes 10^1 to 10^15: the paper's for a comparison, else both neighbourhoods of n and -n. */
function testRows(settings: Settings, truth: Formula): Test[] {
  const random = uniform(settings.seed + 7);
  return Array.from({ length: POWERS }, (_, index) => {
    const pairs: [number, number][] = [];
    if (settings.operator) {
      pairs.push(...pairsAround(settings.operator, random, index + 1));
    } else {
      for (const n of [10 ** (index + 1), -(10 ** (index + 1))]) {
        for (const i of STEPS) for (const j of STEPS) pairs.push([n + i, n + j]);
      }
    }
    const labels = pairs.map(([a, b]) => (satisfies(truth, a, b) ? 1 : 0));
    return { pairs, rows: rowsOfPairs(pairs, labels, settings.delta) };
  });
}

/** One square of the maps of Section 4.2: train a register by itself and test it from 10^2 to 10^13. */
export function* floatSquare(operator: Operator, scale: number, delta: number, seed: number): Generator<void, number> {
  const labels = labelsOf(operator),
    rows = foldedRows(labels, delta);
  const register = new Register({ inputs: 2, redundancy: 10, scale, constants: false }).initialise(uniform(seed));
  const adam = new Adam(register),
    z = new Float64Array(rows.count);
  let right = 0;
  for (let epoch = 1; epoch <= 2000 && right < PATIENCE; epoch++) {
    adam.step(rows, "bce", 0.01);
    if (epoch % CHECK_EVERY === 0) {
      register.logits(rows, z);
      right = allRight(z, rows) ? right + 1 : 0;
      yield;
    }
  }
  const random = uniform(seed + 7);
  let total = 0;
  for (let power = 2; power <= 13; power++) {
    const pairs = pairsAround(operator, random, power);
    total += accuracy(
      register,
      rowsOfPairs(
        pairs,
        pairs.map(([a, b]) => Number(holds(operator, a - b))),
        delta,
      ),
    );
  }
  return total / 12;
}
