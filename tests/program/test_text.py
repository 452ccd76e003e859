"""Programs as text: valid Python, without superfluous parentheses."""

import ast
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsr.program import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Flag,
    Kind,
    Linear,
    Missing,
    Not,
    OneOf,
    Or,
    Order,
    Product,
    Program,
    Truth,
    Variable,
    Where,
)
from nsr.program.text import name, number, sides
from tests.program.oracle import worth
from tests.program.strategies import INTEGERS, expressions

PLAIN = ("a", "b", "x10", "x2", "größe")
a, b, c, d = map(Variable, "abcd")
p, q, r = Compare(">", a, b), Compare("=", c, d), Compare("!=", a, d)


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (a, "a"),
        (Constant(-4), "-4"),
        (Constant(Fraction(1, 3)), "1/3"),
        (Truth(True), "True"),
        (a + b - 1, "a + b - 1"),
        (4 - a, "4 - a"),
        (-a - b, "-a - b"),
        (2 * a - 3 * b, "2*a - 3*b"),
        (a * Fraction(2, 3) - b * Fraction(1, 3), "2*a/3 - b/3"),
        (a + Fraction(1, 3), "a + 1/3"),
        (2 * Where(p, a, b), "2*where(a > b, a, b)"),
        (Linear(((2, a + b),)), "2*(a + b)"),
        (Linear(((1, a), (-1, a + b))), "a - (a + b)"),
        (Linear(((2, Constant(3)),)), "2*3"),
        (Linear(((2, Constant(0.5)),)), "2*0.5"),
        (Linear(((2, Constant(-3)),)), "2*(-3)"),
        (Linear(((2, Constant(Fraction(1, 3))),)), "2*(1/3)"),
        (p, "a > b"),
        (q, "c == d"),
        (r, "a != d"),
        (Compare("<=", a - 12, 2 * b), "a - 12 <= 2*b"),
        (Not(p), "not a > b"),
        (Not(Not(p)), "not not a > b"),
        (Not(And(p, q)), "not (a > b and c == d)"),
        (And(p, q, r), "a > b and c == d and a != d"),
        (And(And(p, q), r), "a > b and c == d and a != d"),
        (Or(And(p, q), r), "a > b and c == d or a != d"),
        (And(Or(p, q), r), "(a > b or c == d) and a != d"),
        (And(Not(p), Or(q)), "not a > b and c == d"),
        (And(Or(p, q)), "a > b or c == d"),
        (Not(Or(p)), "not a > b"),
        (Where(Or(p, q), a - b, Where(r, a, Constant(0))), "where(a > b or c == d, a - b, where(a != d, a, 0))"),
        (Compare(">", Variable("unit price"), Variable("class")), "`unit price` > `class`"),
        (Product(a, b) > c, "a*b > c"),
        (a > 25 * b**2, "a > 25*b**2"),
        (Product(a, b, b, a), "a*b**2*a"),
        (Product(a + 1, a + 1, b), "(a + 1)**2*b"),
        (Product(Product(a, b), Product(a, b)), "(a*b)**2"),
        (Product(a, Product(b, c)), "a*(b*c)"),
        (Product(Constant(-2), a), "(-2)*a"),
        (c - Product(a, b) * Fraction(3, 2), "c - 1.5*a*b"),
        (Count(p, q, r), "count(a > b, c == d, a != d)"),
        (2 * Count(p, q) - 1, "2*count(a > b, c == d) - 1"),
        (Count(p, q, r) >= 2, "at least 2 of (a > b, c == d, a != d)"),
        (Count(p, q, r) <= 1, "at most 1 of (a > b, c == d, a != d)"),
        (Count(p, q).eq(1), "exactly 1 of (a > b, c == d)"),
        (Count(p, q).ne(1), "not exactly 1 of (a > b, c == d)"),
        (Not(Count(p, q).ne(1)), "not not exactly 1 of (a > b, c == d)"),
        (And(Count(p, q).ne(1), Or(p, q)), "not exactly 1 of (a > b, c == d) and (a > b or c == d)"),
        (Count(p, And(q, r)) >= 1, "at least 1 of (a > b, c == d and a != d)"),
        (Count(p, q) > 1, "count(a > b, c == d) > 1"),
        (Count(p, q) >= -1, "count(a > b, c == d) >= -1"),
        (Count(p, q) >= 0.5, "count(a > b, c == d) >= 0.5"),
        (Count(p, q) >= a, "count(a > b, c == d) >= a"),
        (Order(1, a, b, c), "min(a, b, c)"),
        (Order(2, a, b), "max(a, b)"),
        (Order(2, a, b, c), "median(a, b, c)"),
        (Order(3, *map(Variable, "abcde")), "median(a, b, c, d, e)"),
        (Order(2, *map(Variable, "abcd")), "smallest(2, a, b, c, d)"),
        (Order(2, a - b, b - a), "abs(a - b)"),
        (Order(1, a, -a), "min(a, -a)"),
        (Order(2, Constant(10), a, Constant(0)), "clip(a, 0, 10)"),
        (Order(2, Constant(10), a, Constant(10)), "median(10, a, 10)"),
        (-2 * Order(2, a, b) + 1, "1 - 2*max(a, b)"),
        (Linear(((2, Constant(0)),)), "2*0"),
        (Count(p, q) >= 0, "at least 0 of (a > b, c == d)"),
        (a > -3, "a > -3"),
        (a / 8 + b / 9 + c / 10, "a/8 + b/9 + 0.1*c"),
        (a * 0.375, "0.375*a"),
        (a * 1.23456 - b * 1.234567, "1.23456*a - 1234567*b/1000000"),
    ],
)
def test_trees_are_written_as_a_programmer_would(tree, text):
    assert str(tree) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-12, "-12"),
        (37.5, "37.5"),
        (-0.05, "-0.05"),
        (Fraction(1, 1024), "0.0009765625"),
        (Fraction(1, 10**15), "0.000000000000001"),
        (Fraction("0.1257302210933933"), "0.1257302210933933"),
        (Fraction(1, 2**40), "1/1099511627776"),
        (Fraction(1, 10**26), "1/100000000000000000000000000"),
        (Fraction(-2, 3), "-2/3"),
        (Fraction(7, 6), "7/6"),
        (Fraction(10**20) + Fraction(1, 4), "100000000000000000000.25"),
        (Fraction(1, 10**25), "0.0000000000000000000000001"),
        (Fraction("123.456789012345679"), "123.456789012345679"),
        (Fraction("1.2345678901234567"), "1.2345678901234567"),
        (Fraction("12.3456789012345679"), "123456789012345679/10000000000000000"),
    ],
)
def test_numbers_are_written_as_a_person_would(value, text):
    assert number(Constant(value).value) == text


