"""The nodes: exact numbers, immutable values, and errors for what is neither a number nor a formula."""

import copy
import operator
import pickle
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nsr.program
from nsr.data import COMPARISONS
from nsr.program import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Not,
    Or,
    Order,
    Product,
    Truth,
    Variable,
    Where,
)
from nsr.program.expressions import MIRRORED, NEGATED, natural_key, rational, total
from tests.program.oracle import worth
from tests.program.strategies import INTEGERS, expressions, numbers

a, b, c = map(Variable, "abc")
more = Compare(">", a, b)
HALF = Fraction(1, 2)
PUBLIC = {name: getattr(nsr.program, name) for name in nsr.program.__all__}
"""The names that ``from nsr.program import *`` brings."""


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
def test_a_constant_is_exactly_the_number_that_was_written(value, exact):
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
def test_errors_name_the_value_that_cannot_be_a_constant(value, text):
    for call in (lambda: rational(value), lambda: Constant(value), lambda: a + value, lambda: a * value):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value) == text


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
def test_a_constant_is_added_last_unless_all_terms_are_subtracted_from_it(made, parts):
    assert made.parts() == parts


# Comparisons


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_negated_and_mirrored_comparisons(symbol):
    for x, y in product((-1, 0, 1), repeat=2):
        assert COMPARISONS[NEGATED[symbol]](x, y) is not COMPARISONS[symbol](x, y)
        assert COMPARISONS[MIRRORED[symbol]](y, x) is COMPARISONS[symbol](x, y)


@pytest.mark.parametrize(
    ("built", "tree"),
    [
        (a > b, Compare(">", a, b)),
        (a < b, Compare("<", a, b)),
        (a >= b, Compare(">=", a, b)),
        (a <= b, Compare("<=", a, b)),
        (a.eq(b), Compare("=", a, b)),
        (a.ne(b), Compare("!=", a, b)),
        (Compare("==", a, b), Compare("=", a, b)),
        (a > 3, Compare(">", a, Constant(3))),
        (operator.lt(3, a), Compare(">", a, Constant(3))),
        (operator.ge(3, a + b), Compare("<=", a + b, Constant(3))),
        (operator.le(0.1, a), Compare(">=", a, Constant(Fraction(1, 10)))),
        (Decimal("0.1") > a, Compare("<", a, Constant(Fraction(1, 10)))),
        (operator.lt(HALF, a), Compare(">", a, Constant(HALF))),
        (np.float64(0.1) < a, Compare(">", a, Constant(Fraction(1, 10)))),
        (np.int64(3) < a, Compare(">", a, Constant(3))),
        (a.eq(3), Compare("=", a, Constant(3))),
        (a.ne(0.5), Compare("!=", a, Constant(HALF))),
        (Compare(">", a, 3), Compare(">", a, Constant(3))),
        (Compare("<", 0.5, a), Compare("<", Constant(HALF), a)),
        (Where(more, 1, 0), Where(more, Constant(1), Constant(0))),
        (Where(more, a, 0.5), Where(more, a, Constant(HALF))),
        (Linear([(2, a), (1, 3)]), Linear([(2, a), (1, Constant(3))])),
        ((a > b) & (a > 3), And(more, Compare(">", a, Constant(3)))),
        ((a > b) | (a > 3), Or(more, Compare(">", a, Constant(3)))),
        (~(a > b), Not(more)),
        (~(a > b) & (a < 3) | a.eq(b), Or(And(Not(more), a < 3), a.eq(b))),
        (a / 4, Linear([(Fraction(1, 4), a)])),
        (a / 0.5, 2 * a),
    ],
)
def test_operators_and_plain_numbers_build_trees(built, tree):
    assert built == tree
    assert type(built) is type(tree)


def test_equality_of_trees_is_equality_of_values():
    assert (a == Variable("a")) is True
    assert (a == b) is False
    assert (a != b) is True
    assert {a + 1: "key"}[a + 1] == "key"
    assert {a > b, a > b, a < b} == {more, Compare("<", a, b)}
    assert [a, b].index(b) == 1


