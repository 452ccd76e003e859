"""SMT-LIB: parsed by z3 and compared with the tree's exact values."""

import re
from fractions import Fraction

import pytest
import z3

from nsr.errors import InputError
from nsr.program import Program, Variable
from nsr.program.emit import emit
from nsr.program.emit.smtlib import RESERVED
from tests.program.emit.samples import integer_rows, programs
from tests.program.oracle import worth

BUILT_IN = ("select", "store", "if", "implies", "concat", "set-logic", "assert", "rule", "Real", "-1", "x!0", "pi")
HOSTILE = (
    "a|b",
    "a\\b",
    "|",
    "a\nb",
    '"',
    "a; b",
    "(",
    ")",
    "a_b",
    "@x",
    ".x",
    "\x00",
    "\ud800",
    *BUILT_IN,
    *sorted(RESERVED),
)


class Parsed:
    """What z3 reads, with the columns in the order of their declarations."""

    def __init__(self, text):
        self.solver = z3.Solver(ctx=z3.Context())
        sort = text.partition("(define-fun rule () ")[2].split()[0]
        self.solver.from_string(f"{text}\n(declare-const answer! {sort})(assert (= answer! rule))")
        _, self.definition = self.solver.assertions()[0].children()
        declared = [line.split("|")[1] for line in text.splitlines() if line.startswith("(declare-const ")]
        make = z3.Int if re.search(r"\(set-logic QF_[LN]I", text) else z3.Real
        self.columns = [make(symbol, self.solver.ctx) for symbol in declared]
        self.make_value = z3.IntVal if make is z3.Int else z3.RealVal

    def __call__(self, row):
        values = [self.make_value(str(value), self.solver.ctx) for value in row]
        answer = z3.simplify(z3.substitute(self.definition, *zip(self.columns, values, strict=True)))
        return z3.is_true(answer) if z3.is_bool(answer) else Fraction(answer.as_string())


@pytest.mark.parametrize("integers", [False, True])
def test_z3_computes_the_same_on_integers(integers):
    for program in programs():
        agrees(program, Parsed(program.emit("smtlib", integers=integers)), integer_rows())


def test_z3_computes_the_same_on_fractions():
    rows = [{name: Fraction(n, 1 + len(name) % 3) for name, n in row.items()} for row in integer_rows()]
    for program in programs():
        agrees(program, Parsed(program.emit("smtlib")), rows)


def agrees(program, parsed, rows):
    for row in rows:
        assert parsed([row[name] for name in program.inputs]) == worth(program.expression, row), program


def test_any_name_can_be_a_column():
    weights = {name: weight for weight, name in enumerate(HOSTILE, start=1)}
    program = Program(sum(weight * Variable(name) for name, weight in weights.items()), HOSTILE)
    text = program.emit("smtlib")
    parsed = Parsed(text.encode().decode())
    assert len(set(map(str, parsed.columns))) == len(HOSTILE)
    for position, name in enumerate(HOSTILE):
        assert parsed([int(other == position) for other in range(len(HOSTILE))]) == weights[name]
    assert {r"; |a_b_1| is 'a|b'", r"; |a_b_2| is 'a\\b'", r"; |x_4| is '\ud800'"} <= set(text.splitlines())
    assert sum(line.startswith("(") for line in text.splitlines()) == 2 + len(HOSTILE)


def test_the_text_is_readable():
    assert emit(Program.parse("`unit price` - 2*b/3 > -1/3"), "smtlib", integers=True) == (
        "; 2*b < 3*`unit price` + 1\n"
        "(set-logic QF_LIA)\n"
        "(declare-const |b| Int)\n"
        "(declare-const |unit price| Int)\n"
        "(define-fun rule () Bool (< (* 2 |b|) (+ (* 3 |unit price|) 1)))\n"
    )
    text = emit(Program.parse("where(`and` = 0, a/3, -4)"), "smtlib", name="price", integers=True)
    assert "; |and_1| is 'and'\n(set-logic QF_LIRA)\n" in text
    assert text.endswith("() Real (ite (= (to_real |and_1|) 0.0) (* (/ 1.0 3.0) (to_real |a|)) (- 4.0)))\n")


@pytest.mark.parametrize("name", ["and", "a b", "", "1a", "a|b"])
def test_the_name_of_the_function_is_checked(name):
    with pytest.raises(InputError, match="^name must be a valid name for a function, got "):
        emit(Program(Variable("a") > 3), "smtlib", name=name)


CELLS = {"c": "text", "f": "boolean", "d": "date", "e": "date", "t": "timestamp", "u": "duration", "v": "duration"}
NO_A, NO_B, NO_C = ("(not |a is missing|)", "(not |b is missing|)", "(not |c is missing|)")


def written(text, **options):
    """The lines after the comments."""
    lines = Program.parse(text, kinds=CELLS).emit("smtlib", **options).splitlines()
    return [line for line in lines if not line.startswith(";")]


