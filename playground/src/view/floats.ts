// The map of Section 4.2: 7 x 7 registers, one for each lambda and delta, trained while one watches.

import { type Operator, SIGNS } from "../learning/comparisons";
import { floatSquare } from "../learning/session";
import { answerColour, inkOn, powerText } from "./canvas";
import { element, make, setText } from "./dom";

const EXPONENTS = [-3, -2, -1, 0, 1, 2, 3];

interface Square {
  lambda: number;
  delta: number;
  button: HTMLButtonElement;
  accuracy: number | null;
}

export class FloatMap {
  private readonly squares: Square[] = [];
  private queue: Square[] = [];
  private running: Generator<void, number> | null = null;
  private operator: Operator = ">";
  private seed = 0;

  constructor(choose: (lambda: number, delta: number) => void) {
    const table = element("floats"),
      head = make("tr", {}, make("th", { scope: "col" }, "λ \\ δ"));
    for (const delta of EXPONENTS) head.append(make("th", { scope: "col" }, powerText(delta)));
    table.append(make("thead", {}, head));
    const body = make("tbody");
    for (const lambda of [...EXPONENTS].reverse()) {
      const row = make("tr", {}, make("th", { scope: "row" }, powerText(lambda)));
      for (const delta of EXPONENTS) {
        const button = make("button", { type: "button" }) as HTMLButtonElement;
        button.addEventListener("click", () => choose(lambda, delta));
        this.squares.push({ lambda, delta, button, accuracy: null });
        row.append(make("td", {}, button));
      }
      body.append(row);
    }
    table.append(body);
    element("all").addEventListener("click", () => this.start());
    this.paint();
  }

  /** Forget the results: they are for another comparison. */
  reset(operator: Operator | null, seed: number): void {
    const known = operator ?? "=";
    if (known === this.operator && seed === this.seed) return;
    [this.operator, this.seed] = [known, seed];
    this.queue = [];
    this.running = null;
    for (const square of this.squares) square.accuracy = null;
    this.paint();
  }

  select(lambda: number, delta: number): void {
    for (const square of this.squares) {
      square.button.setAttribute("aria-pressed", `${square.lambda === lambda && square.delta === delta}`);
    }
  }

  get busy(): boolean {
    return this.queue.length > 0;
  }

  start(): void {
    for (const square of this.squares) square.accuracy = null;
    this.queue = [...this.squares].sort((one, other) => other.lambda + other.delta - one.lambda - one.delta);
    this.running = null;
    this.paint();
  }

  /** Train until the time is over. */
  work(until: number): void {
    while (this.queue.length && performance.now() < until) {
      const square = this.queue[0];
      this.running ??= floatSquare(this.operator, 10 ** square.lambda, 10 ** square.delta, this.seed);
      const { done, value } = this.running.next();
      if (!done) continue;
      square.accuracy = value as number;
      this.queue.shift();
      this.running = null;
      this.paintSquare(square);
    }
  }

  paint(): void {
    setText(element("floats-what"), `for ${SIGNS[this.operator]}`);
    this.squares.forEach((square) => this.paintSquare(square));
  }

  private paintSquare({ lambda, delta, button, accuracy }: Square): void {
    const shown = accuracy === null ? "" : `${Math.round(100 * accuracy)}`;
    setText(button, shown);
    const known = accuracy === null ? "not trained yet" : `${shown} %`;
    button.setAttribute("aria-label", `lambda ${powerText(lambda)}, delta ${powerText(delta)}: ${known}`);
    const share = accuracy === null ? null : 0.5 + 0.5 * Math.max(0, 2 * accuracy - 1);
    button.style.background = share === null ? "" : answerColour(share);
    button.style.color = share === null ? "" : inkOn(share);
  }
}