@pytest.mark.parametrize(
    ("used", "written"),
    [
        (lambda: bool(a > b), "a > b"),
        (lambda: (a > b) and (b > c), "a > b"),
        (lambda: (a > 3) or (b > c), "a > 3"),
        (lambda: not a.eq(b), "a == b"),
        (lambda: 0 < a < 5, "a > 0"),
        (lambda: min(a, b), "b < a"),
        (lambda: sorted([a, b]), "b < a"),
        (lambda: 1 if a else 0, "a"),
        (lambda: 1 if Truth(False) else 0, "False"),
    ],
)
def test_a_tree_has_no_truth_value(used, written):
    with pytest.raises(TypeError) as error:
        used()
    assert str(error.value) == (
        f"{written} has no truth value until it is evaluated: use & instead of and, | instead of or, ~ instead of not,"
        " and (a < b) & (b < c) instead of a < b < c"
    )


# Trees are values


@given(expressions())
def test_repr_pickle_and_deepcopy_give_the_same_tree(tree):
    for same in (eval(repr(tree), dict(PUBLIC)), pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert same == tree
        assert hash(same) == hash(tree)
        assert str(same) == str(tree)


@pytest.mark.parametrize(
    ("tree", "call"),
    [
        (a, "Variable('a')"),
        (Variable("it's \n"), 'Variable("it\'s \\n")'),
        (Constant(3), "Constant(3)"),
        (Constant(-0.1), "Constant(-0.1)"),
        (Constant(Fraction(1, 3)), "Constant(Fraction(1, 3))"),
        (Constant(Fraction(10**20 + 1, 10)), "Constant(Fraction(100000000000000000001, 10))"),
        (Truth(True), "Truth(True)"),
        (a - b / 3, "Linear([(1, Variable('a')), (Fraction(-1, 3), Variable('b'))])"),
        (2 * a + 4, "Linear([(2, Variable('a'))], 4)"),
        (a > 37.5, "Compare('>', Variable('a'), Constant(37.5))"),
        (And(more, ~more), f"And({more!r}, Not({more!r}))"),
        (Where(more, a, 0), "Where(Compare('>', Variable('a'), Variable('b')), Variable('a'), Constant(0))"),
        (Constant(10**5000), f"Constant({hex(10**5000)})"),
    ],
)
def test_repr_is_the_constructor_call(tree, call):
    assert repr(tree) == call
    assert eval(call, dict(PUBLIC)) == tree


@given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False) | st.decimals(-(10**40), 10**40, places=30))
def test_repr_of_any_constant_is_exact(value):
    assert eval(repr(Constant(value)), dict(PUBLIC)) == Constant(value)


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
    ("tree", "size", "children", "is_boolean"),
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
def test_size_children_and_is_boolean(tree, size, children, is_boolean):
    assert (tree.size, tree.children, tree.is_boolean) == (size, children, is_boolean)


@given(expressions())
def test_walk_yields_every_node_once_and_parents_first(tree):
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
def test_variables_are_listed_in_natural_order(names):
    assert sum(map(Variable, reversed(names))).variables == names


@given(st.text(), st.text())
def test_the_order_of_names_is_total(one, other):
    assert (natural_key(one) == natural_key(other)) is (one == other)
    assert (natural_key(one) < natural_key(other)) is not (natural_key(one) >= natural_key(other))


@given(st.integers(0, 10**30), st.integers(0, 10**30))
def test_numbered_names_are_sorted_by_number(one, other):
    assert (natural_key(f"x{one}") < natural_key(f"x{other}")) is (one < other)


