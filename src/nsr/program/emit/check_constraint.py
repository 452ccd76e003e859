"""A CHECK constraint: the database refuses rows that break a rule. Exact as the target ``sql`` is.

A CHECK passes where its condition is NULL; this one is true or false for every row.
"""

from typing import Unpack

from nsr.errors import InputError
from nsr.program.emit.checks import SqlCheck, SqlCheckOptions
from nsr.program.emit.sql import quoted
from nsr.program.emit.targets import target
from nsr.program.program import Program

WITHOUT_CHECK = ("bigquery", "snowflake", "redshift")
WITHOUT_ALTER = ("duckdb", "sqlite")


@target("check-constraint")
def check_constraint(
    program: Program, *, name: str = "rule", table: str | None = None, **options: Unpack[SqlCheckOptions]
) -> str:
    """Write a clause for CREATE TABLE or, with ``table``, an ALTER TABLE.

    Args:
        program: The rule.
        name: Name of the constraint.
        table: Name of an existing table to add the constraint to.
        options: See ``SqlCheckOptions``.
    """
    check = SqlCheck(program, **options)
    if check.dialect in WITHOUT_CHECK:
        raise InputError(f"dialect {check.dialect!r} does not enforce CHECK constraints: use target 'check-sql'")
    if table is not None and check.dialect in WITHOUT_ALTER:
        raise InputError(f"dialect {check.dialect!r} cannot add a CHECK to a table: leave table out, for CREATE TABLE")
    constraint = f"CONSTRAINT {check.translated(quoted(name))} CHECK ({check.translated(check.holds())})"
    return constraint if table is None else f"ALTER TABLE {check.translated(quoted(table))} ADD {constraint}"
