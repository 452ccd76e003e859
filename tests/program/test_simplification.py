"""The canonical form: the same value, the same tree for equal rules, and no combinatorial explosion."""

import subprocess
import sys
from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    Program,
    Truth,
    Variable,
    Where,
)
from nsr.program.cells import evaluate_cells
from nsr.program.parser import parse
from nsr.program.simplification import negated, simplify, with_order
from tests.program.oracle import worth
from tests.program.strategies import expressions, formulas

NAMES = ("a", "b", "x2", "x10")
a, b, x, y, x1, x2, x10 = map(Variable, ("a", "b", "x", "y", "x1", "x2", "x10"))
more, less, equal = Compare(">", a, b), Compare("<", a, b), Compare("=", a, b)
other, third = Compare(">", x, y), Compare("=", x, y)
FOUR = Count(*(each > 1 for each in (a, b, x, y)))
PARTS = "(a > 1, b > 1, x > 1, y > 1)"
FIVE = Count(*(Variable(name) > 1 for name in "abcde"))
OF_FIVE = "of (a > 1, b > 1, c > 1, d > 1, e > 1)"
TIES = st.lists(st.one_of(st.integers(-3, 3), st.fractions(-3, 3, max_denominator=4)), min_size=4, max_size=4)
"""Rows in which equal numbers are common."""


# Values are preserved


@given(expressions(NAMES, depth=3), st.lists(TIES, min_size=1, max_size=8))
def test_the_value_stays_exactly_the_same(tree, rows):
    simple = simplify(tree)
    assert simple.is_boolean is tree.is_boolean
    assert set(simple.variables) <= set(tree.variables)
    for values in rows:
        row = dict(zip(NAMES, values, strict=True))
        assert worth(simple, row) == worth(tree, row)


@given(expressions())
def test_simplifying_again_changes_nothing(tree):
    simple = simplify(tree)
    assert simplify(simple) == simple
    assert str(simplify(simple)) == str(simple)


@given(formulas())
def test_the_negation_of_a_canonical_formula_is_canonical(formula):
    simple = simplify(formula)
    assert negated(simple) == simplify(Not(formula))
    assert negated(negated(simple)) == simple


@given(expressions())
def test_no_negation_is_left_and_formulas_are_flat(tree):
    for node in simplify(tree).walk():
        assert not isinstance(node, Not)
        if isinstance(node, And | Or):
            assert len(node.parts) > 1
            assert not any(isinstance(part, type(node) | Truth) for part in node.parts)
        if isinstance(node, Linear):
            assert not any(isinstance(atom, Linear | Constant) for atom in node.children)


