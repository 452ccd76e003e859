"""Section 4.2 and Appendix D: numbers delta apart, and the lambda that makes up for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from nsr.data import COMPARISONS, all_pairs, pairs_around
from nsr.ensemble import Ensemble
from nsr.nn import NSR
from nsr.paper.measure import accuracy_of_each
from nsr.paper.spec import Cell, Experiment, Metrics, Profile, Recipe, grid
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
    rows = fold(pairs[0].with_targets(targets)).times(cell.delta)  # folded while the numbers are whole
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


EXPERIMENT = Experiment(
    name="floats",
    title="Learning with floats",
    section="4.2, App. D",
    shows="Float maps",
    revision=1,
    cost=2.0,
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
)