def test_numbers_of_any_length_are_written_in_full():
    zeros = "0" * 5000  # Python itself stops at 4,300 digits
    assert number(Fraction(10**5000)) == f"1{zeros}"
    assert number(Fraction(-(10**5000), 3)) == f"-1{zeros}/3"
    assert str(10**5000 * a + Fraction(10**5000, 3) * b) == f"1{zeros}*a + 1{zeros}*b/3"


@given(st.fractions())
def test_a_number_reads_back(value):
    assert Fraction(number(value)) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("x1", "x1"),
        ("größe", "größe"),
        ("unit price", "`unit price`"),
        ("2nd", "`2nd`"),
        ("True", "`True`"),
        ("and", "`and`"),
        ("a`b", "`a``b`"),
        ("a\nb", "`a\\nb`"),
        ("a\\nb", "`a\\\\nb`"),
        ('a"; drop table t; --', '`a"; drop table t; --`'),
        ("__import__('os')", "`__import__('os')`"),
        ("q'uo\"te", "`q'uo\"te`"),
        ("a\\'\"", "`a\\\\'\"`"),
        ("\x85\u2028\U000e0001\ud800ü ", "`\\x85\\u2028\\U000e0001\\ud800ü `"),
    ],
)
def test_names_that_are_not_identifiers_are_in_backquotes(variable, text):
    assert name(variable) == text


@given(st.text(min_size=1), st.text(min_size=1))
def test_different_names_are_written_differently_on_one_line(one, other):
    assert name(one).isprintable()
    assert (name(one) == name(other)) is (one == other)


class Exact(ast.NodeTransformer):
    """Numbers as Fractions, so that Python computes with what is written and not with the nearest float."""

    def __init__(self, source):
        self.source = source

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            return node
        return ast.parse(f"Fraction('{ast.get_source_segment(self.source, node)}')", mode="eval").body


