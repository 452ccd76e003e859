"""Proofs by z3, compared with every row of a small grid."""

import random
import subprocess
import sys
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nsr.errors import InputError
from nsr.program import And, Fold, Not, Or, Paths, Program, Truth, Variable, Where
from nsr.program.equivalence import Equivalence, _Search
from tests.program.oracle import worth
from tests.program.strategies import expressions

a, b, c = map(Variable, "abc")
parse = Program.parse
FEW = ("a", "b", "unit price")
GRID = [dict(zip(FEW, row, strict=True)) for row in product(range(-3, 4), repeat=len(FEW))]
SMALL = st.one_of(st.integers(-3, 3), st.fractions(-3, 3, max_denominator=3))


def agrees_with_the_grid(one, other):
    verdict = Program(one).equivalent(Program(other), over="integers", low=-3, high=3)
    different = [row for row in GRID if worth(one, row) != worth(other, row)]
    assert verdict.equal is (not different)
    assert bool(verdict) is verdict.equal
    if different:
        row = dict.fromkeys(FEW, 0) | verdict.row
        assert row in different
        assert verdict.answers == (worth(one, row), worth(other, row))
    else:
        assert verdict.row is None
        assert str(verdict) == "the same for all integers from -3 to 3"


@given(expressions(FEW, SMALL), expressions(FEW, SMALL))
def test_random_pairs_agree_with_every_row_of_a_grid(one, other):
    assume(one.is_boolean == other.is_boolean)
    agrees_with_the_grid(one, other)


@given(expressions(FEW, SMALL), st.randoms(use_true_random=False))
def test_rewritten_programs_agree_with_every_row_of_a_grid(one, source):
    agrees_with_the_grid(one, rewritten(one, source))


def rewritten(tree, source):
    """An expression that is often the same in disguise, and sometimes slightly different."""
    shift = source.choice([0, 0, Fraction(1, 2), 1])
    if not tree.is_boolean:
        return Where(a > b, tree + shift, 2 * tree - tree)
    guard = source.choice([a > b, a >= b + shift, Truth(True), a < 4])
    return Or(And(tree, guard), And(Not(Not(tree)), Not(guard) if source.random() < 0.8 else a < b))


@given(expressions(FEW, SMALL), st.randoms(use_true_random=False))
def test_a_difference_on_the_grid_is_a_difference_of_real_numbers(one, source):
    other = rewritten(one, source)
    verdict = Program(one).equivalent(other)
    if verdict:
        assert all(worth(one, row) == worth(other, row) for row in GRID)
        assert all(worth(one, row) == worth(other, row) for row in rational_rows())
    else:
        row = dict.fromkeys(FEW, 0) | verdict.row
        assert verdict.answers == (worth(one, row), worth(other, row))
        assert verdict.answers[0] != verdict.answers[1]


def rational_rows():
    source = random.Random(0)
    return [{name: Fraction(source.randint(-20, 20), source.randint(1, 5)) for name in FEW} for _ in range(200)]


@pytest.mark.parametrize(
    ("one", "other", "options", "verdict"),
    [
        ("a > b", "b < a", {}, "the same for all numbers"),
        (
            "limit >= price and ordered <= stock",
            "not (price > limit or ordered > stock)",
            {},
            "the same for all numbers",
        ),
        ("where(a > b, a, b)", "where(a < b, b, a)", {}, "the same for all numbers"),
        ("a > 3 and a > 5", "a > 5", {}, "the same for all numbers"),
        ("a > b", "a >= b + 1", {"over": "integers"}, "the same for all integers"),
        ("a/2 > 1/3", "a >= 1", {"over": "integers"}, "the same for all integers"),
        ("14*a + 21*b = 1", "False", {"over": "integers"}, "the same for all integers"),
        ("a + c - c", "a", {}, "the same for all numbers"),
        ("a >= 0", "True", {"low": 0}, "the same for all numbers of at least 0"),
        ("a <= 0.5", "True", {"high": 0.5}, "the same for all numbers of at most 0.5"),
        ("a > 0.5", "True", {"low": 0.7, "high": 9, "over": "integers"}, "the same for all integers from 0.7 to 9"),
        ("a > b", "a >= b", {}, "differ at a = 0, b = 0: False and True"),
        ("a > b", "a >= b", {"low": 3, "high": 5}, "differ at a = 3, b = 3: False and True"),
        ("x > 3", "x >= 4", {}, "differ at x = 3.5: True and False"),
        ("3*x > 1", "x > 1/4", {}, "differ at x = 0.3: False and True"),
        ("3*x >= 1", "x > 1/3", {}, "differ at x = 1/3: True and False"),
        ("x > 37", "x > 42", {"over": "integers"}, "differ at x = 38: True and False"),
        ("x > -5", "x >= -5", {}, "differ at x = -5: False and True"),
        ("x > 1000000", "x >= 1000000", {}, "differ at x = 1000000: False and True"),
        ("x = -5 or x = 5", "False", {}, "differ at x = 5: True and False"),
        ("x <= -5 or x >= 5", "False", {"over": "integers"}, "differ at x = 5: True and False"),
        ("7*a + 3*b = 1", "False", {"over": "integers"}, "differ at a = 1, b = -2: True and False"),
        ("a/3", "a/3 + `unit price`/2", {}, "differ at a = 0, `unit price` = 1: 0 and 0.5"),
        ("a > 3", "b > 3", {}, "differ at a = 0, b = 4: False and True"),
        ("x > 3", "x >= 4", {"over": "auto"}, "the same for all integers; they differ at x = 3.5: True and False"),
        ("x > 3", "x >= 3", {"over": "auto"}, "differ at x = 3: False and True"),
        (
            "3 < x < 4 and y > 3/2",
            "y > 19/10 and False",
            {"over": "auto", "low": 3.2, "high": 3.8},
            "differ at x = 3.5, y = 3.5: True and False",
        ),
        ("x > 3", "x > 3", {"over": "auto"}, "the same for all numbers"),
        ("True", "False", {}, "differ: True and False"),
        ("1/3", "0.3", {}, "differ: 1/3 and 0.3"),
    ],
)
def test_the_verdict_is_a_sentence(one, other, options, verdict):
    result = parse(one).equivalent(parse(other), **options)
    assert str(result) == verdict
    assert bool(result) is ("differ" not in verdict)


