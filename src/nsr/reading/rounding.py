"""Constants as a person would have written them, and how far floats may be off by rounding."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np

DIGITS = 20
"""The most decimal places tried."""
ROUNDINGS = 16
"""How many rounding errors a sum may contain."""

Sizes = TypeVar("Sizes", float, np.ndarray)


def rounding_tolerance(sizes: Sizes, resolution: float) -> Sizes:
    """How far a sum may be off by rounding alone, for terms whose absolute values add up to ``sizes``.

    ``resolution`` is the eps of the dtype in which the numbers were given.
    """
    return ROUNDINGS * resolution * sizes


def as_rational(value: float) -> Fraction:
    """A float as the decimal that it prints as."""
    return Fraction(repr(float(value)))


def simplest(low: Fraction, high: Fraction, near: Fraction) -> Fraction:
    """The number with the fewest digits from ``low`` to ``high``: 0 before 5000 before 5 before 37.5.

    Of several, the one nearest to ``near``; of two equally near, one that ends in 5.
    """
    if low <= 0 <= high:
        return Fraction(0)
    for power in range(len(str(int(max(abs(low), abs(high))))) + 1, -DIGITS - 1, -1):
        # In integers, which are many times faster than fractions: the multiples of a power of ten from low to high.
        up, down = 10 ** max(-power, 0), 10 ** max(power, 0)
        first = -(-low.numerator * up // (low.denominator * down))
        last = high.numerator * up // (high.denominator * down)
        if first <= last:
            step = Fraction(down, up)
            return step * Fraction(min(max(_nearest(near / step), first), last))
    return near


def _nearest(count: Fraction) -> int:
    """The nearest integer; of two, the one that ends in 5 or 0, else the even one."""
    if count.denominator == 2:
        return next((each for each in (math.floor(count), math.ceil(count)) if each % 5 == 0), round(count))
    return round(count)


@lru_cache(maxsize=100_000)
def number_nats(value: Fraction) -> float:
    """Nats to name a number: its digits without trailing zeros, and where they stand. 1 is the cheapest."""
    if value == 0:
        return 0.0
    return math.log(2) + min(_decimal_nats(abs(value)), _fraction_nats(abs(value)))


def _decimal_nats(value: Fraction) -> float:
    for places in range(13):
        scaled = value * 10**places
        if scaled.denominator == 1:
            digits = str(scaled.numerator)
            mantissa = digits.rstrip("0")
            zeros = len(digits) - len(mantissa)
            return 1.3 * math.log(int(mantissa)) + 0.7 * (places + zeros)
    return math.inf


def _fraction_nats(value: Fraction) -> float:
    nominator, denominator = value.numerator, value.denominator
    if max(nominator, denominator) > 10**15:
        return 40.0
    return 1.3 * (math.log(nominator) + math.log(denominator)) + (1.4 if denominator > 1 else 0.0)
