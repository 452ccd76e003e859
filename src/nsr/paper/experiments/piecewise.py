"""Section 4.3, Table 2: learn |x1 - x2| and a discontinuous f on [-10, 9] and test them at 3^2 to 3^33."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import torch

from nsr.data import FUNCTIONS, Rows, function_around, function_of_all_pairs
from nsr.ensemble import Ensemble
from nsr.html.charts import Chart, name_axis, number_axis
from nsr.nn import Piecewise
from nsr.paper.cells import SOFT, Summary, by_recipe, grouped, metrics
from nsr.paper.claims import Claim, over, printed, successes
from nsr.paper.figures import Figure, accuracy_axis, exact_chart, magnitude_axis, magnitude_chart, seed_dots
from nsr.paper.measure import GATES, PIECEWISE, WITHOUT_LABELS, Read, nearness_of_each, read_each, tests_program
from nsr.paper.spec import PROFILES, Cell, Experiment, ExperimentRecipe, Metrics, Profile, grid, printed_row
from nsr.paper.tables import Columns, Table, run_of
from nsr.training import EXACT, PAPER, fit

TITLES = {"abs": "|x1 - x2|", "f": "f: x5 + 4 if x1 > x2, else x4 - x3"}
POWERS = range(2, 34)
"""The paper tests to 3^13."""
MEASURED = ("train", *(f"3^{power}" for power in POWERS))
"""Metrics: the accuracy in training and at each magnitude."""
SHOWN = (*range(2, 14), *range(18, 34, 5))
"""The magnitudes that tables show: beyond the paper's, every fifth."""


@dataclass(frozen=True)
class PiecewiseCell(Cell):
    """Which gate learns which function."""

    model: str
    function: str


def run_cell(
    cell: PiecewiseCell, recipe: ExperimentRecipe, seeds: Sequence[int], _data: Path | None = None
) -> list[Metrics]:
    """Train one ensemble, each member on rows of its own; test every member at every magnitude.

    ``read`` is whether the program that was read is the function itself, ``read without labels`` whether it is when
    read from the member's own answers alone. Where programs are tested, ``soft`` metrics are those of the members.
    """
    inputs = FUNCTIONS[cell.function].inputs
    ensemble = Ensemble(lambda g: Piecewise(GATES[cell.model](inputs, g), generator=g), seeds)
    rows = [function_of_all_pairs(cell.function, np.random.default_rng((seed, 0))) for seed in seeds]
    history = fit(ensemble, Rows.each(rows), recipe.of_model(cell.model))
    ensemble = ensemble.to(torch.float64)
    programs = read_each(ensemble, rows)
    soft: list[Read] = [None] * len(seeds)
    tests = {"train": rows} | {
        f"3^{power}": [
            function_around(cell.function, np.random.default_rng((seed, power)), power=power) for seed in seeds
        ]
        for power in POWERS
    }
    columns: dict[str, torch.Tensor] = {}
    for name, test in tests.items():
        used = programs if recipe.test_program else soft
        columns[name] = nearness_of_each(ensemble, test, recipe.tolerance, used)
    for name, test in tests.items() if tests_program(cell.model, recipe) else ():
        columns[SOFT + name] = nearness_of_each(ensemble, test, recipe.tolerance, soft)
    columns["read"] = torch.tensor([program == PIECEWISE[cell.function] for program in programs])
    unaided = read_each(ensemble, rows, labels=False)
    columns[WITHOUT_LABELS] = torch.tensor([program == PIECEWISE[cell.function] for program in unaided])
    columns["epochs"] = history.stopped
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(seeds))]


TABLE_2: Mapping[PiecewiseCell, Metrics] = {
    PiecewiseCell("mlp", "abs"): printed_row(3, 1.0, 1.0, 0.98, 0.57, 0.01, 0.01, 0.0),
    PiecewiseCell("mlp", "f"): printed_row(3, 1.0, 1.0, 1.0, 0.99, 0.95, 0.85, 0.7, 0.55, 0.47, 0.4, 0.31, 0.2, 0.09),
    PiecewiseCell("nsr", "abs"): printed_row(3, 1.0, 0.99),
    PiecewiseCell("nsr", "f"): printed_row(3, 0.99, 1.0, 1.0, 1.0, 0.99, 0.96, 0.87, 0.69, 0.52, 0.42, 0.38, 0.36),
}

DESCRIPTION = (
    "A gate chooses between two sums, each a NAU with a learned constant: |x1 - x2|, and f, which is x5 + 4 where x1 "
    "> x2 and x4 - x3 elsewhere. x1 and x2 are all pairs of integers from -10 to 9 in training and neighbours around "
    "a random number of each magnitude in the tests; x3 to x5 are drawn from -100 to 100. An answer within 0.1 is "
    "right. Under recipe exact, the program read from a model is tested instead of the model, where it can be read, "
    "and the columns 'soft' show the models themselves; the row 'read' counts the seeds whose program is the function "
    "itself, the row 'no labels' those whose program is when nothing but the model's own answers decides. "
    "The paper stops at 3^13; beyond 2^53, near "
    "3^33, the float64 sums of soft models round."
)


