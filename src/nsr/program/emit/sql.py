"""SQL: an expression over the columns of a table, in the dialect of a database.

SQLite and DuckDB, the default, need nothing else; for other dialects ``sqlglot`` translates the text for DuckDB.

Exact: the same bits as the program on columns of float64 (REAL, DOUBLE). Programs without fractions are also exact on
integer columns as long as every sum and product fits int64: on overflow SQLite continues with floats, and DuckDB, which
also has smaller integer types, raises an error. With fractions, values become floats; ``integers=True`` clears the
comparisons of fractions, for columns of integers, and ``decimals=True`` writes decimals as they are, for columns of
type DECIMAL; DuckDB raises an error where a product needs more digits than that. Integer constants are exact, as in
Python.

Where cells may be missing, NULL is what the program makes of it: a comparison with it does not hold, and a formula is
true or false, never NULL. Otherwise NULL gives NULL or the last branch, and so does NaN in SQLite, which stores it as
NULL; a count, minimum, maximum or median with NULL is NULL.

DuckDB and PostgreSQL rank NaN above all numbers and find it equal to itself, so that a sum that overflows (inf - inf)
may give another answer than the program, for which no comparison with NaN holds.

Dates in SQLite are texts such as 2024-01-31, times such as 2024-01-31 12:30:00.5, without a zone. In other databases
they are of the types DATE and TIMESTAMP without a zone. MySQL and SQL Server compare texts as the collation of their
columns says, often without regard to case. MySQL has no dates beyond the year 9999: a sum beyond it is NULL.

SQLite reads a column that does not exist, in double quotes, as a string; with ``table=`` the name of the table stands
before each column, and a misspelt column becomes an error.
"""

import math
import sqlite3
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from typing import ClassVar

from nsr.errors import InputError, one_of
from nsr.program import text
from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.emit.dialects import DIALECTS, translated
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
from nsr.program.emit.writer import ATOM, COMPARE, SUM, Moments, Writer
from nsr.program.expressions import And, Compare, Constant, Count, Expression, Linear, Or, Order, Truth, Variable, Where
from nsr.program.integers import with_integer_coefficients
from nsr.program.kinds import Kind
from nsr.program.lowering import cleared, has_cells, order_cases, presence
from nsr.program.program import Program
from nsr.program.substitution import rebuilt
from nsr.program.times import EPOCH, UNITS, Moment, duration_unit, point
from nsr.program.values import INT64

GROUP = 100
"""The most parts of a formula that SQLite is given in one chain."""
SHORT = 3000
"""Characters of SQL that cannot be nested deeper than DuckDB reads."""
CASE_SENSITIVE = ("postgres", "snowflake")
"""Dialects in which quoted names that differ in case are different names."""
LONGEST_DECIMAL = 38
"""Digits of a DECIMAL in most databases."""


@target("sql")
def sql_expression(
    program: Program,
    *,
    table: str | None = None,
    dialect: str = "duckdb",
    integers: bool = False,
    decimals: bool = False,
    missing: bool | None = None,
) -> str:
    """Write an expression for a SELECT or a WHERE.

    Args:
        program: The program to write.
        table: Name of the table, written before each column.
        dialect: The database: duckdb, sqlite, postgres, mysql, bigquery, snowflake, spark, tsql or redshift.
        integers: Write for columns of integers only, with comparisons cleared of fractions.
        decimals: Write for columns of decimals: 37.5 rather than 37.5e0, and comparisons cleared of other fractions.
        missing: Whether cells may be NULL; by default if the program has conditions, texts, dates or the like.
    """
    sql = Sql(program, dialect, table=table, integers=integers, decimals=decimals, missing=missing)
    written = sql.value()
    if dialect == "sqlite":
        _check_depth(written, program.inputs, table)
    if dialect == "duckdb" and len(written) > SHORT:
        _check_depth_in_duckdb(written)
    return translated(written, dialect)


def _check_case(names: Iterable[str], dialect: str) -> None:
    """Refuse columns that are one and the same column to the database."""
    seen: dict[str, str] = {}
    for name in names if dialect not in CASE_SENSITIVE else ():
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise InputError(f"columns {other!r} and {name!r} are the same column in {dialect}: rename one of them")


def _check_depth(written: str, names: Sequence[str], table: str | None) -> None:
    """Refuse what SQLite's parser finds too deep, by asking it."""
    columns = ", ".join(f"0 AS {quoted(name)}" for name in names) or "0"
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"EXPLAIN SELECT {written} FROM (SELECT {columns}) AS {quoted(table or 't')}")
        except sqlite3.OperationalError as error:
            if "parser stack overflow" in str(error) or "too large" in str(error):
                raise InputError(f"the program is too deep for SQLite ({error}): use another dialect") from None