@pytest.mark.parametrize("over", ["reals", "integers"])
def test_the_numbers_of_a_row_are_the_smallest(over):
    for values in permutations([100, -90, 81, 72]):
        one_of_them = Or(*(a.eq(value) & b.eq(-2 * value) for value in values))
        assert Program(one_of_them).equivalent(Truth(False), over=over).row == {"a": 72, "b": -144}


def test_integers_of_any_size():
    large = 10**5000
    assert Program(a > large).equivalent(Program(a >= large + 1), over="integers")
    verdict = Program(a > large).equivalent(Program(a >= large))
    assert verdict.row == {"a": large}
    assert str(verdict) == f"differ at a = 1{'0' * 5000}: False and True"


def test_the_result_is_a_value():
    verdict = Program(a > b).equivalent(a >= b)
    assert verdict == Equivalence(False, "reals", row={"a": 0, "b": 0}, answers=(False, True))
    assert hash(verdict) == hash(Program(a > b).equivalent(a >= b))
    assert verdict.integral
    assert not Program(a > 3).equivalent(a >= 4).integral
    with pytest.raises(AttributeError):
        verdict.equal = True


def test_time_that_runs_out_is_an_outcome_of_its_own():
    source = random.Random(0)
    weights = [source.randint(10**8, 10**9) for _ in range(30)]
    total = sum(weight * Variable(f"x{position}") for position, weight in enumerate(weights))
    verdict = Program(total.eq(sum(weights) // 2)).equivalent(
        Truth(False), over="integers", low=0, high=1, timeout=0.05
    )
    assert verdict.equal is None
    assert not verdict
    assert str(verdict) == "not decided within 0.05 s for all integers from 0 to 1"


def test_a_proof_for_integers_stands_beside_time_that_ran_out_for_reals(monkeypatch):
    exhausted = _Search.exhausted

    def slow_on_reals(search, seconds):
        return None if search.inputs.over == "reals" else exhausted(search, seconds)

    monkeypatch.setattr(_Search, "exhausted", slow_on_reals)
    verdict = Program(a > b).equivalent(a >= b + 1, over="auto", timeout=3)
    assert verdict.equal is None
    assert str(verdict) == "the same for all integers; not decided within 3 s for all numbers"
    assert Program(a > b).equivalent(a >= b, over="auto").row == {"a": 0, "b": 0}


def test_a_row_that_does_not_show_the_difference_is_never_returned(monkeypatch):
    monkeypatch.setattr(_Search, "simple_row", lambda _: {"a": 3, "b": 1})
    with pytest.raises(RuntimeError, match="^z3 claims that a > b and a >= b differ at .*, where both give True$"):
        Program(a > b).equivalent(a >= b)


LOOP = Fold("best", Variable("first"), Variable("best") + 1)


@pytest.mark.parametrize(
    ("other", "options", "problem"),
    [
        (Program(a), {}, "a formula cannot be compared with a number, got a > b and a"),
        (LOOP, {}, "a program can only be compared with another program, got Fold"),
        (Paths(), {}, "a program can only be compared with another program, got Paths"),
        (a < b, {"over": "floats"}, "unknown set of numbers 'floats': choose from reals, integers, auto"),
        (a < b, {"low": 3, "high": 2}, "low must be at most high, got 3 and 2"),
        (a < b, {"low": 0.2, "high": 0.8, "over": "integers"}, "there is no integer from 0.2 to 0.8"),
        (a < b, {"timeout": 0}, "the time limit must be more than 0 and at most 86,400 seconds, got 0"),
    ],
)
def test_what_cannot_be_compared_is_an_error(other, options, problem):
    with pytest.raises(InputError) as error:
        Program(a > b).equivalent(other, **options)
    assert str(error.value) == problem


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(InputError, match=r"^this needs z3: install it with pip install .*\[prove\]'$"):
        Program(a > b).equivalent(a < b)


def test_z3_is_imported_lazily():
    code = "import sys, nsr.program.emit, nsr.program.equivalence; print('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("over", ["reals", "integers"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("max(a, b, c)", "where(a >= b and a >= c, a, where(b >= c, b, c))"),
        ("median(a, b, c)", "max(min(a, b), min(max(a, b), c))"),
        ("smallest(2, a, b, c, d)", "min(max(a, b), max(a, c), max(a, d), max(b, c), max(b, d), max(c, d))"),
        ("abs(a - b) <= 3/2", "a - b <= 1.5 and b - a <= 1.5"),
        ("clip(a, 0, 10) > 3", "a > 3"),
        ("at least 2 of (a > 0, b > 0, c > 0)", "a > 0 and b > 0 or (a > 0 or b > 0) and c > 0"),
        ("(a + b)**2 > 3", "a**2 + 2*a*b + b**2 > 3"),
    ],
)
def test_products_counts_and_order_statistics_are_proved_equal(one, other, over):
    assert Program.parse(one).equivalent(Program.parse(other), over=over)


