"""Counts and order statistics as choices, and missing cells as conditions."""

from itertools import product

import pytest

from nsr.data import COMPARISONS
from nsr.program import And, Constant, Count, Flag, Kind, Missing, Not, OneOf, Or, Order, Truth, Variable, Where
from nsr.program.lowering import as_choices, cleared, has_cells, order_cases, presence, with_presence, without_count
from tests.program.oracle import worth

a, b, c, n = map(Variable, "abcn")
d, e = Variable("d", Kind.DATE), Variable("e", Kind.DATE)
u, v = Variable("u", Kind.DURATION), Variable("v", Kind.DURATION)
has_a, has_b, has_c = (Missing(each, False) for each in (a, b, c))
word, flag = Variable("word", Kind.TEXT), Variable("flag", Kind.BOOLEAN)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("operator", [">=", "<=", "=", "!="])
def test_a_count_without_counting(operator, size):
    count = Count(*(each > 0 for each in (a, b, c, n)[:size]))
    for number in range(size + 1):
        formula = without_count(operator, count, number)
        assert not any(isinstance(node, Count) for node in formula.walk())
        for row in product((0, 1), repeat=size):
            values = dict(zip("abcn", row, strict=False))
            assert worth(formula, values) is COMPARISONS[operator](sum(row), number)


@pytest.mark.parametrize(
    "number",
    [
        *(Order(rank, a, b, c) for rank in (1, 2, 3)),
        *(Order(rank, a, b, a) for rank in (1, 2, 3)),
        *(Order(rank, a, b, a, b) for rank in (2, 3)),
        Order(2, a, -a),
        Order(2, a - b, b - a),
        Order(2, a, -1, 1),
        Order(2, 1, a, 1),
        Order(2, a, b),
    ],
)
def test_the_cases_of_an_order_statistic(number):
    cases = order_cases(number)
    for row in product((-2, -1, 0, 1, 2), repeat=len(number.variables)):
        values = dict(zip(number.variables, row, strict=True))
        chosen = [worth(part, values) for formula, part in cases if worth(formula, values)]
        assert set(chosen) == {worth(number, values)}
        assert worth(as_choices(number), values) == worth(number, values)


def test_equal_parts_are_one_case_that_always_holds():
    assert order_cases(Order(2, a, a, a)) == [(Truth(True), a)]
    assert as_choices(Order(2, a, a)) == a


def test_what_has_cells():
    assert [has_cells(each) for each in (a > b, Missing(a), d > e, flag)] == [False, True, True, True]


@pytest.mark.parametrize(
    ("expression", "integers", "others"),
    [
        (a / 3 > b, a > 3 * b, a / 3 > b),
        (And(a / 3 > b, Missing(c)), And(a > 3 * b, Missing(c)), And(a / 3 > b, Missing(c))),
        (And(u / 3 > v, a / 3 > b), And(u > 3 * v, a > 3 * b), And(u > 3 * v, a / 3 > b)),
        (u / 3 > n, u > 3 * n, u / 3 > n),
    ],
)
def test_fractions_are_cleared_for_integers_and_for_times(expression, integers, others):
    assert str(cleared(expression, integers=True)) == str(integers)
    assert str(cleared(expression, integers=False)) == str(others)


@pytest.mark.parametrize(
    ("expression", "present"),
    [
        (a, has_a),
        (Constant(3), Truth(True)),
        (a + b, And(has_a, has_b)),
        (a * a + 3, has_a),
        (Count(a > b), Truth(True)),
        (Count(a > 0) + b, has_b),
        (Where(a > 0, b, b + 1), has_b),
        (Where(a > 0, 1, 2), Truth(True)),
        (Where(a > 0, b, c), Or(And(has_a, a > 0, has_b), And(Not(And(has_a, a > 0)), has_c))),
        (Where(a > 0, b, 1), Or(And(has_a, a > 0, has_b), Not(And(has_a, a > 0)))),
    ],
)
def test_where_a_number_is_present(expression, present):
    assert presence(expression) == present


def test_where_the_number_of_a_condition_is_present():
    one = OneOf(word, ["x"])
    guarded = And(Missing(word, False), one)
    assert presence(Where(one, b, 1)) == Or(And(one, has_b), Not(one))
    assert presence(Where(one, b, 1), every=True) == Or(And(*guarded.parts, has_b), Not(guarded))


@pytest.mark.parametrize(
    ("formula", "guarded"),
    [
        (a > b, And(has_a, has_b, a > b)),
        (a > 3, And(has_a, a > 3)),
        (Missing(a), Missing(a)),
        (Or(a > 1, b > 1), Or(And(has_a, a > 1), And(has_b, b > 1))),
        (And(Missing(c), a > 1), And(has_a, Missing(c), a > 1)),
        (And(a > 1, b > 1), And(has_a, has_b, a > 1, b > 1)),
        (And(a > 1, a > b), And(has_a, has_b, a > 1, a > b)),
        (Count(a > 1) + b, Count(And(has_a, a > 1)) + b),
    ],
)
def test_comparisons_require_their_cells(formula, guarded):
    for every in (False, True):
        assert with_presence(formula, every=every) == guarded


@pytest.mark.parametrize(("kind", "column", "rest"), [(OneOf, word, [["x"]]), (Flag, flag, [])])
def test_conditions_require_their_cells_if_negated_or_if_all_must(kind, column, rest):
    holds, fails = kind(column, *rest), kind(column, *rest, False)
    assert with_presence(holds) == holds
    assert with_presence(holds, every=True) == And(Missing(column, False), holds)
    for every in (False, True):
        assert with_presence(fails, every=every) == And(Missing(column, False), fails)
    assert with_presence(Or(holds, a > 1), every=True) == Or(And(Missing(column, False), holds), And(has_a, a > 1))
