"""Section 4.2 and Appendix D: numbers delta apart, and the lambda that makes up for it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from nsr.data import COMPARISONS, all_pairs, pairs_around
from nsr.ensemble import Ensemble
from nsr.html.charts import Chart, Line, name_axis, power_axis, power_text
from nsr.nn import NSR
from nsr.paper.cells import Summary, by_recipe, metrics
from nsr.paper.claims import Claim, Ours, at_least, over
from nsr.paper.figures import Figure, accuracy_axis, heat_map, perfect_seeds, seed_dots
from nsr.paper.measure import accuracy_of_each
from nsr.paper.spec import Cell, Experiment, Metrics, Profile, Recipe, grid
from nsr.paper.tables import Mean, Row, Table, mean_of, run_of
from nsr.training import EXACT, PAPER, fit, fold

POWERS = range(2, 14)
LEARNED, FAILED = 0.95, 0.6
"""The least accuracy of what is learned almost perfectly, and the most of what is not: always the same answer is right
on 10 or 11 of 21 pairs. The paper gives words and no numbers."""
SERIES = tuple(10.0**power for power in range(-3, 4))
"""The paper's values of delta and of lambda."""
LONG_SERIES = tuple(10.0**power for power in range(-6, 7))


@dataclass(frozen=True)
class FloatCell(Cell):
    """A point of the maps: the distance of unequal numbers, and lambda, given or taken from the data ("auto")."""

    delta: float
    scale: float | str


def run_cell(cell: FloatCell, recipe: Recipe, seeds: Sequence[int], _data: Path | None = None) -> list[Metrics]:
    """As Section 4.1 with every number multiplied by delta; all six comparisons are one ensemble.

    Metrics: for each comparison the accuracy on the training pairs, and the mean over all magnitudes.
    """
    pairs = [all_pairs(comparison) for comparison in COMPARISONS]
    targets = torch.stack([rows.y for rows in pairs]).repeat_interleave(len(seeds), 0)
    rows = fold(pairs[0].with_targets(targets)).times(cell.delta)  # folded while the numbers are integers
    scale = 1 / rows.smallest_gap() if isinstance(cell.scale, str) else cell.scale

    def build(seed: int) -> NSR:
        return NSR(2, scale=scale, generator=torch.Generator().manual_seed(seed))

    ensemble = Ensemble.of([build(seed) for _ in COMPARISONS for seed in seeds])
    history = fit(ensemble, rows, recipe)
    ensemble = ensemble.to(torch.float64)

    columns = {"epochs": history.stopped.reshape(len(COMPARISONS), -1).double().mean(0)}
    for position, comparison in enumerate(COMPARISONS):
        members = ensemble[position * len(seeds) : (position + 1) * len(seeds)]
        columns[f"train {comparison}"] = accuracy_of_each(members, [pairs[position].times(cell.delta)] * len(seeds))
        columns[comparison] = torch.stack(
            [_test(members, comparison, cell.delta, power, seeds) for power in POWERS]
        ).mean(0)
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(seeds))]


def _test(members: Ensemble, comparison: str, delta: float, power: int, seeds: Sequence[int]) -> torch.Tensor:
    tests = [pairs_around(comparison, np.random.default_rng((seed, power)), power=power) for seed in seeds]
    return accuracy_of_each(members, [test.times(delta) for test in tests])


def _corner(cell: FloatCell) -> bool:
    return cell.scale == "auto" or {cell.delta, cell.scale} <= {1e-3, 1.0, 1e3}


DESCRIPTION = (
    "As in the comparisons above, with every number multiplied by delta, so that unequal numbers are at least delta "
    "apart, and with the bits sharpened by lambda. Each square is the mean accuracy over all magnitudes from 10^2 to "
    "10^13. The paper says that = and != are learned where lambda is at least 1/delta, and the other four also three "
    "orders of magnitude below; it prints no numbers to compare ours with."
)
NAMES = {">": "greater", "=": "equal", "<": "less", ">=": "greater-equal", "<=": "less-equal", "!=": "unequal"}
"""Names of the maps in files, > and = first as in the paper's text, then those of the appendix."""


