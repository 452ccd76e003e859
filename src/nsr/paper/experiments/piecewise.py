"""Section 4.3, Table 2: learn |x1 - x2| and a discontinuous f on [-10, 9] and test them at 3^2 to 3^33."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from nsr.data import FUNCTIONS, Rows, function_around, function_of_all_pairs
from nsr.ensemble import Ensemble
from nsr.nn import Piecewise
from nsr.paper.cells import SOFT, Summary, by_recipe, grouped, metrics
from nsr.paper.figures import Figure, magnitude_lines, magnitude_points
from nsr.paper.measure import GATES, PIECEWISE, WITHOUT_LABELS, Read, nearness_of_each, read_each, tests_program
from nsr.paper.spec import PROFILES, Cell, Experiment, ExperimentRecipe, Metrics, Profile, grid, printed_row
from nsr.paper.tables import Columns, Table, run_of
from nsr.training import EXACT, PAPER, fit

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


def figures(summaries: Sequence[Summary[PiecewiseCell]]) -> Iterator[Figure]:
    """Accuracy against magnitude, both functions in one figure for each gate and recipe."""
    for (recipe, model), shown in grouped(summaries, lambda summary: (summary.recipe, summary.cell.model)).items():
        points = [point for summary in shown for point in magnitude_points(summary, "function", 3)]
        title = f"{model.upper()} gate, {run_of(shown)}: ours solid, the paper's dashed"
        lines = magnitude_lines(points, "function", list(FUNCTIONS), base=3, lowest=0.0)
        yield f"piecewise-{recipe}-{model}", title, lines


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
    description=DESCRIPTION,
    tables=tables,
    figures=figures,
)
