"""Which numbers of a program a target can hold, and the warning where it cannot."""

import inspect
import warnings
from collections.abc import Iterator
from fractions import Fraction

from nsr.errors import InputError
from nsr.program.expressions import Constant, Expression, Linear, Where
from nsr.program.text import number
from nsr.program.values import INT64

FLOAT_INTEGERS = 2**53
"""Every integer up to this one is a float64."""


class InexactWarning(UserWarning):
    """A number of the program is beyond what the target computes exactly."""


def warn_inexact(message: str) -> None:
    """Warn at the line, outside of this package, that called for the emitted program."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("nsr."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, InexactWarning, stacklevel=level)


def short(value: Fraction | int) -> str:
    """A number for a message, not longer than a word."""
    written = number(Fraction(value))
    return written if len(written) <= 24 else f"{written[:8]}...{written[-4:]} ({len(written)} characters)"


def written(expression: Expression) -> Iterator[Fraction]:
    """The numbers that a target writes: constants, and numerators and denominators of coefficients."""
    for node in expression.walk():
        if isinstance(node, Constant):
            yield node.value
        elif isinstance(node, Linear):
            yield node.constant
            for coefficient, _ in node.terms:
                yield Fraction(coefficient.numerator)
                yield Fraction(coefficient.denominator)


def is_float(value: Fraction) -> bool:
    """Whether a float64 is exactly this number."""
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def rounded(expression: Expression) -> Fraction | None:
    """The first whole number in the expression that no float64 is. Fractions are their nearest float everywhere."""
    return next((value for value in written(expression) if value.denominator == 1 and not is_float(value)), None)


def refuse_overflow(expression: Expression, target: str) -> None:
    """Refuse numbers beyond the largest float64, for targets that compute in nothing larger."""
    for value in written(expression):
        try:
            float(value)
        except OverflowError:
            raise InputError(f"target {target!r} computes in float64, which cannot hold {short(value)}") from None


def adds_as_integers(expression: Expression) -> bool:
    """Whether constants alone can add up beyond 2^53: exactly as integers, but rounded as floats.

    It takes a choice between constants inside a sum. Targets that add integers and floats as they come, such as
    Python, then differ from a program that was given floats.
    """
    sums = (_constant_reach(node) for node in expression.walk() if isinstance(node, Linear))
    return any(reach is not None and reach > FLOAT_INTEGERS for reach in sums)


def warn_of_whole_constants(expression: Expression, target: str) -> None:
    """Warn where a target that keeps whole constants whole answers floats in another way than the program."""
    if (value := rounded(expression)) is not None:
        warn_inexact(
            f"{short(value)} is no float: {target} takes it exactly, and the program takes the nearest to floats"
        )
    elif adds_as_integers(expression):
        warn_inexact(
            f"constants add up beyond 2^53: {target} adds them exactly, and the program rounds them with floats"
        )


def _constant_reach(node: Expression) -> Fraction | None:
    """How large a number can get that constants alone make up; None where an input is always in it."""
    match node:
        case Constant(value):
            return abs(value)
        case Where(_, then, otherwise):
            return max((r for r in map(_constant_reach, (then, otherwise)) if r is not None), default=None)
        case Linear(terms, constant):
            found = [(abs(c.numerator), _constant_reach(atom)) for c, atom in terms]
            if all(reach is None for _, reach in found):
                return None
            return sum((c * reach for c, reach in found if reach is not None), abs(constant))
    return None


def integer_range(expression: Expression) -> int | None:
    """A size of the inputs up to which nothing leaves int64, or None where a number of the program already does."""
    largest = INT64
    for slope, offset in (_growth(node) for node in expression.walk() if not node.is_truth):
        if offset > INT64:
            return None
        largest = min(largest, int((INT64 - offset) / slope) if slope else INT64)
    return largest or None


def _growth(number: Expression) -> tuple[Fraction, Fraction]:
    """s and o such that the number, and what is computed on the way, is at most s * x + o for inputs up to x."""
    match number:
        case Constant(value):
            return Fraction(0), abs(value)
        case Linear(terms, constant):
            found = [(abs(c.numerator), *_growth(atom)) for c, atom in terms]
            return sum((c * s for c, s, _ in found), Fraction(0)), sum((c * o for c, _, o in found), abs(constant))
        case Where(_, then, otherwise):
            slopes, offsets = zip(_growth(then), _growth(otherwise), strict=True)
            return max(slopes), max(offsets)
    return Fraction(1), Fraction(0)
