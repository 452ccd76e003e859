// Exact rational numbers on BigInt: no rounding anywhere.

function gcd(one: bigint, other: bigint): bigint {
  let [a, b] = [one < 0n ? -one : one, other];
  while (b) [a, b] = [b, a % b];
  return a;
}

export class Rational {
  private constructor(
    readonly above: bigint,
    readonly below: bigint,
  ) {}

  static of(above: bigint | number, below: bigint | number = 1n): Rational {
    let [n, d] = [BigInt(above), BigInt(below)];
    if (d === 0n) throw new RangeError("a denominator must not be 0");
    if (d < 0n) [n, d] = [-n, -d];
    if (d === 1n) return new Rational(n, d);
    const common = gcd(n, d);
    return new Rational(n / common, d / common);
  }

  static readonly ZERO = Rational.of(0);
  static readonly ONE = Rational.of(1);

  /** A decimal such as -12.50 or 1e-3, exactly; null if the text is not one. */
  static parse(text: string): Rational | null {
    const found = /^\s*([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,4}))?\s*$/.exec(text);
    if (!found) return null;
    const [whole, part = ""] = found[2].split(".");
    const power = Number(found[3] ?? 0) - part.length;
    const digits = BigInt(found[1] + whole + part);
    return power >= 0 ? Rational.of(digits * 10n ** BigInt(power)) : Rational.of(digits, 10n ** BigInt(-power));
  }

  plus(other: Rational): Rational {
    if (this.below === 1n && other.below === 1n) return new Rational(this.above + other.above, 1n);
    return Rational.of(this.above * other.below + other.above * this.below, this.below * other.below);
  }

  times(other: Rational): Rational {
    return Rational.of(this.above * other.above, this.below * other.below);
  }

  negated(): Rational {
    return new Rational(-this.above, this.below);
  }

  absolute(): Rational {
    return this.above < 0n ? this.negated() : this;
  }

  /** -1, 0 or 1: whether this is less than, equal to or greater than the other. */
  compare(other: Rational): number {
    const left = this.above * other.below,
      right = other.above * this.below;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  get sign(): number {
    return this.above < 0n ? -1 : this.above > 0n ? 1 : 0;
  }

  get isInteger(): boolean {
    return this.below === 1n;
  }

  equals(other: Rational): boolean {
    return this.above === other.above && this.below === other.below;
  }

  /** As Python prints a Fraction: 3 or -1/3. */
  toString(): string {
    return this.isInteger ? `${this.above}` : `${this.above}/${this.below}`;
  }
}
