"""SymPy: compared with the tree on rationals."""

from fractions import Fraction

import pytest
import sympy

from nsr.program import And, Compare, Program, Truth, Variable, Where
from nsr.program.emit import emit
from tests.program.emit.samples import integer_rows, programs
from tests.program.strategies import NAMES

a, b = Variable("a"), Variable("b")


def test_formulas_are_numbers_that_can_be_added():
    more = emit(Program(Compare(">", a, b)), "sympy")
    assert (more + more).subs({"a": 2, "b": 1}) == 2
    assert emit(Program(Compare(">", a, b)), "sympy", formula=True) == sympy.Gt(*sympy.symbols("a b"))
    assert emit(Program(Truth(False)), "sympy", formula=True) is sympy.false
    assert emit(Program(a * Fraction(1, 3) + 10**1000), "sympy") == sympy.Symbol("a") / 3 + sympy.Integer(10) ** 1000


@pytest.mark.usefixtures("unchecked")
def test_rationals_are_exact():
    rows = [{name: Fraction(n, 1 + len(name) % 3) for name, n in row.items()} for row in integer_rows()]
    numbers = [{sympy.Symbol(name): sympy.Rational(row[name]) for name in NAMES} for row in rows]
    for index, program in enumerate(programs()):
        which = index % len(rows)
        assert emit(program, "sympy").xreplace(numbers[which]) == program(rows[which]), program


def test_names_never_become_code():
    nasty = ("__import__('os')", "a b", "x,y", "x:9", "\0", "lambda", "I", "pi", "1")
    program = Program(And(*(Compare(">", Variable(name), Variable("zero")) for name in nasty)), ("zero", *nasty))
    assert {symbol.name for symbol in emit(program, "sympy").free_symbols} == {"zero", *nasty}


def test_a_choice_can_be_integrated():
    where = emit(Program(Where(Compare(">", a, b), a, b)), "sympy")
    assert sympy.integrate(where.subs({"b": 1}), ("a", 0, 2)) == Fraction(5, 2)