def _check_depth_in_duckdb(written: str) -> None:
    """Refuse what DuckDB's parser finds too deep, by asking it where it is installed."""
    try:
        import duckdb
    except ModuleNotFoundError:
        return
    try:
        duckdb.extract_statements(f"SELECT {written}")
    except duckdb.ParserException as error:
        if "depth" in str(error):
            raise InputError(
                "the program is too deep for DuckDB, whose max_expression_depth is 1000: use another dialect"
            ) from None


class Sql:
    """A program in SQL for DuckDB or SQLite, to be put into a query and then translated.

    Args: those of the target ``sql``.
    """

    def __init__(
        self,
        program: Program,
        dialect: str,
        *,
        table: str | None = None,
        integers: bool = False,
        decimals: bool = False,
        missing: bool | None = None,
    ) -> None:
        one_of("dialect", dialect, DIALECTS)
        expression = cleared(program.expression, integers=integers)
        self.expression = _terminating(expression) if decimals else expression
        reject_overflow(self.expression, "sql")
        _warn(self.expression, integers or decimals)
        _check_case(program.inputs, dialect)
        self.dialect = dialect
        self.missing = has_cells(expression) if missing is None else missing
        before = "" if table is None else f"{quoted(table)}."
        names = {name: before + quoted(name) for name in program.inputs}
        self.writer = (SqliteWriter if dialect == "sqlite" else SqlWriter)(names, dialect, self.missing, decimals)

    @property
    def has_truths(self) -> bool:
        """Whether the database has truth values that a query can select."""
        return self.dialect != "tsql"

    def condition(self) -> str:
        """The formula as it stands after WHERE: NULL where it does not hold because a cell is missing."""
        return self.writer.write(self.expression)

    def value(self, around: int = 0) -> str:
        """The number, or the formula as a value: true or false, and 1 or 0 in SQL Server."""
        written = self.writer.write(self.expression)
        if not self.expression.is_boolean:
            return self.writer.write(self.expression, around)
        if not self.has_truths:
            return f"CASE WHEN {written} THEN 1 ELSE 0 END"
        if self.missing and can_be_null(self.expression):
            return f"COALESCE({written}, FALSE)"
        return self.writer.write(self.expression, around)


def can_be_null(formula: Expression) -> bool:
    """Whether a formula is NULL in SQL where cells are."""
    match formula:
        case And(parts) | Or(parts):
            return any(map(can_be_null, parts))
        case Truth() | Missing():
            return False
        case Compare():
            return presence(formula) != Truth(True)
    return True


def quoted(name: str) -> str:
    """Write the name of a column or table in double quotes."""
    if "\0" in name or unwritable([name]) is not None:
        raise InputError(f"{name!r} cannot be a name in SQL: it must be valid Unicode without a NUL character")
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def literal(words: str) -> str:
    """Write a text in single quotes."""
    if "\0" in words or unwritable([words]) is not None:
        raise InputError(f"{words!r} cannot be a text in SQL: it must be valid Unicode without a NUL character")
    doubled = words.replace("'", "''")
    return f"'{doubled}'"


def _warn(expression: Expression, exact: bool) -> None:
    beyond = next((v for v in numbers_in(expression) if v.denominator == 1 and abs(v) > INT64), None)
    if beyond is not None:
        warn_inexact(f"{short(beyond)} does not fit int64: SQL uses the nearest float")
    elif not exact:
        warn_about_integer_constants(expression, "SQLite")


def _terminating(node: Expression) -> Expression:
    """Clear comparisons of fractions, such as thirds, that are no decimals."""
    if isinstance(node, Compare) and any("/" in text.number(value) for value in _coefficients(node)):
        return with_integer_coefficients(node)
    return rebuilt(node, [_terminating(child) for child in node.children]) if node.children else node


def _coefficients(node: Expression) -> list[Fraction]:
    linear = [inner for inner in node.walk() if isinstance(inner, Linear)]
    constants = [inner.value for inner in node.walk() if isinstance(inner, Constant)]
    return [*constants, *(weight for each in linear for weight, _ in each.parts())]


