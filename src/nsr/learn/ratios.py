"""Multiples of columns that a screen tries: ``a > 1.5*b`` is ``a / b > 1.5`` where b is positive.

So the factor is found as any constant is, by sorting. Without this, ``a > 1.5*b`` in coarse units would be read as
stairs: ``b < 20 or a > b + 20 or ...``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nsr.learn.rules import cases
from nsr.reading.atoms import Atom, Weights
from nsr.reading.rounding import as_rational
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import uncertainty_left
from nsr.reading.weights import integer_weights, simple_ratios

POSITIVE = 0.9
"""Multiples are looked for where this share of the rows have two positive numbers."""
SLACKS = (0.0, 3.0, 8.0)
"""Nats by which other factors may separate the classes worse: the simplest one among them is proposed too."""
CONSTANT = 0.02
"""A column whose spread, beside its median, is less than this share of that of another is as good as a constant for it:
``80*x > year`` only says that x is above 25."""
LARGEST_DENOMINATOR = 10**6
ROUNDING = Fraction(1, 10**12)
"""By how much a range of factors is taken wider, relatively, since floats round a ratio."""


@dataclass(frozen=True)
class Multiple:
    """Two columns whose ratio separates the classes, and the sums ``a - r*b`` for simple factors r, simplest last."""

    left: float
    """The uncertainty in nats that is left once each row's side is known."""
    sums: tuple[Weights, ...]

    @property
    def atom(self) -> Atom:
        """The comparison with the factor that separates the classes best."""
        return Atom(self.sums[0])


def best_multiples(
    rows: LabelledRows, pairs: Sequence[tuple[str, str]], others: Sequence[Atom] = (), *, count: int = 1
) -> list[Multiple]:
    """The multiples that separate the classes best, given each row's side of other atoms; the best first."""
    found = [each for each in _multiples(rows, pairs, cases(rows, others)) if each.sums]
    return sorted(found, key=lambda each: each.left)[:count]


def _multiples(rows: LabelledRows, pairs: Sequence[tuple[str, str]], groups: np.ndarray) -> Iterator[Multiple]:
    columns = rows.columns
    x = dict(zip(columns.names, columns.x.double().numpy().T, strict=True))
    positive = {name: x[name] > 0 for pair in pairs for name in pair}
    parts: dict[bytes, LabelledRows] = {}
    for one, two in pairs:
        both = positive[one] & positive[two]
        if both.mean() < POSITIVE:
            continue
        usable = np.flatnonzero(both)
        if _is_as_good_as_constant(x[one][usable], x[two][usable]):
            continue
        part = parts.setdefault(both.tobytes(), rows.subset(usable))
        values, place = np.unique(x[one][usable] / x[two][usable], return_inverse=True)
        left = uncertainty_left(place, len(values), np.unique(groups[usable], return_inverse=True)[1], part)
        yield Multiple(float(left.min()), tuple(_sums(one, two, values, left)))


def _is_as_good_as_constant(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether one of two columns of positive numbers hardly varies beside the other."""
    spreads = [
        float((high - low) / middle) for low, middle, high in (np.quantile(x, (0.05, 0.5, 0.95)) for x in (one, two))
    ]
    return min(spreads) < CONSTANT * max(spreads)


def _sums(one: str, two: str, values: np.ndarray, left: np.ndarray) -> Iterator[Weights]:
    """Sums with simple factors between the values around the best split."""
    best = int(left.argmin())
    factors: list[Fraction] = []
    for slack in SLACKS:
        first, last = _around(left, best, slack)
        if not 0 < first <= last < len(values) - 1:
            break  # the split is at an end: any other factor would do as well
        low, high = as_rational(values[first - 1]), as_rational(values[last + 1])
        tight = as_rational(values[first]), as_rational(values[last])
        factors += simple_ratios(tight[0] * (1 - ROUNDING), tight[1] * (1 + ROUNDING)) + simple_ratios(low, high)
    usable = [each for each in factors if max(each.numerator, each.denominator) < LARGEST_DENOMINATOR]
    yield from dict.fromkeys(integer_weights((one, two), (Fraction(1), -each)) for each in usable)


def _around(left: np.ndarray, best: int, slack: float) -> tuple[int, int]:
    """The first and the last of the values next to the best one that leave hardly more uncertainty."""
    fine = left <= left[best] + slack + 1e-6
    first = last = best
    while first > 0 and fine[first - 1]:
        first -= 1
    while last < len(left) - 1 and fine[last + 1]:
        last += 1
    return first, last
