"""Rows of numbers with a target number each."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsr.program.expressions import Expression, Variable
from nsr.reading.columns import Columns
from nsr.reading.rows import merge_equal_rows

EXACT = 2**50
"""Integers below this are added exactly."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Rows as floats with their targets: what the search computes with."""

    names: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray
    resolution: float
    """The relative precision of the numbers."""
    integer_columns: np.ndarray
    """Which columns hold only integers, small enough for float64 to add up exactly."""
    integer_target: bool
    """Whether all targets are such integers."""

    def __len__(self) -> int:
        return len(self.y)

    def subset(self, rows: np.ndarray) -> "Numbers":
        """Some of the rows."""
        return replace(self, x=self.x[rows], y=self.y[rows])

    def some(self, rows: np.ndarray, most: int, rng: np.random.Generator) -> "Numbers":
        """At most so many of some rows."""
        return self.subset(np.sort(rng.permutation(rows)[:most]))


@dataclass(frozen=True, eq=False)
class Targets:
    """Rows of numbers, each with a target number and a weight: how often it occurs."""

    columns: Columns
    y: np.ndarray
    weight: np.ndarray
    resolution: float = float(np.finfo(np.float64).eps)
    """The relative precision of the numbers: the eps of the columns' or the target's dtype, whichever is larger."""

    def __len__(self) -> int:
        return len(self.y)

    @property
    def x(self) -> np.ndarray:
        """The rows as floats."""
        return self.numbers.x

    @cached_property
    def numbers(self) -> Numbers:
        """What the search computes with."""
        x = np.asarray(self.columns.x.double().numpy())
        integers = np.asarray((x == np.rint(x)).all(0) & (np.abs(x).max(0) < EXACT))
        target = bool((self.y == np.rint(self.y)).all() and np.abs(self.y).max() < EXACT)
        return Numbers(self.columns.names, x, self.y, self.resolution, integers, target)

    def expression(self, name: str) -> Expression:
        """A column as a program writes it."""
        return self.columns.products.get(name, Variable(name))

    def subset(self, rows: np.ndarray) -> "Targets":
        """Some of the rows."""
        return replace(self, columns=self.columns.subset(rows), y=self.y[rows], weight=self.weight[rows])

    def distinct(self) -> "Targets":
        """Equal rows with equal targets merged into one, in a canonical order."""
        rows, weight = merge_equal_rows(self.columns, self.y, self.weight)
        return replace(self.subset(rows), weight=weight)

    @property
    def binary(self) -> np.ndarray:
        """Which columns hold 0 and 1 only."""
        return np.asarray(((self.x == 0) | (self.x == 1)).all(0))

    @property
    def flags(self) -> set[str]:
        """The names of these columns."""
        return {name for name, is_flag in zip(self.columns.names, self.binary, strict=True) if is_flag}

    def with_products(self, pairs: Iterable[tuple[int, int]]) -> "Targets":
        """With the products of pairs of columns as further columns."""
        names = [(self.columns.names[first], self.columns.names[second]) for first, second in pairs]
        squares_too = [((a, 2),) if a == b else ((a, 1), (b, 1)) for a, b in names]
        return replace(self, columns=self.columns.with_products(squares_too))

    def with_products_of(self, other: "Targets", used: Collection[str] | None = None) -> "Targets":
        """With the products that other rows of the same table have, all of them or those with some names."""
        factors = [
            Counter(node.name for node in product.walk() if isinstance(node, Variable))
            for name, product in other.columns.products.items()
            if used is None or name in used
        ]
        return replace(self, columns=self.columns.with_products(tuple(each.items()) for each in factors))