# Equal rules become equal trees


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Not(more), "a <= b"),
        (Not(Not(more)), "a > b"),
        (Not(And(more, Not(third))), "a <= b or x == y"),
        (Compare(">", x - 12, y), "x > y + 12"),
        (Compare(">", Constant(4), x), "x < 4"),
        (Compare(">", 2 * x, Constant(75)), "x > 37.5"),
        (Compare(">", x * Fraction(1, 3), y * Fraction(1, 2)), "2*x > 3*y"),
        (Compare("<=", -x, -y), "x >= y"),
        (Compare(">", x, -y), "x + y > 0"),
        (Compare(">", 4 * x + 6 * y, Constant(1)), "2*x + 3*y > 0.5"),
        (Compare(">", x - y, x), "y < 0"),
        (Compare(">", x10, x2), "x2 < x10"),
        (Compare("=", x + 1, x + 1), "True"),
        (Compare(">", x + 1, x + 1), "False"),
        (Compare("<", Constant(1), Constant(2)), "True"),
        (And(other, more), "a > b and x > y"),
        (And(Compare(">", x10, y), Compare(">", x2, y)), "x2 > y and x10 > y"),
        (And(more, more), "a > b"),
        (And(more, less), "False"),
        (Or(more, less), "a != b"),
        (Or(more, equal), "a >= b"),
        (Or(more, less, equal), "True"),
        (And(Compare(">=", a, b), Compare("<=", a, b)), "a == b"),
        (And(Or(more, less), Compare(">=", a, b)), "a > b"),
        (And(more, Truth(True)), "a > b"),
        (And(more, Truth(False)), "False"),
        (Or(more, Truth(True)), "True"),
        (Or(more, Truth(False)), "a > b"),
        (Or(more, And(more, other)), "a > b"),
        (And(more, Or(more, other)), "a > b"),
        (Or(And(more, other), Not(And(more, other))), "True"),
        (And(Or(more, other), Not(more), Not(other)), "False"),
        (Or(And(more, other), Not(Or(Not(more), Not(other)))), "a > b and x > y"),
        (And(And(And(more), other)), "a > b and x > y"),
        (2 * (x + y) - 2 * x, "2*y"),
        (Linear(((1, Constant(3)), (2, Constant(0.5)))), "4"),
        (Linear(((1, x), (-1, x))), "0"),
        (Linear(((-1, a), (1, x2), (1, x10)), 3), "x2 + x10 - a + 3"),
        (Where(Truth(True), x, y), "x"),
        (Where(Truth(False), x, y), "y"),
        (Where(more, x, x), "x"),
        (Where(Compare("<=", x1, x2), x, y), "where(x1 > x2, y, x)"),
        (Where(Compare("!=", x1, x2), x, y), "where(x1 == x2, y, x)"),
        (Where(And(more, other), x, y), "where(a > b and x > y, x, y)"),
        (Where(Or(Not(more), Not(other)), y, x), "where(a > b and x > y, x, y)"),
        (Where(Compare(">=", x, Constant(0)), x, -x), "where(x > 0, x, -x)"),
        (Where(Compare("<", x, Constant(0)), -x, x), "where(x > 0, x, -x)"),
        (Where(Compare(">=", a, b), a, b), "where(a > b, a, b)"),
        (Where(equal, a, b), "b"),
        (Where(Compare(">=", 2 * x, Constant(75)), 4 * x, Constant(150)), "where(x > 37.5, 4*x, 150)"),
        (Where(Compare(">=", 2 * x, Constant(75)), 4 * x, Constant(151)), "where(x >= 37.5, 4*x, 151)"),
        (Product(y, 2, x, y), "2*x*y**2"),
        (Product(x, x + y, Constant(0)), "0"),
        (Product(2 * x + 4, y), "2*y*(x + 2)"),
        (Product(y - x, y - x), "(x - y)**2"),
        (Product(y - x, a), "-a*(x - y)"),
        (Product(x + 1, 3), "3*x + 3"),
        (Product(x, Product(y, x)) - y * x * x, "0"),
        (Compare(">", 2 * x * y, 6), "x*y > 3"),
        (Count(more, other) > 2, "False"),
        (Count(more, other) >= 0, "True"),
        (Count(more, other) > 0.5, "a > b or x > y"),
        (Count(more, other) > 1, "a > b and x > y"),
        (Count(more, other) < 1, "a <= b and x <= y"),
        (Count(more, other) < 2, "a <= b or x <= y"),
        (Count(more, other).eq(2), "a > b and x > y"),
        (Count(more, other).eq(0), "a <= b and x <= y"),
        (Count(more, other).ne(0), "a > b or x > y"),
        (Count(other, more).eq(1), "exactly 1 of (a > b, x > y)"),
        (Count(other, more).eq(0.5), "False"),
        (Count(more, other, x > 1) > 1, "at least 2 of (a > b, x > 1, x > y)"),
        (2 * Count(more, other, x > 1) + 1 < 4, "at most 1 of (a > b, x > 1, x > y)"),
        (Not(Count(more, other, x > 1) >= 2), "at most 1 of (a > b, x > 1, x > y)"),
        (Not(Count(more, other, x > 1).eq(2)), "not exactly 2 of (a > b, x > 1, x > y)"),
        (Count(more, Not(more), Truth(True)), "2"),
        (Count(more), "count(a > b)"),
        (And(FOUR >= 2, FOUR <= 2), f"exactly 2 of {PARTS}"),
        (Or(FOUR >= 3, FOUR.eq(2)), f"at least 2 of {PARTS}"),
        (And(FOUR >= 2, FOUR.ne(2)), f"at least 3 of {PARTS}"),
        (And(FOUR >= 3, FOUR <= 2), "False"),
        (And(FOUR >= 3, FOUR.ne(3)), "a > 1 and b > 1 and x > 1 and y > 1"),
        (Or(FOUR <= 1, FOUR >= 3), f"not exactly 2 of {PARTS}"),
        (And(FIVE >= 2, FIVE <= 3), f"at least 2 {OF_FIVE} and at most 3 {OF_FIVE}"),
        (And(FIVE >= 2, FIVE.ne(3)), f"at least 2 {OF_FIVE} and not exactly 3 {OF_FIVE}"),
        (And(FIVE.ne(3), FIVE.ne(2)), f"not exactly 2 {OF_FIVE} and not exactly 3 {OF_FIVE}"),
        (And(FIVE >= 2, FIVE.ne(2), FIVE.ne(4)), f"at least 3 {OF_FIVE} and not exactly 4 {OF_FIVE}"),
        (Or(FIVE.eq(3), FIVE.eq(2)), f"exactly 2 {OF_FIVE} or exactly 3 {OF_FIVE}"),
        (Or(FIVE <= 2, FIVE.eq(4)), f"at most 2 {OF_FIVE} or exactly 4 {OF_FIVE}"),
        (Not(FIVE <= 2), f"at least 3 {OF_FIVE}"),
        (Count(more, Truth(False), other) + 1, "count(a > b, x > y) + 1"),
        (Count(more, other, Truth(True)), "count(a > b, x > y) + 1"),
        (Count(more, other) <= Count(third), "count(x == y) >= count(a > b, x > y)"),
        (Product(2 * y - 4 * x, a / 3), "-2*a*(2*x - y)/3"),
        (Product(x, Fraction(1, 2)), "x/2"),
        (Compare(">", x / 3, Fraction(1, 6)), "x > 0.5"),
        (Compare("<=", 3 - 2 * x, -y), "2*x >= y + 3"),
        (Order(2, 7, 5, x), "clip(x, 5, 7)"),
        (Order(2, x, x, y, y), "smallest(2, x, x, y, y)"),
        (Order(2, y, y, y, x), "y"),
        (Order(1, Order(1, a, b), x), "min(a, b, x)"),
        (Order(2, Order(1, a, b), x), "max(x, min(a, b))"),
        (Order(2, Order(2, x, 3), 5), "max(x, 5)"),
        (Order(2, Order(1, a, x, 9), 0), "clip(min(a, x), 0, 9)"),
        (Order(1, Order(2, 9, x), 9), "9"),
        (Order(2, x + 1, -1 - x), "abs(x + 1)"),
        (Order(2, y, x), "max(x, y)"),
        (Order(3, y, x, y), "max(x, y)"),
        (Order(2, Order(2, a, b), x), "max(a, b, x)"),
        (Order(1, x, 3, 5), "min(x, 3)"),
        (Order(1, x), "x"),
        (Order(2, x, x), "x"),
        (Order(2, 7, 5, 6), "6"),
        (Order(2, y, x, y), "y"),
        (Order(2, y - x, x - y), "abs(x - y)"),
        (Order(2, 1 - x, x - 1), "abs(x - 1)"),
        (Order(1, y - x, x - y), "-abs(x - y)"),
        (Order(2, -3 * x, 3 * x), "3*abs(x)"),
        (Order(2, Order(2, x, -x), -Order(2, x, -x)), "abs(x)"),
        (Order(2, y, Order(2, x, -x)), "max(y, abs(x))"),
        (Order(1, Order(2, x, 0), 10), "clip(x, 0, 10)"),
        (Order(2, Order(1, 10, x), 0), "clip(x, 0, 10)"),
        (Order(2, Order(1, 0, x), 10), "10"),
        (Order(2, *map(Variable, "dcba")), "smallest(2, a, b, c, d)"),
        (Where(more, x, y) + Where(Not(Compare("<=", a, b)), x, y), "2*where(a > b, x, y)"),
    ],
)
def test_the_canonical_form_of(tree, text):
    assert str(simplify(tree)) == text
    assert Program(tree) == Program(simplify(tree))


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Where(a > b, a, b), "max(a, b)"),
        (Where(a >= b, b, a), "min(a, b)"),
        (Where(a > b, a - b, b - a), "abs(a - b)"),
        (Where(a > b, b - a, a - b), "-abs(a - b)"),
        (Where(x < 0, -x, x), "abs(x)"),
        (Where(x > 37.5, 4 * x, 150), "max(4*x, 150)"),
        (Where(Where(a > b, a, b) > x, Where(a > b, a, b), x), "max(a, b, x)"),
        (Where(x >= 0, Where(x > 9, 9, x), 0), "clip(x, 0, 9)"),
        (Where(x > 9, 9, Where(x > 0, x, 0)), "clip(x, 0, 9)"),
        (Where(x >= 9, Where(x > 0, 0, x), 9), "where(x >= 9, min(x, 0), 9)"),
        (2 * Where(a > b, a, b) * x > y, "y < 2*x*max(a, b)"),
        (Count(Where(a > b, a, b) > x, other) >= 1, "x > y or x < max(a, b)"),
        (Where(a > b, a, x), "where(a > b, a, x)"),
        (Where(And(more, other), a, b), "where(a > b and x > y, a, b)"),
    ],
)
def test_choices_by_size_become_order_statistics(tree, text):
    assert str(with_order(tree)) == text
    assert with_order(with_order(tree)) == with_order(tree)


