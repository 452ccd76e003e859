"""SQL that returns the rows of a table that break a rule. Exact as the target ``sql`` is."""

from collections.abc import Sequence
from typing import Any

from nsr.program.emit.checks import SqlCheck
from nsr.program.emit.dialects import translated
from nsr.program.emit.sql import quoted
from nsr.program.emit.targets import target
from nsr.program.program import Program


@target("check-sql")
def check_query(
    program: Program,
    *,
    table: str,
    column: str | None = None,
    classes: Sequence[Any] | None = None,
    dialect: str = "duckdb",
    integers: bool = False,
    decimals: bool = False,
) -> str:
    """Write a query for the rows where the program does not hold, or where a column is not what it gives.

    Args:
        program: The rule.
        table: Name of the table.
        column: Column that must be what the program gives; by default the program, a formula, must hold.
        classes: What stands in the column for false and true, or for the numbers 0, 1 and so on.
        dialect: The database, as for the target ``sql``.
        integers: Write for columns of integers only, with comparisons cleared of fractions.
        decimals: Write for columns of decimals.
    """
    check = SqlCheck(program, dialect, column, classes, integers=integers, decimals=decimals)
    return translated(f"SELECT * FROM {quoted(table)} WHERE {check.violated()}", dialect)
