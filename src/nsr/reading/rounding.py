"""The constant that a person would have written: the simplest number that the data allow."""

import math
from fractions import Fraction

DIGITS = 20
"""How many digits after the point are tried."""


def simplest(low: Fraction, high: Fraction, near: Fraction) -> Fraction:
    """The number of fewest digits from ``low`` to ``high``: 0 before 5000 before 5 before 37.5; then the nearest.

    Of two that are equally near, one that ends in 5 is taken.
    """
    if low <= 0 <= high:
        return Fraction(0)
    power = len(str(int(max(abs(low), abs(high))))) + 1
    while power >= -DIGITS:
        step = Fraction(10) ** power
        first, last = -(-low // step), high // step
        if first <= last:
            return step * min(max(Fraction(_nearest(near / step)), Fraction(first)), Fraction(last))
        power -= 1
    return near


def _nearest(count: Fraction) -> int:
    """The nearest whole number; of two the one that ends in 5 or 0, else the even one."""
    if count.denominator == 2:
        return next((each for each in (math.floor(count), math.ceil(count)) if each % 5 == 0), round(count))
    return round(count)
