"""Presence: cells that are missing together, or missing and present depending on a category."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from nsr.learn.profile.chance import mismatch, overlap_surprise, rarity
from nsr.learn.profile.columns import Condition, Sample, SampledColumn
from nsr.learn.profile.orders import any_of
from nsr.learn.profile.statements import Candidate, Exactly, Family
from nsr.program.conditions import Missing
from nsr.program.kinds import Kind


def find_presence(sample: Sample) -> Iterator[Candidate]:
    """All statements about which cells are missing."""
    columns = sample.with_gaps
    classes = list(same_gaps(sample, columns))
    for members in classes:
        for one, other in pairwise(members):
            yield _together(sample, one, other)
    first = [members[0] for members in classes]
    yield from _implied(sample, first)
    yield from _by_category(sample, first)


def same_gaps(sample: Sample, columns: Sequence[SampledColumn]) -> Iterator[list[SampledColumn]]:
    """Columns whose cells are missing in the same rows, or nearly so."""
    left = list(columns)
    while left:
        first, *left = left
        alike = [c for c in left if mismatch(first.present, c.present) <= 1 - sample.least]
        yield [first, *alike]
        left = [c for c in left if not any(c is member for member in alike)]


def _pairs_tried(sample: Sample) -> int:
    return max(1, len(sample.with_gaps) ** 2)


def _together(sample: Sample, one: SampledColumn, other: SampledColumn) -> Candidate:
    claim = Exactly(Missing(one.variable), Missing(other.variable))
    share = (one.present.mean(), other.present.mean())
    return Candidate(
        Family.PRESENCE,
        claim,
        (one.name, other.name),
        float(share[0] * share[1] + (1 - share[0]) * (1 - share[1])),
        overlap_surprise(~one.present, ~other.present),
        _pairs_tried(sample),
    )


def _implied(sample: Sample, columns: Sequence[SampledColumn]) -> Iterator[Candidate]:
    """Where one cell is missing, so is another; the other way round is the same statement of presence."""
    for one, other in ((a, b) for a in columns for b in columns if a is not b):
        if sample.clock.over("cells that are missing together"):
            return
        rows = ~one.present
        breaks, size = int((rows & other.present).sum()), int(rows.sum())
        if breaks <= (1 - sample.least) * size:
            chance = float((~other.present).mean())
            yield Candidate(
                Family.PRESENCE,
                Missing(other.variable),
                (one.name, other.name),
                chance,
                rarity(size, breaks, 1 - chance),
                _pairs_tried(sample),
                condition=Missing(one.variable),
            )


def _by_category(sample: Sample, columns: Sequence[SampledColumn]) -> Iterator[Candidate]:
    """Cells that are present, or missing, where a category has certain values."""
    groups = [list(sample.conditions(column)) for column in sample.categories]
    groups = [conditions for conditions in groups if conditions]
    tried = max(1, 2 * len(groups) * len(sample.with_gaps))
    for column in columns:
        for conditions in groups:
            if sample.clock.over("cells that are present depending on a category"):
                return
            if conditions[0].column is not column:
                yield from _depending(sample, column, conditions, tried)


def _depending(
    sample: Sample, column: SampledColumn, conditions: Sequence[Condition], tried: int
) -> Iterator[Candidate]:
    absent = _where(sample, column, conditions, missing=True)
    present = _where(sample, column, conditions, missing=False)
    choices = len(conditions) * math.log(2)
    names = (column.name, conditions[0].column.name)
    known = np.logical_or.reduce([condition.holds for condition in conditions])
    if absent and present and len(absent) + len(present) == len(conditions):
        shorter, missing = (present, False) if len(present) <= len(absent) else (absent, True)
        inside = np.logical_or.reduce([condition.holds for condition in shorter])[known]
        state = (~column.present if missing else column.present)[known]
        chance = inside.mean() * state.mean() + (1 - inside.mean()) * (1 - state.mean())
        claim = Exactly(Missing(column.variable, missing), any_of(shorter))
        surprise = overlap_surprise(inside, state)
        if mismatch(inside, state) <= 1 - sample.least:
            yield Candidate(Family.PRESENCE, claim, names, float(chance), surprise, tried, choices=choices)
            return
    for chosen, missing in ((present, False), (absent, True)):
        if not chosen or (column.kind == Kind.BOOLEAN and len(chosen) == len(conditions)):
            continue
        rows = np.logical_or.reduce([condition.holds for condition in chosen])
        breaks = int((rows & (column.present if missing else ~column.present)).sum())
        chance = float((~column.present if missing else column.present).mean())
        yield Candidate(
            Family.PRESENCE,
            Missing(column.variable, missing),
            names,
            chance,
            rarity(int(rows.sum()), breaks, 1 - chance),
            tried,
            condition=any_of(chosen),
            choices=choices,
        )


def _where(sample: Sample, column: SampledColumn, conditions: Sequence[Condition], *, missing: bool) -> list[Condition]:
    """The values of a category where the column is missing (or present), by more than chance."""
    state = ~column.present if missing else column.present
    found = []
    for condition in conditions:
        size, breaks = int(condition.holds.sum()), int((condition.holds & ~state).sum())
        if size and breaks <= (1 - sample.least) * size:
            found.append(condition)
    chance = float(state.mean())
    sizes = sum(int(condition.holds.sum()) for condition in found)
    return found if rarity(sizes, 0, 1 - chance) > 2 else []
