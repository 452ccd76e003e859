"""Section 4.2 and Appendix D: numbers delta apart, and the lambda that makes up for it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nsr.data import COMPARISONS, all_pairs, pairs_around
from nsr.ensemble import Ensemble
from nsr.nn import NSR
from nsr.paper.cells import Summary, by_recipe, metrics
from nsr.paper.figures import Figure, colour, heat_map, perfect_seeds, seed_dots
from nsr.paper.measure import accuracy_of_each
from nsr.paper.spec import Cell, Experiment, Metrics, Profile, Recipe, grid
from nsr.paper.tables import Mean, Row, Table, mean_of, run_of
from nsr.training import EXACT, PAPER, fit, fold

POWERS = range(2, 14)
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


def figures(summaries: Sequence[Summary[FloatCell]]) -> Iterator[Figure]:
    """A map for each comparison, and the seeds of all squares of > and = on one axis."""
    for recipe, given in by_recipe(_given(summaries)).items():
        for comparison, name in NAMES.items():
            figure = _map(given, [comparison], "scale", SERIES[::-1], "lambda")
            yield f"floats-{recipe}-{name}", f"{comparison}, {run_of(given)}", figure
        title = f"Recipe {recipe}: seeds by lambda times delta and by their mean accuracy"
        yield f"floats-{recipe}-seeds", title, _seeds(given)
    automatic = _automatic(summaries)
    if automatic:
        title = f"Beyond the paper: lambda from the data, {run_of(automatic)}"
        yield "floats-auto", title, _map(automatic, list(COMPARISONS), "comparison", list(COMPARISONS), None)


def _map(
    summaries: Sequence[Summary[FloatCell]],
    comparisons: Sequence[str],
    row: str,
    order: Sequence[float | str],
    title: str | None,
) -> Any:
    import altair as alt

    squares = [
        {
            "delta": _text(summary.cell.delta),
            "scale": _text(summary.cell.scale),
            "comparison": comparison,
            "accuracy": summary.metrics[comparison],
            "perfect seeds": perfect_seeds(summary, comparison),
        }
        for summary in summaries
        for comparison in comparisons
    ]
    x = alt.X("delta:O", sort=[_text(value) for value in LONG_SERIES], axis=alt.Axis(labelAngle=0))
    y = alt.Y(f"{row}:O", sort=[_text(value) for value in order], title=title)
    return heat_map(squares, x=x, y=y, tooltip=["comparison", "delta", "scale"], lowest=0.45)


def _seeds(summaries: Sequence[Summary[FloatCell]]) -> Any:
    """All squares of the maps of > and =, each mean accuracy a dot."""
    import altair as alt

    field = "log10 of lambda x delta"
    points = [
        {
            "comparison": comparison,
            field: round(math.log10(summary.cell.delta * float(summary.cell.scale))),
            "mean accuracy": round(value, 2),
        }
        for summary in summaries
        for comparison in (">", "=")
        for value in summary.values[comparison]
    ]
    return seed_dots(
        points,
        x=alt.X(f"{field}:Q", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("mean accuracy:Q", scale=alt.Scale(domain=[0.4, 1.02])),
        colours=colour("comparison", [">", "="]),
        largest=300,
        opacity=0.7,
    )


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


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
    description=DESCRIPTION,
    tables=tables,
    figures=figures,
)
