"""The constant that a person would have written: the simplest number that the data allow."""

from fractions import Fraction

DIGITS = 20
"""How many digits after the point are tried."""


def simplest(low: Fraction, high: Fraction, near: Fraction) -> Fraction:
    """The number of fewest digits from ``low`` to ``high``: 0 before 5000 before 5 before 37.5; then the nearest."""
    if low <= 0 <= high:
        return Fraction(0)
    power = len(str(int(max(abs(low), abs(high))))) + 1
    while power >= -DIGITS:
        step = Fraction(10) ** power
        first, last = -(-low // step), high // step
        if first <= last:
            return step * min(max(Fraction(round(near / step)), Fraction(first)), Fraction(last))
        power -= 1
    return near
