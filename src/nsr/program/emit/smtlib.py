"""SMT-LIB 2: a constant for each column, and a definition of the program over them, for solvers such as z3 and cvc5.

Exact everywhere: numbers are integers and rationals of any size, and the columns are real numbers or, with
``integers=True``, integers. With products of columns the logic is nonlinear, and a solver may give up.
"""

from collections.abc import Mapping
from fractions import Fraction

from nsr.program import text
from nsr.program.emit.names import PLAIN, function_name, identifiers, printable
from nsr.program.emit.targets import target
from nsr.program.expressions import (
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
from nsr.program.integers import denominator, with_integer_coefficients
from nsr.program.lowering import as_choices
from nsr.program.program import Program

RESERVED = frozenset(
    (
        *("true", "false", "not", "and", "or", "xor", "distinct", "ite", "=>", "=", "<", ">", "<=", ">="),
        *("+", "-", "*", "/", "div", "mod", "abs", "to_real", "to_int", "is_int"),
        *("!", "_", "as", "let", "exists", "forall", "match", "par"),
        *("BINARY", "DECIMAL", "HEXADECIMAL", "NUMERAL", "STRING"),
    )
)
"""Words of the language and functions of its theories, which a column cannot be called even between bars."""


@target("smtlib")
def smtlib_text(program: Program, *, name: str = "rule", integers: bool = False) -> str:
    """Write declarations and a definition, to which a solver's user adds what is to be proved.

    Args:
        program: The program to write.
        name: Name of the defined function.
        integers: Declare the columns as integers, with comparisons cleared of fractions.
    """
    function_name(name, lambda word: PLAIN.fullmatch(word) is not None and word not in RESERVED)
    expression = with_integer_coefficients(program.expression) if integers else program.expression
    fractional = not expression.is_boolean and denominator(expression) > 1
    names = identifiers(program.inputs, valid=_is_symbol, taken=[name])
    symbols = {column: f"|{symbol}|" for column, symbol in names.items()}
    column_sort, sort = ("Int", "Real" if fractional else "Int") if integers else ("Real", "Real")
    written = {column: f"(to_real {symbol})" if sort != column_sort else symbol for column, symbol in symbols.items()}
    degree = "N" if any(isinstance(node, Product) for node in expression.walk()) else "L"
    logic = f"QF_{degree}{'RA' if not integers else 'IRA' if fractional else 'IA'}"
    lines = [f"; {printable(str(program))}"]
    lines += [f"; {symbols[column]} is {column!a}" for column, symbol in names.items() if symbol != column]
    lines += [f"(set-logic {logic})", *(f"(declare-const {symbol} {column_sort})" for symbol in symbols.values())]
    answer = "Bool" if expression.is_boolean else sort
    lines += [f"(define-fun {name} () {answer} {term(expression, written, sort)})", ""]
    return "\n".join(lines)


def _is_symbol(name: str) -> bool:
    """Whether a name can stand between bars and stays free: solvers use names that begin with . or @ themselves."""
    return name.isprintable() and not set(name) & set("|\\") and name[:1] not in (".", "@") and name not in RESERVED


def term(node: Expression, symbols: Mapping[str, str], sort: str) -> str:
    """Write an expression whose numbers are of a sort, ``Int`` or ``Real``; as ``Int`` it must have no fractions."""
    match node:
        case Variable(name):
            return symbols[name]
        case Truth(value):
            return str(value).lower()
        case Constant(value):
            return _number(value, sort)
        case Linear():
            parts = [_part(coefficient, atom, symbols, sort) for coefficient, atom in node.parts()]
            return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
        case Compare(operator, left, right):
            function = "distinct" if operator == "!=" else operator
            return f"({function} {term(left, symbols, sort)} {term(right, symbols, sort)})"
        case Count() | Order():
            return term(as_choices(node), symbols, sort)
    functions = {And: "and", Or: "or", Not: "not", Where: "ite", Product: "*"}
    return f"({functions[type(node)]} {' '.join(term(child, symbols, sort) for child in node.children)})"


def _part(coefficient: Fraction, atom: Expression | None, symbols: Mapping[str, str], sort: str) -> str:
    if atom is None:
        return _number(coefficient, sort)
    written = term(atom, symbols, sort)
    return written if coefficient == 1 else f"(* {_number(coefficient, sort)} {written})"


def _number(value: Fraction, sort: str) -> str:
    above, below = (
        f"{text.number(Fraction(n))}{'.0' if sort == 'Real' else ''}" for n in abs(value).as_integer_ratio()
    )
    size = above if value.denominator == 1 else f"(/ {above} {below})"
    return f"(- {size})" if value < 0 else size
