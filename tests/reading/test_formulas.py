"""The smallest formula for a truth table, against a search through all small formulas."""

import functools
import itertools
import operator
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsr.data import COMPARISONS
from nsr.program import Compare, Truth, Variable
from nsr.reading.formulas import smallest_formula

A, B, C, D, E, F = map(Variable, "abcdef")
SIDES = ((A, B), (C, D), (E, F))


def comparisons(formula) -> int:
    return sum(isinstance(node, Compare) for node in formula.walk())


def says(formula, pattern) -> bool:
    values = {}
    for (left, right), sign in zip(SIDES, pattern, strict=False):
        values |= {left.name: sign, right.name: 0}
    return formula.evaluate(values)


def test_every_function_of_one_pair_is_its_comparison_or_a_constant():
    for answers in itertools.product((False, True), repeat=3):
        table = dict(zip(((-1,), (0,), (1,)), answers, strict=True))
        formula = smallest_formula(table, SIDES[:1])
        assert {pattern: says(formula, pattern) for pattern in table} == table
        assert comparisons(formula) == (0 if len(set(answers)) == 1 else 1)


def test_every_pair_of_comparisons_joined_by_and_or_or_is_found_again():
    patterns = list(itertools.product((-1, 0, 1), repeat=2))
    for first, second in itertools.product(COMPARISONS.values(), repeat=2):
        for join in (all, any):
            table = {(p, q): join((first(p, 0), second(q, 0))) for p, q in patterns}
            formula = smallest_formula(table, SIDES[:2])
            assert {pattern: says(formula, pattern) for pattern in table} == table
            assert comparisons(formula) == 2


@given(st.dictionaries(st.tuples(*[st.sampled_from((-1, 0, 1))] * 3), st.booleans(), min_size=1))
def test_any_table_is_fitted_where_it_knows(table):
    formula = smallest_formula(table, SIDES)
    assert {pattern: says(formula, pattern) for pattern in table} == table


def test_no_pairs_make_a_constant():
    assert smallest_formula({(): True}, ()) == Truth(True)
    assert smallest_formula({(): False}, ()) == Truth(False)


@functools.cache
def terms_of(pairs: int) -> list[tuple[int, int]]:
    """Every conjunction: how many comparisons it makes, and the patterns for which it holds, as bits."""
    patterns = list(itertools.product((-1, 0, 1), repeat=pairs))
    options = [None, *COMPARISONS.values()]
    found = []
    for term in itertools.product(options, repeat=pairs):
        holds = [all(op is None or op(sign, 0) for op, sign in zip(term, each, strict=True)) for each in patterns]
        found.append((sum(op is not None for op in term), sum(1 << at for at, held in enumerate(holds) if held)))
    return found


def fewest_comparisons(wanted: int, unwanted: int, terms: list[tuple[int, int]]) -> int:
    """The length of the shortest disjunction of up to three conjunctions, by trying them all."""
    valid = {}
    for cost, holds in terms:
        if not holds & unwanted and holds & wanted:
            valid[holds & wanted] = min(cost, valid.get(holds & wanted, cost))
    for count in (1, 2, 3):
        costs = [
            sum(valid[holds] for holds in chosen)
            for chosen in itertools.combinations(valid, count)
            if functools.reduce(operator.or_, chosen) == wanted
        ]
        if costs:
            return min(costs)
    return 99


def test_no_disjunction_of_conjunctions_is_shorter():
    patterns, terms, rng = list(itertools.product((-1, 0, 1), repeat=2)), terms_of(2), random.Random(0)
    for _ in range(60):
        table = {pattern: rng.random() < 0.5 for pattern in patterns if rng.random() < 0.8}
        wanted, unwanted = (
            sum(1 << at for at, pattern in enumerate(patterns) if table.get(pattern) is answer)
            for answer in (True, False)
        )
        if wanted and unwanted:
            least = min(fewest_comparisons(wanted, unwanted, terms), fewest_comparisons(unwanted, wanted, terms))
            assert comparisons(smallest_formula(table, SIDES[:2])) <= least, table


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_disjunction_of_conjunctions_is_found_again_or_a_shorter_one(count):
    patterns, terms, rng = list(itertools.product((-1, 0, 1), repeat=3)), terms_of(3), random.Random(count)
    for _ in range(4):
        chosen = rng.sample(terms, count)
        holds = functools.reduce(operator.or_, (each for _, each in chosen))
        table = {pattern: bool(holds >> at & 1) for at, pattern in enumerate(patterns)}
        formula = smallest_formula(table, SIDES)
        assert {pattern: says(formula, pattern) for pattern in table} == table
        assert comparisons(formula) <= sum(cost for cost, _ in chosen)


def test_where_no_row_shows_equal_sides_the_comparison_is_strict():
    assert smallest_formula({(-1,): True, (1,): False}, SIDES[:1]) == Compare("<", A, B)
    assert smallest_formula({(-1,): False, (1,): True}, SIDES[:1]) == Compare(">", A, B)


def test_one_comparison_is_enough_where_patterns_are_missing():
    table = {(-1, -1): False, (-1, 1): True, (0, 1): True, (1, 1): True}
    assert smallest_formula(table, SIDES[:2]) == Compare(">", C, D)


def test_four_comparisons_are_enough_where_less_than_would_make_five():
    """Each of the six comparisons costs the same: without that, a > b or a < b and c > d or a >= b and c == d."""
    table = dict(
        zip(
            itertools.product((-1, 0, 1), repeat=2),
            (False, False, True, False, True, False, True, True, True),
            strict=True,
        )
    )
    formula = smallest_formula(table, SIDES[:2])
    assert {pattern: says(formula, pattern) for pattern in table} == table
    assert comparisons(formula) == 4
