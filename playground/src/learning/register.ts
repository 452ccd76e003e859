// The Neural Status Register (Section 3): the layer of nsr.NSR in float64, with its gradient written by hand.

import { type Loss, type Model, type Rows, lossOf } from "./model";
import { type Random, normal } from "./random";

export interface Sizes {
  inputs: number;
  redundancy: number;
  /** Sharpness of the bits, the paper's lambda. */
  scale: number;
  /** Whether units may also select the number 0 and learn an offset. */
  constants: boolean;
}

/** What one unit has learned, for drawing. */
export interface Unit {
  first: number[];
  second: number[];
  sign: number;
  zero: number;
  bias: number;
  offset: number;
}

export class Register implements Model {
  readonly parameters: Float64Array;
  readonly operands: number;
  /** Where each parameter starts in `parameters`; matrices are stored row by row: operands, then units. */
  readonly at: { v1: number; v2: number; sign: number; zero: number; bias: number; offset: number };
  private slope = new Float64Array(0);
  private z = new Float64Array(0);
  private steps = new Float64Array(0);

  constructor(readonly sizes: Sizes) {
    const units = sizes.redundancy;
    this.operands = sizes.inputs + (sizes.constants ? 1 : 0);
    const matrix = this.operands * units;
    const sign = 2 * matrix;
    this.at = { v1: 0, v2: matrix, sign, zero: sign + units, bias: sign + 2 * units, offset: sign + 3 * units };
    this.parameters = new Float64Array(sign + (sizes.constants ? 4 : 3) * units);
  }

  /** Draw the weights as nsr.NSR does: Xavier's normal distribution; biases and offsets are 0. */
  initialise(random: Random): this {
    const units = this.sizes.redundancy;
    const selection = Math.sqrt(2 / (this.operands + units)),
      bits = Math.sqrt(2 / (units + 1));
    for (let i = 0; i < this.parameters.length; i++) {
      const std = i < this.at.sign ? selection : i < this.at.bias ? bits : 0;
      this.parameters[i] = std && std * normal(random);
    }
    return this;
  }

  /** The weights of the operands in both selections of a unit: two softmaxes. */
  selections(unit: number): [Float64Array, Float64Array] {
    return [this.softmax(this.at.v1 + unit), this.softmax(this.at.v2 + unit)];
  }

  unit(unit: number): Unit {
    const [first, second] = this.selections(unit),
      p = this.parameters,
      at = this.at;
    const offset = this.sizes.constants ? p[at.offset + unit] : 0;
    return {
      first: [...first],
      second: [...second],
      sign: p[at.sign + unit],
      zero: p[at.zero + unit],
      bias: p[at.bias + unit],
      offset,
    };
  }

  logits(rows: Rows, into: Float64Array): void {
    this.forward(rows, into, null);
  }

  /** The logits; the sign bits of all units are written to `steps`, unit by unit. */
  private forward(rows: Rows, into: Float64Array, steps: Float64Array | null): void {
    into.fill(0, 0, rows.count);
    const { scale, redundancy } = this.sizes,
      p = this.parameters,
      at = this.at;
    for (let r = 0; r < redundancy; r++) {
      const sign = p[at.sign + r],
        zero = p[at.zero + r],
        bias = p[at.bias + r];
      const difference = this.differences(r);
      for (let n = 0; n < rows.count; n++) {
        const step = Math.tanh(scale * difference(rows, n));
        if (steps) steps[r * rows.count + n] = step;
        into[n] += sign * step + zero * (1 - 2 * step * step) + bias;
      }
    }
  }

  gradient(rows: Rows, loss: Loss, into: Float64Array): number {
    if (this.z.length !== rows.count) {
      this.z = new Float64Array(rows.count);
      this.slope = new Float64Array(rows.count);
      this.steps = new Float64Array(rows.count * this.sizes.redundancy);
    }
    this.forward(rows, this.z, this.steps);
    const value = lossOf(loss, this.z, rows, this.slope);
    for (let r = 0; r < this.sizes.redundancy; r++) this.unitGradient(r, rows, into);
    return value;
  }

