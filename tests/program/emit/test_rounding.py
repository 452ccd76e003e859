"""How far floats may be off in a number: checks by hand, and on random rows against exact decimals."""

from fractions import Fraction

import numpy as np
import pytest

from nsr.program import Program
from nsr.program.emit.rounding import RELATIVE, rounded_size

CASES = {
    "a": None,
    "3": None,
    "max(a, b, 3)": None,
    "where(a > b, a, 0)": None,
    "2*count(a > b) + 1": None,
    "i + 2*j - 3": None,
    "i*j - i": None,
    "where(a > b, i + j, a)": None,
    "a - b": "abs(a) + abs(b)",
    "i + a": "abs(i) + abs(a)",
    "a/3 - 0.1*b - 4": "abs(a)/3 + 0.1*abs(b) + 4",
    "i/2": "abs(i)/2",
    "a*b - i": "abs(a*b) + abs(i)",
    "a*(b - 1)": "abs(a)*(abs(b) + 1)",
    "min(a - b, 9*a, j)": "9*abs(a) + abs(b)",
    "a - min(b, 100)": "abs(a) + abs(min(b, 100))",
    "a - min(b - i, j)": "abs(a) + abs(min(b - i, j)) + abs(b) + abs(i)",
    "abs(a - b)": "abs(a) + abs(b)",
    "abs(a - b)/7": "abs(a - b)/7 + abs(a)/7 + abs(b)/7",
    "a + 3*count(a > b, b > i)": "abs(a) + 6",
    "where(a > b, a - b, i - j)": "where(a > b, abs(a) + abs(b), 0)",
    "a + where(i > j, b - i, 4)": "abs(a) + where(i > j, abs(b) + abs(i), 4)",
}
"""The size of the terms of a number by which floats are rounded; i and j are columns of integers."""


@pytest.mark.parametrize("number", CASES)
def test_the_size_of_the_terms(number):
    size, wanted = rounded_size(Program.parse(number).expression, ("i", "j")), CASES[number]
    assert size is None if wanted is None else size.simplified() == Program.parse(wanted).expression, size


def test_nothing_is_known_to_be_an_integer_by_itself():
    assert rounded_size(Program.parse("i + 2*j").expression, ()) == Program.parse("abs(i) + 2*abs(j)").expression


@pytest.mark.parametrize("largest", [100, 10**6, 10**13])
@pytest.mark.parametrize(
    "number", ["a - b - c", "0.07*a - b/3 + 1.5*c", "max(a - b, b - c)", "a*b - a*c/5", "abs(a + b)/7"]
)
def test_floats_are_off_by_less_than_the_tolerance(number, largest):
    rng = np.random.default_rng(0)
    program = Program.parse(number)
    size = rounded_size(program.expression, ())
    for _ in range(300):
        cents = rng.integers(-largest, largest, 2).tolist()
        exact = {name: Fraction(each, 100) for name, each in zip("abc", [*cents, cents[0] - cents[1]], strict=True)}
        floats = {name: float(value) for name, value in exact.items()}
        off = abs(Fraction(program(floats)) - Fraction(float(program(exact))))
        assert off <= Fraction(RELATIVE) * Fraction(size.evaluate(floats)) / 2
