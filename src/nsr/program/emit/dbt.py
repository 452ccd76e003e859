"""dbt: a singular test, that is a file in ``tests/`` with a query for the rows that break a rule.

Exact as the target ``sql`` is.
"""

import re
from collections.abc import Sequence
from typing import Any

from nsr.program.emit.checks import SqlCheck
from nsr.program.emit.dialects import translated
from nsr.program.emit.names import printable
from nsr.program.emit.targets import target
from nsr.program.program import Program


@target("dbt")
def dbt_test(
    program: Program,
    *,
    table: str,
    column: str | None = None,
    classes: Sequence[Any] | None = None,
    dialect: str = "duckdb",
    integers: bool = False,
    decimals: bool = False,
) -> str:
    """Write a query that returns no row if the test passes.

    Args:
        program: The rule.
        table: Name of the model to test.
        column: Column that must be what the program gives; by default the program, a formula, must hold.
        classes: What stands in the column for false and true, or for the numbers 0, 1 and so on.
        dialect: The database, as for the target ``sql``.
        integers: Write for columns of integers only, with comparisons cleared of fractions.
        decimals: Write for columns of decimals.
    """
    check = SqlCheck(program, dialect, column, classes, integers=integers, decimals=decimals)
    rule = f"{program}" if column is None else f"{column} is {program}"
    lines = [f"-- Rows that break the rule: {_plain(printable(rule))}", "SELECT *", f"FROM {{{{ ref({table!r}) }}}}"]
    return "\n".join([*lines, f"WHERE {_plain(translated(check.violated(), dialect))}", ""])


def _plain(words: str) -> str:
    """Write text that Jinja leaves as it is."""
    return re.sub(r"\{(?=[{%#])", "{{ '{' }}", words)
