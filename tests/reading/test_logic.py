"""Formulas of many atoms, checked against the table they were made from, pattern by pattern."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsr.program import Compare, Count, Variable, Where
from nsr.reading.logic import Table, class_formula, comparisons, formula

SIDES = [(Variable(f"a{at}"), Variable(f"b{at}")) for at in range(5)]


def table(patterns, classes) -> Table:
    patterns = np.array(patterns, dtype=np.int8)
    atoms = patterns.shape[1]
    return Table(patterns, np.array(classes, dtype=np.int64), SIDES[:atoms], [1.0] * atoms)


def value(expression, pattern):
    values = {}
    for (left, right), sign in zip(SIDES, pattern, strict=False):
        values |= {left.name: int(sign), right.name: 0}
    return expression.evaluate(values)


def every(atoms: int, signs=(-1, 1)):
    return list(itertools.product(signs, repeat=atoms))


@st.composite
def tables(draw, n_classes: int = 2):
    atoms = draw(st.integers(1, 5))
    patterns = draw(st.lists(st.tuples(*[st.integers(-1, 1)] * atoms), min_size=1, max_size=40, unique=True))
    classes = draw(st.lists(st.integers(0, n_classes - 1), min_size=len(patterns), max_size=len(patterns)))
    return table(patterns, classes)


@settings(max_examples=150, deadline=None)
@given(tables())
def test_a_formula_gives_the_class_of_every_pattern(some):
    found = class_formula(some, 2)
    assert [bool(value(found, pattern)) for pattern in some.patterns] == (some.classes == 1).tolist()


@settings(max_examples=100, deadline=None)
@given(tables(n_classes=4))
def test_a_choice_gives_the_class_of_every_pattern(some):
    found = class_formula(some, 4)
    assert [int(value(found, pattern)) for pattern in some.patterns] == some.classes.tolist()


@pytest.mark.parametrize(("least", "atoms"), [(2, 4), (3, 4), (3, 5), (4, 5)])
def test_at_least_so_many_is_a_count(least, atoms):
    patterns = every(atoms)
    found = class_formula(table(patterns, [sum(sign > 0 for sign in each) >= least for each in patterns]), 2)
    assert isinstance(found, Compare)
    assert isinstance(found.left, Count)
    assert comparisons(found) == atoms
    assert all(value(found, each) == (sum(sign > 0 for sign in each) >= least) for each in patterns)


@pytest.mark.parametrize("turned", [0, 1, 4])
def test_comparisons_that_count_the_other_way_are_turned(turned):
    patterns = every(4)
    wanted = [sum(sign * (-1 if at == turned else 1) > 0 for at, sign in enumerate(each)) == 2 for each in patterns]
    found = class_formula(table(patterns, wanted), 2)
    assert str(found).startswith("exactly 2 of (")
    assert [bool(value(found, each)) for each in patterns] == wanted


def test_what_all_true_patterns_share_is_factored_out():
    patterns = every(5)
    wanted = [one > 0 and (two > 0 or three > 0) and four < 0 for one, two, three, four, _ in patterns]
    found = class_formula(table(patterns, wanted), 2)
    assert comparisons(found) == 4  # the fifth atom is not needed, and none is used twice
    assert [bool(value(found, each)) for each in patterns] == wanted


def test_the_dearer_of_two_atoms_that_do_equally_well_is_left_out():
    patterns = np.array([(-1, -1), (1, 1)])
    for cost, kept in (([1.0, 2.0], "a0"), ([2.0, 1.0], "a1")):
        found = formula(Table(patterns, np.array([0, 1]), SIDES[:2], cost), np.array([False, True]))
        assert kept in str(found)
        assert comparisons(found) == 1


def test_grades_are_a_list_of_decisions():
    patterns = [tuple(1 if at < grade else -1 for at in range(5)) for grade in range(6)]
    found = class_formula(table(patterns, range(6)), 6)
    assert comparisons(found) == 5
    assert sum(isinstance(node, Where) for node in found.walk()) == 5
    assert [int(value(found, each)) for each in patterns] == list(range(6))


def test_what_three_atoms_share_is_factored_out():
    """An order of versions has five comparisons, and six as a list of cases."""
    patterns = every(3, signs=(-1, 0, 1))
    above = [pattern > (0, 0, 0) for pattern in patterns]
    found = formula(table(patterns, above), np.array(above))
    assert comparisons(found) == 5
    assert [bool(value(found, pattern)) for pattern in patterns] == above


@pytest.mark.parametrize(
    ("rule", "least"),
    [
        (lambda a, b, c, d, e: a > 0 and (b >= 0 or (c < 0 and (d != 0 or e == 0))), 5),
        (lambda a, b, c, d, e: a > 0 or (b >= 0 and (c < 0 or (d != 0 and e == 0))), 5),
        (lambda a, b, c, d, _: (a >= 0 and b > 0) or (c != 0 and d <= 0), 4),
        (lambda a, b, c, d, _: (a >= 0 or b > 0) and (c != 0 or d <= 0), 4),
        (lambda a, b, c, d, _: (a == 0 and b == 0) or (c == 0 and d < 0), 4),
        (lambda a, b, *_: (a > 0) != (b > 0), 2),  # exactly one of two
        (lambda a, b, c, *_: (a > 0) + (b == 0) + (c >= 0) >= 2, 3),
    ],
)
def test_no_comparison_is_made_twice_where_once_is_enough(rule, least):
    patterns = every(5, signs=(-1, 0, 1))
    wanted = np.array([rule(*pattern) for pattern in patterns])
    found = formula(table(patterns, wanted), wanted)
    assert comparisons(found) == least
    assert [bool(value(found, pattern)) for pattern in patterns] == wanted.tolist()


def test_eight_comparisons_are_counted():
    sides = [(Variable(f"a{at}"), Variable(f"b{at}")) for at in range(8)]
    patterns = np.array(every(8))
    wanted = (patterns > 0).sum(1) >= 7
    found = formula(Table(patterns, wanted.astype(np.int64), sides, [1.0] * 8), wanted)
    assert comparisons(found) == 8
    assert str(found).startswith("at least 7 of (")


def test_without_patterns_the_class_is_the_first():
    empty = Table(np.zeros((0, 1), dtype=np.int8), np.zeros(0, dtype=np.int64), SIDES[:1], [1.0])
    assert str(class_formula(empty, 3)) == "0"


@pytest.mark.parametrize("seed", range(8))
def test_the_comparison_that_excludes_most_patterns_is_factored_out(seed):
    patterns = random.Random(seed).sample(every(4, (-1, 0, 1)), 40)
    classes = [a == 0 and (b < 0 or (c < 0 and d == 0)) for a, b, c, d in patterns]
    assert comparisons(class_formula(table(patterns, classes), 2)) <= 4