@given(expressions(NAMES, depth=3), st.lists(TIES, min_size=1, max_size=8))
def test_with_order_keeps_the_value(tree, rows):
    for values in rows:
        row = dict(zip(NAMES, values, strict=True))
        assert worth(with_order(tree), row) == worth(tree, row)


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_all_ways_to_write_a_comparison_have_one_canonical_form(symbol):
    mirrored = {">": "<", "<": ">", ">=": "<=", "<=": ">="}.get(symbol, symbol)
    opposite = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "=": "!=", "!=": "="}
    written = []
    for left, right in ((x, y + 12), (x - 12, y), (-y, 12 - x), (x * Fraction(1, 2) - y * 0.5, Constant(6))):
        written += [Compare(symbol, left, right), Compare(mirrored, right, left)]
        written += [Not(Compare(opposite[symbol], left, right)), Not(Not(Compare(symbol, left, right)))]
    assert {simplify(each) for each in written} == {Compare(symbol, x, y + 12)}


@pytest.mark.parametrize("kind", [And, Or])
def test_the_order_of_parts_does_not_matter(kind):
    parts = (more, other, (Or if kind is And else And)(Compare(">", x2, x10), third), Compare(">", x2, x10 + 1))
    assert len({simplify(kind(*order)) for order in permutations(parts)}) == 1
    terms = tuple(zip((1, -2, 3), (a, x2, x10), strict=True))
    assert len({simplify(Linear(order)) for order in permutations(terms)}) == 1


