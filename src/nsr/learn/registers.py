"""What the register of a regressor's model selects among, and the registers of classifiers of earlier versions.

Columns come in different units, and a register that selects among them as they are is saturated by the largest before
it has learned what to select. So it selects among sums of columns (differences of two, or single columns), each
measured from a constant and in its own unit: a lambda from the data for each sum. Half of the restarts start from what
a screen of the data found, the others from sums drawn at random and from the usual random weights of an NSR.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nsr.nn import NSR
from nsr.reading.atoms import Atom, Weights
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import Screen

CHOICES = 8
"""How many sums a restart selects among."""
UNITS = 6
"""How many comparisons its register makes."""
FAR = 5.0
"""Distances beyond this many units are clipped: the bits no longer change there."""
MOST_ROWS = 1_000
"""A restart is trained on this many rows at most."""


@dataclass(frozen=True)
class Restart:
    """What a register selects among, and where that came from: the ``screen``, or ``random`` sums."""

    atoms: tuple[Atom, ...]
    units: tuple[float, ...]
    """The unit of each sum: 1 / lambda."""
    origin: str

    def inputs(self, x: Tensor, names: Sequence[str]) -> Tensor:
        """(rows, choices): the distance of each sum from its constant, in its unit."""
        away = [_distance(x, names, atom) / unit for atom, unit in zip(self.atoms, self.units, strict=True)]
        return torch.stack(away, -1).clamp(-FAR, FAR)


@dataclass(frozen=True, eq=False)
class Register:
    """A model of an earlier version: an NSR for each class against the others, or one where there are two classes."""

    restart: Restart
    names: tuple[str, ...]
    """Names of the columns."""
    nets: tuple[NSR, ...]

    @torch.no_grad()
    def logits(self, x: Tensor) -> np.ndarray:
        """(rows, classes): the logit of each class."""
        measured = self.restart.inputs(x, self.names)
        z = torch.stack([net.logit(measured) for net in self.nets], -1).double()
        return np.asarray((torch.cat([-z, z], -1) / 2 if len(self.nets) == 1 else z).numpy())


def starts(screen: Screen, count: int, rng: np.random.Generator) -> list[Restart]:
    """Restarts, half of them from the screen, each with different atoms, and half at random."""
    ranked = [split.atom for split in screen.splits(np.zeros(len(screen.rows), dtype=np.int64))]
    chains = [(ranked[at:] + ranked[:at], "screen") for at in range(min(-(-count // 2), len(ranked)))]
    while len(chains) < count:
        drawn = rng.permutation(len(screen.sums))[:CHOICES]
        chains.append(([_middle(screen.rows, screen.sums[at]) for at in drawn], "random"))
    found = []
    for atoms, origin in chains:
        filled = [atoms[at % len(atoms)] for at in range(CHOICES)]
        found.append(Restart(tuple(filled), tuple(_unit(screen.rows, atom) for atom in filled), origin))
    return found


def _distance(x: Tensor, names: Sequence[str], atom: Atom) -> Tensor:
    """How far the sum of an atom is from its constant."""
    (first, weight), *others = atom.weights
    total = weight * x[:, names.index(first)]
    for name, weight in others:
        total = total + weight * x[:, names.index(name)]
    return total.double() - float(atom.constant)


def _middle(rows: LabelledRows, weights: Weights) -> Atom:
    """A sum with the constant 0, where that lies within its values, else with their median."""
    sums = rows.columns.sums(weights)
    low, middle, high = np.quantile(sums, (0.05, 0.5, 0.95), method="nearest")
    return Atom(weights, rows.columns.value(weights, np.zeros_like(middle) if low <= 0 <= high else middle))


def _unit(rows: LabelledRows, atom: Atom) -> float:
    """The unit of a sum: its smallest distance if equality may matter, else a fraction of its spread."""
    equal = rows.columns.signs(atom) == 0
    distances = _distance(rows.columns.x, rows.columns.names, atom).abs().numpy()[~equal]
    if not len(distances) or not distances.min() > 0:
        return 1.0
    often_equal = rows.weight[equal].sum() >= max(3.0, 0.01 * rows.total)
    return float(distances.min() if often_equal else np.median(distances) / FAR)
