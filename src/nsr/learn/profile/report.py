"""A profile as text, as JSON, and as checks in other languages."""

import json
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from nsr.errors import InputError, one_of
from nsr.learn.profile.statements import Profile, Statement
from nsr.learn.result import printable as printable
from nsr.learn.tables import plural
from nsr.program.emit import TARGETS, options_of
from nsr.program.emit.exactness import InexactWarning
from nsr.program.program import Program

SHOWN = 20
"""How many statements are shown by default."""
MOST_ROWS = 5
"""How many of the rows that break a statement are listed."""
NOT_TEXT = ("onnx", "sympy")
QUERIES = ("check-sql", "check-constraint")
WITHOUT_ALTER = (None, "duckdb", "sqlite")
"""Dialects, and the default, in which a constraint can only be given when a table is created."""
ALIASES = {"checks": "check-sql"}


def shown_statements(profile: Profile, *, everything: bool = False) -> Sequence[Statement]:
    """The statements to show: all, or the most surprising."""
    return profile.statements if everything else profile.surprising[:SHOWN]


def text(profile: Profile, *, everything: bool = False) -> str:
    """The statements as lines of text, the most surprising first."""
    shown = shown_statements(profile, everything=everything)
    ranges = [statement for statement in shown if statement.is_trivial]
    lines = [line for statement in shown if not statement.is_trivial for line in _lines(statement)]
    if ranges:
        listed = printable(", ".join(map(str, ranges)))
        lines += ["", f"{plural(len(ranges), 'order')} that would hold anyway on nearly all rows: {listed}"]
    if not shown:
        lines.append("no statement holds that would be surprising")
    hidden = len(profile.statements) - len(shown)
    if hidden:
        lines += ["", f"{plural(hidden, 'less surprising statement')} not shown: --all shows them"]
    if profile.keys:
        lines += ["", f"different in every row: {printable(', '.join(profile.keys))}"]
    return "\n".join(lines)


def _lines(statement: Statement) -> Iterator[str]:
    yield printable(str(statement))
    chance = statement.candidate.chance
    yield f"    {holds(statement)}; shuffled, it would hold for {share(chance)}; surprise {statement.score:,.0f} nats"
    if statement.breaks:
        yield f"    broken by {breaking_rows(statement)}"


def holds(statement: Statement) -> str:
    """On how many rows a statement holds."""
    if not statement.breaks:
        return f"holds for all {plural(statement.rows, 'row')}"
    return f"holds for {statement.holds:,} of {plural(statement.rows, 'row')}"


def share(value: float) -> str:
    """A share in percent, which is 100 % only if it is all."""
    for digits in (0, 1, 2):
        written = f"{value:.{digits}%}"
        if written[:-1] not in ("0", "100", "0.0", "100.0", "0.00", "100.00"):
            return f"{written[:-1]} %"
    return "all" if value == 1 else "nearly all" if value > 0.5 else "hardly any"


def breaking_rows(statement: Statement) -> str:
    """The numbers of the first rows that break a statement."""
    first = ", ".join(map(str, statement.examples.index[:MOST_ROWS]))
    more = ", ..." if statement.breaks > MOST_ROWS else ""
    return f"row {first}" if statement.breaks == 1 else f"rows {first}{more}"


def check_target(name: str) -> str:
    """The target for ``--emit``; raises an InputError for one that statements cannot be written in."""
    name = ALIASES.get(name, name)
    return one_of("language", name, [*ALIASES, *(target for target in TARGETS if target not in NOT_TEXT)])


def emit(
    profile: Profile, target: str, *, dialect: str | None = None, everything: bool = False
) -> tuple[str, list[str]]:
    """The statements in another language, and messages about those that it cannot express."""
    target, written, messages = check_target(target), list[str](), list[str]()
    known = options_of(target)
    if dialect is not None and "dialect" not in known:
        raise InputError(f"{target} has no dialects: --dialect goes with sql, check-sql, check-constraint and dbt")
    for number, statement in enumerate(shown_statements(profile, everything=everything), 1):
        if statement.check is None:
            messages.append(f"{printable(str(statement))}: about several rows, so there is no check of a single row")
            continue
        options = {"table": profile.table_name, "name": f"rule_{number}", **statement.sql_options}
        options |= {} if dialect is None else {"dialect": dialect}
        if target == "check-constraint" and dialect in WITHOUT_ALTER:
            del options["table"]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InexactWarning)
                given = {option: value for option, value in options.items() if option in known}
                written.append(str(Program(statement.check).emit(target, **given)).rstrip("\n"))
        except InputError as problem:
            messages.append(f"{printable(str(statement))}: {printable(str(problem))}")
    if target == "json":
        return json.dumps([json.loads(part) for part in written], indent=2), messages
    ends = ";\n" if target in QUERIES else "\n\n" if any("\n" in part for part in written) else "\n"
    return "".join(part + ends for part in written).rstrip("\n"), messages


def to_json(profile: Profile, *, everything: bool = False) -> str:
    """The profile as JSON."""
    shown = shown_statements(profile, everything=everything)
    content = {
        "source": profile.source,
        "rows": profile.rows,
        "keys": list(profile.keys),
        "notes": list(profile.notes),
        "statements": [_record(statement) for statement in shown],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _record(statement: Statement) -> dict[str, Any]:
    return {
        "statement": str(statement),
        "family": str(statement.family),
        "columns": list(statement.candidate.columns),
        "holds": statement.holds,
        "breaks": statement.breaks,
        "breaking_rows": [int(row) for row in statement.examples.index],
        "share_if_shuffled": statement.candidate.chance,
        "surprise": statement.score,
        "program": None if statement.check is None else json.loads(Program(statement.check).emit("json")),
    }
