"""SQL: an expression for SQLite and DuckDB over columns of numbers, named in double quotes.

Exact: the bits of the program on columns of float64 (REAL, DOUBLE); on integer columns, where the program has no
fractions, as long as every sum stays in int64: beyond, SQLite goes on with floats, and DuckDB, which also knows
smaller integers, stops with an error. With fractions, values become floats; ``integers=True`` frees at least the
comparisons of them, for columns of integers. Whole constants are exact, as in Python. NULL gives NULL or the last
branch, and so does NaN in SQLite, which has none.

SQLite takes a column that does not exist, in double quotes, for a text; ``table=`` puts the table before each
column, and a mistake becomes an error.
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
    refuse_overflow,
    short,
    warn_inexact,
    warn_of_whole_constants,
    written,
)
from nsr.program.emit.names import unwritable
from nsr.program.emit.writer import ATOM, Writer
from nsr.program.expressions import Expression, Where
from nsr.program.program import Program
from nsr.program.values import INT64
from nsr.program.whole import whole


def sql_expression(program: Program, *, table: str | None = None, integers: bool = False) -> str:
    """The expression, to stand in a SELECT or a WHERE.

    Args:
        program: What to write.
        table: The table, written before each column.
        integers: For columns of integers only: comparisons are multiplied out until they hold no fraction.
    """
    expression = whole(program.expression) if integers else program.expression
    refuse_overflow(expression, "sql")
    _warn(expression, integers)
    before = "" if table is None else f"{_quoted(table)}."
    return _Sql({name: before + _quoted(name) for name in program.inputs}).write(expression)


def _quoted(name: str) -> str:
    if "\0" in name or unwritable([name]) is not None:
        raise InputError(f"SQL has no name like {name!r}: it must be text without a NUL character")
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _warn(expression: Expression, integers: bool) -> None:
    beyond = next((v for v in written(expression) if v.denominator == 1 and abs(v) > INT64), None)
    if beyond is not None:
        warn_inexact(f"{short(beyond)} does not fit int64: SQL takes the nearest float")
    elif not integers:
        warn_of_whole_constants(expression, "SQLite")


def _reads_back(decimal: str) -> bool:
    """Whether a decimal is short, and so far from the middle of two floats that every SQLite takes the nearer one.

    Some versions multiply by a tenth for each place, rounding to 64 bits, before they round to the 53 of a float.
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
        """Whole where it is whole, and a decimal where it is short and every database reads the same float."""
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
        """With a point, or SQLite would divide integers without remainder."""
        return f"{value}e0" if value <= FLOAT_INTEGERS else repr(float(value))

    def choice(self, node: Where) -> str:
        condition, then, otherwise = map(self.write, node.children)
        return f"CASE WHEN {condition} THEN {then} ELSE {otherwise} END"
