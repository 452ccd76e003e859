"""The entropy screen: at which constant a sum of columns separates the classes best."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nsr.reading.atoms import Atom, Weights
from nsr.reading.rows import LabelledRows, times_log

DEPTH = 4
"""How many atoms a chain has at most."""
PLAIN = 6.0
"""Nats by which a sum of several columns must separate the classes better than a single column does."""
NOTHING = 1e-9
"""An uncertainty below this counts as zero."""


@dataclass(frozen=True)
class Split:
    """An atom, and the uncertainty in nats that is left once each row's side of it is known."""

    atom: Atom
    left: float


class Screen:
    """Rows, sorted once by each sum of columns that may be compared with a constant."""

    def __init__(self, rows: LabelledRows, sums: Sequence[Weights], *, among: int = 0) -> None:
        self.rows, self.sums = rows, list(sums)
        self.among = among or len(self.sums)
        """How many sums there were to choose these from: what it costs to name one."""
        self._sorted = {weights: np.unique(rows.columns.sums(weights), return_inverse=True) for weights in self.sums}

    def n_values(self, weights: Weights) -> int:
        """How many values a sum takes."""
        return len(self._sorted[weights][0])

    def first_atoms(self, count: int) -> list[Atom]:
        """The best single atoms, each of a different sum."""
        return [split.atom for split in self.splits(np.zeros(len(self.rows), dtype=np.int64))[:count]]

    def chain(
        self,
        *,
        start: Sequence[Atom] = (),
        taken: Sequence[Atom] = (),
        sums: Sequence[Weights] | None = None,
    ) -> list[Atom]:
        """Atoms chosen greedily: each leaves the least uncertainty, given those before it.

        Atoms that are taken are passed over. The chain ends where no uncertainty is left.
        """
        chosen = list(start)
        groups = patterns(self.rows, chosen)
        if self.rows.uncertainty(groups) < NOTHING:
            return chosen
        while len(chosen) < DEPTH:
            splits = self.splits(groups, [*taken, *chosen], sums)
            if not splits:
                break
            chosen.append(splits[0].atom)
            groups = groups * 3 + self.rows.signs(splits[0].atom) + 1
            if splits[0].left < NOTHING:
                break
        return chosen

    def splits(
        self, groups: np.ndarray, taken: Sequence[Atom] = (), sums: Sequence[Weights] | None = None
    ) -> list[Split]:
        """The best split of each sum within groups of rows, the best sum first."""
        groups = np.unique(groups, return_inverse=True)[1]
        found = []
        for weights in self.sums if sums is None else sums:
            out = [atom.constant for atom in taken if atom.weights == weights]
            left, value = self._best_split(weights, groups, out)
            if np.isfinite(left):
                price = 0.0 if len(weights) == 1 else PLAIN
                found.append((left + price, Split(Atom(weights, self.rows.columns.value(weights, value)), left)))
        return [split for _, split in sorted(found, key=lambda each: each[0])]

    def _best_split(self, weights: Weights, groups: np.ndarray, taken: Sequence[Fraction]) -> tuple[float, np.generic]:
        """What the best constant for a sum leaves, and that constant; of several equally good, the middle one."""
        values, column = self._sorted[weights]
        rows = self.rows
        left = uncertainty_left(column, len(values), groups, rows)
        if taken:
            unit = rows.columns.unit(weights) or 1
            left[np.isin(values, [float(constant / unit) for constant in taken])] = np.inf
        left = np.where(np.isfinite(values), left, np.inf)
        best = np.flatnonzero(left == left.min())
        middle = int(best[len(best) // 2])
        return float(left[middle]), values[middle]


def patterns(rows: LabelledRows, atoms: Sequence[Atom]) -> np.ndarray:
    """Each row's pattern of signs as a number, counted in the order of ``itertools.product((-1, 0, 1), ...)``."""
    codes = np.zeros(len(rows), dtype=np.int64)
    for atom in atoms:
        codes = codes * 3 + rows.signs(atom) + 1
    return codes


def uncertainty_left(column: np.ndarray, n_values: int, groups: np.ndarray, rows: LabelledRows) -> np.ndarray:
    """For each value in order, the nats left once it is known whether a row is below it, at it or above it.

    Args:
        column: The rank of each row's value.
        n_values: How many values there are.
        groups: What is known of each row already: 0, 1, ...
        rows: The rows, with their classes and weights.
    """
    n_groups = int(groups.max()) + 1
    cells = groups * n_values + column
    left = np.zeros(n_values)
    totals: list[np.ndarray] = [np.zeros((n_groups, n_values))] * 3
    for label in range(rows.n_classes):
        members = rows.classes == label
        at = np.bincount(cells[members], rows.weight[members], n_groups * n_values).reshape(n_groups, n_values)
        up_to = at.cumsum(1)
        parts = [up_to - at, at, up_to[:, -1:] - up_to]
        left -= times_log(np.stack(parts)).sum((0, 1))
        totals = [total + part for total, part in zip(totals, parts, strict=True)]
    left += times_log(np.stack(totals)).sum((0, 1))
    return np.asarray(np.maximum(left, 0).round(9))
