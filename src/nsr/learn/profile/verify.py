"""Count statements on all rows of a table, by the SQL that is emitted for them."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pandas as pd

from nsr.errors import InputError
from nsr.learn.profile.columns import Clock
from nsr.learn.profile.redundancy import is_order
from nsr.learn.profile.statements import Candidate, Dependency, Statement
from nsr.learn.tables import Table
from nsr.learn.tables.text import sql_name
from nsr.program.conditions import Flag, Missing, OneOf
from nsr.program.emit.exactness import InexactWarning
from nsr.program.expressions import Compare, Expression, Or, Variable
from nsr.program.kinds import Kind
from nsr.program.program import Program

AT_ONCE = 50
"""Statements that are counted in one pass over the table."""
MOST_EXAMPLES = 20
"""How many of the rows that break a statement are kept."""

Conditions = tuple[str, str]
"""SQL of the rows on which a statement holds, and of those that break it."""


def verify(
    table: Table, candidates: Sequence[Candidate], least: float, clock: Clock, on_progress: Callable[[float], None]
) -> Iterator[Statement]:
    """The statements that hold on enough rows of the table, with the first rows that break them."""
    for start in range(0, len(candidates), AT_ONCE):
        part = candidates[start : start + AT_ONCE]
        if clock.left <= 0:
            clock.skipped.append(f"counting {len(candidates) - start:,} further statements on all rows")
            return
        for candidate, counts in zip(part, _counts(table, [_conditions(table, each) for each in part]), strict=True):
            statement = _statement(table, candidate, counts)
            if statement is not None and statement.rows and statement.holds >= least * statement.rows:
                yield statement
        on_progress(min(1.0, (start + AT_ONCE) / len(candidates)))


def _statement(table: Table, candidate: Candidate, counts: tuple[int, int] | None) -> Statement | None:
    if counts is None:
        return None
    claim = candidate.claim
    if counts[1] and is_order(candidate) and isinstance(claim, Compare) and claim.operator == "<":
        looser = replace(candidate, claim=Compare("<=", *claim.children))  # rows beyond the sample may be equal
        (found,) = _counts(table, [_conditions(table, looser)])
        if found is not None and found[1] < counts[1]:
            candidate, counts = looser, found
    examples = table.rows_where(_conditions(table, candidate)[1], MOST_EXAMPLES) if counts[1] else pd.DataFrame()
    if candidate.formula is None:
        return Statement(candidate, *counts, examples)
    check = check_formula(table, candidate.formula)
    return Statement(candidate, *counts, examples, check, sql_options(table, check))


def _counts(table: Table, conditions: Sequence[Conditions]) -> list[tuple[int, int] | None]:
    """For each statement, how many rows support and how many break it; None if DuckDB cannot compute it."""
    try:
        return _counted(table, conditions)
    except InputError:  # such as a sum that does not fit its type
        if len(conditions) == 1:
            return [None]
        return [count for each in conditions for count in _counts(table, [each])]


def _counted(table: Table, conditions: Sequence[Conditions]) -> list[tuple[int, int] | None]:
    simple = [each for each in conditions if "SELECT" not in each[1]]
    queries = [f"count(*) FILTER (WHERE {condition})" for each in simple for condition in each]
    found = {}
    if queries:
        (row,) = table.engine.rows(f"SELECT {', '.join(queries)} FROM {table.relation}")
        found = {each: (int(row[2 * at]), int(row[2 * at + 1])) for at, each in enumerate(simple)}
    return [found[each] if each in found else (table.count(each[0]), table.count(each[1])) for each in conditions]


def _conditions(table: Table, candidate: Candidate) -> Conditions:
    if isinstance(candidate.claim, Dependency):
        return _dependency(table, candidate.claim)
    assert candidate.holding is not None
    assert candidate.breaking is not None
    return sql(table, candidate.holding), sql(table, candidate.breaking)


def sql(table: Table, formula: Expression) -> str:
    """The formula in SQL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactWarning)
        return str(Program(formula).emit("sql", **sql_options(table, formula)))


def sql_options(table: Table, formula: Expression) -> dict[str, bool]:
    """Options of the target ``sql`` with which integers and decimals stay exact."""
    types = {table.columns[name].sql_type for name, kind in formula.kinds.items() if kind == Kind.NUMBER}
    if not types or "DOUBLE" in types:
        return {}
    return {"integers": True} if types == {"BIGINT"} else {"decimals": True}


def check_formula(table: Table, formula: Expression) -> Expression:
    """The formula, or a cell that it needs is missing: what a check of all rows must ask for."""
    parents = (node for node in formula.walk() if isinstance(node, Compare | OneOf | Flag))
    needed = {node for parent in parents for node in parent.walk() if isinstance(node, Variable)}
    gaps = sorted((each for each in needed if table.columns[each.name].missing), key=lambda each: each.name)
    return Or(formula, *map(Missing, gaps)) if gaps else formula


def _dependency(table: Table, claim: Dependency) -> Conditions:
    source, target = sql_name(claim.source), sql_name(claim.target)
    breaks = _unusual(table, source, target)
    if claim.mutual:
        breaks = f"({breaks} OR {_unusual(table, target, source)})"
    present = f"{source} IS NOT NULL AND {target} IS NOT NULL"
    return f"{present} AND NOT {breaks}", f"{present} AND {breaks}"


def _unusual(table: Table, source: str, target: str) -> str:
    """SQL: whether the target of a row is not the most frequent one for its source."""
    rank = f"row_number() OVER (PARTITION BY {source} ORDER BY count(*) DESC, {target})"
    pairs = f"SELECT {source}, {target}, {rank} AS nsr_rank FROM {table.relation} GROUP BY {source}, {target}"
    return f"(({source}, {target}) IN (SELECT ({source}, {target}) FROM ({pairs}) WHERE nsr_rank > 1))"


def is_key(table: Table, name: str) -> bool:
    """Whether no two rows have the same value in a column."""
    ((distinct,),) = table.engine.rows(f"SELECT count(DISTINCT {sql_name(name)}) FROM {table.relation}")
    return int(distinct) == table.rows
