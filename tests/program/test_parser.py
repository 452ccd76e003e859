"""Programs from text: what is printed reads back, what people type is understood, and mistakes are sentences."""

import inspect
import re
import sys
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nsr.errors import InputError
from nsr.program import (
    And,
    Compare,
    Constant,
    Count,
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
from nsr.program.parser import CHARACTERS, NESTING, parse
from nsr.program.text import KEYWORDS
from tests.program.oracle import worth
from tests.program.strategies import INTEGERS, NAMES, SIMPLE, expressions, programs

a, b, c, d, x = map(Variable, "abcdx")
price = Variable("price")
ESCAPED = ("a`b", "a\nb", "a\\nb", "\\", "`", "\x85\u2028\U000e0001\ud800ü ", "AND", "Or", "not", "TRUE", "where")
ESCAPED += ("at", "exactly", "least", "of", "max", "abs", "count")
FUNCTIONS = "where, min, max, median, abs, clip, smallest, count"
TWICE = "expected 'and' between two comparisons of where(...) or count(...)"
HOSTILE = (*NAMES, *ESCAPED)
LARGE = st.one_of(SIMPLE, st.fractions(), st.sampled_from([10**60, Fraction(1, 10**30), Fraction(10**60, 3)]))


@given(programs(HOSTILE))
def test_a_printed_program_reads_back(program):
    assert Program.parse(str(program)) == program
    assert Program.parse(str(program), HOSTILE).names == HOSTILE


@given(programs(("a", "größe"), LARGE))
def test_numbers_of_any_size_read_back(program):
    assert Program.parse(str(program)) == program


def test_a_number_of_5000_digits_reads_back():
    program = Program(a * 10**5000 + Fraction(1, 10**3000 + 1))
    assert Program.parse(str(program)) == program


@given(expressions(HOSTILE), st.lists(INTEGERS, min_size=len(HOSTILE), max_size=len(HOSTILE)))
def test_an_expression_that_is_not_simplified_keeps_its_value(tree, values):
    row = dict(zip(HOSTILE, values, strict=True))
    assert worth(parse(str(tree)), row) == worth(tree, row)


@given(st.text(min_size=1))
def test_any_name_reads_back(name):
    assert parse(str(Variable(name))) == Variable(name)


@pytest.mark.parametrize("word", sorted(KEYWORDS))
def test_columns_that_are_named_like_keywords_are_quoted(word):
    for name in (word, word.upper(), word.capitalize()):
        assert parse(f"NOT {Variable(name) > 3} AND a = 1") == And(Not(Variable(name) > 3), a.eq(1))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = b", a.eq(b)),
        ("a == b", a.eq(b)),
        ("a <> b", a.ne(b)),
        ("a>b AND c>d", And(a > b, c > d)),
        ("a > b & c > d", And(a > b, c > d)),
        ("a > b && c > d || NOT a = d", Or(And(a > b, c > d), Not(a.eq(d)))),
        ("a > b | c > d And a = d", Or(a > b, And(c > d, a.eq(d)))),
        ("not a > b and c > d", And(Not(a > b), c > d)),
        ("not (a > b and c > d)", Not(And(a > b, c > d))),
        ("TRUE", Truth(True)),
        ("a > .5", a > 0.5),
        ("a > 5.", a > 5),
        ("a > 1e-3", a > 0.001),
        ("a > 2.5E+2", a > 250),
        ("a < b < c", And(a < b, b < c)),
        ("0 <= a + 1 < b = c", And(Compare("<=", 0, a + 1), a + 1 < b, b.eq(c))),
        ("0.9 * price", price * Fraction(9, 10)),
        ("price * 0.9", price * Fraction(9, 10)),
        ("price*2/3", price * Fraction(2, 3)),
        ("(a + b) / 2", Linear([(Fraction(1, 2), a), (Fraction(1, 2), b)])),
        ("2*(a - 3*(b + 1))", Linear([(2, a), (-6, b)], -6)),
        ("1/3", Constant(Fraction(1, 3))),
        ("(1/3)*a", a / 3),
        ("0*a + 4", Constant(4)),
        ("--a", a),
        ("+a - -b", a + b),
        ("-2*-3", Constant(6)),
        ("((((a))) > (b))", a > b),
        ("where(a > b, a, -where(c > d, 1, 0)) >= 2", Where(a > b, a, -Where(c > d, 1, 0)) >= 2),
        ("where > 3", Variable("where") > 3),
        ("max > 3 and at < exactly", And(Variable("max") > 3, Variable("at") < Variable("exactly"))),
        ("qty*price > budget", Product(Variable("qty"), price) > Variable("budget")),
        ("a*2*b/4", Linear([(0.5, Product(a, b))])),
        ("a**3 + b^2*c", Product(a, a, a) + Product(b, b, c)),
        ("-a**2", Linear([(-1, Product(a, a))])),
        ("(2*a)**2 - 3**2", Linear([(4, Product(a, a))], -9)),
        ("a**1", a),
        ("(a + b)*(a - b)", Product(a + b, a - b)),
        ("min(a, b, c) <= max(a, 3)", Order(1, a, b, c) <= Order(2, a, 3)),
        ("min(a)", Order(1, a)),
        ("median(a, b, c) + median(1, a, b, c, d)", Order(2, a, b, c) + Order(3, 1, a, b, c, d)),
        ("abs(a - b)", Order(2, a - b, -a + b)),
        ("abs(-2)", Order(2, -2, 2)),
        ("clip(a, -1/2, 10)", Order(2, a, -0.5, 10)),
        ("smallest(2, a, b, c, d)", Order(2, a, b, c, d)),
        ("0 < max(a, b) < 3", And(Compare("<", 0, Order(2, a, b)), Order(2, a, b) < 3)),
        ("count(a > b, c > d) > 1.5", Count(a > b, c > d) > 1.5),
        ("at least 2 of (a > b, c > d or a = 1)", Count(a > b, Or(c > d, a.eq(1))) >= 2),
        ("At Most 1 OF (a > b, c > d) and a > 1", And(Count(a > b, c > d) <= 1, a > 1)),
        ("not exactly 1 of (a > b)", Not(Count(a > b).eq(1))),
        ("class > if", Variable("class") > Variable("if")),
        ('"unit price" >= `unit price`', Variable("unit price") >= Variable("unit price")),
        ('"a ""b""" > `a\\n\\x41\\u0042\\U00000043`', Variable('a "b"') > Variable("a\nABC")),
        (" \n a\t>\u00a0b ", a > b),
    ],
)
def test_what_a_person_types(text, tree):
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a > > b", "expected a number, a name or '(' at position 5"),
        ("a >", "expected a number, a name or '(' at the end"),
        ("", "expected a number, a name or '(' at the end"),
        ("a b", "expected an operator or the end at position 3"),
        ("2a", "expected an operator or the end at position 2"),
        ("a > b)", "expected an operator or the end at position 6"),
        ("(a > b", "expected an operator or ')' at the end"),
        ("where(a > b, 1)", "expected where(condition, a, b), got 2 of these at position 1"),
        ("where(a > b, 1, 2", "expected an operator, ',' or ')' at the end"),
        ("where(2*a, 1, 2)", "expected a formula such as a > b for 'where', got the number '2*a' at position 7"),
        ("a => b", "expected >=, got => at position 3"),
        ("a =< b", "expected <=, got =< at position 3"),
        ("a == None", "expected a column or a number (missing cells: a is missing), got None at position 6"),
        ("a != NULL", "expected a column or a number (missing cells: a is missing), got NULL at position 6"),
        ("maxi(a, b) > 3", f"expected a function, one of {FUNCTIONS}, got 'maxi' at position 1"),
        ("max(a > b, 3)", "expected a number for 'max', got the formula 'a > b' at position 5"),
        ("max()", "expected a number, a name or '(' at position 5"),
        ("max(a, b", "expected an operator, ',' or ')' at the end"),
        ("median(a, b)", "expected an odd number of numbers for 'median', got 2 at position 1"),
        ("abs(a, b)", "expected one number for 'abs', got 2 at position 1"),
        ("clip(a, 3, 1)", "expected clip(a, low, high) with two constants, low less than high, at position 1"),
        ("clip(a, b, c)", "expected clip(a, low, high) with two constants, low less than high, at position 1"),
        ("smallest(3, a, b)", "expected smallest(k, a, b, ...) with k an integer from 1 to 2, at position 1"),
        ("smallest(a, a, b)", "expected smallest(k, a, b, ...) with k an integer from 1 to 2, at position 1"),
        ("count(5, b > 3)", "expected a formula such as a > b for 'count', got the number '5' at position 7"),
        ("at least 2 of (a + b)", "expected a formula such as a > b for 'of', got the number 'a + b' at position 16"),
        ("at least 1.5 of (a, b)", "expected an integer before 'of', got 1.5, at position 10"),
        ("exactly 1.5 of (a, b)", "expected an integer before 'of', got 1.5, at position 9"),
        ("at least of (a > b)", "expected an integer after 'at least' at position 10"),
        ("exactly of (a > b)", "expected an integer after 'exactly' at position 9"),
        ("at least 2 (a > b)", "expected 'of' and formulas in parentheses at position 12"),
        ("exactly 2 of a > b", "expected '(' and formulas at position 14"),
        ("at least two of (a > b)", "expected an integer after 'at least' at position 10"),
        ("`exactly` 2 of (a > b)", "expected an operator or the end at position 11"),
        ("a ** b", "expected a positive integer after '**' at position 6"),
        ("a ** 0", "expected a positive integer after '**' at position 6"),
        ("a ** 0.5", "expected a positive integer after '**' at position 6"),
        ("a ** 999999", "expected an exponent of at most 9,999 after '**' at position 6"),
        ("a ** -1", "expected a positive integer after '**' at position 6"),
        ("a ** 2 ** 3", "expected parentheses around one of two powers at position 8"),
        ("(a > b) ** 2", "expected a number for '**', got the formula '(a > b)' at position 1"),
        ("a ** 5002", "expected powers and abs(...) of at most 5,000 nodes at position 6"),
        ("-a and b > 3", "expected a formula such as a > b for 'and', got the number '-a' at position 1"),
        ("not 5", "expected a formula such as a > b for 'not', got the number '5' at position 5"),
        ("1 + (a > b)", "expected a number for '+', got the formula '(a > b)' at position 5"),
        ("-(a > b)", "expected a number for '-', got the formula '(a > b)' at position 2"),
        ("(a > b) = (c > d)", "expected a number for '=', got the formula '(a > b)' at position 1"),
        (
            "1 / a",
            "expected a number after '/' (multiply both sides by the column instead), got a column at position 5",
        ),
        ("a / (1 - 1)", "expected a number other than 0 after '/' at position 5"),
        ("a $ b", "expected a number, a name or an operator, got '$' at position 3"),
        ("`a > b", "expected a closing ` for the one at position 1"),
        ('a > ""', 'expected a name between " and " at position 5'),
        (r"`a\q`", r"expected \\, \n, \r, \t, \x.., \u.... or \U........ in the text at position 1"),
        (r"`\U00110000`", r"expected \\, \n, \r, \t, \x.., \u.... or \U........ in the text at position 1"),
        ("a > 1e401", "expected an exponent from -400 to 400 at position 5"),
        ("a > 1e-0000000009999999", "expected an exponent from -400 to 400 at position 5"),
        ("0 < where(a > b, 1, 2) < 3", f"{TWICE} at position 5"),
        ("0 < count(a > b, c > d) < 2", f"{TWICE} at position 5"),
    ],
)
def test_a_mistake_is_a_sentence_with_its_position(text, problem):
    with pytest.raises(InputError) as error:
        Program.parse(text)
    assert str(error.value) == f"cannot read {text!r}: {problem}"