def _reads_back(decimal: str) -> bool:
    """Whether a decimal is short, and far enough from the midpoint of two floats for every SQLite to round it alike.

    Some versions multiply by a tenth for each decimal place, rounding to 64 bits, before they round to a float's 53.
    """
    if len(decimal.lstrip("0")) > 1 + sys.float_info.dig:
        return False
    near, places = float(decimal), len(decimal.partition(".")[2])
    gap = Fraction(near) - Fraction(math.nextafter(near, 0))
    return abs(Fraction(decimal) - Fraction(near)) <= (Fraction(1, 2) - Fraction(places, 2**10)) * gap


class SqlWriter(Writer):
    """DuckDB, and what ``sqlglot`` translates to other dialects."""

    truths = ("FALSE", "TRUE")
    operators: ClassVar[Mapping[str, str]] = {"!=": "<>"}
    both, either = " AND ", " OR "
    choice_binds = ATOM

    def __init__(self, names: Mapping[str, str], dialect: str, missing: bool, decimals: bool) -> None:
        super().__init__(names)
        self.dialect, self.decimals = dialect, decimals
        self.counts_cases = missing or dialect not in ("duckdb", "sqlite")

    def number(self, value: Fraction) -> str:
        """An integer, or a decimal if it is short and every database reads the same float, or a quotient."""
        decimal = text.number(value)
        if self.decimals and "/" not in decimal and len(decimal) <= LONGEST_DECIMAL:
            return decimal
        if value.denominator == 1:
            return str(value.numerator) if value <= INT64 else repr(float(value))
        if "/" not in decimal and _reads_back(decimal):
            return f"{decimal}e0"
        pair = value.as_integer_ratio()
        if max(pair) > FLOAT_INTEGERS:
            pair = float(value).as_integer_ratio()
        return f"{pair[0]}e0 / {pair[1]}e0" if max(pair) <= INT64 else repr(float(value))

    def product(self, coefficient: Fraction, atom: Expression) -> str:
        """As everywhere; a decimal coefficient of decimals stays one."""
        decimal = text.number(coefficient)
        if self.decimals and "." in decimal and len(decimal) <= LONGEST_DECIMAL:
            return f"{decimal} * {super().product(Fraction(1), atom)}"
        return super().product(coefficient, atom)

    def divisor(self, value: int) -> str:
        """Written as a float, because SQLite truncates the quotient of integers."""
        return f"{value}e0" if value <= FLOAT_INTEGERS else repr(float(value))

    def choice(self, node: Where) -> str:
        """Write a choice; choices between further branches are one CASE, as parsers limit how deep it is nested."""
        branches: list[str] = []
        last: Expression = node
        while isinstance(last, Where):
            branches.append(f"WHEN {self.write(last.condition)} THEN {self.write(last.then)}")
            last = last.otherwise
        return f"CASE {' '.join(branches)} ELSE {self.write(last)} END"

    def count(self, node: Count, around: int) -> str:
        """A sum of truth values as integers. Where cells may be missing, NULL counts as not holding."""
        form = "CASE WHEN {} THEN 1 ELSE 0 END" if self.counts_cases else "CAST({} AS INTEGER)"
        parts = [form.format(self.write(formula)) for formula in node.formulas]
        return parts[0] if len(parts) == 1 else self.bound(" + ".join(parts), SUM, around)

    def order(self, node: Order) -> str:
        """Choices without ELSE, because databases disagree about GREATEST of NULL."""
        if (absolute := node.absolute) is not None:
            return f"ABS({self.write(absolute)})"
        cases = order_cases(node)
        written = [f"WHEN {self.write(formula)} THEN {self.write(part)}" for formula, part in cases]
        if self.counts_cases and any(isinstance(inner, Count) for formula, _ in cases for inner in formula.walk()):
            parts = [part for part in node.parts if not isinstance(part, Constant)]
            written.insert(0, f"WHEN {' OR '.join(f'{self.write(part, ATOM)} IS NULL' for part in parts)} THEN NULL")
        return f"CASE {' '.join(written)} END"

    def condition(self, node: Condition, around: int) -> str:
        """Write a condition."""
        column = self.names[node.column.name]
        match node:
            case Flag(_, holds):
                return self.flag(column, holds, around)
            case Missing(_, holds):
                return self.bound(f"{column} IS {'' if holds else 'NOT '}NULL", COMPARE, around)
            case OneOf(_, holds, (one,)):
                return self.bound(f"{column} {'=' if holds else '<>'} {literal(one)}", COMPARE, around)
            case OneOf(_, holds, texts):
                among = f"{'' if holds else 'NOT '}IN ({', '.join(map(literal, texts))})"
                return self.bound(f"{column} {among}", COMPARE, around)
        raise TypeError(f"cannot write {node!r}")

    def flag(self, column: str, holds: bool, around: int) -> str:
        """Write a column of truth values; SQL Server only has bits."""
        if self.dialect == "tsql":
            return self.bound(f"{column} = {int(holds)}", COMPARE, around)
        return column if holds else self.bound(f"NOT {column}", COMPARE, around)

    def microseconds(self, node: Variable) -> str:
        """Write a date, a time or a duration as an integer."""
        self.check_duration(node)
        return f"EPOCH_US({self.names[node.name]})"

    def check_duration(self, node: Variable) -> None:
        """Refuse durations where columns cannot hold them."""
        if node.kind == Kind.DURATION and self.dialect not in ("duckdb", "postgres"):
            known = "only duckdb and postgres have columns of durations"
            raise InputError(f"dialect {self.dialect!r} cannot compare column {node.name!r}: {known}")

    def moments(self, node: Moments) -> str | None:
        """Write a comparison of dates, times or durations, unless durations are multiplied: see ``microseconds``."""
        for column in (column for side in node.sides for column in side.columns):
            self.check_duration(column)
        if node.has_numbers or any(weight != 1 for side in node.sides for weight, c in side.durations if c is not None):
            return None
        if self.dialect == "tsql" and any(side.durations for side in node.sides) and not node.of_days:
            return None
        symbol = self.operators.get(node.operator, node.operator)
        left, right = (self.moment(side, node.has_times) for side in node.sides)
        return f"{left} {symbol} {right}"

    def moment(self, side: Moment, has_times: bool) -> str:
        """Write a point in time plus durations."""
        parts = []
        if isinstance(side.point, Variable):
            parts.append(self.names[side.point.name])
        elif side.point is not None:
            found = point(side.point) or EPOCH
            parts.append(f"TIMESTAMP '{found}'" if has_times else f"DATE '{found.date()}'")
        for weight, column in side.durations:
            unit, times = duration_unit(weight)
            parts.append(f"INTERVAL '{times}' {unit.upper()}" if column is None else self.names[column.name])
        return " + ".join(parts) or "INTERVAL '0' DAY"


