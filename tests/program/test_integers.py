"""Programs on integers: comparisons without fractions, and how large their numbers can get."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsr.program import Compare, Constant, Linear, Not, Variable, Where
from nsr.program.integers import denominator, magnitude_bound, with_integer_coefficients
from tests.program.oracle import worth
from tests.program.strategies import INTEGERS, expressions

NAMES = ("a", "b", "c")
a, b, c = map(Variable, NAMES)
choice = Where(Compare(">", a * Fraction(1, 5), b), a * Fraction(1, 2), b)
ROWS = st.lists(INTEGERS, min_size=3, max_size=3).map(lambda values: dict(zip(NAMES, values, strict=True)))


def numbers_of(number):
    """A number and what it adds up or chooses from, but not the conditions of its choices."""
    yield number
    for below in number.children[1:] if isinstance(number, Where) else number.children:
        if not below.is_boolean:
            yield from numbers_of(below)


@given(expressions(NAMES), ROWS)
def test_on_integers_the_value_is_the_same(tree, row):
    assert worth(with_integer_coefficients(tree), row) == worth(tree, row)


@given(expressions(NAMES))
def test_no_comparison_keeps_a_fraction(tree):
    for comparison in (node for node in with_integer_coefficients(tree).walk() if isinstance(node, Compare)):
        for number in (each for side in comparison.children for each in numbers_of(side)):
            if isinstance(number, Linear):
                assert {value.denominator for value in (number.constant, *(c for c, _ in number.terms))} == {1}
            assert not isinstance(number, Constant) or number.value.denominator == 1


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Compare(">", a * Fraction(1, 3), b + Fraction(1, 2)), "2*a > 6*b + 3"),
        (Compare(">", choice, Constant(1)), "where(a > 5*b, a, 2*b) > 2"),
        (Compare(">", 2 * choice, b * 3), "where(a > 5*b, a, 2*b) > 3*b"),
        (Not(Compare(">", a, Constant(0.5))), "not 2*a > 1"),
        (choice, "where(a > 5*b, a/2, b)"),
        (Compare(">", a, b), "a > b"),
    ],
)
def test_the_least_factor_is_applied_inside_choices(tree, text):
    assert str(with_integer_coefficients(tree)) == text


@pytest.mark.parametrize(
    ("number", "expected"),
    [(a, 1), (Constant(0.25), 4), (a * Fraction(1, 4) + Fraction(1, 6), 12), (choice, 2), (2 * choice, 1)],
)
def test_the_denominator_of(number, expected):
    assert denominator(number) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (a, 10),
        (Constant(-20), 20),
        (a - 3 * b - 7, 47),
        (a * Fraction(2, 3), 20),
        (Where(Compare(">", a, b), a, -b), 10),
    ],
)
def test_the_magnitude_bound_of(number, expected):
    assert magnitude_bound(number, 10) == expected


@given(expressions(NAMES), ROWS)
def test_nothing_is_larger_than_its_magnitude_bound(tree, row):
    largest = max(map(abs, row.values()))
    for node in tree.walk():
        assert node.is_boolean or abs(worth(node, row)) <= magnitude_bound(node, largest)


@pytest.mark.usefixtures("unchecked")
def test_a_formula_has_no_magnitude():
    with pytest.raises(TypeError, match="only numbers have a magnitude, got Compare"):
        magnitude_bound(Compare(">", a, b), 3)
