"""Which numbers of a program a target can represent, and the warning if it cannot."""

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
    """The program holds a number with which the target cannot compute exactly."""


def warn_inexact(message: str) -> None:
    """Warn at the line outside this package that asked for the emitted program."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("nsr."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, InexactWarning, stacklevel=level)


def short(value: Fraction | int) -> str:
    """Write a number for a message, shortened if it is long."""
    written = number(Fraction(value))
    return written if len(written) <= 24 else f"{written[:8]}...{written[-4:]} ({len(written)} characters)"


def numbers_in(expression: Expression) -> Iterator[Fraction]:
    """Yield the numbers that a target writes: constants, and numerators and denominators of coefficients."""
    for node in expression.walk():
        if isinstance(node, Constant):
            yield node.value
        elif isinstance(node, Linear):
            yield node.constant
            for coefficient, _ in node.terms:
                yield Fraction(coefficient.numerator)
                yield Fraction(coefficient.denominator)


def is_float(value: Fraction) -> bool:
    """Whether float64 represents the number exactly."""
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def rounded_integer(expression: Expression) -> Fraction | None:
    """The first integer in the expression that float64 would round. (Every target rounds fractions in the same way.)"""
    return next((value for value in numbers_in(expression) if value.denominator == 1 and not is_float(value)), None)


def reject_overflow(expression: Expression, target: str) -> None:
    """Reject numbers beyond the largest float64, for targets that compute in float64."""
    for value in numbers_in(expression):
        try:
            float(value)
        except OverflowError:
            raise InputError(f"target {target!r} computes in float64, which cannot represent {short(value)}") from None


def adds_as_integers(expression: Expression) -> bool:
    """Whether constants alone can add up to more than 2^53, where integers are exact and floats are rounded.

    This takes a choice between constants inside a sum. Targets that keep integers and floats apart, such as Python,
    then differ from a program that is given floats.
    """
    bounds = (_constant_bound(node) for node in expression.walk() if isinstance(node, Linear))
    return any(bound is not None and bound > FLOAT_INTEGERS for bound in bounds)


def warn_about_integer_constants(expression: Expression, target: str) -> None:
    """Warn if a target that keeps integer constants as integers can differ from the program on floats."""
    if (value := rounded_integer(expression)) is not None:
        warn_inexact(
            f"{short(value)} is not a float: on floats {target} uses it exactly, while the program uses the nearest"
        )
    elif adds_as_integers(expression):
        warn_inexact(
            f"constants add up to more than 2^53: on floats {target} adds them exactly, while the program rounds"
        )


def _constant_bound(node: Expression) -> Fraction | None:
    """Bound a number that is made of constants alone; None if it always depends on an input."""
    match node:
        case Constant(value):
            return abs(value)
        case Where(_, then, otherwise):
            return max((bound for bound in map(_constant_bound, (then, otherwise)) if bound is not None), default=None)
        case Linear(terms, constant):
            bounds = [(abs(c.numerator), _constant_bound(atom)) for c, atom in terms]
            if all(bound is None for _, bound in bounds):
                return None
            return sum((c * bound for c, bound in bounds if bound is not None), abs(constant))
    return None


def integer_range(expression: Expression) -> int | None:
    """Largest magnitude of inputs for which nothing overflows int64; None if a number of the program already does."""
    largest = INT64
    for slope, offset in (_growth(node) for node in expression.walk() if not node.is_boolean):
        if offset > INT64:
            return None
        largest = min(largest, int((INT64 - offset) / slope) if slope else INT64)
    return largest or None


def _growth(number: Expression) -> tuple[Fraction, Fraction]:
    """Slope s and offset o: for inputs up to x, the number and all intermediate results are at most s * x + o."""
    match number:
        case Constant(value):
            return Fraction(0), abs(value)
        case Linear(terms, constant):
            growths = [(abs(c.numerator), *_growth(atom)) for c, atom in terms]
            return sum((c * s for c, s, _ in growths), Fraction(0)), sum((c * o for c, _, o in growths), abs(constant))
        case Where(_, then, otherwise):
            slopes, offsets = zip(_growth(then), _growth(otherwise), strict=True)
            return max(slopes), max(offsets)
    return Fraction(1), Fraction(0)