@pytest.mark.parametrize(("first", "second"), list(product(COMPARISONS, repeat=2)))
def test_two_comparisons_of_the_same_sides_become_one(first, second):
    one, two = Compare(first, a, b), Compare(second, a, b)
    for kind in (And, Or):
        simple = simplify(kind(one, two))
        assert isinstance(simple, Compare | Truth)
        for value in (-1, 0, 1):
            assert worth(simple, {"a": value, "b": 0}) is worth(kind(one, two), {"a": value, "b": 0})


def test_different_rules_stay_different():
    assert Program(more) != Program(Compare(">=", a, b))
    at_least, above = (Where(Compare(symbol, x, Constant(0)), x, y) for symbol in (">=", ">"))
    assert Program(at_least) != Program(above)


# No combinatorial explosion


@pytest.mark.parametrize(("outer", "inner"), [(And, Or), (Or, And)])
def test_two_hundred_parts(outer, inner):
    parts = [Compare(">", Variable(f"x{i}"), Variable(f"y{i}")) for i in range(200)]
    assert simplify(outer(*reversed(parts), *parts)) == outer(*parts)
    pairs = [inner(part, after) for part, after in zip(parts, parts[1:] + parts[:1], strict=True)]
    assert len(simplify(outer(*pairs)).parts) == 200
    assert simplify(outer(*pairs, *parts)) == outer(*parts)


