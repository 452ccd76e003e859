"""A CHECK constraint: the database refuses rows that break a rule. Exact as the target ``sql`` is.

A CHECK passes where its condition is NULL; this one is true or false for every row.
"""

from collections.abc import Sequence
from typing import Any

from nsr.errors import InputError
from nsr.program.emit.checks import SqlCheck
from nsr.program.emit.dialects import translated
from nsr.program.emit.sql import quoted
from nsr.program.emit.targets import target
from nsr.program.program import Program

WITHOUT_CHECK = ("bigquery", "snowflake", "redshift")
WITHOUT_ALTER = ("duckdb", "sqlite")


@target("check-constraint")
def check_constraint(
    program: Program,
    *,
    name: str = "rule",
    table: str | None = None,
    column: str | None = None,
    classes: Sequence[Any] | None = None,
    dialect: str = "duckdb",
    integers: bool = False,
    decimals: bool = False,
) -> str:
    """Write a clause for CREATE TABLE or, with ``table``, an ALTER TABLE.

    Args:
        program: The rule.
        name: Name of the constraint.
        table: Name of an existing table to add the constraint to.
        column: Column that must be what the program gives; by default the program, a formula, must hold.
        classes: What stands in the column for false and true, or for the numbers 0, 1 and so on.
        dialect: The database, as for the target ``sql``.
        integers: Write for columns of integers only, with comparisons cleared of fractions.
        decimals: Write for columns of decimals.
    """
    check = SqlCheck(program, dialect, column, classes, integers=integers, decimals=decimals)
    if dialect in WITHOUT_CHECK:
        raise InputError(f"dialect {dialect!r} does not enforce CHECK constraints: use target 'check-sql'")
    if table is not None and dialect in WITHOUT_ALTER:
        raise InputError(f"dialect {dialect!r} cannot add a CHECK to a table: leave table out, for CREATE TABLE")
    constraint = f"CONSTRAINT {_name(name, dialect)} CHECK ({translated(check.holds(), dialect)})"
    return constraint if table is None else f"ALTER TABLE {_name(table, dialect)} ADD {constraint}"


def _name(name: str, dialect: str) -> str:
    return translated(quoted(name), dialect)
