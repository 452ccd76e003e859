"""A piece: columns with rational weights and a constant; its length in bits, and what its rows are worth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nsr.learn.pieces.targets import Numbers, Targets
from nsr.program.expressions import Expression, total
from nsr.reading.rounding import rounding_tolerance


@dataclass(frozen=True)
class Piece:
    """Columns with rational weights, and a constant."""

    weights: tuple[tuple[str, Fraction], ...]
    """The name of each column and its weight, which is not 0."""
    constant: Fraction
    origin: str = "enumeration"
    """What found it: enumeration, consensus, least squares or product."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it adds up."""
        return tuple(name for name, _ in self.weights)

    def values(self, rows: Numbers) -> np.ndarray:
        """Its value for each row."""
        at, weights = _positions(self, rows)
        return np.asarray(rows.x[:, at] @ weights + float(self.constant))

    def tolerance(self, rows: Numbers) -> np.ndarray:
        """How far its values may be from the targets by rounding: 0 where all numbers are integers."""
        at, weights = _positions(self, rows)
        numbers = [weight for _, weight in self.weights] + [self.constant]
        integers = all(number.denominator == 1 for number in numbers)
        if rows.integer_target and integers and rows.integer_columns[at].all():
            return np.zeros(len(rows))
        sizes = np.abs(rows.x[:, at]) @ np.abs(weights) + abs(float(self.constant)) + np.abs(rows.y)
        return np.asarray(rounding_tolerance(sizes, rows.resolution))

    def holds(self, rows: Numbers) -> np.ndarray:
        """For which rows it gives the target, up to rounding."""
        return np.asarray(np.abs(self.values(rows) - rows.y) <= self.tolerance(rows))

    def expression(self, targets: Targets) -> Expression:
        """As a program writes it."""
        return total([(weight, targets.expression(name)) for name, weight in self.weights], self.constant).simplified()

    def bits(self, columns: int, derived: Sequence[str] = ()) -> float:
        """How long it is to write down: which of the columns, their weights, and the constant."""
        products = sum(name in derived for name in self.columns)
        which = sum(math.log2(max(columns - at, 1)) for at in range(len(self.weights) + products))
        numbers = sum(length(weight) for _, weight in self.weights) + length(self.constant)
        return which + numbers + PRODUCT * products


PRODUCT = 4.0
"""Bits that a product costs, in addition to its second column."""


def _positions(piece: Piece, rows: Numbers) -> tuple[list[int], np.ndarray]:
    at = [rows.names.index(name) for name in piece.columns]
    return at, np.array([float(weight) for _, weight in piece.weights])


def length(number: Fraction) -> float:
    """The bits of a number, as a decimal or as a fraction, whichever is shorter: 0, 1 and 5000 are short."""
    if number == 0:
        return 1.0
    ratio = 2 * math.log2(abs(number.numerator)) + 2 * math.log2(number.denominator) + 3
    digits, power = abs(number), 0
    while digits.denominator != 1 and power < 20:
        digits, power = digits * 10, power + 1
    if digits.denominator != 1:
        return ratio
    count, zeros = digits.numerator, 0
    while count % 10 == 0:
        count, zeros = count // 10, zeros + 1
    return min(ratio, 2 * math.log2(count) + 2 * math.log2(1 + abs(power - zeros)) + 3)


def surprise(hits: int, rows: int, chance: float) -> float:
    """The bits by which so many hits among some rows are more than chance would give, naming those rows included."""
    share = hits / rows if rows else 0.0
    if share <= chance:
        return 0.0
    rest = 0.0 if share == 1 else (1 - share) * math.log2((1 - share) / (1 - chance))
    return rows * (share * math.log2(share / chance) + rest)


def chance_of_hit(rest: np.ndarray, slack: float) -> float:
    """How probable a hit is where targets have nothing to do with a piece: remainders of shuffled targets."""
    ranked = np.sort(rest)
    counts = np.diff(np.flatnonzero(np.concatenate([[True], np.diff(ranked) > slack, [True]])))
    n = len(rest)
    if counts.max() > 3:
        return float(counts.max() / n)
    return float(max((counts * (counts - 1)).sum() / (n * (n - 1)), 1 / n**2))
