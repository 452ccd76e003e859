"""Which numbers of a program a target can represent, and the warning if it cannot."""

import inspect
import itertools
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial, reduce
from itertools import zip_longest
from typing import Any

from nsr.errors import InputError
from nsr.program.conditions import Condition
from nsr.program.expressions import Compare, Constant, Count, Expression, Linear, Order, Product, Where
from nsr.program.kinds import Kind
from nsr.program.text import number
from nsr.program.times import is_temporal
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
        yield from _own_numbers(node)


def _own_numbers(node: Expression) -> Iterator[Fraction]:
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
    """The first integer in the expression that float64 would round. (Every target rounds fractions in the same way.)

    Dates are compared as integers.
    """
    if isinstance(expression, Compare) and is_temporal(expression):
        return None
    inside = map(rounded_integer, expression.children)
    found = (value for value in _own_numbers(expression) if value.denominator == 1 and not is_float(value))
    return next(found, None) or next((value for value in inside if value is not None), None)


def reject_overflow(expression: Expression, target: str) -> None:
    """Reject numbers beyond the largest float64, for targets that compute in float64."""
    for value in numbers_in(expression):
        try:
            float(value)
        except OverflowError:
            raise InputError(f"target {target!r} computes in float64, which cannot represent {short(value)}") from None


def reject_cells(expression: Expression, target: str) -> None:
    """Reject texts, truth values, dates and questions about missing cells, for targets that have numbers only."""
    for name, kind in expression.kinds.items():
        if kind != Kind.NUMBER:
            raise InputError(f"target {target!r} has numbers only, and column {name!r} is of kind {str(kind)!r}")
    for node in expression.walk():
        if isinstance(node, Condition):
            raise InputError(f"target {target!r} has no missing numbers, and the program asks whether one is: {node}")


def adds_as_integers(expression: Expression) -> bool:
    """Whether constants alone can add up to more than 2^53, where integers are exact and floats are rounded.

    This takes a choice between constants inside a sum or product. Targets that keep integers and floats apart, such as
    Python, then differ from a program that is given floats.
    """
    bounds = (_constant_bound(node) for node in expression.walk() if isinstance(node, Linear | Product))
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
        case Where() | Order():
            return max((bound for bound in map(_constant_bound, _parts(node)) if bound is not None), default=None)
        case Count(formulas):
            return Fraction(len(formulas))
        case Product(factors):
            return _constant_start(factors)
        case Linear(terms, constant):
            bounds = [(abs(c.numerator), _constant_bound(atom)) for c, atom in terms]
            if all(bound is None for _, bound in bounds):
                return None
            return sum((c * bound for c, bound in bounds if bound is not None), abs(constant))
    return None


def _parts(node: Where | Order) -> tuple[Expression, ...]:
    """The numbers that one is chosen from."""
    return node.parts if isinstance(node, Order) else (node.then, node.otherwise)


def _constant_start(factors: Iterable[Expression]) -> Fraction | None:
    """Bound the product of the first factors, as long as they are made of constants alone."""
    product = None
    for factor in factors:
        if (bound := _constant_bound(factor)) is None:
            break
        product = max(bound, Fraction(1)) * (product or 1)
    return product


def integer_range(expression: Expression) -> int | None:
    """Largest magnitude of inputs for which nothing overflows int64; None if a number of the program already does."""
    largest = INT64
    for bound in {tuple(_growth(node)) for node in expression.walk() if not node.is_boolean}:
        if _at(bound, largest) > INT64:
            largest = bisect_right(range(largest), INT64, key=partial(_at, bound)) - 1
        if largest < 1:
            return None
    return largest


Growth = list[Fraction]
"""Coefficients c of a polynomial: for inputs up to x, a number is at most c[0] + c[1]*x + c[2]*x*x and so on."""


def _growth(number: Expression) -> Growth:
    """Bound a number and all intermediate results, for inputs of at least 1."""
    match number:
        case Constant(value):
            return [abs(value)]
        case Linear(terms, constant):
            grown = [[abs(c.numerator) * bound for bound in _growth(atom)] for c, atom in terms]
            return [sum(bounds, Fraction(0)) for bounds in zip_longest(*grown, [abs(constant)], fillvalue=Fraction(0))]
        case Where() | Order():
            return [max(bounds) for bounds in zip_longest(*map(_growth, _parts(number)), fillvalue=Fraction(0))]
        case Count(formulas):
            return [Fraction(len(formulas))]
        case Product(factors):
            return reduce(_multiplied, map(_growth, factors))
    return [Fraction(0), Fraction(1)]


def _multiplied(one: Growth, other: Growth) -> Growth:
    """The product of two bounds; no less than the first, which is an intermediate result."""
    other = other if sum(other) >= 1 else [other[0] + 1, *other[1:]]
    product = [Fraction(0)] * (len(one) + len(other) - 1)
    for (degree, bound), (further, factor) in itertools.product(enumerate(one), enumerate(other)):
        product[degree + further] += bound * factor
    return product


def _at(bound: Iterable[Fraction], inputs: int) -> Any:
    return sum((coefficient * inputs**degree for degree, coefficient in enumerate(bound)), Fraction(0))
