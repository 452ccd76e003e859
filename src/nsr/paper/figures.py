"""What the figures of the experiments share."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from nsr.html.charts import Axis, Band, Chart, Dot, Line, Square, Value, number_axis, power_axis, shade
from nsr.paper.cells import Summary
from nsr.paper.claims import Ours
from nsr.paper.numbers import rounded

Figure = tuple[str, str, Chart]
"""Name of the file, title, chart."""
DASH = "6 4"
"""Of what the paper prints."""
HUES = {("nsr", "exact"): "green", ("nsr", "paper"): "blue", ("mlp", "paper"): "orange"}
"""The colour of each model and recipe, on every chart that shows both recipes."""
LABELS = {("nsr", "exact"): "NSR, exact", ("nsr", "paper"): "NSR", ("mlp", "paper"): "MLP"}
PROGRAM, NETWORK = "program", "soft NSR"
"""Where the program read from a network is tested: it, and the network itself."""
NETWORK_HUE = "purple"


def label_of(summary: Summary[Any]) -> str:
    """What is tested: a model under a recipe, or the programs read from it."""
    return PROGRAM if summary.soft else LABELS[summary.cell.model, summary.recipe]


def accuracy_axis(lowest: Value = 0.0, title: str = "accuracy") -> Axis:
    """A vertical axis for accuracies, with a little space above 1."""
    ticks = [0.4, 0.6, 0.8, 1.0] if lowest >= 0.4 else [0.0, 0.25, 0.5, 0.75, 1.0]
    return number_axis(title, ticks, low=lowest, high=1.03)


def magnitude_axis(base: int, ticks: Sequence[int], low: Value, high: Value) -> Axis:
    """A horizontal axis for the magnitude of test numbers."""
    return power_axis("size of the numbers", base, ticks, low=low, high=high)


def curve(metrics: Any, base: int) -> list[tuple[Value, Value]]:
    """The accuracies at the powers of a base: exponent and value."""
    found = ((name.removeprefix(f"{base}^"), value) for name, value in metrics.items() if name.startswith(f"{base}^"))
    return sorted((int(power), value) for power, value in found)


def magnitude_chart(summaries: Sequence[Summary[Any]], x: Axis, y: Axis, base: int) -> Chart:
    """Accuracy against magnitude, in one cell of each model: ours with the 95 % interval, the paper's dashed."""
    marks: list[Line | Band] = []
    models = {summary.cell.model: summary for summary in summaries}
    for model, label in (("nsr", "paper's NSR"), ("mlp", "paper's MLP")):
        points = curve(models[model].published, base) if model in models else []
        if points:
            marks.append(Line(points, HUES[model, "paper"], label, DASH, 1.5, dots=False))
    for summary in summaries:
        key = summary.cell.model, summary.recipe
        if key in HUES:
            points = curve(summary.metrics, base)
            band = [(power, *mean_interval(summary.values[f"{base}^{power}"])) for power, _ in points]
            marks += [Band(band, HUES[key]), Line(points, HUES[key], label_of(summary))]
            if summary.soft:
                marks.append(Line(curve(summary.soft.metrics, base), NETWORK_HUE, NETWORK))
    return Chart(x, y, marks)


def exact_chart(summaries: Sequence[Summary[Any]], x: Axis, y: Axis, base: int) -> Chart:
    """The same under recipe ``exact``: programs, the networks that they were read from, and the MLP."""
    marks = []
    for summary in summaries:
        is_nsr = summary.cell.model == "nsr"
        label, hue = (
            (PROGRAM, "green") if is_nsr and summary.soft else ("NSR", "green") if is_nsr else ("MLP", "orange")
        )
        marks.append(Line(curve(summary.metrics, base), hue, label))
        if summary.soft:
            marks.append(Line(curve(summary.soft.metrics, base), NETWORK_HUE, NETWORK))
    return Chart(x, y, marks)


def heat_map(
    squares: Iterable[tuple[int, int, Value, str]], *, x: Axis, y: Axis, lowest: Value, marks: Sequence[Line] = ()
) -> Chart:
    """Accuracies as colours and in digits: column, row, accuracy and text; accuracies up to ``lowest`` look alike."""
    drawn = [
        Square(
            (column - 0.5, column + 0.5),
            (row - 0.5, row + 0.5),
            shade((accuracy - lowest) / (1 - lowest)),
            short(accuracy),
            text,
        )
        for column, row, accuracy, text in squares
    ]
    rows = round(y.high - y.low)
    return Chart(x, y, [*drawn, *marks], height=max(rows * 22, 110), grid=False)


def short(value: Value) -> str:
    """A share in as few characters as a square has room for: 1 means every row of every seed."""
    return "1" if value >= 1 else ">0" if 0 < value < 0.005 else rounded(value, 2)[1:]


def seed_dots(points: Iterable[tuple[Value, Value, str]], *, x: Axis, y: Axis, vertical: bool) -> Chart:
    """One dot for each distinct point (position, value, colour), sized by the number of seeds there.

    Args:
        points: Position, value and colour of each seed.
        x: The horizontal axis.
        y: The vertical axis.
        vertical: Whether values are upwards, and positions to the right.
    """
    counts = Counter(points)
    largest = max(counts.values(), default=1)
    dots = [
        Dot(
            *((place, value) if vertical else (value, place)),
            2 + 6 * (number / largest) ** 0.5,
            colour,
            f"{number} seed{'s' if number > 1 else ''}: {value:g}",
        )
        for (place, value, colour), number in sorted(counts.items(), key=lambda each: -each[1])
    ]
    return Chart(x, y, dots)


def perfect_seeds(summary: Summary[Any], metric: str) -> str:
    """The mean accuracy and the number of perfect seeds."""
    return f"{summary.metrics[metric]:.4f}, {summary.perfect(metric)} of {summary.seeds} seeds perfect"


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """A 95 % interval of a mean accuracy over seeds, from their standard error, within [0, 1]."""
    low, high = Ours(tuple(values)).interval
    return max(0.0, low), min(1.0, high)
