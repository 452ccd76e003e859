"""Rules in the steps of their columns: z3 proves them the same, and no constant lies beside the steps any more."""

from fractions import Fraction

import pytest

from nsr.program import Program
from nsr.program.equivalence import compare
from nsr.program.whole_constants import with_whole_constants

CENTS = Fraction(1, 100)
TENTHS = Fraction(1, 10)


def whole(text: str, **steps: Fraction) -> str:
    return str(with_whole_constants(Program.parse(text).expression, steps))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("a + b > c + 0.005", "a + b > c"),
        ("a + b >= c + 0.005", "a + b > c"),
        ("a + b < c + 0.005", "a + b <= c"),
        ("a + b > c - 0.005", "a + b >= c"),
        ("a + b <= c - 0.005", "a + b < c"),
        ("paid > due + 250.005", "due < paid - 250"),
        ("paid > due + 249.995", "due <= paid - 250"),
        ("-a - b < 3 - c - 0.005", "a + b > c - 3"),
        ("2*a > 3*b + 0.007", "2*a > 3*b"),
        ("a*b > 20.00005", "a*b > 20"),
        ("where(a > 2.495, 1, where(b < 7.505, 2, 3))", "where(a >= 2.5, 1, where(b > 7.5, 3, 2))"),
        ("at least 2 of (a > 0.005, b > c + 0.005, c > 0.015)", "at least 2 of (a > 0, c > 0.01, b > c)"),
        ("a > 2.5 and b = c + 0.005", "a > 2.5 and b == c + 0.005"),
        ("weight > 22*height**2 - 0.00005", "weight >= 22*height**2"),
    ],
)
def test_constants_are_multiples_of_the_steps_and_the_rule_is_the_same(given, wanted):
    names = sorted(Program.parse(given).inputs)
    steps = dict.fromkeys(names, CENTS)
    assert whole(given, **steps) == wanted
    one, other = (Program.parse(text, names) for text in (given, wanted))
    assert compare(one, other, over="steps", steps=steps)
    assert str(one.expression) == str(other.expression) or not compare(one, other, over="reals")


def test_steps_of_several_columns_and_columns_without_steps():
    assert whole("a + b > 5.04", a=TENTHS, b=Fraction(1, 5)) == "a + b > 5"
    assert whole("10*a + b > 5.04", a=TENTHS, b=Fraction(2)) == "10*a + b > 5"
    assert whole("a + b > 5.04", a=TENTHS) == "a + b > 5.04"
    assert whole("a > 5.04", a=TENTHS) == "a > 5"
    assert whole("a/3 > 0.01", a=TENTHS) == "a > 0"