def test_an_exponent_of_any_length_is_refused():
    with pytest.raises(InputError, match="expected an exponent from -400 to 400 at position 1$"):
        parse("1e" + "9" * 5000)


def test_only_the_part_around_the_mistake_of_a_long_text_is_shown():
    with pytest.raises(InputError) as error:
        parse(" and ".join(["a > b"] * 20 + ["a > > b"] + ["a > b"] * 20))
    assert str(error.value) == (
        "cannot read '...b and a > b and a > b and a > > b and a > b and a > b and a ...': "
        "expected a number, a name or '(' at position 205"
    )


@pytest.mark.parametrize(
    "text",
    [
        "n" * 9000 + "(a > 1, 2, 3)",
        "a > " + "n" * 9000 + " and " + "n" * 9000 + " in ('x')",
        "`" + "n" * 9000 + "` = 'x' and `" + "n" * 9000 + "` > 3",
    ],
)
def test_long_names_are_not_repeated_in_full(text):
    with pytest.raises(InputError) as error:
        parse(text)
    assert len(str(error.value)) < 500


def test_an_unknown_name_is_an_error_with_a_suggestion():
    assert Program.parse("limit > 3", ["price", "limit"]).names == ("price", "limit")
    with pytest.raises(InputError) as error:
        Program.parse("3 < limt", ["price", "limit"])
    assert str(error.value) == (
        "cannot read '3 < limt': at position 5, unknown name 'limt': choose from price, limit; did you mean 'limit'?"
    )


