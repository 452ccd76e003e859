"""Section 4.5: a register in a loop learns the minimum of a list, and to count, on lists of 5 numbers from -10 to 9."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nsr.data import LOOPS, Rows, lists_around, random_lists
from nsr.ensemble import Ensemble
from nsr.nn import MLP, NSR, Recurrent, RecurrentCount, RecurrentMinimum
from nsr.paper.measure import GATES, Read, answers_of_each, read_each
from nsr.paper.spec import PROFILES, Cell, Experiment, ExperimentRecipe, Metrics, Profile, grid
from nsr.program import FIRST, ITEM, MINIMA, Compare, Constant, Fold, Variable, Where
from nsr.training import EXACT, PAPER, fit

MODULES: Mapping[str, Callable[[NSR | MLP], Recurrent]] = {"minimum": RecurrentMinimum, "count": RecurrentCount}
LENGTHS = range(5, 55, 5)
POWERS = range(1, 14)
"""Of 3."""
TOLERANCE = 0.001
"""How far an answer may be from its target and still be right, in parts of it: the paper's 0.1 percent."""
ABSOLUTE = 0.1
"""The same for a target of 0, and in the second maps for every target: numbers 10 apart near 10^6 are all within 0.1
percent of one another, so there the first maps ask nothing of a minimum."""


@dataclass(frozen=True)
class RecurrentCell(Cell):
    """Which gate learns which loop."""

    model: str
    loop: str


def run_cell(
    cell: RecurrentCell, recipe: ExperimentRecipe, seeds: Sequence[int], _data: Path | None = None
) -> list[Metrics]:
    """Train one ensemble, each member on lists of its own; test every member at every length and magnitude.

    ``read`` is whether the loop that was read gives the right answer on any list; ``100,000 elements`` and
    ``100 digits`` are whether it did on lists of that kind.
    """
    ensemble = Ensemble(lambda g: MODULES[cell.loop](GATES[cell.model](2, g)), seeds)
    rows = [random_lists(cell.loop, np.random.default_rng((seed, 0))) for seed in seeds]
    history = fit(ensemble, Rows.each(rows), recipe)
    ensemble = ensemble.to(torch.float64)
    programs = read_each(ensemble, rows)
    used = programs if recipe.test_program else [None] * len(seeds)

    def measured(tests: list[Rows]) -> tuple[Tensor, Tensor]:
        y = torch.stack([test.y for test in tests])
        wrong_by = (answers_of_each(ensemble, tests, used) - y).abs()
        near = wrong_by <= torch.where(y == 0, ABSOLUTE, TOLERANCE * y.abs())
        return near.double().mean(-1), (wrong_by <= ABSOLUTE).double().mean(-1)

    columns = {"train": measured(rows)[0]}
    for length in LENGTHS:
        for power in POWERS:
            generators = [np.random.default_rng((seed, length, power)) for seed in seeds]
            tests = [lists_around(cell.loop, generator, length=length, power=power) for generator in generators]
            columns[square(length, power)], columns[square(length, power, absolute=True)] = measured(tests)
    columns["read"] = torch.tensor([program in READ[cell.loop] for program in programs])
    columns["100,000 elements"] = torch.tensor([_right_when_long(program, cell.loop) for program in programs])
    columns["100 digits"] = torch.tensor([_right_when_large(program, cell.loop) for program in programs])
    columns["epochs"] = history.stopped
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(seeds))]


def square(length: int, power: int, *, absolute: bool = False) -> str:
    """The metric of one square of a map, with the relative tolerance or the absolute one."""
    return f"{length} x 3^{power}" + (f" within {ABSOLUTE}" if absolute else "")


COUNT = Variable("count")
READ: Mapping[str, Sequence[Fold]] = {
    "minimum": MINIMA,
    "count": (Fold("count", Constant(0), Where(Compare("=", FIRST, ITEM), COUNT + 1, COUNT)),),
}
"""The loops that are right."""


@cache
def _right_when_long(loop: Read, task: str) -> bool:
    """Whether a loop is right on a list of 100,000 numbers from -10 to 9, with the least one at the very end."""
    items = [*np.random.default_rng(100_000).integers(-10, 10, 99_999).tolist(), -11]
    return loop is not None and loop(items) == _truth(task, items)


@cache
def _right_when_large(loop: Read, task: str) -> bool:
    """Whether a loop is right on lists of integers of 100 digits within 5 of one another."""
    generator = np.random.default_rng(100)
    for _ in range(20):
        n = int("".join(map(str, generator.integers(1, 10, 100))))
        items = [n + int(step) for step in generator.integers(-5, 6, 50)]
        if loop is None or loop(items) != _truth(task, items):
            return False
    return True


def _truth(task: str, items: list[int]) -> int:
    return min(items) if task == "minimum" else items[1:].count(items[0])


EXPERIMENT = Experiment(
    name="recurrent",
    title="Recurrent minimum and count",
    section="4.5",
    shows="Recurrent maps",
    revision=1,
    cost=30.0,
    cells=grid(RecurrentCell, model=tuple(GATES), loop=tuple(LOOPS)),
    recipes={
        "paper": ExperimentRecipe.based_on(PAPER),
        "exact": ExperimentRecipe.based_on(EXACT, loss="mse", check_every=500, patience=0, test_program=True),
    },
    run=run_cell,
    published={},
    profiles=PROFILES | {"quick": Profile(name="quick", seeds=5, epochs=4_000)},
)