# Errors


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Variable(""), "the name of a variable must be a non-empty string, got ''"),
        (lambda: Variable(3), "the name of a variable must be a non-empty string, got 3"),
        (lambda: Truth(1), "the value of Truth must be True or False, got 1"),
        (lambda: Truth(np.True_), "the value of Truth must be True or False, got np.True_"),
        (lambda: Linear(()), "a sum must have at least one term, and no coefficient of 0"),
        (lambda: Linear(((0, a),)), "a sum must have at least one term, and no coefficient of 0"),
        (lambda: Linear(((1, Truth(True)),)), "a term of a sum must be a number, got Truth(True)"),
        (lambda: a + Truth(True), "a term of a sum must be a number, got Truth(True)"),
        (lambda: -Truth(True), "a term of a sum must be a number, got Truth(True)"),
        (lambda: a * more, f"a factor of a product must be a number, got {more!r}"),
        (lambda: a * "2", "a constant must be an int, a Fraction, a Decimal or a float, got '2'"),
        (lambda: a / b, "a constant must be an int, a Fraction, a Decimal or a float, got Variable('b')"),
        (lambda: a**0, "a power must be an integer from 1 to 100, got 0"),
        (lambda: a**0.5, "a power must be an integer from 1 to 100, got 0.5"),
        (lambda: a**b, "a power must be an integer from 1 to 100, got Variable('b')"),
        (lambda: Product(a), "a product must have at least two factors, got 1"),
        (lambda: Product(a, more), f"a factor of a product must be a number, got {more!r}"),
        (lambda: Count(), "Count must have at least one formula, got none"),
        (lambda: Count(more, a), "a part of Count must be a formula, got Variable('a')"),
        (lambda: Order(1), "Order must have at least one number, got none"),
        (lambda: Order(0, a), "the rank of Order must be an integer from 1 to 1, got 0"),
        (lambda: Order(3, a, b), "the rank of Order must be an integer from 1 to 2, got 3"),
        (lambda: Order(True, a, b), "the rank of Order must be an integer from 1 to 2, got True"),
        (lambda: Order(1, a, more), f"a part of Order must be a number, got {more!r}"),
        (
            lambda: Compare("===", a, b),
            "unknown comparison '===': choose from >, <, >=, <=, =, !=; did you mean '='?",
        ),
        (
            lambda: Compare("=<", a, b),
            "unknown comparison '=<': choose from >, <, >=, <=, =, !=; did you mean '<='?",
        ),
        (lambda: Compare(">", "3", a), "a side of a comparison must be a number, got '3'"),
        (lambda: Compare(">", a, True), "a side of a comparison must be a number, got True"),
        (lambda: Compare(">", a, float("inf")), "a constant must be finite, got inf"),
        (lambda: a > None, "a side of a comparison must be a number, got None"),
        (
            lambda: (a > b) > 3,
            "a side of a comparison must be a number, got Compare('>', Variable('a'), Variable('b'))",
        ),
        (lambda: Linear([(1, "a")]), "a term of a sum must be a number, got 'a'"),
        (lambda: Compare(">", a, Truth(True)), "a side of a comparison must be a number, got Truth(True)"),
        (lambda: And(), "And must join at least one formula, got none"),
        (lambda: Or(), "Or must join at least one formula, got none"),
        (lambda: And(a), "a part of And must be a formula, got Variable('a')"),
        (lambda: Or(Truth(True), True), "a part of Or must be a formula, got True"),
        (lambda: Not(a), "the argument of Not must be a formula, got Variable('a')"),
        (lambda: Where(a, a, b), "the condition of Where must be a formula, got Variable('a')"),
        (lambda: Where(more, Truth(True), b), "a branch of Where must be a number, got Truth(True)"),
        (lambda: Where(more, a, "0"), "a branch of Where must be a number, got '0'"),
        (
            lambda: a & b,
            "& joins formulas, got Variable('a'): put comparisons in parentheses, as in (a > b) & (c > d)",
        ),
        (
            lambda: a > 3 | b > 4,
            "| joins formulas, got 3: put comparisons in parentheses, as in (a > b) | (c > d)",
        ),
        (
            lambda: 3 & more,
            "& joins formulas, got 3: put comparisons in parentheses, as in (a > b) & (c > d)",
        ),
        (lambda: ~a, "the argument of Not must be a formula, got Variable('a')"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_errors_name_what_is_wrong_in_a_tree(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == text


def test_methods_of_a_tree():
    tree: Expression = Not(Compare("<=", a, b))
    assert str(tree) == "not a <= b"
    assert tree.simplified() == more
    assert tree.evaluate({"a": 2, "b": 1}) is True
