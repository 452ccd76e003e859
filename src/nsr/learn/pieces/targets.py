"""Rows of numbers with a target number each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch

from nsr.program.expressions import Expression, Product, Variable
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
    derived: Mapping[str, Expression] = field(default_factory=dict)
    """What the columns that were added are, by their names: products of two columns."""

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
        return self.derived.get(name, Variable(name))

    def subset(self, rows: np.ndarray) -> "Targets":
        """Some of the rows."""
        return replace(self, columns=self.columns.subset(rows), y=self.y[rows], weight=self.weight[rows])

    def distinct(self) -> "Targets":
        """Equal rows with equal targets merged into one, in a canonical order."""
        rows, weight = merge_equal_rows(self.columns, self.y, self.weight)
        return replace(self.subset(rows), weight=weight)

    def with_columns(self, names: Sequence[str]) -> "Targets":
        """Only these columns, in this order."""
        position = {name: at for at, name in enumerate(self.columns.names)}
        columns = Columns(self.columns.x[:, [position[name] for name in names]], names)
        derived = {name: value for name, value in self.derived.items() if name in names}
        return replace(self, columns=columns, derived=derived)

    def with_products(self, pairs: Sequence[tuple[int, int]]) -> "Targets":
        """With the products of some pairs of columns as further columns.

        Products of short decimals are rounded to the decimal that they are.
        """
        names, x, units = list(self.columns.names), self.columns.x, self.columns.units
        added, derived = [], dict(self.derived)
        for first, second in pairs:
            name = f"{names[first]}*{names[second]}"
            while name in names:
                name += "'"
            unit = units[first], units[second]
            values = self.x[:, first] * self.x[:, second]
            if unit[0] is not None and unit[1] is not None:
                per = (unit[0] * unit[1]).denominator
                if np.abs(values).max() * per < 2**53:
                    values = np.rint(values * per) / per
            derived[name] = Product(self.expression(names[first]), self.expression(names[second]))
            names.append(name)
            added.append(values)
        both = torch.cat([x.double(), torch.from_numpy(np.column_stack(added))], 1) if added else x
        return replace(self, columns=Columns(both, names), derived=derived)