class SqliteWriter(SqlWriter):
    """SQLite: truth values are 1 and 0, dates and times are texts."""

    def joined(self, parts: Sequence[str], word: str) -> str:
        """Write parts in groups: SQLite reads a chain of words as a tree as deep as the chain is long."""
        if len(parts) <= GROUP:
            return word.join(parts)
        groups = [parts[start : start + GROUP] for start in range(0, len(parts), GROUP)]
        return self.joined([f"({word.join(group)})" for group in groups], word)

    def flag(self, column: str, holds: bool, around: int) -> str:
        """Write a column of truth values."""
        return self.bound(f"{column} = {int(holds)}", COMPARE, around)

    def microseconds(self, node: Variable) -> str:
        """Write a date or a time as an integer; SQLite's functions round to milliseconds, so that digits are added."""
        self.check_duration(node)
        column = self.names[node.name]
        if node.kind == Kind.DATE:
            return f"CAST(STRFTIME('%s', {column}) AS INTEGER) * 1000000"
        seconds = f"CAST(STRFTIME('%s', SUBSTR({column}, 1, 19)) AS INTEGER)"
        return f"({seconds} * 1000000 + CAST(SUBSTR(SUBSTR({column}, 21) || '000000', 1, 6) AS INTEGER))"

    def moments(self, node: Moments) -> str | None:
        """Write a comparison of dates as texts, or as numbers of days; of times in microseconds."""
        for column in (column for side in node.sides for column in side.columns):
            self.check_duration(column)
        weights = [weight for side in node.sides for weight, _ in side.durations]
        if not node.of_points or node.has_times or any(weight % UNITS["day"] for weight in weights):
            return None
        symbol = self.operators.get(node.operator, node.operator)
        left, right = (self.days(side, as_texts=not weights) for side in node.sides)
        return f"{left} {symbol} {right}"

    def days(self, side: Moment, *, as_texts: bool) -> str:
        """Write a date, or a number of days."""
        if isinstance(side.point, Variable):
            date = self.names[side.point.name]
        else:
            date = f"'{(point(side.point or 0) or EPOCH).date()}'"
        if as_texts:
            return date
        days = [(weight / UNITS["day"], column) for weight, column in side.durations]
        added = [self.number(weight) if column is None else self.product(weight, column) for weight, column in days]
        return " + ".join([f"JULIANDAY({date})", *added])