def tables(summaries: Sequence[Summary[FloatCell]]) -> list[Table]:
    """The maps of > and =, lambda against delta, and the results with lambda from the data for all six comparisons."""
    maps = [
        _map_table(comparison, given) for given in by_recipe(_given(summaries)).values() for comparison in (">", "=")
    ]
    automatic = _automatic(summaries)
    return [*maps, _automatic_table(automatic)] if automatic else maps


def _given(summaries: Sequence[Summary[FloatCell]]) -> list[Summary[FloatCell]]:
    return [summary for summary in summaries if summary.cell.scale != "auto"]


def _automatic(summaries: Sequence[Summary[FloatCell]]) -> list[Summary[FloatCell]]:
    return [summary for summary in summaries if summary.cell.scale == "auto"]


def _map_table(comparison: str, summaries: Sequence[Summary[FloatCell]]) -> Table:
    """A row for each lambda and a column for each delta that has results."""
    present = {(summary.cell.scale, summary.cell.delta): summary for summary in summaries}
    deltas = [delta for delta in SERIES if any(delta == at for _, at in present)]
    scales = [scale for scale in SERIES[::-1] if any(scale == at for at, _ in present)]

    def entry(scale: float, delta: float) -> Mean | None:
        summary = present.get((scale, delta))
        return None if summary is None else mean_of(summary, comparison)

    return Table(
        title=f"Float maps: {comparison}, {run_of(summaries)}, mean over 10^2 to 10^13",
        corner="lambda \\ delta",
        columns=tuple(f"{delta:g}" for delta in deltas),
        rows=tuple(Row(f"{scale:g}", tuple(entry(scale, delta) for delta in deltas)) for scale in scales),
    )


def _automatic_table(summaries: Sequence[Summary[FloatCell]]) -> Table:
    return Table(
        title=f"Beyond the paper: lambda from the data, {run_of(summaries)}, mean over 10^2 to 10^13",
        corner="delta",
        columns=tuple(COMPARISONS),
        rows=tuple(
            Row(f"{summary.cell.delta:g}", tuple(mean_of(summary, comparison) for comparison in COMPARISONS))
            for summary in summaries
        ),
    )


EASY, HARD = (">", "<", ">=", "<="), ("=", "!=")


def claims(summaries: Sequence[Summary[FloatCell]]) -> list[Claim]:
    """What the paper says about the thresholds of lambda; it prints no numbers."""
    given = _given(summaries)

    def means(comparisons: Sequence[str], low: float, high: float) -> dict[str, Ours]:
        return over([s for s in given if low <= _product(s) < high], comparisons)

    learned, not_learned = "learned almost perfectly", "not learned"
    found = [
        at_least("NSR", "> < >= <=, lambda x delta >= 10^-3", learned, LEARNED, means(EASY, 1e-3, math.inf)),
        at_least("NSR", "= !=, lambda x delta >= 1", learned, LEARNED, means(HARD, 1.0, math.inf)),
        Claim("NSR", "= !=, lambda x delta < 1", not_learned, means(HARD, 0.0, 1.0), (0.0, FAILED), True),
    ]
    automatic = _automatic(summaries)
    if automatic:
        what = "all six, lambda from the data, delta 10^-6 to 10^6"
        found.append(Claim("NSR", what, "", over(automatic, list(COMPARISONS))))
    return found


def _product(summary: Summary[FloatCell]) -> float:
    return 10.0 ** _exponent(summary)


def _exponent(summary: Summary[FloatCell]) -> int:
    return round(math.log10(summary.cell.delta * float(summary.cell.scale)))


def answer(summaries: Sequence[Summary[FloatCell]]) -> Iterator[Figure]:
    """The maps of > and = with the paper's thresholds, trained as in the paper, or else as there are results."""
    groups = by_recipe(_given(summaries))
    for recipe in list(groups)[:1]:
        yield from _maps(recipe, groups[recipe], [">", "="])