def test_thirty_levels_of_and_and_or():
    tree: Expression = more
    for i in range(30):
        tree = (Or, And)[i % 2](Compare(">", Variable(f"x{i}"), b), tree)
    assert simplify(tree).size == 31 * 3 + 30
    assert simplify(Not(Not(tree))) == simplify(tree)


DEEP = """
import numpy as np, torch
from fractions import Fraction
from nsr.program import And, Compare, Not, Or, Variable, Where

a, b = Variable("a"), Variable("b")
rule = Compare(">", a, b)
chain, nested, formula, negation = a, rule, rule, rule
for i in range(200):
    x = Variable(f"x{i}")
    chain = Where(Compare(">", a, x), b, chain)
    formula = (And, Or)[i % 2](Compare(">", a, x), formula)
    negation = Not(negation)
    if i % 2:
        nested = Compare(">", Where(nested, x, 2 * a + Fraction(1, 2)), b)
for tree in (chain, nested, formula, negation):
    simple = tree.simplified()
    assert simple.simplified() == simple and simple in {simple} and str(simple) and repr(simple)
    for value in (Fraction(1, 3), np.arange(3), np.arange(3.0), torch.zeros(3)):
        answer = tree.evaluate(dict.fromkeys(tree.variables, value))
        assert np.array_equal(np.asarray(answer), np.asarray(simple.evaluate(dict.fromkeys(tree.variables, value))))
"""


@pytest.mark.outer
def test_trees_two_hundred_levels_deep():
    """In a separate process without runtime type checks, which would double the frames on the stack."""
    subprocess.run([sys.executable, "-W", "error", "-c", DEEP], check=True, timeout=120)


@pytest.mark.usefixtures("unchecked")
def test_only_canonical_formulas_can_be_negated():
    with pytest.raises(TypeError) as error:
        negated(a)
    assert str(error.value) == "only a canonical formula can be negated, got Variable('a')"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (
            "300*count(c == 'DE') + 200*count(c == 'FR') + 200*count(c in ('AT', 'DE')) + x",
            "x + 500*count(c == 'DE') + 200*count(c in ('AT', 'FR'))",
        ),
        ("5*count(c == 'a') + 5*count(c != 'a')", "5*count(c is present)"),
        ("5*count(c == 'a') - 5*count(c in ('a', 'b'))", "-5*count(c == 'b')"),
        ("5*count(c in ('a', 'b')) + 2*count(c != 'b')", "2*count(c != 'b') + 5*count(c in ('a', 'b'))"),
        ("5*count(c == 'a') + 5*count(d == 'a')", "5*count(c == 'a') + 5*count(d == 'a')"),
        ("5*count(c in ('a', 'b')) + 2*count(c in ('b', 'd'))", "5*count(c in ('a', 'b')) + 2*count(c in ('b', 'd'))"),
        ("count(c == 'a') + x > count(c in ('a', 'b'))", "x > count(c == 'b')"),
    ],
)
def test_texts_of_a_column_are_added_up(text, canonical):
    program = Program.parse(text)
    plain, names = parse(text), program.names
    cells = {name: ["a", "b", "d", "DE", "AT", "FR", "z", None] for name in names} | {"x": list(range(8))}
    columns = {name: cells[name] for name in names}
    assert program({name: columns[name] for name in names}).tolist() == evaluate_cells(plain, columns, 8).tolist()
    assert str(program) == canonical
    assert Program.parse(canonical, kinds=parse(text).kinds) == program
