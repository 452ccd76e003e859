"""Which numbers of a program a target can represent, at the borders of float64 and int64."""

from fractions import Fraction
from math import isqrt

import pytest

from nsr.program import Constant, Count, Kind, Linear, Order, Product, Variable, Where
from nsr.program.emit.exactness import adds_as_integers, integer_range, is_float, numbers_in, rounded_integer, short

INT64 = 2**63 - 1
EXACT = 2**53
THIRD = Fraction(1, 3)
a, b, c = map(Variable, "abc")
day = Variable("day", Kind.DATE)


def test_long_numbers_are_shortened():
    assert short(10**23) == "1" + 23 * "0"
    assert short(12345678 * 10**17 + 4321) == "12345678...4321 (25 characters)"
    assert short(Fraction(-1, 3)) == "-1/3"


def test_the_numbers_that_a_target_writes():
    assert list(numbers_in(a * Fraction(2, 3) - b + 5 > 7)) == [5, 2, 3, -1, 1, 7]


@pytest.mark.parametrize(
    ("value", "exact"),
    [(EXACT, True), (EXACT + 1, False), (Fraction(1, 2), True), (Fraction(1, 10), False), (10**400, False)],
)
def test_numbers_that_are_floats(value, exact):
    assert is_float(Fraction(value)) is exact


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        (a > EXACT, None),
        (a > EXACT + 1, EXACT + 1),
        ((EXACT + 1) * a > b, EXACT + 1),
        (a + THIRD > b, None),
        (Where(a > b, a + EXACT + 3, EXACT + 1), EXACT + 3),
        (day > EXACT + 1, None),
    ],
)
def test_the_first_integer_that_floats_round(expression, found):
    assert rounded_integer(expression) == found


def between(one, other):
    """A choice between two constants."""
    return Where(a > b, one, other)


@pytest.mark.parametrize(
    ("expression", "beyond"),
    [
        (a + 2**60, False),
        (a + between(EXACT, 0), False),
        (a + between(0, EXACT) + 1, True),
        (a - between(0, -EXACT) - 1, True),
        (between(2**52, 0) + Where(a > c, 0, -(2**52)), False),
        (between(2**52, 0) + Where(a > c, 0, -(2**52) - 1), True),
        (Linear([(2**51, Count(a > 0, b > 0, c > 0, a > c))]), False),
        (Linear([(2**51, Count(a > 0, b > 0, c > 0, a > c))], 1), True),
        (Linear([(1, Order(1, a, EXACT))], 1), True),
        (Linear([(1, Order(1, a, EXACT))]), False),
        (Product(between(2**27, 1), Where(a > c, 1, 2**26)), False),
        (Product(between(2**27, 1), Where(a > c, 1, 2**26 + 1)), True),
        (Product(between(EXACT + 1, 0), between(0, 0), a), True),
        (Product(between(2**30, 0), a, between(2**30, 0)), False),
        (between(2**60, 0), False),
    ],
)
def test_constants_that_add_up_beyond_floats(expression, beyond):
    assert adds_as_integers(expression) is beyond


@pytest.mark.parametrize(
    ("expression", "largest"),
    [
        (a > b, INT64),
        (a > 2 * b, INT64 // 2),
        (a + b - 3 > c, (INT64 - 3) // 2),
        (a * THIRD > b, INT64),
        (a > INT64, INT64),
        (a > INT64 + 1, None),
        (a * b > c, isqrt(INT64)),
        (a * a + 2 * a + 1 > c, isqrt(INT64) - 1),
        (Product(a, Constant(-2), b) > c, isqrt(INT64 // 2)),
        (Product(a, Constant(0), b) > c, isqrt(INT64)),
        (Where(a > b, 3 * a, c) + 5 > 0, (INT64 - 5) // 3),
        (Order(1, 4 * a, b) > 0, INT64 // 4),
        (Count(a > b, a > c) + a > 0, INT64 - 2),
        (Linear([(2**62, a)], 2**62 - 1) > 0, 1),
        (Linear([(2**62, a)], 2**62) > 0, None),
    ],
)
def test_the_inputs_for_which_nothing_overflows(expression, largest):
    assert integer_range(expression) == largest
