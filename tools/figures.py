"""Draw the pictures of README.md and docs/how.md into docs/figures, from the committed records and from the layer.

    python tools/figures.py                 # make figures
    python tools/figures.py FOLDER          # somewhere else

Every picture is a card with a background of its own, so that it can be read on a light and on a dark page, and turns
dark where the reader prefers that.
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from nsr import EXACT, NSR, fit
from nsr.nn.bits import status_bits
from nsr.paper import archive
from nsr.paper.cells import Summary
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.comparisons import MAGNITUDES
from nsr.paper.experiments.floats import SERIES
from nsr.paper.summaries import summarise

ROOT = Path(__file__).parents[1]
WIDTH = 520
"""Of every picture: its text of 16 pixels is still 11 pixels tall on a phone."""
STYLE = """
text { font: 16px system-ui, sans-serif; fill: #24292f }
.card { fill: #ffffff; stroke: #d0d7de }
.grid { stroke: #d8dee4; fill: none }
.axis, .weak { fill: #57606a }
.line { fill: none; stroke-width: 3; stroke-linejoin: round }
.a { stroke: #0b62b8 } text.a, .dot.a, .cell.a { fill: #0b62b8; stroke: none }
.b { stroke: #a04400 } text.b, .dot.b, .cell.b { fill: #a04400; stroke: none }
.c { stroke: #57606a } text.c, .dot.c { fill: #57606a; stroke: none }
.dash { stroke-dasharray: 7 6; stroke-width: 2.5 }
.strong { font-weight: 600 }
text.on { fill: #ffffff } text.off { fill: #24292f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .card { fill: #161b22; stroke: #30363d }
  .grid { stroke: #30363d }
  .axis, .weak { fill: #9ea7b3 }
  .a { stroke: #6cb6ff } text.a, .dot.a, .cell.a { fill: #6cb6ff }
  .b { stroke: #f0a35e } text.b, .dot.b, .cell.b { fill: #f0a35e }
  .c { stroke: #9ea7b3 } text.c, .dot.c { fill: #9ea7b3 }
  text.on { fill: #10151b } text.off { fill: #e6edf3 }
}
""".strip()
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axes:
    """A rectangle of the picture, and the numbers at its edges."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        across, up = ((v - low) / (high - low) for v, (low, high) in ((x, self.x), (y, self.y)))
        return self.left + across * self.width, self.top + (1 - up) * self.height

    def line(self, points: Points, kind: str) -> str:
        """A line through points."""
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (self.at(*point) for point in points))
        return f'<path class="line {kind}" d="M{path}"/>'

    def grid(self, x: Mapping[float, str], y: Mapping[float, str]) -> Iterator[str]:
        """Lines at some numbers, and what they are."""
        for value, label in y.items():
            (x1, height), (x2, _) = self.at(self.x[0], value), self.at(self.x[1], value)
            yield f'<path class="grid" d="M{x1:.1f} {height:.1f}H{x2:.1f}"/>'
            yield text(x1 - 8, height + 5, label, "axis", "end")
        for value, label in x.items():
            across, bottom = self.at(value, self.y[0])
            yield text(across, bottom + 26, label, "axis", "middle")


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text; ``10^3`` becomes a power."""
    head, caret, power = content.partition("^")
    raised = f'<tspan dy="-5" font-size="13">{escape(power)}</tspan>' if caret else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(head)}{raised}</text>'


def picture(title: str, height: int, parts: Sequence[str]) -> str:
    """A card with parts on it."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    card = f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>'
    lines = [f'{head} role="img">', f"<title>{escape(title)}</title>", f"<style>\n{STYLE}\n</style>", card, *parts]
    return "\n".join([*lines, "</svg>", ""])


def summaries(name: str) -> list[Summary[Any]]:
    """The committed records of an experiment, summarised."""
    return summarise(EXPERIMENTS[name], archive.read(ROOT / "results")[name])


def magnitude() -> str:
    """Table 1 as a picture: the accuracy of both models, ours and the paper's, against the size of the numbers."""
    found = [summary for summary in summaries("comparisons") if summary.recipe == "paper"]
    axes = Axes(58, 84, 266, 210, (1, 15), (0.4, 1.0))

    def curve(model: str, values: Callable[[Summary[Any]], Mapping[str, float]]) -> list[tuple[float, float]]:
        rows = [values(summary) for summary in found if summary.cell.model == model]
        names = [name for name in MAGNITUDES if all(name in row for row in rows)]
        start = (1.0, fmean(row["train"] for row in rows))
        return [start, *((float(name.removeprefix("10^")), fmean(row[name] for row in rows)) for name in names)]

    parts = [text(20, 30, "Accuracy on all six comparisons", "strong")]
    parts.append(text(20, 54, "learned from pairs of integers in [-10, 9]", "weak"))
    parts += axes.grid({1: "seen", 5: "10^5", 9: "10^9", 13: "10^13"}, {y: f"{y:.1f}" for y in (0.4, 0.6, 0.8, 1.0)})
    for model, kind, name in (("mlp", "c", "MLP"), ("nsr", "a", "NSR")):
        printed = curve(model, lambda summary: summary.published)
        ours = curve(model, lambda summary: summary.metrics)
        parts += [axes.line(printed, f"{kind} dash"), axes.line(ours, kind)]
        lift = {"nsr": (-8, 24), "mlp": (-14, 18)}[model]
        for points, who, by in ((ours, "ours", lift[0]), (printed, "the paper", lift[1])):
            parts.append(text(336, axes.at(0, points[-1][1])[1] + by, f"{name}, {who} {_cut(points[-1][1])}", kind))
    parts.append(text(191, 340, "size of the numbers compared", "weak", "middle"))
    seeds = found[0].seeds
    title = f"Accuracy against magnitude, recipe paper, {seeds} seeds; the paper's values end at 10^13"
    return picture(title, 358, parts)


def _cut(value: float) -> str:
    return f"{math.floor(value * 1000 + 1e-9) / 1000:.3f}"


def bits() -> str:
    """The two bits of a CPU and their relaxations (Sections 3.1 to 3.3)."""
    differences = torch.linspace(-3, 3, 121, dtype=torch.float64)
    parts = []
    relaxed = dict(zip(("sign", "zero"), status_bits(differences), strict=True))
    for at, (name, values) in enumerate(relaxed.items()):
        axes = Axes(62 + 238 * at, 66, 200, 170, (-3, 3), (-1, 1))
        kind = "ab"[at]
        parts += axes.grid({x: f"{x:g}" for x in (-3.0, 0.0, 3.0)}, {-1.0: "-1" * (not at), 1.0: "1" * (not at)})
        parts.append(axes.line(list(zip(differences.tolist(), values.tolist(), strict=True)), kind))
        formula = {"sign": "sign = tanh(d)", "zero": "zero = 1 - 2 tanh(d)²"}[name]
        parts.append(text(axes.left + axes.width / 2, 36, formula, f"strong {kind}", "middle"))
        for x in range(-3, 4):
            bit = {"sign": x > 0, "zero": x == 0}[name]
            cx, cy = axes.at(x, 1 if bit else -1)
            parts.append(f'<circle class="dot c" cx="{cx:.1f}" cy="{cy:.1f}" r="5"/>')
    parts.append(text(260, 288, "difference d of two numbers; dots: the bits of a CPU", "weak", "middle"))
    return picture("The sign bit and the zero bit: relaxed, and as a CPU has them", 306, parts)


def selection() -> str:
    """What a unit selects among three columns while it learns a > c (Section 3.1)."""
    x = torch.randint(-10, 10, (1000, 3), generator=torch.Generator().manual_seed(1))
    rows, register = (x, x[:, 0] > x[:, 2]), NSR(3, generator=torch.Generator().manual_seed(0))
    steps = {"start": {name: value.clone() for name, value in register.state_dict().items()}}
    stopped = int(fit(register, rows, EXACT).stopped)
    steps[f"epoch {stopped}"] = register.state_dict()
    register = NSR(3, generator=torch.Generator().manual_seed(0))
    fit(register, rows, replace(EXACT, epochs=20_000, patience=0))
    steps["epoch 20,000"] = register.state_dict()
    unit = int(register.v1.softmax(0)[0].argmax())  # the one that selects a most
    parts = [text(20, 32, "What a unit selects while it learns a > c", "strong")]
    for at, (name, weights) in enumerate(steps.items()):
        left = 100 + 138 * at
        parts.append(text(left + 64, 68, name, "weak", "middle"))
        for row, key in enumerate(("v1", "v2")):
            if not at:
                parts.append(text(16, 108 + 46 * row, f"operand {row + 1}", "ab"[row]))
            for column, share in enumerate(weights[key][:, unit].softmax(0).tolist()):
                parts += _square(left + 43 * column, 82 + 46 * row, 41, share, "ab"[row])
        parts += [text(left + 43 * column + 20, 198, letter, "axis", "middle") for column, letter in enumerate("abc")]
    return picture(
        "Shares of the columns in the two operands of a unit: start, first right on all rows, later", 216, parts
    )


def _square(x: float, y: float, size: float, share: float, kind: str) -> Iterator[str]:
    """A square that is the darker the larger the share, with the share in it."""
    shade = 0.9 if share > 0.75 else 0.08 + 0.42 * share
    yield (
        f'<rect class="cell {kind}" x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" rx="4" '
        f'fill-opacity="{shade:.2f}"/>'
    )
    yield text(x + size / 2, y + size / 2 + 6, f"{share:.2f}", "on" if share > 0.75 else "off", "middle")


def sharpness() -> str:
    """The zero bit for three values of lambda (Section 3.3)."""
    axes = Axes(58, 62, 320, 190, (0, 3), (-1, 1))
    differences = torch.linspace(0, 3, 121, dtype=torch.float64)
    parts = [text(20, 32, "The zero bit, for three values of lambda", "strong")]
    parts += axes.grid({float(x): str(x) for x in range(4)}, {-1.0: "-1", 0.0: "0", 1.0: "1"})
    for scale, kind, label in ((1 / 3, "b", "lambda = 1/3"), (1.0, "c", "lambda = 1"), (3.0, "a", "lambda = 3")):
        zero = status_bits(differences, scale)[1]
        parts.append(axes.line(list(zip(differences.tolist(), zero.tolist(), strict=True)), kind))
        value = float(status_bits(torch.tensor([1.0], dtype=torch.float64), scale)[1])
        cx, cy = axes.at(1, value)
        parts.append(f'<circle class="dot {kind}" cx="{cx:.1f}" cy="{cy:.1f}" r="6"/>')
        parts.append(text(388, axes.at(0, float(zero[-1]))[1] + {1 / 3: 5, 1.0: -7, 3.0: 12}[scale], label, kind))
    parts.append(text(218, 300, "difference of two numbers; dots: a difference of 1", "weak", "middle"))
    return picture("The zero bit against the difference for lambda 1/3, 1 and 3", 318, parts)


def sharpness_map() -> str:
    """The map of Section 4.2 for ``=``: the accuracy for each delta and lambda, from the records."""
    found = [summary for summary in summaries("floats") if summary.recipe == "paper" and summary.cell.scale != "auto"]
    accuracy = {(summary.cell.delta, summary.cell.scale): summary.metrics["="] for summary in found}
    size, left, top = 52, 90, 74
    parts = [text(20, 32, "Accuracy of = for each delta and lambda", "strong")]
    for column, delta in enumerate(SERIES):
        parts.append(text(left + size * (column + 0.5), top + 7 * size + 24, _power(delta), "axis", "middle"))
        for row, scale in enumerate(reversed(SERIES)):
            parts += _square(left + size * column, top + size * row, size - 3, accuracy[delta, scale], "a")
    for row, scale in enumerate(reversed(SERIES)):
        parts.append(text(left - 10, top + size * row + 30, _power(scale), "axis", "end"))
    parts.append(text(left - 10, top - 8, "lambda", "weak", "end"))
    parts.append(text(left + 3.5 * size, top + 7 * size + 50, "delta, the smallest difference", "weak", "middle"))
    return picture(f"Accuracy of = by delta and lambda, recipe paper, {found[0].seeds} seeds", 506, parts)


def _power(value: float) -> str:
    return f"10^{round(math.log10(value))}"


PICTURES: Mapping[str, Callable[[], str]] = {
    "magnitude": magnitude,
    "bits": bits,
    "selection": selection,
    "lambda": sharpness,
    "lambda_map": sharpness_map,
}


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw(), encoding="utf-8")
