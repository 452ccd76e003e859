"""SymPy: compared with the tree on rationals."""

from fractions import Fraction

import pytest
import sympy

from nsr.program import And, Compare, Program, Truth, Variable, Where
from nsr.program.emit import emit
from nsr.program.emit.sympy import symbol_names
from tests.program.emit.samples import integer_rows, programs

a, b = Variable("a"), Variable("b")
NUMBERS = ("E", "I", "pi", "oo", "zoo", "nan", "1", "1e5", "True", "None", "_")
CODE = ("S", "N", "Q", "beta", "Symbol", "lambda", "eval", "print", "max", "match", "__name__", "x;y", "a b")
NOT_SYMBOLS = (*NUMBERS, *CODE, "__import__('os').system('exit 1')", "größe", "ﬁ")


def test_formulas_are_numbers_that_can_be_added():
    more = emit(Program(Compare(">", a, b)), "sympy")
    assert (more + more).subs({"a": 2, "b": 1}) == 2
    assert emit(Program(Compare(">", a, b)), "sympy", formula=True) == sympy.Gt(*sympy.symbols("a b"))
    assert emit(Program(Truth(False)), "sympy", formula=True) is sympy.false
    assert emit(Program(a * Fraction(1, 3) + 10**1000), "sympy") == sympy.Symbol("a") / 3 + sympy.Integer(10) ** 1000


@pytest.mark.usefixtures("unchecked")
def test_rationals_are_exact():
    rows = [{name: Fraction(n, 1 + len(name) % 3) for name, n in row.items()} for row in integer_rows()]
    for index, program in enumerate(programs()):
        row = rows[index % len(rows)]
        numbers = {sympy.Symbol(name): sympy.Rational(row[column]) for column, name in symbol_names(program).items()}
        assert emit(program, "sympy").xreplace(numbers) == program(row), program


def test_names_never_become_code():
    nasty = ("__import__('os')", "a b", "x,y", "x:9", "\0", "lambda", "I", "pi", "1")
    program = Program(And(*(Compare(">", Variable(name), Variable("zero")) for name in nasty)), ("zero", *nasty))
    names = symbol_names(program)
    written = emit(program, "sympy")
    assert {symbol.name for symbol in written.free_symbols} == set(names.values())
    assert all(name.isidentifier() for name in names.values())
    assert names["zero"] == "zero"


@pytest.mark.parametrize("name", NOT_SYMBOLS)
def test_the_text_of_a_column_is_a_symbol(name):
    """Text is evaluated by sympify: a column must come back as itself, not as a number, a function or code."""
    program = Program(Compare(">", Variable(name) * 3, b), (name, "b"))
    symbol = sympy.Symbol(symbol_names(program)[name])
    for text in (str(emit(program, "sympy")), sympy.srepr(emit(program, "sympy"))):
        read = sympy.sympify(text)
        assert read.free_symbols == {symbol, sympy.Symbol("b")}
        assert [read.subs({symbol: value, "b": 3}) for value in (1, 2)] == [0, 1]


def test_a_choice_can_be_integrated():
    where = emit(Program(Where(Compare(">", a, b), a, b)), "sympy")
    assert sympy.integrate(where.subs({"b": 1}), ("a", 0, 2)) == Fraction(5, 2)