def test_products_differ_at_a_row_or_stay_undecided():
    verdict = Program.parse("a*b > 2").equivalent(Program.parse("a*b >= 2"))
    assert (verdict.equal, verdict.answers) == (False, (False, True))
    assert verdict.row["a"] * verdict.row["b"] == 2
    root = Program.parse("a**2 >= 2")  # differs from a**2 > 2 at an irrational number only, which no row holds
    assert root.equivalent(Program.parse("a**2 > 2")).equal is None
    assert root.equivalent(Program.parse("a**2 > 2"), over="integers")


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (3, "x = 3"),
        (Fraction(1, 2), "x = 0.5"),
        (True, "x = True"),
        ("it's", "x = 'it''s'"),
        (None, "x is missing"),
        (date(2024, 1, 31), "x = 2024-01-31"),
        (datetime(2024, 1, 31, 12, 30), "x = 2024-01-31T12:30:00"),
        (timedelta(0), "x = 0 days"),
        (timedelta(hours=1), "x = 1 hour"),
        (timedelta(hours=-2), "x = -2 hours"),
    ],
)
def test_the_cells_of_a_row_are_shown(cell, shown):
    verdict = Equivalence(False, "reals", row={"x": cell}, answers=(None, 1))
    assert str(verdict) == f"differ at {shown}: missing and 1"
    assert str(replace(verdict, answers=("low", "high"))) == f"differ at {shown}: low and high"


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (Equivalence(True, "reals"), "the same for all numbers"),
        (Equivalence(True, "integers", low=Fraction(1)), "the same for all integers of at least 1"),
        (Equivalence(True, "reals", high=Fraction(1, 2)), "the same for all numbers of at most 0.5"),
        (Equivalence(True, "reals", Fraction(0), Fraction(1)), "the same for all numbers from 0 to 1"),
        (Equivalence(True, "reals", has_cells=True), "the same for all rows"),
        (Equivalence(True, "integers", has_cells=True), "the same for all rows of integers"),
        (Equivalence(None, "reals", timeout=2.5), "not decided within 2.5 s for all numbers"),
        (
            Equivalence(None, "reals", timeout=2, same_for_integers=True),
            "the same for all integers; not decided within 2 s for all numbers",
        ),
        (Equivalence(False, "reals", row={}, answers=(True, False)), "differ: True and False"),
        (
            Equivalence(False, "reals", row={"x": Fraction(1, 2)}, answers=(1, 2), same_for_integers=True),
            "the same for all integers; they differ at x = 0.5: 1 and 2",
        ),
    ],
)
def test_every_verdict_is_a_sentence(verdict, sentence):
    assert str(verdict) == sentence
    assert bool(verdict) is (verdict.equal is True)


def test_a_row_of_integers():
    rows = ({"x": Fraction(1, 2), "y": 1}, {"x": Fraction(2)}, {"x": 2, "y": "text"}, None)
    assert [Equivalence(False, "reals", row=row).integral for row in rows] == [False, True, True, False]


def test_the_borders_of_the_options():
    same = Program(a > 0)
    assert same.equivalent(a > 0, timeout=86_400, low=1, high=1, over="integers")
    assert same.equivalent(a >= 1, over="auto", low=Fraction(1, 2), high=1).same_for_integers
    assert not same.equivalent(a >= 1, over="auto", low=Fraction(1, 4), high=Fraction(3, 4)).same_for_integers
    for options in ({"timeout": 86_401}, {"low": 2, "high": 1}, {"over": "integers", "low": 0.25, "high": 0.75}):
        with pytest.raises(InputError):
            same.equivalent(a > 0, **options)


@pytest.mark.parametrize("text", ["a**1000", "(a + b)**60*b**50", "where(a > b, (a*b)**51, 0)"])
def test_powers_that_no_proof_ends_for_are_refused(text):
    with pytest.raises(InputError, match="with powers and products of up to 100 factors, got "):
        Program.parse("a + b").equivalent(Program.parse(text))


def test_large_powers_are_compared():
    assert Program.parse("a").equivalent(Program.parse("a**100"), low=2).equal is False