def test_a_program_must_be_text_of_limited_length():
    assert parse("a" * CHARACTERS) == Variable("a" * CHARACTERS)
    with pytest.raises(InputError, match="^a program must have at most 10,000 characters, got 10,001$"):
        parse("a" * (CHARACTERS + 1))
    with pytest.raises(InputError, match="^a program must be text, got bytes$"):
        parse(b"a > b")


NESTED = [
    ("(", ")"),
    ("not ", ""),
    ("-", ""),
    ("where(a > b, 1, ", ")"),
    ("where(a > b, 1 + 2*(1 + ", "), 2)"),
    ("where(", "*2 + 1 > 3 and a > 2, 1, 2)"),
    ("where(a > 3 and 1 < 1 + 2*", ", 1, 2)"),
    ("(a > 1 and (b > 2 or ", "))"),
    ("max(a, 1 + ", ", b)"),
    ("where(at least 2 of (a > 1, b > 2, c > ", "), 1, 2)"),
    ("a*(b + ", ")"),
]


@pytest.fixture
def small_stack():
    """No more than 600 frames beyond those in use."""
    used, limit = len(inspect.stack(0)), sys.getrecursionlimit()
    sys.setrecursionlimit(used + 600)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.usefixtures("small_stack")
@pytest.mark.parametrize(("before", "after"), NESTED)
def test_nesting_is_limited_and_no_stack_overflows(before, after):
    reached = 0
    for count in range(4, NESTING + 10, 5):
        for middle in ("x", "x > 3"):
            try:
                program = Program.parse(f"{before * count}{middle}{after * count}")
            except InputError as error:
                problem = str(error)
                continue
            assert Program.parse(str(program), kinds=program.expression.kinds) == program
            reached = count
    assert reached >= 14
    assert problem.endswith(f": expected at most {NESTING} levels of nesting")