  /** The gradient of one unit, given the slope of the loss by each logit. */
  private unitGradient(r: number, rows: Rows, into: Float64Array): void {
    const { scale, constants, inputs } = this.sizes,
      p = this.parameters,
      at = this.at,
      count = rows.count;
    const [first, second] = this.selections(r);
    const reference = this.reference(r);
    const sign = p[at.sign + r],
      zero = p[at.zero + r];
    const bySelection = new Float64Array(this.operands);
    let bySign = 0,
      byZero = 0,
      byBias = 0,
      byDifference = 0;
    for (let n = 0; n < count; n++) {
      const slope = this.slope[n],
        step = this.steps[r * count + n],
        square = step * step;
      bySign += slope * step;
      byZero += slope * (1 - 2 * square);
      byBias += slope;
      const inner = slope * scale * (1 - square) * (sign - 4 * zero * step);
      byDifference += inner;
      const origin = reference < inputs ? rows.x[reference * count + n] : 0;
      for (let i = 0; i < this.operands; i++) {
        bySelection[i] += inner * ((i < inputs ? rows.x[i * count + n] : 0) - origin);
      }
    }
    into[at.sign + r] = bySign;
    into[at.zero + r] = byZero;
    into[at.bias + r] = byBias;
    if (constants) into[at.offset + r] = -byDifference;
    this.throughSoftmax(first, bySelection, 1, into, at.v1 + r);
    this.throughSoftmax(second, bySelection, -1, into, at.v2 + r);
  }

  private throughSoftmax(weights: Float64Array, slope: Float64Array, sign: number, into: Float64Array, at: number) {
    let mean = 0;
    for (let i = 0; i < this.operands; i++) mean += weights[i] * slope[i];
    for (let i = 0; i < this.operands; i++) {
      into[at + i * this.sizes.redundancy] = sign * weights[i] * (slope[i] - mean);
    }
  }

  /** Operand one minus operand two (Section 3.1).
   *
   * All numbers of a row are measured from the one that the unit selects most, so that large numbers are subtracted
   * before they are weighed, and unequal integers stay unequal up to 2^53. */
  private differences(r: number): (rows: Rows, n: number) => number {
    const [first, second] = this.selections(r),
      { inputs, constants } = this.sizes;
    const reference = this.reference(r),
      offset = constants ? this.parameters[this.at.offset + r] : 0;
    const selection = first.map((weight, i) => weight - second[i]);
    if (this.operands === 2 && inputs === 2) {
      // the usual case, without a loop
      const other = 1 - reference,
        weight = selection[other];
      return (rows, n) => weight * (rows.x[other * rows.count + n] - rows.x[reference * rows.count + n]);
    }
    return (rows, n) => {
      const origin = reference < inputs ? rows.x[reference * rows.count + n] : 0;
      let sum = 0;
      for (let i = 0; i < selection.length; i++) {
        sum += selection[i] * ((i < inputs ? rows.x[i * rows.count + n] : 0) - origin);
      }
      return sum - offset;
    };
  }

  /** The operand that the first selection of a unit weighs most. */
  private reference(r: number): number {
    let most = 0;
    const v1 = (i: number) => this.parameters[this.at.v1 + i * this.sizes.redundancy + r];
    for (let i = 1; i < this.operands; i++) if (v1(i) > v1(most)) most = i;
    return most;
  }

  private softmax(at: number): Float64Array {
    const out = new Float64Array(this.operands),
      stride = this.sizes.redundancy;
    let largest = -Infinity,
      sum = 0;
    for (let i = 0; i < out.length; i++) largest = Math.max(largest, this.parameters[at + i * stride]);
    for (let i = 0; i < out.length; i++) sum += out[i] = Math.exp(this.parameters[at + i * stride] - largest);
    for (let i = 0; i < out.length; i++) out[i] /= sum;
    return out;
  }
}
