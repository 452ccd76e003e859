"""How a program reads: text as a Python programmer would write it."""

from decimal import Decimal
from fractions import Fraction
from keyword import iskeyword

from nsr.program.expressions import And, Compare, Constant, Expression, Linear, Not, Or, Truth, Variable, Where

OR, AND, NOT, COMPARE, SUM, PRODUCT, ATOM = range(7)
"""How tightly an operator binds, loosest first."""


def text(expression: Expression) -> str:
    """The expression as one line of text, with no more parentheses than it needs."""
    return _text(expression, OR)


def number(value: Fraction) -> str:
    """A number as a person writes it: 4, 37.5, and 1/3 where no decimal ends."""
    if value.denominator == 1:
        return _digits(value.numerator)
    rest, digits = value.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        digits = max(digits, power)
    whole = _digits(abs(value.numerator) * 10**digits // value.denominator)
    if rest > 1 or digits > 25 or (digits > 15 and len(whole) > 17):
        return f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    whole = whole.rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{whole[:-digits]}.{whole[-digits:]}"


def name(variable: str) -> str:
    """A name as it is where it is an identifier, else between backquotes, with line ends and the like escaped.

    So is the backslash, and backquotes are doubled: no two names read alike.
    """
    if variable.isidentifier() and not iskeyword(variable):
        return variable
    return f"`{''.join(map(_escaped, variable)).replace('`', '``')}`"


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() and letter != "\\" else letter.encode("unicode_escape").decode()


def _text(expression: Expression, around: int) -> str:
    match expression:
        case Variable(own):
            return name(own)
        case Truth(value):
            return str(value)
        case Constant(value):
            written = number(value)
            return f"({written})" if around > SUM and (value < 0 or "/" in written) else written
        case Where(condition, then, otherwise):
            return f"where({', '.join(_text(part, OR) for part in (condition, then, otherwise))})"
        case Linear():
            return _bound(_sum(expression), SUM, around)
        case Compare(operator, left, right):
            symbol = "==" if operator == "=" else operator
            return _bound(f"{_text(left, SUM)} {symbol} {_text(right, SUM)}", COMPARE, around)
        case Not(part):
            return _bound(f"not {_text(part, NOT)}", NOT, around)
        case And((part,)) | Or((part,)):
            return _text(part, around)
        case And(parts):
            return _bound(" and ".join(_text(part, AND) for part in parts), AND, around)
        case Or(parts):
            return _bound(" or ".join(_text(part, OR) for part in parts), OR, around)
    raise TypeError(f"no text for {expression!r}")


def _sum(expression: Linear) -> str:
    written = ""
    for coefficient, atom in expression.parts():
        sign = ("-" if coefficient < 0 else "") if not written else (" - " if coefficient < 0 else " + ")
        written += sign + _product(abs(coefficient), atom)
    return written


def _product(coefficient: Fraction, atom: Expression | None) -> str:
    if atom is None:
        return number(coefficient)
    times = "" if coefficient.numerator == 1 else f"{_digits(coefficient.numerator)}*"
    over = "" if coefficient.denominator == 1 else f"/{_digits(coefficient.denominator)}"
    return f"{times}{_text(atom, PRODUCT)}{over}"


def _bound(written: str, own: int, around: int) -> str:
    return f"({written})" if own < around else written


def _digits(value: int) -> str:
    return str(Decimal(value))  # str of an int stops at 4,300 digits