@pytest.mark.parametrize(
    "text",
    [
        "*".join(["1e400"] * 1000),
        "a" + "/1e400" * 1000,
        "(1e400*a)**1000",
        "*".join(["(1e400*a)"] * 100),
        "(" * 90 + "a + b" + "*1e400)" * 90 + " > 1",
        "a > " + " + ".join(f"1/(1e400 + {n})" for n in range(500)),
        " + ".join(f"a{n}/(1e400 + {n})" for n in range(500)) + " > 1",
    ],
)
def test_numbers_cannot_grow_without_bound(text):
    with pytest.raises(InputError, match="expected numbers and denominators of at most 10,000 digits at position "):
        Program.parse(text[:CHARACTERS])


@pytest.mark.parametrize(("before", "after"), [("(1 + ", ")**9"), ("(a*", ")**9"), ("abs(a - ", ")"), ("(", "*b)**2")])
def test_powers_and_absolute_values_cannot_grow_without_bound(before, after):
    with pytest.raises(InputError, match=r"expected powers and abs\(...\) of at most 5,000 nodes at position "):
        Program.parse(before * 40 + "b" + after * 40)


def test_long_sums_and_formulas_are_read():
    names = [f"x{number}" for number in range(1200)]
    assert Program.parse(" + ".join(names)).inputs == tuple(names)
    assert len(Program.parse(" or ".join(f"{name} > 1" for name in names[:800])).expression.parts) == 800