FUNCTIONS = {
    "where": lambda condition, then, otherwise: then if condition else otherwise,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "median": lambda *numbers: sorted(numbers)[len(numbers) // 2],
    "clip": lambda number, low, high: min(max(number, low), high),
    "smallest": lambda rank, *numbers: sorted(numbers)[int(rank) - 1],
    "count": lambda *formulas: sum(formulas),
    "at_least": lambda number: lambda *formulas: sum(formulas) >= number,
    "at_most": lambda number: lambda *formulas: sum(formulas) <= number,
    "exactly": lambda number: lambda *formulas: sum(formulas) == number,
}


def as_calls(text):
    """``at least 2 of (p, q)`` as Python's ``at_least(2)(p, q)``."""
    return re.sub(r"(at least|at most|exactly) (\d+) of ", lambda m: f"{m[1].replace(' ', '_')}({m[2]})", text)


def python(text, row):
    text = as_calls(text)
    tree = ast.fix_missing_locations(Exact(text).visit(ast.parse(text, mode="eval")))
    return eval(compile(tree, "text", "eval"), {**FUNCTIONS, "Fraction": Fraction}, row)


@given(expressions(PLAIN), st.lists(INTEGERS, min_size=5, max_size=5))
def test_python_parses_the_text_as_the_tree(tree, values):
    row = dict(zip(PLAIN, map(Fraction, values), strict=True))
    for written in (tree, tree.simplified()):
        assert python(str(written), row) == worth(tree, row)


def parsed(text):
    """What Python makes of a text, with ``(p and q) and r`` made flat; None where it is not Python."""

    class Flat(ast.NodeTransformer):
        def visit_BoolOp(self, node):
            self.generic_visit(node)
            parts, node.values = node.values, []
            for part in parts:
                same = isinstance(part, ast.BoolOp) and type(part.op) is type(node.op)
                node.values += part.values if same else [part]
            return node

    try:
        return ast.dump(Flat().visit(ast.parse(text, mode="eval")))
    except SyntaxError:
        return None


def parentheses(text):
    """The places of each pair of parentheses that are not those of a call."""
    opened = []
    for place, letter in enumerate(text):
        if letter == "(":
            opened.append(place)
        elif letter == ")":
            start = opened.pop()
            if not re.search(r"[a-z_)]$", text[:start]):
                yield start, place


@given(expressions(PLAIN))
def test_no_pair_of_parentheses_can_be_left_out(tree):
    for text in map(as_calls, (str(tree), str(tree.simplified()))):
        for start, end in parentheses(text):
            without = text[:start] + text[start + 1 : end] + text[end + 1 :]
            assert parsed(without) != parsed(text), text


@pytest.mark.usefixtures("unchecked")
def test_only_known_nodes_can_be_written():
    with pytest.raises(TypeError, match="^cannot write Expression as text$"):
        str(Expression())


SHORT, LONG = Fraction("0.000012345678901234"), Fraction("0.0000123456789012345")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (37.5, "37.5"),
        (Fraction(-1, 3), "Fraction(-1, 3)"),
        (SHORT, "0.000012345678901234"),
        (LONG, f"Fraction({LONG.numerator}, {LONG.denominator})"),
        (10**4000 - 1, "9" * 4000),
        (-(10**4000), hex(-(10**4000))),
        (10**4000, hex(10**4000)),
    ],
)
def test_constants_are_written_as_python_reads_them(value, text):
    assert repr(Constant(value)) == f"Constant({text})"
    assert repr(Linear([(1, a)], value)) == f"Linear([(1, Variable('a'))], {text})"


DAY = 86_400_000_000
due, paid = Variable("due", Kind.DATE), Variable("paid", Kind.DATE)
one, two, three = (Variable(word, Kind.DURATION) for word in ("one", "two", "three"))


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (paid > due, "paid > due"),
        (paid.eq(due), "paid == due"),
        (paid > due + 30 * DAY, "paid > due + 30 days"),
        (Compare("<", due, paid - 3 * DAY), "paid > due + 3 days"),
        (paid - due > DAY, "paid - due > 1 day"),
        (paid > due + DAY * a, "paid > due + a days"),
        (paid > due + 2 * DAY * a, "paid > due + 2*a days"),
        (paid > due + DAY * a / 24, "paid > due + a hours"),
        (paid > 0, "paid > 1970-01-01"),
        (paid > 19_753 * DAY, "paid > 2024-01-31"),
        (paid > DAY // 2, "paid > 1970-01-01T12:00:00"),
        (paid > -DAY, "paid > 1969-12-31"),
        (paid > Fraction(1, 2), "paid > 0.5"),
        (2 * paid > due, "2*paid > due"),
        (Compare("<", one, two + three), "one < two + three"),
        (Compare("<", -one, two), "-one < two"),
        (one - two > DAY // 24, "one - two > 1 hour"),
        (2 * one > DAY, "2*one > 1 day"),
        (Not(paid > due), "not paid > due"),
        (And(Missing(paid), Flag(Variable("ok", Kind.BOOLEAN), False)), "paid is missing and not ok"),
        (Not(Missing(paid, False)), "not paid is present"),
        (OneOf(Variable("c", Kind.TEXT), ["x"]), "c == 'x'"),
        (OneOf(Variable("c", Kind.TEXT), ["it's", "x"], False), "c not in ('it''s', 'x')"),
    ],
)
def test_dates_and_texts_are_written_as_a_person_would(tree, text):
    assert str(tree) == text


@pytest.mark.parametrize(
    ("comparison", "both"),
    [
        ("a > 1.5", "a and 1.5"),
        ("amount + 300*count(country == 'D == E') > 1000", "amount + 300*count(country == 'D == E') and 1000"),
        ("at least 2 of (a == b, c == d, e > f)", "count(a == b, c == d, e > f) and 2"),
        ("due > paid + 3 days", "due and paid + 3 days"),
        ("due >= 2024-01-31", "due and 2024-01-31"),
    ],
)
def test_sides_are_named_without_the_operator(comparison, both):
    parsed = Program.parse(comparison).expression
    assert isinstance(parsed, Compare)
    assert sides(parsed) == both
