"""``profile``: propose statements from a sample, leave out what follows from others, count the rest on all rows."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from nsr.errors import InputError
from nsr.learn import tables
from nsr.learn.profile.columns import Clock, Sample, SampledColumn, by_name, sample_columns
from nsr.learn.profile.dependencies import find_dependencies, find_rules
from nsr.learn.profile.equations import Equation, find_equal, find_equations
from nsr.learn.profile.orders import find_conditional_orders, find_orders, find_sum_orders
from nsr.learn.profile.presence import find_presence
from nsr.learn.profile.redundancy import is_order, without_implied
from nsr.learn.profile.statements import THRESHOLD, Candidate, Profile
from nsr.learn.profile.verify import is_key, verify

MOST_COLUMNS = 300
"""Columns beyond these are not compared."""
PROPOSING = 0.6
"""The share of the time that proposals may take."""

Report = Callable[[str, float], None]


def profile(
    source: object,
    *,
    least: float = 0.99,
    time_limit: float = 60.0,
    seed: int = 0,
    on_progress: Report = lambda *_: None,
) -> Profile:
    """Find what always holds in a table: orders, equations, presence, and columns that follow from others.

    Args:
        source: What ``nsr.learn.tables.read`` reads: a file, or a data frame.
        least: The smallest share of rows on which a statement must hold.
        time_limit: Seconds for the search, without reading the table.
        seed: Seed of the sample and of the shuffles.
        on_progress: Called with the name of the current step and the fraction of it that is done.
    """
    if not 0.5 < least <= 1:
        raise InputError(f"least must be more than 0.5 and at most 1, got {least}")
    if not 0 < time_limit < math.inf:
        raise InputError(f"the time limit must be a positive number of seconds, got {time_limit}")
    start = time.perf_counter()
    table = tables.read(source, seed=seed, on_progress=partial(on_progress, "reading"))
    columns, unused = sample_columns(table)
    clock = Clock(time_limit)
    proposing = Clock(PROPOSING * time_limit)
    sample = Sample(columns[:MOST_COLUMNS], len(table.sample), least, proposing, seed)
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers beyond the largest float
        candidates = _propose(sample, partial(on_progress, "searching")) if len(table.sample) > 1 else []
    counting = partial(on_progress, "counting")
    statements = sorted(verify(table, candidates, least, clock, counting), key=lambda each: -each.score)
    clock.skipped[:0] = proposing.skipped
    return Profile(
        source=table.name,
        rows=table.rows,
        columns=len(table.columns),
        sampled=len(table.sample),
        statements=statements,
        keys=[column.name for column in columns if _may_be_key(column) and is_key(table, column.name)],
        notes=[*_reading_notes(table), *_notes(columns, unused, clock)],
        seconds=time.perf_counter() - start,
    )


def _propose(sample: Sample, on_progress: Callable[[float], None]) -> list[Candidate]:
    """Statements that hold in the sample and do not follow from others, the most surprising first."""
    found = list(find_equal(sample))
    on_progress(0.1)
    copies = {each.columns[1] for each in found if not each.breaks}
    sample = replace(sample, columns=[column for column in sample.columns if column.name not in copies])
    found += find_orders(sample)
    on_progress(0.2)
    equations: list[Equation] = []
    for equation, candidate in find_equations(sample):
        equations.append(equation)
        found.append(candidate)
    on_progress(0.5)
    found += find_presence(sample)
    found += find_dependencies(sample)
    found += find_rules(sample)
    on_progress(0.7)
    found += find_conditional_orders(sample)
    related = [frozenset(column.name for column in equation.columns) for equation in equations]
    found += find_sum_orders(sample, related)
    on_progress(0.9)
    kept = [each for each in found if each.score > 0 or (is_order(each) and not each.breaks)]
    return sorted(without_implied(kept, equations, by_name(sample.columns)), key=lambda each: -each.score)


def _may_be_key(column: SampledColumn) -> bool:
    """Whether no value is repeated in the sample, which for numbers must not be likely anyway."""
    rows = len(column.present)
    if not column.present.all() or len(column.values) < rows:
        return False
    if not column.is_number:
        return True
    pairs = rows * (rows - 1) / 2
    return column.decimals == 0 and pairs / (column.high - column.low + 1) > THRESHOLD


def _reading_notes(table: tables.Table) -> Iterator[str]:
    """How unusual texts were read."""
    return (f"column {column.name!r}: {column.note}" for column in table.columns.values() if column.note)


def _notes(columns: Sequence[SampledColumn], unused: Sequence[tuple[str, str]], clock: Clock) -> Iterator[str]:
    for name, reason in unused:
        yield f"column {name!r} was not used: {reason}"
    if len(columns) > MOST_COLUMNS:
        yield f"only the first {MOST_COLUMNS} of {len(columns):,} columns were compared"
    for what in clock.skipped:
        yield f"not tried, or not to the end: {what}"