WORDS = [
    "a",
    "b",
    "1",
    "2.5",
    "1e9",
    "where(",
    "max(",
    "abs(",
    "clip(",
    "count(",
    "at least 2 of (",
    "exactly",
    "**2",
    "and",
    "or",
    "not",
    "True",
    "é",
    "\x00",
]
PIECES = st.sampled_from([*WORDS, *'(),><=!+-*/`"\\&|.'])


@settings(max_examples=300)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=25).map(" ".join), st.lists(PIECES, max_size=25).map("".join)))
@example("\ud800")
@example("`\ud800")
@example("٣ > ²")
def test_any_text_is_read_or_refused(text):
    reads_or_refuses(text)


@settings(max_examples=200)
@given(programs(HOSTILE), st.data())
def test_a_damaged_program_is_read_or_refused(program, data):
    text = str(program)
    start, end = sorted(data.draw(st.integers(0, len(text))) for _ in range(2))
    reads_or_refuses(text[:start] + data.draw(st.one_of(PIECES, st.just(""))) + text[end:])


def reads_or_refuses(text):
    try:
        program = Program.parse(text)
    except InputError as error:
        sentence = str(error)
    else:
        assert Program.parse(str(program)) == program
        return
    assert re.fullmatch(r"cannot read .*: expected .*( at position \d+| at the end|nesting)", sentence)
    assert sentence.isprintable()


# Limits, at and beside their borders


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1e400", Constant(10**400)),
        ("1e-400", Constant(Fraction(1, 10**400))),
        ("1e000000002", Constant(100)),
        ("a**0002", Product(a, a)),
        (r"`\U0010ffff`", Variable("\U0010ffff")),
        ("*".join(["1e400"] * 24 + ["1e399"]), Constant(10**9999)),
        ("9" * CHARACTERS, Constant(10**CHARACTERS - 1)),
        ("(" * 99 + "a" + ")" * 99, a),
    ],
)
def test_the_largest_that_is_read(text, tree):
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1e-401", "expected an exponent from -400 to 400 at position 1"),
        ("1e0000000002", "expected an exponent from -400 to 400 at position 1"),
        ("a**00002", "expected a positive integer after '**' at position 4"),
        ("*".join(["1e400"] * 25), "expected numbers and denominators of at most 10,000 digits at position 145"),
        ("1/" + "/".join(["1e400"] * 25), "expected numbers and denominators of at most 10,000 digits at position 147"),
        ("(" * 100 + "a" + ")" * 100, "expected at most 100 levels of nesting"),
        ("clip(a, 1, 1)", "expected clip(a, low, high) with two constants, low less than high, at position 1"),
        ("smallest(0, a)", "expected smallest(k, a, b, ...) with k an integer from 1 to 1, at position 1"),
        ("smallest(3/2, a, b)", "expected smallest(k, a, b, ...) with k an integer from 1 to 2, at position 1"),
        ("where(a > b, 1, 2, 3)", "expected where(condition, a, b), got 4 of these at position 1"),
    ],
)
def test_the_smallest_that_is_refused(text, problem):
    with pytest.raises(InputError) as error:
        parse(text)
    assert str(error.value).endswith(f": {problem}")


