"""Rows with a class and a weight: what rules are read from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsr.program.expressions import Expression
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns, Monomial


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows of numbers, each with a class (0, 1, ...) and a weight: how often it occurs."""

    columns: Columns
    classes: np.ndarray
    weight: np.ndarray
    n_classes: int
    """How many classes there are, here or in rows that were held out."""

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def majority(self) -> int:
        """The class of most rows."""
        return int(np.bincount(self.classes, self.weight, self.n_classes).argmax())

    def subset(self, rows: np.ndarray) -> "LabelledRows":
        """Some of the rows."""
        return LabelledRows(self.columns.subset(rows), self.classes[rows], self.weight[rows], self.n_classes)

    def with_products(self, monomials: Iterable[Monomial]) -> "LabelledRows":
        """The same rows, with products of columns as further columns."""
        return replace(self, columns=self.columns.with_products(monomials))

    def distinct(self) -> "LabelledRows":
        """Equal rows of one class merged into one, in a canonical order.

        The result depends neither on the order of the rows nor on whether a row appears twice or has twice the weight.
        """
        rows, weight = merge_equal_rows(self.columns, self.classes, self.weight)
        return replace(self.subset(rows), weight=weight)

    @cached_property
    def answers(self) -> dict[Expression, np.ndarray]:
        """What expressions answer for the rows, as far as ``nsr.reading.rules.answers`` has computed it."""
        return {}

    @cached_property
    def _signs(self) -> dict[Atom, np.ndarray]:
        return {}

    def signs(self, atom: Atom) -> np.ndarray:
        """-1, 0 or 1 for each row: its side of an atom. Computed once for each atom."""
        if atom not in self._signs:
            self._signs[atom] = self.columns.signs(atom)
        return self._signs[atom]

    def uncertainty(self, groups: np.ndarray) -> float:
        """The entropy of the classes, in nats over all rows, once the group of each row is known."""
        cells = np.bincount(groups * self.n_classes + self.classes, self.weight, (groups.max() + 1) * self.n_classes)
        counts = cells.reshape(-1, self.n_classes)
        return float(times_log(counts.sum(1)).sum() - times_log(counts).sum())


def merge_equal_rows(columns: Columns, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of the rows that are equal in all columns and in ``y``, in a canonical order, and their weights.

    Rows of weight 0 are dropped. The weights add up to the number of distinct rows: a row that occurs twice is no more
    evidence than one that occurs once.
    """
    present = np.flatnonzero(weight > 0)
    keys = np.column_stack([columns.x.numpy()[present], y[present]])
    first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)[1:]
    sums = np.bincount(place.ravel(), weight[present])
    return present[first], sums * len(first) / sums.sum()


def split_groups(groups: np.ndarray, rng: np.random.Generator, shares: Sequence[float]) -> np.ndarray:
    """For each row, the number of its part: 1, 2, ... with about these shares of the rows, 0 for the others.

    Rows of a group are in the same part.
    """
    names, place, counts = np.unique(groups, return_inverse=True, return_counts=True)
    part, left = np.zeros(len(names), dtype=np.int8), list(rng.permutation(len(names)))
    for number, share in enumerate(shares, 1):
        size = 0.0
        while left and size < share * len(groups):
            size += counts[left[-1]]
            part[left.pop()] = number
    return np.asarray(part[place.ravel()])


def times_log(counts: np.ndarray) -> np.ndarray:
    """x log x, and 0 at 0."""
    return np.asarray(counts * np.log(np.where(counts > 0, counts, 1)))
