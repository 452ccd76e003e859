"""Orders: a <= b, sums of two columns against a third, and orders that hold under a condition."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from nsr.learn.profile.chance import Mask, Numbers, order_chance, rarity, shuffled_chance
from nsr.learn.profile.columns import PROBE_SHARE, Condition, Sample, SampledColumn
from nsr.learn.profile.statements import Candidate, Family
from nsr.program.conditions import OneOf
from nsr.program.expressions import Compare, Expression, total
from nsr.program.kinds import Kind

SIGNS = ((1, 1, -1), (1, -1, 1), (-1, 1, 1))
BORDER = 0.1
"""Rows count as near the border of an inequality if their slack is less than this share of the median slack."""


def find_orders(sample: Sample) -> Iterator[Candidate]:
    """Comparisons of two columns."""
    columns = sample.measured
    tried = len(columns) * (len(columns) - 1)
    for low, high in _ordered_pairs(sample, columns):
        if sample.clock.over("orders of two columns"):
            return
        candidate = _order(sample, low, high, tried)
        if candidate is not None:
            yield candidate


def _ordered_pairs(sample: Sample, columns: Sequence[SampledColumn]) -> Iterator[tuple[SampledColumn, SampledColumn]]:
    """Pairs of columns of which the first is rarely greater, in a few rows."""
    matrix = sample.probe_matrix(columns)
    known = ~np.isnan(matrix)
    for place, low in enumerate(columns):
        both = known & known[:, [place]]
        with np.errstate(invalid="ignore"):
            holds = (matrix[:, [place]] <= matrix) & both
        few = holds.sum(axis=0) >= PROBE_SHARE * both.sum(axis=0)
        for other in np.flatnonzero(few).tolist():
            if other != place and low.comparable(columns[other]):
                yield low, columns[other]


def _order(sample: Sample, low: SampledColumn, high: SampledColumn, tried: int) -> Candidate | None:
    both = low.present & high.present
    one, other = low.numbers[both], high.numbers[both]
    if not len(one) or (one == other).mean() >= sample.least:
        return None
    breaks = int((one > other).sum())
    if len(one) - breaks < sample.least * len(one):
        return None
    strict = not (one == other).any()
    chance = order_chance(one, other)
    return Candidate(
        Family.ORDER,
        Compare("<" if strict else "<=", low.variable, high.variable),
        (low.name, high.name),
        chance,
        rarity(len(one), breaks, 1 - chance),
        tried,
        breaks=breaks,
    )


def find_sum_orders(sample: Sample, known: Sequence[frozenset[str]]) -> Iterator[Candidate]:
    """Comparisons of a sum of two columns with a third, where many rows are near the border.

    Args:
        sample: The rows.
        known: Sets of columns between which there is an equation.
    """
    columns = sample.numbers
    matrix = sample.probe_matrix(columns)
    tried = len(SIGNS) * 2 * len(list(combinations(columns, 3)))
    generator = sample.generator()
    for places in combinations(range(len(columns)), 3):
        if sample.clock.over("sums of two columns against a third"):
            return
        for signs in SIGNS:
            slack = matrix[:, places] @ np.array(signs)
            slack = slack[~np.isnan(slack)]
            for sign in (1, -1):
                if len(slack) and (sign * slack >= 0).mean() >= PROBE_SHARE:
                    chosen = [columns[place] for place in places]
                    if not any(names <= {column.name for column in chosen} for names in known):
                        yield from _sum_order(sample, chosen, [sign * each for each in signs], tried, generator)


def _sum_order(
    sample: Sample, columns: Sequence[SampledColumn], signs: Sequence[int], tried: int, generator: np.random.Generator
) -> Iterator[Candidate]:
    """The statement that the signed sum is not negative, if rows are near its border and every column matters."""
    both = np.logical_and.reduce([column.present for column in columns])
    values = [sign * column.numbers[both] for sign, column in zip(signs, columns, strict=True)]
    if not len(values[0]) or _follows_from_two(values, sample.least):
        return
    slack = np.round(np.sum(values, axis=0), 9)
    breaks = int((slack < 0).sum())
    if breaks > (1 - sample.least) * len(slack) or (slack == 0).mean() >= sample.least:
        return
    border = _border_surprise(slack)
    if border < 10:
        return
    chance = shuffled_chance(values, lambda shuffled: np.sum(shuffled, axis=0) >= -1e-9, generator)
    parts = list(zip(signs, columns, strict=True))
    left, right = (total([(Fraction(1), c.variable) for s, c in parts if s == sign]) for sign in (-1, 1))
    yield Candidate(
        Family.ORDER,
        Compare("<=", left, right),
        tuple(column.name for column in columns),
        chance,
        min(border, rarity(len(slack), breaks, 1 - chance)),
        tried,
        breaks=breaks,
    )


def _follows_from_two(values: Sequence[Numbers], least: float) -> bool:
    """Whether two of the terms suffice because the third is never negative, or the like."""
    return any(
        bool((values[third] >= 0).mean() >= least and (values[one] + values[two] >= 0).mean() >= least)
        for one, two, third in ((0, 1, 2), (0, 2, 1), (1, 2, 0))
    )


def _border_surprise(slack: Numbers) -> float:
    """Nats of surprise that rows lie close to the border on one side and not on the other."""
    near = BORDER * float(np.median(slack))
    inside = int(((slack >= 0) & (slack < near)).sum()) if near > 0 else int((slack == 0).sum())
    outside = int(((slack < 0) & (slack > -near)).sum())
    return rarity(inside + outside, outside, 0.5)


def find_conditional_orders(sample: Sample) -> Iterator[Candidate]:
    """Comparisons of two columns that hold where a category has certain values, and not elsewhere."""
    columns = sample.measured
    by_category = [list(sample.conditions(column)) for column in sample.categories]
    by_category = [conditions for conditions in by_category if len(conditions) > 1]
    tried = len(columns) * (len(columns) - 1) * max(1, len(by_category))
    for low, high in ((a, b) for a in columns for b in columns if a is not b and a.comparable(b)):
        if sample.clock.over("orders under a condition"):
            return
        both = low.present & high.present
        broken = both & _greater(low, high)
        if not both.any() or broken.sum() <= (1 - sample.least) * both.sum():
            continue
        for conditions in by_category:
            yield from _conditional(sample, (low, high), conditions, broken, tried)


def _greater(low: SampledColumn, high: SampledColumn) -> Mask:
    with np.errstate(invalid="ignore"):
        return low.numbers > high.numbers


def _conditional(
    sample: Sample, pair: tuple[SampledColumn, SampledColumn], conditions: Sequence[Condition], broken: Mask, tried: int
) -> Iterator[Candidate]:
    """The order of a pair under those values of a category for which it holds by more than chance."""
    low, high = pair
    both = low.present & high.present
    chosen, surprise, chances = list[Condition](), 0.0, list[tuple[int, float]]()
    for condition in conditions:
        rows = both & condition.holds
        size, breaks = int(rows.sum()), int((broken & condition.holds).sum())
        if size < 2 or breaks > (1 - sample.least) * size:
            continue
        chance = order_chance(low.numbers[rows], high.numbers[rows])
        evidence = rarity(size, breaks, 1 - chance)
        if evidence > 3:
            chosen.append(condition)
            surprise += evidence
            chances.append((size, chance))
    if not chosen or len(chosen) == len(conditions):
        return
    ties = any((both & c.holds & (low.numbers == high.numbers)).any() for c in chosen)
    yield Candidate(
        Family.ORDER,
        Compare("<=" if ties else "<", low.variable, high.variable),
        (low.name, high.name, conditions[0].column.name),
        sum(size * chance for size, chance in chances) / sum(size for size, _ in chances),
        surprise,
        tried,
        condition=any_of(chosen),
        choices=len(conditions) * float(np.log(2)),
    )


def any_of(conditions: Sequence[Condition]) -> Expression:
    """One formula for several values of a category."""
    column = conditions[0].column
    if column.kind == Kind.TEXT:
        return OneOf(column.variable, [text for c in conditions for text in c.formula.texts])  # type: ignore[attr-defined]
    return conditions[0].formula
