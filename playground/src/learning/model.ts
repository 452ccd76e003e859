// What the register and the MLP share: rows, losses, and the interface of a model.

/** Rows of numbers with targets. `x` holds `inputs` columns one after the other; `weight` sums to one. */
export interface Rows {
  readonly inputs: number;
  readonly count: number;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly weight: Float64Array;
}

export type Loss = "bce" | "mae" | "mse";

export interface Model {
  readonly parameters: Float64Array;
  /** The logit of each row. */
  logits(rows: Rows, into: Float64Array): void;
  /** The loss; its gradient is written to `into`. */
  gradient(rows: Rows, loss: Loss, into: Float64Array): number;
}

/** Rows from columns; all weigh the same if no weights are given. */
export function rowsOf(columns: ArrayLike<number>[], y: ArrayLike<number>, weight?: ArrayLike<number>): Rows {
  const count = y.length;
  const x = new Float64Array(columns.length * count);
  columns.forEach((column, index) => x.set(column, index * count));
  const weights = weight ? Float64Array.from(weight) : new Float64Array(count).fill(1 / count);
  return { inputs: columns.length, count, x, y: Float64Array.from(y), weight: weights };
}

export function sigmoid(z: number): number {
  return 1 / (1 + Math.exp(-z));
}

/** The weighted loss of logits; its derivative by each logit is written to `slope`. */
export function lossOf(loss: Loss, z: Float64Array, rows: Rows, slope: Float64Array): number {
  let total = 0;
  for (let n = 0; n < rows.count; n++) {
    const target = rows.y[n],
      weight = rows.weight[n],
      output = sigmoid(z[n]);
    if (loss === "bce") {
      total += weight * (Math.max(z[n], 0) - z[n] * target + Math.log1p(Math.exp(-Math.abs(z[n]))));
      slope[n] = weight * (output - target);
    } else {
      const error = output - target,
        inner = output * sigmoid(-z[n]);
      total += weight * (loss === "mae" ? Math.abs(error) : error * error);
      slope[n] = weight * inner * (loss === "mae" ? Math.sign(error) : 2 * error);
    }
  }
  return total;
}

/** Share of the rows whose logit has the right sign. A logit of 0 is a "no", as in Python. */
export function accuracy(model: Model, rows: Rows, scratch: Float64Array = new Float64Array(rows.count)): number {
  model.logits(rows, scratch);
  let right = 0,
    all = 0;
  for (let n = 0; n < rows.count; n++) {
    all += rows.weight[n];
    if (scratch[n] > 0 === rows.y[n] > 0.5) right += rows.weight[n];
  }
  return right / all;
}

/** Whether every row is right: unlike a sum of weights, this cannot round. */
export function allRight(z: Float64Array, rows: Rows): boolean {
  for (let n = 0; n < rows.count; n++) if (z[n] > 0 !== rows.y[n] > 0.5) return false;
  return true;
}
