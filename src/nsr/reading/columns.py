"""Rows of numbers as a reading needs them: differences of columns without rounding, and what lies next to them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from nsr.program.expressions import Constant, Expression, Variable
from nsr.program.program import Program

DECIMALS = 9
"""Floats that are decimals of at most so many digits after the point are counted in units of the last one."""
ROOM = 2**62
"""Differences below this are whole numbers of int64."""


@dataclass(frozen=True)
class Probe:
    """A comparison that a formula may use: ``x[first] - x[second]`` with ``at``. After the last column comes a 0."""

    first: int
    second: int
    at: Fraction

    @property
    def pair(self) -> tuple[int, int]:
        """What it compares."""
        return self.first, self.second


class Numbers:
    """Rows (rows, inputs) with the names of their columns.

    Floats such as 2.9 and 2.6 differ by 0.3 here, and not by 0.2999999999999998: where both columns hold short
    decimals, they are whole numbers of a common unit.
    """

    def __init__(self, x: Tensor, names: Sequence[str]) -> None:
        self.x = x if x.is_floating_point() else x.to(torch.int64)
        self.names = tuple(names)
        self.units = [*map(_unit, self.x.T), Fraction(1)]
        self._largest = [*(self.x.double().abs().amax(0).tolist() if len(x) else [0.0] * len(self.names)), 0.0]

    def __len__(self) -> int:
        return len(self.x)

    def of(self, program: Program) -> np.ndarray:
        """What a program says of each row."""
        return np.asarray(program(self.x).numpy())

    def rounding(self, y: np.ndarray) -> np.ndarray:
        """How far a sum of each row's numbers may be from ``y`` by rounding alone: not at all where all are whole."""
        if not self.x.is_floating_point() and np.array_equal(y, np.rint(y)):
            return np.zeros(len(self))
        resolution = torch.finfo(self.x.dtype if self.x.is_floating_point() else torch.float64).eps
        return np.asarray(16 * resolution * (self.size + np.abs(y)))

    @property
    def size(self) -> np.ndarray:
        """The sizes of each row's numbers, added up."""
        return np.asarray(self.x.double().abs().sum(-1).numpy())

    def unit(self, first: int, second: int) -> Fraction | None:
        """A unit of which both columns are whole multiples; None where there is none, or where int64 has no room."""
        one, other = self.units[first], self.units[second]
        if one is None or other is None:
            return None
        unit = min(one, other)
        return unit if self._largest[first] + self._largest[second] < ROOM * float(unit) else None

    def difference(self, first: int, second: int) -> np.ndarray:
        """Column ``first`` minus column ``second`` in units, where the column after the last one is 0."""
        unit = self.unit(first, second)
        one = self._scaled(first, unit)
        with np.errstate(over="ignore"):  # of floats alone
            return one if second == len(self.names) else one - self._scaled(second, unit)

    def _scaled(self, column: int, unit: Fraction | None) -> np.ndarray:
        own = self.x[:, column].numpy()
        if unit is None:
            return own.astype(np.float64)
        return own if own.dtype == np.int64 else np.rint(own.astype(np.float64) * unit.denominator).astype(np.int64)

    def signs(self, probe: Probe) -> np.ndarray:
        """-1, 0 or 1 on each row: the probe's difference is less, equal or greater."""
        difference, unit = self.difference(*probe.pair), self.unit(*probe.pair)
        if unit is None:
            return np.sign(difference - float(probe.at)).astype(np.int8)
        at = probe.at / unit
        whole = math.floor(at)
        return np.where(difference > whole, 1, np.where(difference == whole, -(at > whole), -1)).astype(np.int8)

    def away(self, probe: Probe) -> np.ndarray:
        """How far the probe's difference is from its value on each row."""
        unit = self.unit(*probe.pair)
        away = self.difference(*probe.pair) * float(1 if unit is None else unit) - float(probe.at)
        return np.where(self.signs(probe) == 0, 0.0, away)

    def value(self, pair: tuple[int, int], scaled: np.generic) -> Fraction:
        """A difference of a pair as the number that it is."""
        unit = self.unit(*pair)
        return rational_of(float(scaled)) if unit is None else int(scaled) * unit

    def neighbours(self, probe: Probe) -> tuple[Fraction | None, Fraction | None]:
        """The values of the difference just below and just above the probe."""
        values, signs = self.difference(*probe.pair), self.signs(probe)
        below, above = values[(signs < 0) & np.isfinite(values)], values[(signs > 0) & np.isfinite(values)]
        return (
            self.value(probe.pair, below.max()) if len(below) else None,
            self.value(probe.pair, above.min()) if len(above) else None,
        )

    def sides(self, probe: Probe, constant: Fraction) -> tuple[Expression, Expression]:
        """What a comparison with the probe's difference has on its left and on its right."""
        left = Variable(self.names[probe.first])
        if probe.second == len(self.names):
            return left, Constant(constant)
        return left, Variable(self.names[probe.second]) + constant

    def told(self, row: int) -> str:
        """A row in words."""
        values = self.x[row].tolist()
        return ", ".join(f"{name} = {value!r}" for name, value in zip(self.names, values, strict=True))


def rational_of(value: float) -> Fraction:
    """A float as the decimal that it prints as."""
    return Fraction(repr(float(value)))


def _unit(column: Tensor) -> Fraction | None:
    """A power of ten of which all numbers are whole multiples, as they print; None where there is none."""
    if not column.is_floating_point() or not column.numel():
        return Fraction(1)
    for digits in range(DECIMALS + 1):
        scaled = (column.double() * 10**digits).round()
        if scaled.abs().max() >= 2**53:
            break
        if torch.equal((scaled / 10**digits).to(column.dtype), column):
            return Fraction(1, 10**digits)
    return None
