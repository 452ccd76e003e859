"""Section 4.4: how many redundant units it takes to learn =, != and f."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nsr.data import FUNCTIONS, Rows, all_pairs, function_around, function_of_all_pairs, pairs_around
from nsr.ensemble import Ensemble
from nsr.nn import NSR, Piecewise
from nsr.paper.cells import SOFT, Summary, by_recipe, metrics
from nsr.paper.figures import Figure, colour, lines_with_bands, mean_interval, perfect_seeds
from nsr.paper.measure import Read, accuracy_of_each, nearness_of_each, read_each
from nsr.paper.spec import Cell, Experiment, ExperimentRecipe, Metrics, Profile, Recipe, grid
from nsr.paper.tables import Row, Table, mean_of, run_of
from nsr.training import EXACT, PAPER, fit, fold

COMPARED = ("=", "!=")
TASKS = (*COMPARED, "f")
POWERS = range(2, 14)
"""Powers of 10 for the comparisons and of 3 for f, as in Sections 4.1 and 4.3."""


@dataclass(frozen=True)
class RedundancyCell(Cell):
    """Number of units that a register sums."""

    redundancy: int


def run_cell(
    cell: RedundancyCell, recipe: ExperimentRecipe, seeds: Sequence[int], _data: Path | None = None
) -> list[Metrics]:
    """Train the three tasks with registers of one size; for each the mean accuracy over all magnitudes."""
    columns = _comparisons(cell.redundancy, recipe, seeds) | _function(cell.redundancy, recipe, seeds)
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(seeds))]


def _comparisons(redundancy: int, recipe: Recipe, seeds: Sequence[int]) -> dict[str, Tensor]:
    """= and != as in Section 4.1, as one ensemble: members differ in seed and comparison."""
    pairs = [all_pairs(comparison) for comparison in COMPARED]
    targets = torch.stack([rows.y for rows in pairs]).repeat_interleave(len(seeds), 0)

    def build(seed: int) -> NSR:
        return NSR(2, redundancy=redundancy, generator=torch.Generator().manual_seed(seed))

    ensemble = Ensemble.of([build(seed) for _ in COMPARED for seed in seeds])
    fit(ensemble, fold(pairs[0].with_targets(targets)), recipe)
    ensemble = ensemble.to(torch.float64)

    def test(comparison: str, power: int) -> list[Rows]:
        return [pairs_around(comparison, np.random.default_rng((seed, power)), power=power) for seed in seeds]

    members = {name: ensemble[at * len(seeds) : (at + 1) * len(seeds)] for at, name in enumerate(COMPARED)}
    return {
        name: torch.stack([accuracy_of_each(members[name], test(name, power)) for power in POWERS]).mean(0)
        for name in COMPARED
    }


def _function(redundancy: int, recipe: ExperimentRecipe, seeds: Sequence[int]) -> dict[str, Tensor]:
    """f as in Section 4.3. It is a number and has no logit, so its absolute error is minimised."""
    recipe = replace(recipe, loss="mae", patience=0)
    inputs = FUNCTIONS["f"].inputs
    ensemble = Ensemble(lambda g: Piecewise(NSR(inputs, redundancy=redundancy, generator=g), generator=g), seeds)
    rows = [function_of_all_pairs("f", np.random.default_rng((seed, 0))) for seed in seeds]
    fit(ensemble, Rows.each(rows), recipe)
    ensemble = ensemble.to(torch.float64)
    soft: list[Read] = [None] * len(seeds)

    def test(power: int, programs: Sequence[Read]) -> Tensor:
        tests = [function_around("f", np.random.default_rng((seed, power)), power=power) for seed in seeds]
        return nearness_of_each(ensemble, tests, recipe.tolerance, programs)

    if not recipe.test_program:
        return {"f": torch.stack([test(power, soft) for power in POWERS]).mean(0)}
    tested = {"f": read_each(ensemble, rows), SOFT + "f": soft}
    return {name: torch.stack([test(power, programs) for power in POWERS]).mean(0) for name, programs in tested.items()}


DESCRIPTION = (
    "The accuracy of =, != and f with 1 to 15 redundant units, averaged over all magnitudes of the tests above: 10^2 "
    "to 10^13 for the comparisons, 3^2 to 3^13 for f. The paper says that = and != gain up to about 9 units and that "
    "f hardly changes, with a peak at 2; it prints no numbers to compare ours with."
)


def tables(summaries: Sequence[Summary[RedundancyCell]]) -> list[Table]:
    """The curves as numbers: a row for each number of units."""
    return [
        Table(
            title=f"Redundancy curves: {run_of(shown)}; f peaks at {_peak(shown)} units",
            corner="units",
            columns=tuple(_columns(shown)),
            rows=tuple(
                Row(
                    str(summary.cell.redundancy),
                    tuple(mean_of(summary, name) for name in _columns(shown).values()),
                )
                for summary in shown
            ),
        )
        for shown in by_recipe(summaries).values()
    ]


def _peak(summaries: Sequence[Summary[RedundancyCell]]) -> int:
    """The number of units with which f is learned best."""
    return max(summaries, key=lambda summary: summary.metrics["f"]).cell.redundancy


def _columns(summaries: Sequence[Summary[RedundancyCell]]) -> dict[str, str]:
    """Headings and metrics; where the program of f is tested, the trained model stands beside it."""
    soft = {"f, soft": SOFT + "f"} if summaries[0].soft else {}
    return {task: task for task in TASKS} | soft


def figures(summaries: Sequence[Summary[RedundancyCell]]) -> Iterator[Figure]:
    """Mean accuracy against the number of units, with the 95 % interval of the mean shaded."""
    for recipe, shown in by_recipe(summaries).items():
        title = f"{run_of(shown).capitalize()}: mean over all magnitudes, 95 % interval of the mean shaded"
        yield f"redundancy-{recipe}", title, _curves(shown)


def _curves(summaries: Sequence[Summary[RedundancyCell]]) -> Any:
    import altair as alt

    points = [
        {
            "task": task,
            "units": summary.cell.redundancy,
            "accuracy": summary.metrics[task],
            "low": low,
            "high": high,
            "perfect seeds": perfect_seeds(summary, task),
        }
        for summary in summaries
        for task in TASKS
        for low, high in [mean_interval(summary.values[task])]
    ]
    return lines_with_bands(
        points,
        x=alt.X("units:Q", title="redundant units", axis=alt.Axis(tickMinStep=1)),
        y="accuracy",
        band=("low", "high"),
        colours=colour("task", TASKS),
        tooltip=["task", "units", alt.Tooltip("accuracy:Q", format=".4f"), "perfect seeds"],
        title="mean accuracy",
        scale=alt.Scale(domain=[0.4, 1.02], clamp=True),
    )


EXPERIMENT = Experiment(
    name="redundancy",
    title="Redundancy",
    section="4.4",
    shows="Redundancy curves",
    revision=2,
    seconds=lambda cell, recipe: 0.03 + recipe.epochs * (2e-6 + 0.6e-6 * cell.redundancy),
    cells=grid(RedundancyCell, redundancy=tuple(range(1, 16))),
    recipes={
        "paper": ExperimentRecipe.based_on(PAPER, sparsity=0.3),
        "exact": ExperimentRecipe.based_on(EXACT, epochs=4_000, test_program=True),
    },
    run=run_cell,
    published={},
    profiles={
        "smoke": Profile(name="smoke", seeds=2, epochs=20, keep=lambda cell: cell.redundancy in (1, 10)),
        "quick": Profile(name="quick", seeds=10, epochs=10_000, keep=lambda cell: cell.redundancy in (1, 10)),
        "paper": Profile(name="paper", seeds=100),
    },
    metrics=metrics(accuracy=TASKS, soft=["f"]),
    description=DESCRIPTION,
    tables=tables,
    figures=figures,
)
