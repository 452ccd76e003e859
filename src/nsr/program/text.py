"""Programs as text: ``str`` as a Python programmer would write the formula, ``repr`` as the call that builds it."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from keyword import iskeyword

from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.expressions import (
    MIRRORED,
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
    rational,
)
from nsr.program.kinds import Kind
from nsr.program.times import constant_is_point, duration_text, duration_unit, is_temporal, point_text

OR, AND, NOT, COMPARE, SUM, PRODUCT, ATOM = range(7)
"""How tightly an operator binds, loosest first."""

KEYWORDS = frozenset({"and", "or", "not", "true", "false", "in", "is"})
"""Words that are not names, in capitals or not: ``nsr.program.parser`` reads ``NOT a > b AND c > d``."""

NOT_NAMES = frozenset({"none", "null", "nan"})
"""Words that people type for a missing cell, so that a column of such a name is quoted."""

COUNTED: Mapping[str, str] = {">=": "at least", "<=": "at most", "=": "exactly", "!=": "not exactly"}
"""How the comparison of a count with an integer is written: ``at least 2 of (a > b, c > d, e > f)``."""

SHORT_DECIMAL = 7
"""Coefficients are written as decimals of up to this many characters, as in 0.9*price; others as fractions."""
LARGEST_DECIMAL = 10**4000
"""Python reads and writes longer integers only in hexadecimal."""


def text(expression: Expression) -> str:
    """Write the expression on one line, with no more parentheses than it needs."""
    return _text(expression)


def constructor_call(expression: Expression) -> str:
    """Write the call that builds the expression again, with the names that ``from nsr.program import *`` brings."""
    match expression:
        case Variable(variable, kind):
            arguments = repr(variable) if kind == Kind.NUMBER else f"{variable!r}, {str(kind)!r}"
        case Truth(value):
            arguments = repr(value)
        case OneOf(column, holds, texts):
            arguments = f"{constructor_call(column)}, {list(texts)!r}{'' if holds else ', False'}"
        case Condition(column, holds):
            arguments = f"{constructor_call(column)}{'' if holds else ', False'}"
        case Constant(value):
            arguments = _literal(value)
        case Linear(terms, constant):
            pairs = ", ".join(f"({_literal(c)}, {constructor_call(atom)})" for c, atom in terms)
            arguments = f"[{pairs}], {_literal(constant)}" if constant else f"[{pairs}]"
        case Compare(operator, left, right):
            arguments = f"{operator!r}, {constructor_call(left)}, {constructor_call(right)}"
        case Order(rank, parts):
            arguments = ", ".join([str(rank), *map(constructor_call, parts)])
        case _:
            arguments = ", ".join(map(constructor_call, expression.children))
    return f"{type(expression).__name__}({arguments})"


def _literal(value: Fraction) -> str:
    """Python source that ``rational`` turns back into the same number: 4, 37.5, Fraction(1, 3)."""
    if value.denominator == 1:
        return _integer_literal(value.numerator)
    decimal = number(value)
    if "/" not in decimal and len(decimal) <= 20 and rational(float(decimal)) == value:
        return decimal
    return f"Fraction({_integer_literal(value.numerator)}, {_integer_literal(value.denominator)})"


def _integer_literal(value: int) -> str:
    return str(value) if abs(value) < LARGEST_DECIMAL else hex(value)


def number(value: Fraction) -> str:
    """Write a number as a person would: 4, 37.5, and 1/3 where the decimal does not terminate."""
    if value.denominator == 1:
        return _digits(value.numerator)
    rest, digits = value.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        digits = max(digits, power)
    shifted = _digits(abs(value.numerator) * 10**digits // value.denominator)
    if rest > 1 or digits > 25 or (digits > 15 and len(shifted) > 17):
        return f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    shifted = shifted.rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{shifted[:-digits]}.{shifted[-digits:]}"


def name(variable: str) -> str:
    """Write a name: unchanged if it is an identifier, otherwise in backquotes.

    Line ends, backslashes and unprintable characters are escaped and backquotes doubled, so that different names
    never look the same.
    """
    if variable.isidentifier() and not iskeyword(variable) and variable.lower() not in KEYWORDS | NOT_NAMES:
        return variable
    return f"`{''.join(map(_escaped, variable)).replace('`', '``')}`"


def quoted(string: str) -> str:
    """Write a text in single quotes, with line ends, backslashes and unprintable characters escaped."""
    return f"'{''.join(map(_escaped, string)).replace(chr(39), 2 * chr(39))}'"


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() and letter != "\\" else letter.encode("unicode_escape").decode()


def _text(expression: Expression, around: int = OR) -> str:
    match expression:
        case Where() | Count():
            return f"{type(expression).__name__.lower()}({', '.join(map(_text, expression.children))})"
        case Truth(value):
            return str(value)
        case Compare():
            return _comparison(expression, around)
        case Condition():
            return _condition(expression, around)
        case Not(part):
            return _bound(f"not {_text(part, NOT)}", NOT, around)
        case And((part,)) | Or((part,)):
            return _text(part, around)
        case And(parts):
            return _bound(" and ".join(_text(part, AND) for part in parts), AND, around)
        case Or(parts):
            return _bound(" or ".join(_text(part, OR) for part in parts), OR, around)
    return _number_text(expression, around)


def _number_text(expression: Expression, around: int) -> str:
    match expression:
        case Variable(variable):
            return name(variable)
        case Constant(value):
            written = number(value)
            return f"({written})" if around > SUM and (value < 0 or "/" in written) else written
        case Linear():
            return _bound(_sum(expression), SUM, around)
        case Product():
            return _bound(_product(expression), PRODUCT, around)
        case Order():
            return _order(expression)
    raise TypeError(f"cannot write {type(expression).__name__} as text")


def _call(function: str, arguments: Iterable[Expression]) -> str:
    return f"{function}({', '.join(map(_text, arguments))})"


def _condition(expression: Condition, around: int) -> str:
    column = name(expression.column.name)
    match expression:
        case Flag(_, holds):
            return column if holds else _bound(f"not {column}", NOT, around)
        case Missing(_, holds):
            return _bound(f"{column} is {'missing' if holds else 'present'}", COMPARE, around)
        case OneOf(_, holds, (one,)):
            return _bound(f"{column} {'==' if holds else '!='} {quoted(one)}", COMPARE, around)
        case OneOf(_, holds, texts):
            return _bound(f"{column} {'in' if holds else 'not in'} ({', '.join(map(quoted, texts))})", COMPARE, around)
    raise TypeError(f"cannot write {type(expression).__name__} as text")


def sides(comparison: Compare) -> str:
    """Both sides of a comparison, without its operator: ``paid and invoiced + 30 days``."""
    left, _, right = _sides(comparison)
    return f"{left} and {right}"


def _sides(comparison: Compare) -> tuple[str, str, str]:
    """The left side, the operator and the right side."""
    if is_temporal(comparison) and (written := _temporal(comparison)) is not None:
        return written
    symbol = "==" if comparison.operator == "=" else comparison.operator
    return _text(comparison.left, SUM), symbol, _text(comparison.right, SUM)


def _temporal(comparison: Compare) -> tuple[str, str, str] | None:
    """The sides of dates, times or durations, with constants as dates or durations; None where that cannot be."""
    is_point = constant_is_point(comparison)
    if is_point is None:
        return None
    operator, (left, right) = comparison.operator, comparison.children
    if isinstance(right, Linear) and right.constant < 0 and not is_point:  # not due < paid - 3 days
        operator, left, right = MIRRORED[operator], right - right.constant, left - right.constant
    written = _temporal_side(left, is_point), _temporal_side(right, is_point)
    if written[0] is None or written[1] is None:
        return None
    return written[0], "==" if operator == "=" else operator, written[1]


def _temporal_side(side: Expression, is_point: bool) -> str | None:
    parts = side.parts() if isinstance(side, Linear) else ((Fraction(1), side),)
    if isinstance(side, Constant):
        parts = ((side.value, None),)
    written = ""
    for coefficient, atom in parts:
        if atom is None and is_point:  # a date before 1970 is a negative number
            sign, part = " + " if written else "", point_text(coefficient)
        else:
            sign = ("-" if coefficient < 0 else "") if not written else (" - " if coefficient < 0 else " + ")
            part = _temporal_part(abs(coefficient), atom)
        if part is None:
            return None
        written += sign + part
    return written


def _temporal_part(size: Fraction, atom: Expression | None) -> str | None:
    if atom is None:
        return duration_text(size)
    if not isinstance(atom, Variable) or atom.kind != Kind.NUMBER:
        return _term(size, atom)
    unit, times = duration_unit(size)  # a column of days, say
    return f"{_term(times, atom)} {unit}s"


def _comparison(expression: Compare, around: int) -> str:
    match expression:
        case Compare((">=" | "<=" | "=" | "!=") as operator, Count(formulas), Constant(value)) if (
            value.denominator == 1 and value >= 0
        ):
            words = f"{COUNTED[operator]} {_digits(value.numerator)} of "
            return _bound(_call(words, formulas), NOT if operator == "!=" else COMPARE, around)
    return _bound(" ".join(_sides(expression)), COMPARE, around)


def _order(expression: Order) -> str:
    """``abs``, ``min``, ``max``, ``clip`` or ``median`` where one of them says the same, else ``smallest``."""
    rank, parts = expression.rank, expression.parts
    if (absolute := expression.absolute) is not None:
        return _call("abs", [absolute])
    if (clipped := expression.clipped) is not None:
        return _call("clip", [clipped[0], *map(Constant, clipped[1:])])
    if expression.is_minimum or expression.is_maximum:
        return _call("min" if expression.is_minimum else "max", parts)
    if 2 * rank == len(parts) + 1:
        return _call("median", parts)
    return _call("smallest", [Constant(rank), *parts])


def _sum(expression: Linear) -> str:
    written = ""
    for coefficient, atom in expression.parts():
        sign = ("-" if coefficient < 0 else "") if not written else (" - " if coefficient < 0 else " + ")
        written += sign + _term(abs(coefficient), atom)
    return written


def _product(expression: Product) -> str:
    """Factors in order, those in a row that are equal as a power: a*b**2."""
    written = list[str]()
    for factor, times in expression.powers():
        around = ATOM if written or times > 1 else PRODUCT
        written.append(f"{_text(factor, around)}{f'**{times}' if times > 1 else ''}")
    return "*".join(written)


def _term(coefficient: Fraction, atom: Expression | None) -> str:
    if atom is None:
        return number(coefficient)
    decimal = number(coefficient)
    halves = coefficient.numerator == 1 and coefficient.denominator < 10  # a/2 rather than 0.5*a
    if "." in decimal and len(decimal) <= SHORT_DECIMAL and not halves:
        return f"{decimal}*{_text(atom, PRODUCT)}"
    times = "" if coefficient.numerator == 1 else f"{_digits(coefficient.numerator)}*"
    over = "" if coefficient.denominator == 1 else f"/{_digits(coefficient.denominator)}"
    return f"{times}{_text(atom, PRODUCT)}{over}"


def _bound(written: str, binding: int, around: int) -> str:
    """The text, in parentheses where it binds less tightly than what is around it."""
    return f"({written})" if binding < around else written


def _digits(value: int) -> str:
    return str(Decimal(value))  # str of an int stops at 4,300 digits