def figures(summaries: Sequence[Summary[FloatCell]]) -> Iterator[Figure]:
    """The maps of the other comparisons and recipes, the seeds of all squares, and lambda from the data."""
    for number, (recipe, given) in enumerate(by_recipe(_given(summaries)).items()):
        yield from _maps(recipe, given, [c for c in NAMES if number or c not in (">", "=")])
        for comparison in (">", "="):
            title = f"{comparison}, recipe {recipe}: each seed by lambda x delta and its mean accuracy"
            yield f"floats-{recipe}-{NAMES[comparison]}-seeds", title, _seeds(given, comparison)
    automatic = _automatic(summaries)
    if automatic:
        squares = [
            (LONG_SERIES.index(s.cell.delta), row, s.metrics[comparison], perfect_seeds(s, comparison))
            for s in automatic
            for row, comparison in enumerate(list(COMPARISONS)[::-1])
        ]
        x = name_axis("delta", [_text(value) for value in LONG_SERIES], every=3)
        y = name_axis("", list(COMPARISONS)[::-1])
        title = f"Beyond the paper: lambda from the data, {run_of(automatic)}"
        yield "floats-auto", title, heat_map(squares, x=x, y=y, lowest=0.45)


def _maps(recipe: str, summaries: Sequence[Summary[FloatCell]], comparisons: Sequence[str]) -> Iterator[Figure]:
    for comparison in comparisons:
        squares = [
            (
                SERIES.index(s.cell.delta),
                SERIES.index(float(s.cell.scale)),
                s.metrics[comparison],
                perfect_seeds(s, comparison),
            )
            for s in summaries
        ]
        x, y = (name_axis(title, [_text(value) for value in SERIES]) for title in ("delta", "lambda"))
        title = f"x1 {comparison} x2: {run_of(summaries)}"
        marks = _threshold(0 if comparison in HARD else -3)
        yield f"floats-{recipe}-{NAMES[comparison]}", title, heat_map(squares, x=x, y=y, lowest=0.45, marks=marks)


def _threshold(exponent: int) -> list[Line]:
    """The stairs above which the paper says that a comparison is learned: lambda x delta of 10^exponent."""
    last = len(SERIES) - 1
    corners = []
    for column in range(len(SERIES)):
        row = last + exponent - column  # indices of powers from -3 to 3
        if 0 < row <= last:
            corners += [(column - 0.5, row - 0.5), (column + 0.5, row - 0.5)]
            corners += [(column + 0.5, -0.5)] if row == 1 else []
    return [Line(corners, "#ffffff", "", "", 5, dots=False), Line(corners, "#000000", "", "", 2.5, dots=False)]


def _seeds(summaries: Sequence[Summary[FloatCell]], comparison: str) -> Chart:
    """All squares of a map, each mean accuracy a dot."""
    points = [
        (_exponent(summary), round(value, 2), "blue") for summary in summaries for value in summary.values[comparison]
    ]
    x = power_axis("lambda x delta", 10, (-6, -3, 0, 3, 6), low=-6.5, high=6.5)
    return seed_dots(points, x=x, y=accuracy_axis(0.4, "mean accuracy"), vertical=True)


def _text(value: float) -> str:
    return power_text(10, round(math.log10(value)))


EXPERIMENT = Experiment(
    name="floats",
    title="Learning with floats",
    section="4.2, App. D",
    shows="Float maps",
    revision=2,
    seconds=lambda _, recipe: 0.02 + 5e-6 * recipe.epochs,
    cells=grid(FloatCell, delta=SERIES, scale=SERIES),
    beyond=grid(FloatCell, delta=LONG_SERIES, scale=("auto",)),
    recipes={"paper": PAPER, "exact": EXACT},
    run=run_cell,
    published={},
    profiles={
        "smoke": Profile(
            name="smoke", seeds=2, epochs=40, keep=lambda cell: cell.delta == 1.0 and cell.scale in (1.0, "auto")
        ),
        "quick": Profile(name="quick", seeds=5, keep=_corner),
        "paper": Profile(name="paper", seeds=20),
    },
    metrics=metrics(accuracy=[*COMPARISONS, *(f"train {name}" for name in COMPARISONS)], count=["epochs"]),
    question="Which lambda does a register need for numbers that are delta apart?",
    description=DESCRIPTION,
    claims=claims,
    answer=answer,
    key=(
        "Mean accuracy over 10^2 to 10^13, in digits and as colour. Above the black stairs the paper says that "
        "the comparison is learned."
    ),
    tables=tables,
    figures=figures,
)
