"""Section 4.1, Table 1: learn the six comparisons on [-10, 9] and test them at 10^2 to 10^15."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import torch

from nsr.data import COMPARISONS, all_pairs, pairs_around
from nsr.ensemble import Ensemble
from nsr.html.charts import Axis, Chart, Line, Value, name_axis, number_axis, power_text
from nsr.paper.cells import Summary, grouped, metrics
from nsr.paper.claims import Claim, over, printed, successes
from nsr.paper.figures import (
    DASH,
    HUES,
    LABELS,
    Figure,
    accuracy_axis,
    magnitude_axis,
    magnitude_chart,
    seed_dots,
)
from nsr.paper.measure import GATES, WITHOUT_LABELS, X1, X2, Read, accuracy, accuracy_of_each, read_each
from nsr.paper.spec import PROFILES, Cell, Experiment, Metrics, Recipe, grid, printed_row
from nsr.paper.tables import Columns, Table, run_of
from nsr.program import Compare
from nsr.training import EXACT, PAPER, fit

POWERS = range(2, 16)
"""The paper tests to 10^13."""
NAMES = {">": "greater", "<": "less", ">=": "greater-equal", "<=": "less-equal", "=": "equal", "!=": "unequal"}
"""Names of the comparisons in files."""
MAGNITUDES = tuple(f"10^{power}" for power in POWERS)
"""Metrics: the accuracy at each magnitude."""


@dataclass(frozen=True)
class ComparisonCell(Cell):
    """Which model learns which comparison."""

    model: str
    comparison: str


def run_cell(cell: ComparisonCell, recipe: Recipe, seeds: Sequence[int], _data: Path | None = None) -> list[Metrics]:
    """Train one ensemble on the 400 pairs; test every member on numbers of its own at every magnitude.

    ``read`` is whether a member reads as the comparison itself, ``read without labels`` whether it does so from its own
    answers alone, ``1000 digits`` whether what was read is right on integers of that size, one apart and equal.
    """
    ensemble = Ensemble(lambda g: GATES[cell.model](2, g), seeds)
    rows = all_pairs(cell.comparison)
    history = fit(ensemble, rows, recipe)
    ensemble = ensemble.to(torch.float64)
    columns = {"train": accuracy(ensemble, rows)}
    for power in POWERS:
        tests = [pairs_around(cell.comparison, np.random.default_rng((seed, power)), power=power) for seed in seeds]
        columns[f"10^{power}"] = accuracy_of_each(ensemble, tests)
    programs = read_each(ensemble, [rows] * len(seeds))
    columns["read"] = torch.tensor([program == Compare(cell.comparison, X1, X2) for program in programs])
    unaided = read_each(ensemble, [rows] * len(seeds), labels=False)
    columns[WITHOUT_LABELS] = torch.tensor([program == Compare(cell.comparison, X1, X2) for program in unaided])
    columns["1000 digits"] = torch.tensor(
        [_right_at_1000_digits(program, cell.comparison, seed) for program, seed in zip(programs, seeds, strict=True)]
    )
    columns["epochs"] = history.stopped
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(seeds))]


def _right_at_1000_digits(program: Read, comparison: str, seed: int) -> bool:
    if program is None:
        return False
    n = int("".join(map(str, np.random.default_rng((seed, 1000)).integers(1, 10, 1000))))
    return all(program([n, m]) == COMPARISONS[comparison](n, m) for m in (n - 1, n, n + 1))


TABLE_1: Mapping[ComparisonCell, Metrics] = {
    ComparisonCell("mlp", ">"): printed_row(10, 1.0, 1.0, 0.96, 0.71, 0.49, 0.48),
    ComparisonCell("mlp", "<"): printed_row(10, 1.0, 1.0, 0.93, 0.70, 0.49, 0.48),
    ComparisonCell("mlp", ">="): printed_row(10, 1.0, 1.0, 0.94, 0.71, 0.49, 0.48),
    ComparisonCell("mlp", "<="): printed_row(10, 1.0, 1.0, 0.94, 0.68, 0.49, 0.48),
    ComparisonCell("mlp", "="): printed_row(10, 0.95, 0.5),
    ComparisonCell("mlp", "!="): printed_row(10, 0.95, 0.5),
    ComparisonCell("nsr", ">"): printed_row(10, 1.0, 1.0),
    ComparisonCell("nsr", "<"): printed_row(10, 1.0, 1.0),
    ComparisonCell("nsr", ">="): printed_row(10, 1.0, 1.0),
    ComparisonCell("nsr", "<="): printed_row(10, 1.0, 1.0),
    ComparisonCell("nsr", "="): printed_row(10, 0.99, 0.93),
    ComparisonCell("nsr", "!="): printed_row(10, 0.99, 0.92),
}

DESCRIPTION = (
    "Models learn one comparison on all pairs of integers from -10 to 9 and are tested on pairs of neighbours around "
    "a random number of each magnitude. Means over seeds; the paper's value is below ours. For = and != the test has "
    "11 equal pairs and 10 unequal ones. The paper stops at 10^13."
)


def tables(summaries: Sequence[Summary[ComparisonCell]]) -> list[Table]:
    """Table 1, turned so that it fits 80 columns: a row for each magnitude, a column for each comparison."""
    return [_table(model, shown) for (_, model), shown in grouped(summaries, _recipe_and_model).items()]


def _table(model: str, summaries: Sequence[Summary[ComparisonCell]]) -> Table:
    columns = Columns.of({comparison: ComparisonCell(model, comparison) for comparison in COMPARISONS}, summaries)
    return Table(
        title=f"Table 1: {model.upper()}, {run_of(summaries)}, ours and the paper's",
        corner="",
        columns=columns.names,
        rows=tuple(columns.compared(name) for name in ("train", *MAGNITUDES)),
        foot=(*columns.counts("read", WITHOUT_LABELS), columns.perfect("10^1000", "1000 digits")),
    )


ORDER, EQUALITY = (">", "<", ">=", "<="), ("=", "!=")


def claims(summaries: Sequence[Summary[ComparisonCell]]) -> list[Claim]:
    """Table 1 as means over the magnitudes that the paper prints, and the share of perfect seeds."""
    found = []
    for model, comparison in ((model, comparison) for model in ("nsr", "mlp") for comparison in COMPARISONS):
        names = [name for name in TABLE_1[ComparisonCell(model, comparison)] if name != "train"]
        paper = fmean(TABLE_1[ComparisonCell(model, comparison)][name] for name in names)
        shown = [summary for summary in summaries if summary.cell == ComparisonCell(model, comparison)]
        found.append(printed(model.upper(), f"{comparison}, 10^2 to 10^13", paper, over(shown, names)))
    registers = [summary for summary in summaries if summary.cell.model == "nsr"]
    for group in (ORDER, EQUALITY):
        shown = [summary for summary in registers if summary.cell.comparison in group]
        what = f"{' '.join(group)}: seeds right on every test to 10^15"
        found.append(Claim("NSR", what, "", successes(shown, ["train", *MAGNITUDES])))
    return found


def answer(summaries: Sequence[Summary[ComparisonCell]]) -> Iterator[Figure]:
    """A panel for each comparison: ours and the paper's, NSR and MLP."""
    x, y = magnitude_axis(10, (3, 6, 9, 12, 15), 2, 15), accuracy_axis(0.4)
    for comparison, shown in grouped(summaries, lambda summary: summary.cell.comparison).items():
        yield f"comparisons-{NAMES[comparison]}", f"x1 {comparison} x2", magnitude_chart(shown, x, y, 10)