def test_five_thousand_copies_are_read():
    assert len(parse("a**5001").factors) == 5001
    assert len(parse("a**2501 + b**2501").children) == 2
    with pytest.raises(InputError, match=r"expected powers and abs\(...\) of at most 5,000 nodes at position 14$"):
        parse("a**2501 + b**2502")
    with pytest.raises(InputError, match=r"expected powers and abs\(...\) of at most 5,000 nodes at position 11$"):
        parse("a**5001 + abs(b)")


def test_the_tree_has_at_most_a_hundred_levels():
    before, after = "where(a > b, 1, ", ")"  # the sides of the innermost comparison are two levels below it
    parse(before * 98 + "2" + after * 98)
    with pytest.raises(InputError, match="expected at most 100 levels of nesting$"):
        parse(before * 99 + "2" + after * 99)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("$" + "a" * 59, "$" + "a" * 59),
        ("$" + "a" * 60, "$" + "a" * 59 + "..."),
        ("a" * 58 + " >", "a" * 58 + " >"),
        ("a" * 59 + " >", "..." + "a" * 58 + " >"),
        ("a" * 30 + " $" + "b" * 29, "..." + "a" * 29 + " $" + "b" * 29),
        ("a" * 40 + " $" + "b" * 40, "..." + "a" * 29 + " $" + "b" * 29 + "..."),
    ],
)
def test_sixty_characters_around_a_mistake_are_shown(text, shown):
    with pytest.raises(InputError) as error:
        parse(text)
    assert str(error.value).startswith(f"cannot read {shown!r}: expected ")


