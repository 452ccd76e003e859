"""Columns that follow from others: one category from another, and truth values from a comparison."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nsr.learn.profile.chance import Mask, Numbers, agreement_surprise, mismatch, overlap_surprise
from nsr.learn.profile.columns import PROBE_SHARE, Condition, Sample, SampledColumn
from nsr.learn.profile.presence import same_gaps
from nsr.learn.profile.statements import Candidate, Dependency, Exactly, Family
from nsr.program.expressions import Compare, Constant, Expression
from nsr.program.kinds import Kind
from nsr.program.times import UNITS

Codes = NDArray[np.int64]
FEW_TARGETS = 6
"""The most values of a text for which it is asked where each of them stands."""


def find_dependencies(sample: Sample) -> Iterator[Candidate]:
    """Columns whose value is determined by that of another column."""
    columns = [c for c in sample.columns if 1 < len(c.values) <= max(2, int(c.present.sum()) // 2)]
    tried = len(columns) * (len(columns) - 1)
    generator = sample.generator()
    determined: dict[tuple[str, str], Candidate] = {}
    for source, target in ((a, b) for a in columns for b in columns if a is not b):
        if sample.clock.over("columns that determine others"):
            break
        candidate = _dependency(sample, source, target, tried, generator)
        if candidate is not None:
            determined[source.name, target.name] = candidate
    for (source_name, target_name), candidate in determined.items():
        back = determined.get((target_name, source_name))
        if back is None:
            yield candidate
        elif source_name < target_name:
            yield Candidate(
                Family.DEPENDENCY,
                Dependency(source_name, target_name, mutual=True),
                candidate.columns,
                min(candidate.chance, back.chance),
                max(candidate.surprise, back.surprise),
                tried,
            )


def _dependency(
    sample: Sample, source: SampledColumn, target: SampledColumn, tried: int, generator: np.random.Generator
) -> Candidate | None:
    if len(source.values) < len(target.values) * 0.99:  # each value of the source has one of the target
        return None
    both = source.present & target.present
    groups, values = source.codes[both], target.codes[both]
    if not len(groups):
        return None
    few = slice(0, 500)
    _, most = group_sizes(groups[few], values[few])
    if most.sum() < PROBE_SHARE * len(groups[few]):
        return None
    sizes, most = group_sizes(groups, values)
    if most.sum() < sample.least * len(groups) or sizes.max() < 2:
        return None
    shares = np.unique(values, return_counts=True)[1] / len(values)
    _, by_chance = group_sizes(groups, generator.permutation(values))
    return Candidate(
        Family.DEPENDENCY,
        Dependency(source.name, target.name),
        (source.name, target.name),
        float(by_chance.sum() / len(values)),
        agreement_surprise(sizes, most, shares),
        tried,
    )


def group_sizes(groups: Codes, values: Codes) -> tuple[Codes, Codes]:
    """The size of each group, and how often its most frequent value occurs."""
    pairs, counts = np.unique(groups * (values.max() + 1) + values, return_counts=True)
    group = pairs // (values.max() + 1)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    return np.add.reduceat(counts, starts), np.maximum.reduceat(counts, starts)


def find_rules(sample: Sample) -> Iterator[Candidate]:
    """Truth values, and texts with few values, that hold exactly where a comparison does."""
    gaps = [members[0] for members in same_gaps(sample, sample.with_gaps)]
    targets = [target for column in sample.columns for target in _targets(sample, column)]
    targets += [sample.gap(column) for column in gaps]
    columns = sample.measured
    thresholds = max(1, len(targets) * len(columns))
    comparisons = max(1, thresholds * len(columns))
    for target in targets:
        for column in columns:
            if sample.clock.over("where a column is above a constant"):
                return
            if column is not target.column:
                yield from _threshold(sample, target, column, thresholds)
    for target in targets:
        yield from _comparisons(sample, target, comparisons)


def _targets(sample: Sample, column: SampledColumn) -> Iterator[Condition]:
    found = list(sample.conditions(column))
    if len(found) <= FEW_TARGETS:
        yield from found[1:] if len(found) == 2 else found


def _threshold(sample: Sample, target: Condition, column: SampledColumn, tried: int) -> Iterator[Candidate]:
    """The target holds exactly where a column is at least, or less than, a constant."""
    rows = target.known & column.present
    holds, numbers = target.holds[rows], column.numbers[rows]
    if not 0 < holds.sum() < len(holds):
        return
    for above in (True, False):
        found = _best_split(numbers, holds if above else ~holds)
        if found is None or found[2] > (1 - sample.least) * len(holds):
            continue
        constant = Constant(_between(found[0], found[1], column.kind))
        where = Compare(">=" if above else "<", column.variable, constant)
        side = numbers >= float(constant.value) if above else numbers < float(constant.value)
        if mismatch(holds, side) > 1 - sample.least:
            continue
        yield _exactly(target, where, (column.name,), (holds, side), tried, math.log(len(np.unique(numbers))))
        return


def _best_split(numbers: Numbers, holds: Mask) -> tuple[float, float, int] | None:
    """The two neighbouring numbers between which a set of rows begins, and how many rows are on the wrong side."""
    order = np.argsort(numbers, kind="stable")
    numbers, holds = numbers[order], holds[order]
    wrong = np.cumsum(holds) + (~holds).sum() - np.cumsum(~holds)  # if the set began after this row
    borders = np.flatnonzero(numbers[1:] > numbers[:-1])
    if not len(borders):
        return None
    best = int(borders[np.argmin(wrong[borders])])
    return float(numbers[best]), float(numbers[best + 1]), int(wrong[best])


def _between(low: float, high: float, kind: Kind) -> Fraction:
    """A short number that is greater than ``low`` and at most ``high``; a full day, hour ... for dates."""
    if kind != Kind.NUMBER:
        for size in UNITS.values():
            if (start := math.floor(high / size) * size) > low:
                return Fraction(start)
        return Fraction(round(high))
    digits = math.ceil(math.log10(max(abs(low), abs(high), 1e-300))) if high or low else 0
    for places in range(-digits, 18):
        step = Fraction(10) ** -places
        if (rounded := math.floor(Fraction(high) / step) * step) > Fraction(low):
            return rounded
    return Fraction(high)


def _comparisons(sample: Sample, target: Condition, tried: int) -> Iterator[Candidate]:
    """The target holds exactly where one column is greater than, at least, or equal to another."""
    columns = sample.measured
    matrix = sample.probe_matrix(columns)
    holds, known = target.holds[sample.probes], target.known[sample.probes]
    for place, one in enumerate(columns):
        if sample.clock.over("where one column is greater than another"):
            return
        sign = np.sign(matrix[:, [place]] - matrix)
        decided = ~np.isnan(sign) & known[:, None]
        agree = ((sign > 0) == holds[:, None]) | ((sign >= 0) == holds[:, None]) | ((sign == 0) == holds[:, None])
        close = (agree & decided).sum(axis=0) >= PROBE_SHARE * np.maximum(1, decided.sum(axis=0))
        for at in np.flatnonzero(close).tolist():
            other = columns[at]
            if at != place and one.comparable(other) and target.column not in (one, other):
                yield from _compared(sample, target, (one, other), tried)


def _compared(
    sample: Sample, target: Condition, pair: tuple[SampledColumn, SampledColumn], tried: int
) -> Iterator[Candidate]:
    one, other = pair
    rows = target.known & one.present & other.present
    holds, first, second = target.holds[rows], one.numbers[rows], other.numbers[rows]
    if not 0 < holds.sum() < len(holds):
        return
    sides = {">": first > second, ">=": first >= second} | ({"=": first == second} if one.name < other.name else {})
    operator = max(sides, key=lambda symbol: int((sides[symbol] == holds).sum()))
    if mismatch(sides[operator], holds) <= 1 - sample.least:
        where = Compare(operator, one.variable, other.variable)
        yield _exactly(target, where, (one.name, other.name), (holds, sides[operator]), tried * 3)


def _exactly(
    target: Condition,
    where: Expression,
    names: Sequence[str],
    sets: tuple[Mask, Mask],
    tried: int,
    choices: float = 0.0,
) -> Candidate:
    shares = [float(each.mean()) for each in sets]
    return Candidate(
        Family.DEPENDENCY,
        Exactly(target.formula, where),
        (target.column.name, *names),
        shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1]),
        overlap_surprise(*sets),
        tried,
        choices=choices,
    )
