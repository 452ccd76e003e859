// Adam with torch's defaults, full batch (nsr.adam).

import type { Loss, Model, Rows } from "./model";

export class Adam {
  epochs = 0;
  private readonly first: Float64Array;
  private readonly second: Float64Array;
  private readonly slope: Float64Array;

  constructor(readonly model: Model) {
    const size = model.parameters.length;
    this.first = new Float64Array(size);
    this.second = new Float64Array(size);
    this.slope = new Float64Array(size);
  }

  /** One epoch. Returns the loss before it. */
  step(rows: Rows, loss: Loss, learningRate: number): number {
    const value = this.model.gradient(rows, loss, this.slope);
    this.epochs += 1;
    const step = learningRate / (1 - 0.9 ** this.epochs),
      root = Math.sqrt(1 - 0.999 ** this.epochs);
    const { first, second, slope } = this,
      parameters = this.model.parameters;
    for (let i = 0; i < parameters.length; i++) {
      first[i] += 0.1 * (slope[i] - first[i]);
      second[i] = 0.999 * second[i] + 0.001 * slope[i] * slope[i];
      parameters[i] -= (step * first[i]) / (Math.sqrt(second[i]) / root + 1e-8);
    }
    return value;
  }
}