@pytest.mark.parametrize(
    ("text", "logic", "definition"),
    [
        ("a > b + 1", "QF_LRA", "Bool (> |a| (+ |b| 1.0))"),
        ("a > 2/3", "QF_LRA", "Bool (> |a| (/ 2.0 3.0))"),
        ("-2*a > b", "QF_LRA", "Bool (< (+ (* 2.0 |a|) |b|) 0.0)"),
        ("a > -1", "QF_LRA", "Bool (> |a| (- 1.0))"),
        ("a != b", "QF_LRA", "Bool (distinct |a| |b|)"),
        ("a = b or a > 1 and b > 1", "QF_LRA", "Bool (or (= |a| |b|) (and (> |a| 1.0) (> |b| 1.0)))"),
        ("a - b", "QF_LRA", "Real (+ |a| (* (- 1.0) |b|))"),
        ("a*b", "QF_NRA", "Real (* |a| |b|)"),
        ("where(a > b, a, 0)", "QF_LRA", "Real (ite (> |a| |b|) |a| 0.0)"),
        ("count(a > 1, b > 1)", "QF_LRA", "Real (+ (ite (> |a| 1.0) 1.0 0.0) (ite (> |b| 1.0) 1.0 0.0))"),
        ("False", "QF_LRA", "Bool false"),
    ],
)
def test_reals_as_they_are_written(text, logic, definition):
    first, *columns, last = written(text)
    assert (first, last) == (f"(set-logic {logic})", f"(define-fun rule () {definition})")
    assert columns == [f"(declare-const |{name}| Real)" for name in "ab" if name in Program.parse(text).inputs]


@pytest.mark.parametrize(
    ("text", "logic", "definition"),
    [
        ("a > b/2 + 1", "QF_LIA", "Bool (> (* 2 |a|) (+ |b| 2))"),
        ("a*b", "QF_NIA", "Int (* |a| |b|)"),
        ("a/2", "QF_LIRA", "Real (* (/ 1.0 2.0) (to_real |a|))"),
        ("a*b/2", "QF_NIRA", "Real (* (/ 1.0 2.0) (* (to_real |a|) (to_real |b|)))"),
    ],
)
def test_integers_as_they_are_written(text, logic, definition):
    first, *columns, last = written(text, integers=True)
    assert (first, last) == (f"(set-logic {logic})", f"(define-fun rule () {definition})")
    assert columns == [f"(declare-const |{name}| Int)" for name in "ab" if name in Program.parse(text).inputs]


@pytest.mark.parametrize(
    ("text", "sorts", "term"),
    [
        ("f", {"f": "Bool"}, "|f|"),
        ("not f", {"f": "Bool"}, "(not |f|)"),
        ("c = 'x'", {"c": "String"}, '(= |c| "x")'),
        ("c != ' \"~\\\\\\x7f'", {"c": "String"}, r'(not (= |c| " \u{22}~\u{5c}\u{7f}"))'),
        ("c in ('x', 'y')", {"c": "String"}, '(or (= |c| "x") (= |c| "y"))'),
        ("d > e + 30 days", {"d": "Int", "e": "Int"}, "(> |d| (+ |e| 30))"),
        ("d > 2024-01-31", {"d": "Int"}, "(> |d| 19753)"),
        ("d > e + 12 hours", {"d": "Int", "e": "Int"}, "(> (* 2 |d|) (+ (* 2 |e|) 1))"),
        ("t > 2024-01-31T12:30", {"t": "Int"}, "(> |t| 1706704200000000)"),
        ("d < t", {"d": "Int", "t": "Int"}, "(< (* 86400000000 |d|) |t|)"),
        ("u > 1 hour", {"u": "Int"}, "(> |u| 3600000000)"),
        ("n < u", {"n": "Real", "u": "Int"}, "(< |n| (to_real |u|))"),
    ],
)
def test_cells_as_they_are_written(text, sorts, term):
    logic, *columns, definition = written(text)
    assert logic == "(set-logic ALL)"
    assert columns == [f"(declare-const |{name}| {sort})" for name, sort in sorts.items()]
    assert definition == f"(define-fun rule () Bool {term})"


def test_missing_cells_as_they_are_written():
    assert written("a is missing or b > 1") == [
        "(set-logic ALL)",
        "(declare-const |a| Real)",
        "(declare-const |b| Real)",
        "(declare-const |a is missing| Bool)",
        "(define-fun rule () Bool (or |a is missing| (> |b| 1.0)))",
    ]
    assert written("c = 'x'", missing=True)[-1] == f'(define-fun rule () Bool (and {NO_C} (= |c| "x")))'
    assert written("a > b", missing=True)[-1] == f"(define-fun rule () Bool (and {NO_A} {NO_B} (> |a| |b|)))"
    assert written("a is missing", missing=False)[-1] == "(define-fun rule () Bool false)"
    assert written("a + b", missing=True)[-2:] == [
        "(define-fun rule () Real (+ |a| |b|))",
        f"(define-fun rule_missing () Bool (not (and {NO_A} {NO_B})))",
    ]
    assert written("a + b")[-1] == "(define-fun rule () Real (+ |a| |b|))"
