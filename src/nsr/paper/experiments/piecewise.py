"""Section 4.3, Table 2: learn |x1 - x2| and a discontinuous f on [-10, 9] and ask them at 3^2 to 3^33."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from nsr.data import FUNCTIONS, Rows, function_around, function_of_all_pairs
from nsr.ensemble import Ensemble
from nsr.nn import Piecewise
from nsr.paper.measure import GATES, PIECEWISE, nearness_of_each, read_each
from nsr.paper.spec import PROFILES, Cell, Experiment, ExperimentRecipe, Metrics, Profile, grid, printed_row
from nsr.training import EXACT, PAPER, fit

POWERS = range(2, 34)
"""The paper tests to 3^13."""
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

    ``read`` is whether the program that was read is the function itself.
    """
    inputs = FUNCTIONS[cell.function].inputs
    ensemble = Ensemble(lambda g: Piecewise(GATES[cell.model](inputs, g), generator=g), seeds)
    rows = [function_of_all_pairs(cell.function, np.random.default_rng((seed, 0))) for seed in seeds]
    history = fit(ensemble, Rows.each(rows), recipe)
    ensemble = ensemble.to(torch.float64)
    programs = read_each(ensemble, rows)
    used = programs if recipe.test_program else [None] * len(seeds)
    columns = {"train": nearness_of_each(ensemble, rows, recipe.tolerance, used)}
    for power in POWERS:
        tests = [function_around(cell.function, np.random.default_rng((seed, power)), power=power) for seed in seeds]
        columns[f"3^{power}"] = nearness_of_each(ensemble, tests, recipe.tolerance, used)
    columns["read"] = torch.tensor([program == PIECEWISE[cell.function] for program in programs])
    columns["epochs"] = history.stopped
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(seeds))]


TABLE_2: Mapping[Cell, Metrics] = {
    PiecewiseCell("mlp", "abs"): printed_row(3, 1.0, 1.0, 0.98, 0.57, 0.01, 0.01, 0.0),
    PiecewiseCell("mlp", "f"): printed_row(3, 1.0, 1.0, 1.0, 0.99, 0.95, 0.85, 0.7, 0.55, 0.47, 0.4, 0.31, 0.2, 0.09),
    PiecewiseCell("nsr", "abs"): printed_row(3, 1.0, 0.99),
    PiecewiseCell("nsr", "f"): printed_row(3, 0.99, 1.0, 1.0, 1.0, 0.99, 0.96, 0.87, 0.69, 0.52, 0.42, 0.38, 0.36),
}

EXPERIMENT = Experiment(
    name="piecewise",
    title="Piecewise functions",
    section="4.3",
    shows="Table 2",
    revision=1,
    cost=2.0,
    cells=grid(PiecewiseCell, model=tuple(GATES), function=tuple(FUNCTIONS)),
    recipes={
        "paper": ExperimentRecipe.based_on(PAPER, sparsity=0.3),
        "exact": ExperimentRecipe.based_on(
            EXACT, loss="mae", epochs=4_000, check_every=500, patience=0, test_program=True
        ),
    },
    run=run_cell,
    published=TABLE_2,
    profiles=PROFILES | {"quick": Profile(name="quick", seeds=10, epochs=10_000)},
)
