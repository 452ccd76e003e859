// The baseline (Section 4.1): one hidden layer with sigmoids, as nsr.MLP.

import { type Loss, type Model, type Rows, lossOf, sigmoid } from "./model";
import type { Random } from "./random";

export class MLP implements Model {
  readonly parameters: Float64Array;
  /** Where each parameter starts: V (inputs, then hidden units), b_V, H, b. */
  readonly at: { v: number; biasV: number; h: number; bias: number };
  private slope = new Float64Array(0);
  private z = new Float64Array(0);
  private active = new Float64Array(0);

  constructor(
    readonly inputs: number,
    readonly hidden = 20,
  ) {
    const v = inputs * hidden;
    this.at = { v: 0, biasV: v, h: v + hidden, bias: v + 2 * hidden };
    this.parameters = new Float64Array(v + 2 * hidden + 1);
  }

  /** Draw the weights as torch.nn.Linear does. */
  initialise(random: Random): this {
    for (let i = 0; i < this.parameters.length; i++) {
      const fanIn = i < this.at.h ? this.inputs : this.hidden;
      this.parameters[i] = (2 * random() - 1) / Math.sqrt(fanIn);
    }
    return this;
  }

  logits(rows: Rows, into: Float64Array): void {
    this.forward(rows, into, null);
  }

  private forward(rows: Rows, into: Float64Array, active: Float64Array | null): void {
    const p = this.parameters,
      { at, hidden, inputs } = this,
      count = rows.count;
    into.fill(p[at.bias], 0, count);
    for (let k = 0; k < hidden; k++) {
      const bias = p[at.biasV + k],
        weight = p[at.h + k];
      for (let n = 0; n < count; n++) {
        let sum = 0;
        for (let i = 0; i < inputs; i++) sum += p[i * hidden + k] * rows.x[i * count + n];
        const output = sigmoid(sum + bias);
        if (active) active[k * count + n] = output;
        into[n] += output * weight;
      }
    }
  }

  gradient(rows: Rows, loss: Loss, into: Float64Array): number {
    const p = this.parameters,
      { at, hidden, inputs } = this,
      count = rows.count;
    if (this.z.length !== count) {
      this.z = new Float64Array(count);
      this.slope = new Float64Array(count);
      this.active = new Float64Array(count * hidden);
    }
    this.forward(rows, this.z, this.active);
    const value = lossOf(loss, this.z, rows, this.slope);
    into.fill(0);
    for (let n = 0; n < count; n++) into[at.bias] += this.slope[n];
    for (let k = 0; k < hidden; k++) {
      const weight = p[at.h + k];
      for (let n = 0; n < count; n++) {
        const output = this.active[k * count + n],
          slope = this.slope[n];
        into[at.h + k] += slope * output;
        const inner = slope * weight * output * (1 - output);
        into[at.biasV + k] += inner;
        for (let i = 0; i < inputs; i++) into[i * hidden + k] += inner * rows.x[i * count + n];
      }
    }
    return value;
  }
}