def overview(summaries: Sequence[Summary[ComparisonCell]]) -> Iterator[Figure]:
    """The picture at the top of the page: means over the comparisons of order, and over those of equality."""
    ticks = ((1.0, "train"), *((float(power), power_text(10, power)) for power in (3, 6, 9, 12, 15)))
    x, y = Axis("size of the numbers", 1, 15, ticks), accuracy_axis(0.4)
    for name, title, group in (("order", "Order: > < >= <=", ORDER), ("equality", "Equality: = and !=", EQUALITY)):
        shown = [summary for summary in summaries if summary.cell.comparison in group]
        marks = []
        for model, label in (("nsr", "paper's NSR"), ("mlp", "paper's MLP")):
            rows = [summary.published for summary in shown if summary.cell.model == model]
            if rows:
                marks.append(Line(_mean_curve(rows), HUES[model, "paper"], label, DASH, 1.5, dots=False))
        for key, label in LABELS.items():
            cells = [summary.metrics for summary in shown if (summary.cell.model, summary.recipe) == key]
            if cells:
                marks.append(Line(_mean_curve(cells), HUES[key], label, width=2.5))
        if marks:
            yield f"overview-{name}", title, Chart(x, y, marks, height=180)


def _mean_curve(rows: Sequence[Metrics]) -> list[tuple[Value, Value]]:
    """Means of several cells in training, shown at 10, and at each magnitude."""
    powers_of = {"train": 1} | dict(zip(MAGNITUDES, POWERS, strict=True))
    return [(power, fmean(row[name] for row in rows)) for name, power in powers_of.items() if name in rows[0]]


