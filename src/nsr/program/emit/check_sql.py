"""SQL that returns the rows of a table that break a rule. Exact as the target ``sql`` is."""

from typing import Unpack

from nsr.program.emit.checks import SqlCheck, SqlCheckOptions
from nsr.program.emit.sql import quoted
from nsr.program.emit.targets import target
from nsr.program.program import Program


@target("check-sql")
def check_query(program: Program, *, table: str, **options: Unpack[SqlCheckOptions]) -> str:
    """Write a query for the rows where the program does not hold, or where a column is not what it gives.

    Args:
        program: The rule.
        table: Name of the table.
        options: See ``SqlCheckOptions``.
    """
    check = SqlCheck(program, **options)
    return check.translated(f"SELECT * FROM {quoted(table)} WHERE {check.violated()}")
