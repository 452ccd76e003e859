"""Section 4.4: how many redundant units it takes to learn =, != and f."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nsr.data import FUNCTIONS, Rows, all_pairs, function_around, function_of_all_pairs, pairs_around
from nsr.ensemble import Ensemble
from nsr.html.charts import Axis, Band, Chart, Line, number_axis
from nsr.nn import NSR, Piecewise
from nsr.paper.cells import SOFT, Summary, by_recipe, metrics
from nsr.paper.claims import ROUNDING, SOFT_COLUMN, Claim, Ours, between, over
from nsr.paper.figures import (
    DASH,
    NETWORK,
    NETWORK_HUE,
    PROGRAM,
    Figure,
    accuracy_axis,
    mean_interval,
    seed_dots,
)
from nsr.paper.measure import Read, accuracy_of_each, nearness_of_each, read_each
from nsr.paper.spec import Cell, Experiment, ExperimentRecipe, Metrics, Profile, Recipe, grid
from nsr.paper.tables import Row, Table, mean_of, run_of
from nsr.training import EXACT, PAPER, fit, fold

COMPARED = ("=", "!=")
TASKS = (*COMPARED, "f")
COLOURS = {"=": "blue", "!=": "orange", "f": "green"}
FILES = {"=": "equal", "!=": "unequal", "f": "f"}
"""Names of the tasks in files."""
GREAT, SMALL = 0.1, 0.05
"""What counts as a great benefit, and the most that counts as none: the paper gives words and no numbers."""
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
            title=f"Redundancy curves: {run_of(shown)}; f peaks at {peak(shown)} units",
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


def peak(summaries: Sequence[Summary[RedundancyCell]], metric: str = "f") -> str:
    """The numbers of units with which f is learned best, and in brackets those that our seeds cannot tell from it: the
    95 % interval of the difference, seed by seed, includes 0."""
    highest = max(summary.metrics[metric] for summary in summaries) - ROUNDING
    best = [summary for summary in summaries if summary.metrics[metric] >= highest]
    others = [summary for summary in summaries if summary.metrics[metric] < highest]
    alike = [summary for summary in others if _reaches(summary.values[metric], best[0].values[metric])]
    names, near = (_listed([summary.cell.redundancy for summary in group]) for group in (best, alike))
    return f"{names} (or {near})" if near else names


def _reaches(lower: Sequence[float], higher: Sequence[float]) -> bool:
    low, _ = Ours(tuple(y - x for x, y in zip(lower, higher, strict=True))).interval
    return low <= 0


def _listed(numbers: Sequence[int]) -> str:
    """1, 3 to 5, 8."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _columns(summaries: Sequence[Summary[RedundancyCell]]) -> dict[str, str]:
    """Headings and metrics; where the program of f is tested, the trained model stands beside it."""
    soft = {"f, soft": SOFT + "f"} if summaries[0].soft else {}
    return {task: task for task in TASKS} | soft


def claims(summaries: Sequence[Summary[RedundancyCell]]) -> list[Claim]:
    """What the paper says about the curves; it prints no numbers."""

    def gain(task: str, few: int, many: int) -> dict[str, Ours]:
        return between(*(over([s for s in summaries if s.cell.redundancy == n], [task]) for n in (many, few)))

    found = [
        Claim("NSR", f"{task}: gain from 1 to 10 units", "benefits greatly", gain(task, 1, 10), (GREAT, 1.0))
        for task in COMPARED
    ]
    small = (-SMALL, SMALL)
    found.append(Claim("NSR", "f: gain from 1 to 10 units", "no strong effect", gain("f", 1, 10), small))
    found += [
        Claim("NSR", f"{task}: gain from 10 to 15 units", "no more benefit", gain(task, 10, 15), small)
        for task in COMPARED
    ]
    peaks = {recipe: peak(shown) for recipe, shown in by_recipe(summaries).items() if len(shown) > 1}
    networks = [summary.soft for summary in summaries if summary.soft]
    if len(networks) > 1:
        peaks[SOFT_COLUMN] = peak(networks)
    found.append(Claim("NSR", "f: most with so many units (or, within noise)", "2", {}, words=peaks))
    for task in TASKS:
        shown = [summary for summary in summaries if summary.cell.redundancy == 10]
        found.append(Claim("NSR", f"{task}: mean accuracy with 10 units", "", over(shown, [task])))
    return found


def answer(summaries: Sequence[Summary[RedundancyCell]]) -> Iterator[Figure]:
    """Mean accuracy against the number of units, with the 95 % interval of the mean shaded, and the paper's plateau."""
    for recipe, shown in by_recipe(summaries).items():
        yield f"redundancy-{recipe}", run_of(shown).capitalize(), _curves(shown)


def figures(summaries: Sequence[Summary[RedundancyCell]]) -> Iterator[Figure]:
    """The seeds behind the means, for each recipe and task."""
    for recipe, shown in by_recipe(summaries).items():
        for task in TASKS:
            title = f"{task}, recipe {recipe}: each seed by its mean accuracy"
            points = [
                (summary.cell.redundancy, round(20 * value) / 20, COLOURS[task])
                for summary in shown
                for value in summary.values[task]
            ]
            x = number_axis("redundant units", (1, 5, 10, 15), low=0, high=16)
            chart = seed_dots(points, x=x, y=accuracy_axis(), vertical=True)
            yield f"redundancy-{recipe}-{FILES[task]}-seeds", title, chart


def _curves(summaries: Sequence[Summary[RedundancyCell]]) -> Chart:
    lowest = 0.0 if summaries[0].soft else 0.4
    plateau = Line([(9, lowest), (9, 1.03)], "grey", "", DASH, 1.5, dots=False)
    marks: list[Line | Band] = [plateau]
    programs = bool(summaries[0].soft)
    curves = [(task, colour, task) for task, colour in COLOURS.items()]
    if programs:
        curves[-1] = "f", COLOURS["f"], f"f: {PROGRAM}"
        curves.append((SOFT + "f", NETWORK_HUE, f"f: {NETWORK}"))
    for metric, colour, label in curves:
        points = [(summary.cell.redundancy, summary.metrics[metric]) for summary in summaries]
        band = [(summary.cell.redundancy, *mean_interval(summary.values[metric])) for summary in summaries]
        marks += [Band(band, colour), Line(points, colour, label)]
    x = Axis("redundant units", 1, 15, ((1, "1"), (5, "5"), (9, "9: the paper"), (15, "15")))
    return Chart(x, accuracy_axis(lowest, "mean accuracy"), marks)


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
    question="How many redundant units does a register need?",
    description=DESCRIPTION,
    claims=claims,
    answer=answer,
    key=(
        "Mean accuracy over all magnitudes; shaded: the 95 % interval of the mean. The dashed line is where the "
        "paper sees the gain of = and != end. Under recipe exact, program is what was read from a network for f, soft "
        "NSR that network; = and != are networks."
    ),
    tables=tables,
    figures=figures,
)