def figures(summaries: Sequence[Summary[ComparisonCell]]) -> Iterator[Figure]:
    """The seeds by their mean accuracy, for each recipe and model."""
    for (recipe, model), shown in grouped(summaries, _recipe_and_model).items():
        yield (
            f"comparisons-{recipe}-{model}-seeds",
            f"{model.upper()}, {run_of(shown)}: each seed by its mean accuracy over all magnitudes",
            _seeds(shown),
        )


def _recipe_and_model(summary: Summary[ComparisonCell]) -> tuple[str, str]:
    return summary.recipe, summary.cell.model


def _seeds(summaries: Sequence[Summary[ComparisonCell]]) -> Chart:
    """Each comparison a row, each mean accuracy a dot."""
    order = list(COMPARISONS)[::-1]
    points = [
        (order.index(summary.cell.comparison), round(fmean(values), 2), HUES[summary.cell.model, "paper"])
        for summary in summaries
        for values in zip(*(summary.values[name] for name in MAGNITUDES), strict=True)
    ]
    x = number_axis("mean accuracy of a seed", (0.4, 0.6, 0.8, 1.0), low=0.38, high=1.02)
    return seed_dots(points, x=x, y=name_axis("", order), vertical=False)


def _seconds(cell: ComparisonCell, recipe: Recipe) -> float:
    return 0.01 + recipe.epochs * (15e-6 if cell.model == "mlp" else 1e-6)


EXPERIMENT = Experiment(
    name="comparisons",
    title="Learning comparisons",
    section="4.1",
    shows="Table 1",
    revision=3,
    seconds=_seconds,
    cells=grid(ComparisonCell, model=tuple(GATES), comparison=tuple(COMPARISONS)),
    recipes={"paper": PAPER, "exact": EXACT},
    run=run_cell,
    published=TABLE_1,
    profiles=PROFILES,
    metrics=metrics(accuracy=("train", *MAGNITUDES), flag=("read", WITHOUT_LABELS, "1000 digits"), count=("epochs",)),
    question="Do registers that learn a comparison on numbers from -10 to 9 still compare numbers of any size?",
    description=DESCRIPTION,
    claims=claims,
    answer=answer,
    key=(
        "NSR and MLP are trained as in the paper, NSR, exact by our training; dashed lines are the paper's, which"
        " end at 10^13. Shaded: the 95 % interval of the mean."
    ),
    tables=tables,
    figures=figures,
)
