"""Rules as checks: what the targets ``check-sql``, ``check-constraint``, ``dbt`` and ``pandera`` have in common.

A formula must hold in every row. With ``column=``, that column must be what the program gives: true or false, a number,
or one of ``classes``: the class for false and that for true, or those for the numbers 0, 1 and so on. A missing cell
makes a comparison false, so that the row breaks the rule, unless the rule says otherwise.

Numbers are compared exactly where they are known to be integers, or decimals that the database stores as such;
elsewhere with a tolerance for the rounding of floats, see ``rounding``.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any, TypedDict, Unpack

from nsr.errors import InputError
from nsr.program.emit.dialects import translated
from nsr.program.emit.exactness import reject_overflow
from nsr.program.emit.names import printable
from nsr.program.emit.rounding import RELATIVE, rounded_size
from nsr.program.emit.sql import Sql, literal, quoted
from nsr.program.emit.writer import ATOM
from nsr.program.expressions import Constant, Expression, Truth, Where, rational
from nsr.program.lowering import presence
from nsr.program.program import Program


class CheckOptions(TypedDict, total=False):
    """Options of all checks."""

    column: str | None
    """Column that must be what the program gives; by default the program, a formula, must hold."""
    classes: Sequence[Any] | None
    """What stands in the column for false and true, or for the numbers 0, 1 and so on."""
    integers: bool
    """Write for columns of integers only, with comparisons cleared of fractions."""
    steps: Mapping[str, Fraction] | None
    """For columns, what all of their numbers are multiples of; the table may store fractions as floats. Numbers are
    compared exactly where those that they are computed from, and the column itself, are integers."""


class SqlCheckOptions(CheckOptions, total=False):
    """Options of checks in SQL."""

    dialect: str
    """The database, as for the target ``sql``; by default DuckDB."""
    decimals: bool
    """Write for columns of decimals; numbers are compared exactly, unless ``steps`` are given."""


def check_options(program: Program, column: str | None, classes: Sequence[Any] | None) -> None:
    """Raise an InputError for options that do not go with the program."""
    if column is None and classes is not None:
        raise InputError("classes are those of a column: give its name as column, too")
    if column is None and not program.expression.is_boolean:
        raise InputError(f"a check must be a formula, or the name of a column that must be equal to {program}")
    if classes is not None and program.expression.is_boolean and len(classes) != 2:
        raise InputError(f"a formula has two classes, for false and for true, got {len(classes)}")


def size_of_rounding(expression: Expression, **options: Unpack[SqlCheckOptions]) -> Expression | None:
    """The size of the terms by which floats in a column are rounded; None if it must be exactly what is computed."""
    column, steps = options.get("column"), options.get("steps")
    if column is None or options.get("classes") is not None or expression.is_boolean:
        return None
    if options.get("decimals") and steps is None:
        return None
    integers = {name for name, step in (steps or {}).items() if step.denominator == 1}
    if options.get("integers"):
        integers = {column, *expression.variables}
    return rounded_size(expression, integers if column in integers else ())


def rule_text(program: Program, column: str | None) -> str:
    """What a check demands, in one line for its reader."""
    return printable(str(program) if column is None else f"{column} is {program}")


class SqlCheck:
    """A program as a condition that holds or does not for each row, in SQL for DuckDB or SQLite.

    Args:
        program: The rule.
        options: See ``SqlCheckOptions``.
    """

    def __init__(self, program: Program, **options: Unpack[SqlCheckOptions]) -> None:
        column, classes = options.get("column"), options.get("classes")
        integers, decimals = options.get("integers", False), options.get("decimals", False)
        check_options(program, column, classes)
        self.dialect = options.get("dialect", "duckdb")
        self.sql = Sql(program, self.dialect, missing=True, integers=integers, decimals=decimals)
        self.size = size_of_rounding(self.sql.expression, **options)
        self.condition = self.sql.condition() if column is None else self._equality(quoted(column), classes)
        self.two_valued = column is None and self.sql.has_truths and not self.sql.value().startswith("COALESCE(")

    def _equality(self, column: str, classes: Sequence[Any] | None) -> str:
        expected = self.sql.value(ATOM) if classes is None else self._class(classes)
        same = f"{column} = {expected}" if self.size is None else self._close(column, self.size)
        if self.sql.expression.is_boolean or presence(self.sql.expression) == Truth(True):
            return same
        return f"{same} OR {column} IS NULL AND {expected} IS NULL"

    def _close(self, column: str, size: Expression) -> str:
        """Write that a column is the number of the program, but for rounding."""
        if isinstance(self.sql.expression, Where):
            return f"{self._excess(column, self.sql.expression, size)} <= 0"
        return f"{self._difference(column, self.sql.expression)} <= {self._tolerance(size)}"

    def _excess(self, column: str, number: Expression, size: Expression) -> str:
        """Write by how much a column is further off than by rounding: inside choices, for each branch."""
        branches: list[str] = []
        while isinstance(number, Where) and isinstance(size, Where):
            excess = self._excess(column, number.then, size.then)
            branches.append(f"WHEN {self.sql.writer.write(number.condition)} THEN {excess}")
            number, size = number.otherwise, size.otherwise
        last = self._difference(column, number)
        last += "" if size == Constant(0) else f" - {self._tolerance(size)}"
        return f"CASE {' '.join(branches)} ELSE {last} END" if branches else last

    def _difference(self, column: str, number: Expression) -> str:
        return f"ABS({column} - {self.sql.writer.write(number, ATOM)})"

    def _tolerance(self, size: Expression) -> str:
        return f"{RELATIVE} * {self.sql.writer.write(size, ATOM)}"

    def _class(self, classes: Sequence[Any]) -> str:
        written = [self._literal(each) for each in classes]
        expression = self.sql.expression
        return self._class_of(Where(expression, 1, 0) if expression.is_boolean else expression, written)

    def _class_of(self, number: Expression, classes: list[str]) -> str:
        """Write the class that a number stands for: inside choices, as far as these are between constants."""
        match number:
            case Constant(value) if value in range(len(classes)):
                return classes[int(value)]
            case Where(condition, then, otherwise):
                branches = (self._class_of(branch, classes) for branch in (then, otherwise))
                return "CASE WHEN {} THEN {} ELSE {} END".format(self.sql.writer.write(condition), *branches)
        cases = " ".join(f"WHEN {position} THEN {each}" for position, each in enumerate(classes))
        return f"CASE {self.sql.writer.write(number)} {cases} END"

    def _literal(self, value: Any) -> str:
        """Write a class."""
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, str):
            return literal(value)
        if isinstance(value, bool):
            return str(int(value)) if self.sql.dialect in ("sqlite", "tsql") else str(value).upper()
        if isinstance(value, date) and not isinstance(value, datetime):
            return f"'{value}'" if self.sql.dialect == "sqlite" else f"DATE '{value}'"
        try:
            number: Fraction = rational(value)
        except ValueError:
            raise InputError(f"a class must be a text, a number, a date, or true or false, got {value!r}") from None
        constant = Constant(number)
        reject_overflow(constant, "sql")
        return self.sql.writer.write(constant)

    def translated(self, sql: str) -> str:
        """SQL with this condition in it, or a name, in the dialect of the database."""
        return translated(sql, self.dialect)

    def holds(self) -> str:
        """The condition that a row keeps the rule: never NULL."""
        if not self.sql.has_truths:
            return f"CASE WHEN {self.condition} THEN 1 ELSE 0 END = 1"
        return self.condition if self.two_valued else f"COALESCE({self.condition}, FALSE)"

    def violated(self) -> str:
        """The condition that a row breaks the rule: never NULL."""
        if not self.sql.has_truths:
            return f"CASE WHEN {self.condition} THEN 1 ELSE 0 END = 0"
        return f"NOT ({self.condition})" if self.two_valued else f"NOT {self.holds()}"
