"""SQL: an expression for SQLite and DuckDB over columns of numbers, named in double quotes.

Exact: the same bits as the program on columns of float64 (REAL, DOUBLE). Programs without fractions are also exact on
integer columns as long as every sum and product fits int64: on overflow SQLite continues with floats, and DuckDB, which
also has smaller integer types, raises an error. With fractions, values become floats; ``integers=True`` clears the
comparisons of fractions, for columns of integers. Integer constants are exact, as in Python. NULL gives NULL or the
last branch, and so does NaN in SQLite, which stores it as NULL; a count, minimum, maximum or median with NULL is NULL.

SQLite reads a column that does not exist, in double quotes, as a string; with ``table=`` the name of the table stands
before each column, and a misspelt column becomes an error.
"""

import math
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

from nsr.errors import InputError
from nsr.program import text
from nsr.program.emit.exactness import (
    FLOAT_INTEGERS,
    numbers_in,
    reject_overflow,
    short,
    warn_about_integer_constants,
    warn_inexact,
)
from nsr.program.emit.names import unwritable
from nsr.program.emit.targets import target
from nsr.program.emit.writer import ATOM, SUM, Writer
from nsr.program.expressions import Count, Expression, Order, Where
from nsr.program.integers import with_integer_coefficients
from nsr.program.lowering import order_cases
from nsr.program.program import Program
from nsr.program.values import INT64


@target("sql")
def sql_expression(program: Program, *, table: str | None = None, integers: bool = False) -> str:
    """Write an expression for a SELECT or a WHERE.

    Args:
        program: The program to write.
        table: Name of the table, written before each column.
        integers: Write for columns of integers only, with comparisons cleared of fractions.
    """
    expression = with_integer_coefficients(program.expression) if integers else program.expression
    reject_overflow(expression, "sql")
    _warn(expression, integers)
    before = "" if table is None else f"{_quoted(table)}."
    return _Sql({name: before + _quoted(name) for name in program.inputs}).write(expression)


def _quoted(name: str) -> str:
    if "\0" in name or unwritable([name]) is not None:
        raise InputError(f"{name!r} cannot be a name in SQL: it must be valid Unicode without a NUL character")
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _warn(expression: Expression, integers: bool) -> None:
    beyond = next((v for v in numbers_in(expression) if v.denominator == 1 and abs(v) > INT64), None)
    if beyond is not None:
        warn_inexact(f"{short(beyond)} does not fit int64: SQL uses the nearest float")
    elif not integers:
        warn_about_integer_constants(expression, "SQLite")


def _reads_back(decimal: str) -> bool:
    """Whether a decimal is short, and far enough from the midpoint of two floats for every SQLite to round it alike.

    Some versions multiply by a tenth for each decimal place, rounding to 64 bits, before they round to a float's 53.
    """
    if len(decimal.lstrip("0")) > 1 + sys.float_info.dig:
        return False
    near, places = float(decimal), len(decimal.partition(".")[2])
    gap = Fraction(near) - Fraction(math.nextafter(near, 0))
    return abs(Fraction(decimal) - Fraction(near)) <= (Fraction(1, 2) - Fraction(places, 2**10)) * gap


class _Sql(Writer):
    truths = ("FALSE", "TRUE")
    operators: ClassVar[Mapping[str, str]] = {"!=": "<>"}
    both, either = " AND ", " OR "
    choice_binds = ATOM

    def number(self, value: Fraction) -> str:
        """An integer, or a decimal if it is short and every database reads the same float, or a quotient."""
        if value.denominator == 1:
            return str(value.numerator) if value <= INT64 else repr(float(value))
        decimal = text.number(value)
        if "/" not in decimal and _reads_back(decimal):
            return f"{decimal}e0"
        pair = value.as_integer_ratio()
        if max(pair) > FLOAT_INTEGERS:
            pair = float(value).as_integer_ratio()
        return f"{pair[0]}e0 / {pair[1]}e0" if max(pair) <= INT64 else repr(float(value))

    def divisor(self, value: int) -> str:
        """Written as a float, because SQLite truncates the quotient of integers."""
        return f"{value}e0" if value <= FLOAT_INTEGERS else repr(float(value))

    def choice(self, node: Where) -> str:
        condition, then, otherwise = map(self.write, node.children)
        return f"CASE WHEN {condition} THEN {then} ELSE {otherwise} END"

    def count(self, node: Count, around: int) -> str:
        """A sum of truth values as integers; NULL if one of them is."""
        parts = [f"CAST({self.write(formula)} AS INTEGER)" for formula in node.formulas]
        return parts[0] if len(parts) == 1 else self.bound(" + ".join(parts), SUM, around)

    def order(self, node: Order) -> str:
        """Choices without ELSE, because databases disagree about GREATEST of NULL."""
        if (absolute := node.absolute) is not None:
            return f"ABS({self.write(absolute)})"
        cases = (f"WHEN {self.write(formula)} THEN {self.write(part)}" for formula, part in order_cases(node))
        return f"CASE {' '.join(cases)} END"