def tables(summaries: Sequence[Summary[PiecewiseCell]]) -> list[Table]:
    """Table 2, turned so that it fits 80 columns: a row for each magnitude, a column for each gate and function."""
    return [_table(shown) for shown in by_recipe(summaries).values()]


def _table(summaries: Sequence[Summary[PiecewiseCell]]) -> Table:
    cells = {f"{cell.model.upper()} {cell.function}": cell for cell in EXPERIMENT.cells}
    columns = Columns.of(cells, summaries).with_soft()
    return Table(
        title=f"Table 2: {run_of(summaries)}, ours and the paper's",
        corner="",
        columns=columns.names,
        rows=tuple(columns.compared(name) for name in ("train", *(f"3^{power}" for power in SHOWN))),
        foot=columns.counts("read", WITHOUT_LABELS),
    )


PRINTED = tuple(f"3^{power}" for power in range(2, 14))
"""The magnitudes of the paper."""
EXTRA_X = magnitude_axis(3, (5, 10, 15, 20, 25, 30), 2, 33)


def claims(summaries: Sequence[Summary[PiecewiseCell]]) -> list[Claim]:
    """Table 2 as means over the magnitudes that the paper prints, and the share of perfect seeds."""
    found = []
    for model, function in ((model, function) for model in ("nsr", "mlp") for function in FUNCTIONS):
        cell = PiecewiseCell(model, function)
        paper = fmean(TABLE_2[cell][name] for name in PRINTED)
        shown = [summary for summary in summaries if summary.cell == cell]
        found.append(printed(model.upper(), f"{function}, 3^2 to 3^13", paper, over(shown, PRINTED)))
    for function in FUNCTIONS:
        shown = [summary for summary in summaries if summary.cell == PiecewiseCell("nsr", function)]
        what = f"{function}: seeds right on every test to 3^33"
        found.append(Claim("NSR", what, "", successes(shown, MEASURED)))
    return found


def answer(summaries: Sequence[Summary[PiecewiseCell]]) -> Iterator[Figure]:
    """A panel for each function: ours and the paper's, with either gate."""
    for function, shown in grouped(summaries, lambda summary: summary.cell.function).items():
        title = TITLES[function]
        yield f"piecewise-{function}", title, magnitude_chart(shown, EXTRA_X, accuracy_axis(), 3)


def figures(summaries: Sequence[Summary[PiecewiseCell]]) -> Iterator[Figure]:
    """Recipe exact: programs, the networks that they were read from, and the MLP gate; then the seeds."""
    exact = [summary for summary in summaries if summary.recipe == "exact"]
    for function, shown in grouped(exact, lambda summary: summary.cell.function).items():
        title = f"{TITLES[function]}: {run_of(shown)}"
        yield f"piecewise-exact-{function}", title, exact_chart(shown, EXTRA_X, accuracy_axis(), 3)
    for recipe, shown in by_recipe(summaries).items():
        title = f"Each seed by its mean accuracy over 3^2 to 3^33: {run_of(shown)}"
        yield f"piecewise-{recipe}-seeds", title, _seeds(shown)


def _seeds(summaries: Sequence[Summary[PiecewiseCell]]) -> Chart:
    """Each gate and function a row, each mean accuracy a dot."""
    order = [f"{summary.cell.model.upper()} {summary.cell.function}" for summary in summaries][::-1]
    points = [
        (place, round(fmean(values), 2), "orange" if summary.cell.model == "mlp" else "blue")
        for place, summary in enumerate(summaries[::-1])
        for values in zip(*(summary.values[name] for name in MEASURED[1:]), strict=True)
    ]
    x = number_axis("mean accuracy of a seed", (0.0, 0.25, 0.5, 0.75, 1.0), low=-0.02, high=1.03)
    return seed_dots(points, x=x, y=name_axis("", order), vertical=False)


EXPERIMENT = Experiment(
    name="piecewise",
    title="Piecewise functions",
    section="4.3",
    shows="Table 2",
    revision=2,
    seconds=lambda cell, recipe: 0.02 + 8e-6 * recipe.of_model(cell.model).epochs,
    cells=grid(PiecewiseCell, model=tuple(GATES), function=tuple(FUNCTIONS)),
    recipes={
        "paper": ExperimentRecipe.based_on(PAPER, sparsity=0.3),
        "exact": ExperimentRecipe.based_on(
            EXACT, loss="mae", epochs=4_000, check_every=500, patience=0, test_program=True, baseline_factor=5
        ),
    },
    run=run_cell,
    published=TABLE_2,
    profiles=PROFILES | {"quick": Profile(name="quick", seeds=10, epochs=10_000)},
    metrics=metrics(accuracy=MEASURED, flag=["read", WITHOUT_LABELS], count=["epochs"], soft=MEASURED),
    question="Can a register choose between two sums that are learned with it, and stay right for larger numbers?",
    description=DESCRIPTION,
    claims=claims,
    answer=answer,
    key=(
        "NSR and MLP gates are trained as in the paper; program: what was read from a network of our training; soft "
        "NSR: that network itself; dashed lines are the paper's, which end at 3^13. Shaded: the 95 % "
        "interval of the mean."
    ),
    tables=tables,
    figures=figures,
)
