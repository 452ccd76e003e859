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

    Floats such as 2.9 and 2.6 differ by 0.3 here, and not by 0.2999999999999998: where all of them are short decimals,
    they are whole numbers of a common unit.
    """

    def __init__(self, x: Tensor, names: Sequence[str]) -> None:
        self.x = x if x.is_floating_point() else x.to(torch.int64)
        self.names = tuple(names)
        self.unit = _unit(self.x)
        scaled = self.x.double().numpy()
        if not self.x.is_floating_point():
            scaled = self.x.numpy()
        elif self.unit is not None:
            scaled = np.rint(scaled * self.unit.denominator).astype(np.int64)
        self.scaled = scaled

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

    def difference(self, first: int, second: int) -> np.ndarray:
        """Column ``first`` minus column ``second`` in units, where the column after the last one is 0."""
        one = self.scaled[:, first]
        with np.errstate(over="ignore"):
            return one if second == len(self.names) else one - self.scaled[:, second]

    def signs(self, probe: Probe) -> np.ndarray:
        """-1, 0 or 1 on each row: the probe's difference is less, equal or greater."""
        difference = self.difference(probe.first, probe.second)
        if self.unit is None:
            return np.sign(difference - float(probe.at)).astype(np.int8)
        at = probe.at / self.unit
        whole = math.floor(at)
        return np.where(difference > whole, 1, np.where(difference == whole, -(at > whole), -1)).astype(np.int8)

    def away(self, probe: Probe) -> np.ndarray:
        """How far the probe's difference is from its value on each row."""
        unit = 1.0 if self.unit is None else float(self.unit)
        away = self.difference(probe.first, probe.second) * unit - float(probe.at)
        return np.where(self.signs(probe) == 0, 0.0, away)

    def value(self, scaled: np.generic) -> Fraction:
        """A difference as the number that it is."""
        return rational_of(float(scaled)) if self.unit is None else int(scaled) * self.unit

    def neighbours(self, probe: Probe) -> tuple[Fraction | None, Fraction | None]:
        """The values of the difference just below and just above the probe."""
        values, signs = self.difference(probe.first, probe.second), self.signs(probe)
        below, above = values[(signs < 0) & np.isfinite(values)], values[(signs > 0) & np.isfinite(values)]
        return self.value(below.max()) if len(below) else None, self.value(above.min()) if len(above) else None

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


def _unit(x: Tensor) -> Fraction | None:
    """A power of ten of which all numbers are whole multiples, as they print; None where there is none."""
    if not x.is_floating_point() or not x.numel():
        return Fraction(1)
    for digits in range(DECIMALS + 1):
        scaled = (x.double() * 10**digits).round()
        if scaled.abs().max() >= 2**53:
            break
        if torch.equal((scaled / 10**digits).to(x.dtype), x):
            return Fraction(1, 10**digits)
    return None
