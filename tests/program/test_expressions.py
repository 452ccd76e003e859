"""The nodes: exact numbers, values that cannot change, and refusals of what is neither number nor formula."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsr.data import COMPARISONS
from nsr.program import And, Compare, Constant, Expression, Linear, Not, Or, Truth, Variable, Where
from nsr.program.expressions import MIRRORED, NEGATED, natural, rational, total
from tests.program.oracle import worth
from tests.program.strategies import INTEGERS, expressions, numbers

a, b, c = map(Variable, "abc")
more = Compare(">", a, b)
HALF = Fraction(1, 2)


# Numbers


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, Fraction(3)),
        (2**64 + 1, Fraction(2**64 + 1)),
        (0.1, Fraction(1, 10)),
        (-0.0, Fraction(0)),
        (1e300, Fraction(10**300)),
        (5e-324, Fraction(5, 10**324)),
        (37.5, Fraction(75, 2)),
        (Fraction(2, 6), Fraction(1, 3)),
        (Decimal("0.10"), Fraction(1, 10)),
        (Decimal("1e400"), Fraction(10**400)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int8(-7), Fraction(-7)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_a_constant_is_the_number_that_was_written(value, exact):
    assert rational(value) == exact
    assert type(rational(value).numerator) is int
    assert Constant(value) == Constant(exact)
    assert Linear(((1, a),), value) == Linear(((Fraction(1), a),), exact)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "a constant must be an int, a Fraction, a Decimal or a float, got True"),
        ("3", "a constant must be an int, a Fraction, a Decimal or a float, got '3'"),
        (1j, "a constant must be an int, a Fraction, a Decimal or a float, got 1j"),
        (None, "a constant must be an int, a Fraction, a Decimal or a float, got None"),
        (float("nan"), "a constant must be finite, got nan"),
        (float("-inf"), "a constant must be finite, got -inf"),
        (Decimal("Infinity"), "a constant must be finite, got Infinity"),
        (Decimal("sNaN"), "a constant must be finite, got sNaN"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_is_no_constant_is_refused_in_a_sentence(value, text):
    for refused in (lambda: rational(value), lambda: Constant(value), lambda: a + value, lambda: a * value):
        with pytest.raises(ValueError) as refusal:
            refused()
        assert str(refusal.value) == text


@pytest.mark.parametrize(
    ("made", "tree"),
    [
        (a + b, Linear(((1, a), (1, b)))),
        (a - b, Linear(((1, a), (-1, b)))),
        (-a, Linear(((-1, a),))),
        (2 * a, Linear(((2, a),))),
        (a * 0.5, Linear(((HALF, a),))),
        (a + 4, Linear(((1, a),), 4)),
        (4 + a, Linear(((1, a),), 4)),
        (a - 4, Linear(((1, a),), -4)),
        (4 - a, Linear(((-1, a),), 4)),
        (sum([a, b]), a + b),
        (a + b - b, a),
        (a + 1 - 1, a),
        (a - a, Constant(0)),
        (a * 0, Constant(0)),
        (Constant(2) + 3, Constant(5)),
        (2 * (a + b - 1) - (a - 3), Linear(((1, a), (2, b)), 1)),
        (2 * Where(more, a, b) + 1, Linear(((2, Where(more, a, b)),), 1)),
        (total([], Fraction(3)), Constant(3)),
    ],
)
def test_numbers_are_added_and_scaled_as_they_are_written(made, tree):
    assert made == tree


@given(numbers(("a", "b")), numbers(("a", "b")), st.fractions(-9, 9), INTEGERS, INTEGERS)
def test_arithmetic_on_trees_is_arithmetic_on_their_values(one, other, factor, first, second):
    row = {"a": first, "b": second}
    assert worth(one + other, row) == worth(one, row) + worth(other, row)
    assert worth(one - other, row) == worth(one, row) - worth(other, row)
    assert worth(factor * one, row) == factor * worth(one, row)
    assert worth(factor - one, row) == factor - worth(one, row)
    assert worth(-one, row) == -worth(one, row)


@pytest.mark.parametrize(
    ("made", "parts"),
    [
        (a + b, ((1, a), (1, b))),
        (b - a, ((1, b), (-1, a))),
        (a + 4, ((1, a), (4, None))),
        (a - 4, ((1, a), (-4, None))),
        (4 - a, ((4, None), (-1, a))),
        (4 - a - b, ((4, None), (-1, a), (-1, b))),
        (-a - 4, ((-1, a), (-4, None))),
        (4 - a + b, ((-1, a), (1, b), (4, None))),
    ],
)
def test_a_constant_is_added_last_unless_all_else_is_subtracted_from_it(made, parts):
    assert made.parts() == parts


# Comparisons


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_negated_and_mirrored_comparisons(symbol):
    for x, y in product((-1, 0, 1), repeat=2):
        assert COMPARISONS[NEGATED[symbol]](x, y) is not COMPARISONS[symbol](x, y)
        assert COMPARISONS[MIRRORED[symbol]](y, x) is COMPARISONS[symbol](x, y)


# Trees are values


@given(expressions())
def test_repr_pickle_and_deepcopy_give_the_same_tree(tree):
    known = {
        kind.__name__: kind for kind in (And, Compare, Constant, Fraction, Linear, Not, Or, Truth, Variable, Where)
    }
    for same in (eval(repr(tree), known), pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert same == tree
        assert hash(same) == hash(tree)
        assert str(same) == str(tree)


def test_trees_differ_by_kind_and_order():
    less = Compare("<", a, b)
    trees = {And(more, less), And(less, more), Or(more, less), Not(more), more, less, a, Constant(0), Truth(False)}
    assert len(trees) == 9
    assert And(more, less) in trees
    assert Constant(0) != Truth(False)
    assert a != "a"


@pytest.mark.parametrize(
    ("tree", "field"),
    [
        (a, "name"),
        (Constant(1), "value"),
        (Truth(True), "value"),
        (a + b, "terms"),
        (a + b, "constant"),
        (more, "operator"),
        (And(more, more), "parts"),
        (Or(more, more), "parts"),
        (Not(more), "part"),
        (Where(more, a, b), "then"),
    ],
)
def test_nothing_in_a_tree_can_be_changed(tree, field):
    with pytest.raises(FrozenInstanceError):
        setattr(tree, field, getattr(tree, field))
    with pytest.raises(FrozenInstanceError):
        delattr(tree, field)


def test_a_list_of_terms_is_kept_as_a_tuple():
    terms = [(Fraction(1), a)]
    tree = Linear(terms)
    terms.append((Fraction(1), b))
    assert tree.terms == ((Fraction(1), a),)
    assert isinstance(hash(tree), int)


@pytest.mark.parametrize(
    ("tree", "size", "children", "is_truth"),
    [
        (a, 1, (), False),
        (Constant(7), 1, (), False),
        (Truth(True), 1, (), True),
        (2 * a, 2, (a,), False),
        (a + b, 3, (a, b), False),
        (a + b + 1, 4, (a, b), False),
        (more, 3, (a, b), True),
        (Compare(">", a + 12, b), 5, (a + 12, b), True),
        (Not(more), 4, (more,), True),
        (And(more, Not(more)), 8, (more, Not(more)), True),
        (Or(more, more, more), 10, (more, more, more), True),
        (Where(more, a, Constant(0)), 6, (more, a, Constant(0)), False),
    ],
)
def test_size_children_and_kind(tree, size, children, is_truth):
    assert (tree.size, tree.children, tree.is_truth) == (size, children, is_truth)


@given(expressions())
def test_a_walk_meets_every_node_once_and_parents_first(tree):
    walked = list(tree.walk())
    assert walked[0] is tree
    assert len(walked) == 1 + sum(len(list(child.walk())) for child in tree.children)
    assert {node.name for node in walked if isinstance(node, Variable)} == set(tree.variables)


# Names


@pytest.mark.parametrize(
    "names",
    [
        ("x1", "x2", "x10"),
        ("a", "b", "x2", "x10"),
        ("2nd", "10th", "first"),
        ("x", "x1", "x1y", "x1y2", "x1y10"),
        ("x02", "x2", "x3"),
        ("x²", "ä"),
    ],
)
def test_variables_are_listed_as_a_person_would(names):
    assert sum(map(Variable, reversed(names))).variables == names


@given(st.text(), st.text())
def test_the_order_of_names_is_total(one, other):
    assert (natural(one) == natural(other)) is (one == other)
    assert (natural(one) < natural(other)) is not (natural(one) >= natural(other))


@given(st.integers(0, 10**30), st.integers(0, 10**30))
def test_numbered_names_are_in_the_order_of_their_numbers(one, other):
    assert (natural(f"x{one}") < natural(f"x{other}")) is (one < other)


# Refusals


@pytest.mark.parametrize(
    ("refused", "text"),
    [
        (lambda: Variable(""), "the name of a variable must be a text that is not empty, got ''"),
        (lambda: Variable(3), "the name of a variable must be a text that is not empty, got 3"),
        (lambda: Truth(1), "the value of Truth must be True or False, got 1"),
        (lambda: Truth(np.True_), "the value of Truth must be True or False, got np.True_"),
        (lambda: Linear(()), "a sum must have at least one term, and no coefficient of 0"),
        (lambda: Linear(((0, a),)), "a sum must have at least one term, and no coefficient of 0"),
        (lambda: Linear(((1, Truth(True)),)), "a term of a sum must be a number, got Truth(value=True)"),
        (lambda: a + Truth(True), "a term of a sum must be a number, got Truth(value=True)"),
        (lambda: -Truth(True), "a term of a sum must be a number, got Truth(value=True)"),
        (lambda: a * a, "a constant must be an int, a Fraction, a Decimal or a float, got Variable(name='a')"),
        (
            lambda: Compare("==", a, b),
            "unknown comparison '==': choose from >, <, >=, <=, =, !=; did you mean '='?",
        ),
        (
            lambda: Compare("=<", a, b),
            "unknown comparison '=<': choose from >, <, >=, <=, =, !=; did you mean '<='?",
        ),
        (lambda: Compare(">", 3, a), "a side of a comparison must be a number, got 3"),
        (lambda: Compare(">", a, Truth(True)), "a side of a comparison must be a number, got Truth(value=True)"),
        (lambda: And(), "And must join at least one formula, got none"),
        (lambda: Or(), "Or must join at least one formula, got none"),
        (lambda: And(a), "a part of And must be a formula, got Variable(name='a')"),
        (lambda: Or(Truth(True), True), "a part of Or must be a formula, got True"),
        (lambda: Not(a), "what Not denies must be a formula, got Variable(name='a')"),
        (lambda: Where(a, a, b), "the condition of Where must be a formula, got Variable(name='a')"),
        (lambda: Where(more, Truth(True), b), "a branch of Where must be a number, got Truth(value=True)"),
        (lambda: Where(more, a, 0), "a branch of Where must be a number, got 0"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_is_no_tree_is_refused_in_a_sentence(refused, text):
    with pytest.raises(ValueError) as refusal:
        refused()
    assert str(refusal.value) == text


def test_the_methods_of_a_tree_are_the_functions_of_its_modules():
    tree: Expression = Not(Compare("<=", a, b))
    assert str(tree) == "not a <= b"
    assert tree.simplified() == more
    assert tree.evaluate({"a": 2, "b": 1}) is True
