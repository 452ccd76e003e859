"""The smallest formula for a truth table, against a search through all small formulas."""

import itertools

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