@pytest.mark.parametrize(("letters", "shown"), [(24, "(" + "a" * 24 + " > b)"), (25, "(" + "a" * 25 + " ...")])
def test_thirty_characters_of_an_operand_are_shown(letters, shown):
    with pytest.raises(InputError, match=r"position 2$") as error:
        parse(f"-({'a' * letters} > b)")
    assert f"got the formula {shown!r} at" in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a + 1 in ('x')", "expected a column for 'in', got 'a + 1' at position 1"),
        ("a + 1 is missing", "expected a column for 'is', got 'a + 1' at position 1"),
        ("2 = 'x'", "expected a column for '=', got '2' at position 1"),
        ("a > 'x'", "texts can only be compared by = and !=, at position 5"),
        ("a is nothing", "expected 'missing' or 'present' at position 6"),
        ("a not > 3", "expected an operator or the end at position 3"),
        ("a in 'x'", "expected '(' and texts at position 6"),
        ("a in (x)", "expected a text in single quotes at position 7"),
        ("a in ('x' 'y')", "expected ',' or ')' at position 11"),
        ("a > 2023-02-29", "expected a date that exists, got '2023-02-29' at position 5"),
        (
            "a in ('x') and a > 2024-01-31",
            "column 'a' cannot be a text and something else (kinds={'a': ...} says what it is)",
        ),
        ("a and a > 3", "column 'a' cannot be a boolean and something else (kinds={'a': ...} says what it is)"),
        ("a and a = 'x'", "column 'a' cannot be a boolean and a text (kinds={'a': ...} says what it is)"),
        (
            "a > 2024-01-01 and a > 5",
            "column 'a' is a date: expected a date such as 2024-01-31, got a number at position 24",
        ),
        (
            "a > 2024-01-01 and a > b + 5",
            "column 'a' is a date: expected a duration such as 30 days, got a number at position 24",
        ),
        (
            "2024-01-01 + 3 > a",
            "expected a duration such as 3 days beside dates and durations, got the number '3' at position 14",
        ),
        (
            "a > (b + 2*3 days) + 1",
            "expected a duration such as 3 days beside dates and durations, got the number '1' at position 22",
        ),
    ],
)
def test_a_mistake_about_texts_and_dates(text, problem):
    with pytest.raises(InputError) as error:
        parse(text)
    assert str(error.value) == f"cannot read {text!r}: {problem}"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("d > 2024-01-31", {"d": "date"}),
        ("d > 2024-01-31T12:30", {"d": "timestamp"}),
        ("d > 2024-01-31 12:30:00.5", {"d": "timestamp"}),
        ("d > 2024-01-31T12:30 and d < 2024-02-01", {"d": "timestamp"}),
        ("d < 2024-02-01 and d > 2024-01-31T12:30", {"d": "timestamp"}),
        ("d > e + 30 days", {"d": "date", "e": "date"}),
        ("d > e + 30 days and x > y", {"d": "date", "e": "date", "x": "number", "y": "number"}),
        ("d > e + 2*n", {"d": "number", "e": "number", "n": "number"}),
        ("d > e + 2*n days", {"d": "date", "e": "date", "n": "number"}),
        ("3 days < d - e", {"d": "date", "e": "date"}),
        ("c = 'x' and d in ('', 'y')", {"c": "text", "d": "text"}),
        ("c = d and d != e and e = 'x'", {"c": "text", "d": "text", "e": "text"}),
        ("d > e and f <= e and e > 2024-01-31", {"d": "date", "e": "date", "f": "date"}),
        ("d > e and e > 2024-01-31T12:00", {"d": "timestamp", "e": "timestamp"}),
        ("d > 3 days and d < e", {"d": "duration", "e": "duration"}),
        ("d + e > 3 days", {"d": "duration", "e": "duration"}),
        ("flag and x >= 5", {"flag": "boolean", "x": "number"}),
        (
            "not a or where(b, 1, 2) > count(c, d) and exactly 1 of (e, x > y)",
            dict.fromkeys("abcde", "boolean") | {"x": "number", "y": "number"},
        ),
        ("d > e", {"d": "number", "e": "number"}),
        ("d is missing", {"d": "number"}),
        ("d", {"d": "number"}),
    ],
)
def test_what_a_text_implies_about_its_columns(text, kinds):
    assert parse(text).kinds == kinds


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a IS NULL", "a is missing"),
        ("a is not null", "a is present"),
        ("a is not present", "a is missing"),
        ("a is not missing", "a is present"),
        ("c in ('x')", "c = 'x'"),
        ("c not in ('x')", "c != 'x'"),
        ("c in ('y', 'x', 'y')", "c in ('x', 'y')"),
        ("d > e + 1 week", "d > e + 7 days"),
        ("d > e + 48 hours", "d > e + 2 days"),
        ("d > e + 1 minute", "d > e + 60 seconds"),
        ("d > e + 1 second", "d > e + 1000000 microseconds"),
        ("d > e + 1 day + 1 day", "d > e + 2 Days"),
    ],
)
def test_two_ways_to_write_the_same(text, same):
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    "text",
    [
        "born > 1899-12-31",
        "end >= start + terms days + 30 days",
        "born <= 1950-01-01 + 3*years days",
        "started != 1969-07-20T20:17:40",
        "-3*flags < 5 and d > e - 3 days",
    ],
)
def test_dates_before_1970_and_sums_of_dates_read_back(text):
    program = Program.parse(text)
    assert Program.parse(str(program)) == program
    assert "000000" not in str(program)


def test_given_kinds_come_before_those_that_follow_from_the_text():
    assert Program.parse("d > 2024-01-31T12:00", kinds={"d": "date"}).expression.kinds == {"d": "date"}
    given = Program.parse("d > e and c", kinds={"d": "date"}).expression.kinds
    assert given == {"c": "boolean", "d": "date", "e": "number"}
    with pytest.raises(InputError, match="expected a formula such as a > b for 'and', got the column of kind text 'c'"):
        Program.parse("x > 3 and c", kinds={"c": "text"})
    with pytest.raises(InputError, match=r"column 'c' is true or false \(write c or not c\), at position 5"):
        Program.parse("c = 1", kinds={"c": "boolean"})
    with pytest.raises(InputError, match="column 'd' is a date: expected a date such as 2024-01-31, got a number"):
        Program.parse("d > 5", kinds={"d": "date"})
