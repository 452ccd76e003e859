"""dbt: a singular test, that is a file in ``tests/`` with a query for the rows that break a rule.

Exact as the target ``sql`` is.
"""

import re
from typing import Unpack

from nsr.program.emit.checks import SqlCheck, SqlCheckOptions, rule_text
from nsr.program.emit.targets import target
from nsr.program.program import Program


@target("dbt")
def dbt_test(program: Program, *, table: str, **options: Unpack[SqlCheckOptions]) -> str:
    """Write a query that returns no row if the test passes.

    Args:
        program: The rule.
        table: Name of the model to test.
        options: See ``SqlCheckOptions``.
    """
    check = SqlCheck(program, **options)
    rule = rule_text(program, options.get("column"))
    lines = [f"-- Rows that break the rule: {_plain(rule)}", "SELECT *", f"FROM {{{{ ref({table!r}) }}}}"]
    return "\n".join([*lines, f"WHERE {_plain(check.translated(check.violated()))}", ""])


def _plain(words: str) -> str:
    """Write text that Jinja leaves as it is."""
    return re.sub(r"\{(?=[{%#])", "{{ '{' }}", words)
