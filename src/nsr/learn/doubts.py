"""What speaks against a rule, and how near the rows come to its borders."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.stats import mannwhitneyu, rankdata

from nsr.learn.rules import Rule, patterns, price, said
from nsr.learn.screen import SCREENED, Labelled, Screen, some_rows
from nsr.program.expressions import Compare
from nsr.program.text import name
from nsr.reading.columns import Numbers, Probe

BY_CHANCE = 1e-4
"""Where it is less likely than this that contradicting rows lie so near the borders of a rule, it is no chance."""
LEFT_OVER = 5.0
"""Nats, after the price of naming it, that a further comparison may tell of what is contradicted as mere chance."""
ROWS_EACH = 20
"""A smooth border is looked for where there are so many rows for each of its constants."""
SIGNED = {-1: "<", 0: "=", 1: ">"}


def left_over(screen: Screen, rule: Rule) -> float:
    """Nats by which the best further comparison explains the rows that contradict a rule, after its price.

    Labels that are wrong by chance leave nothing; a rule that only comes near what it is meant to say leaves much.
    """
    rows, answer = screen.rows, said(rule.expression, screen.rows)
    wrong = Labelled(rows.numbers, (answer != rows.classes).astype(np.int64), rows.weight, 2)
    if not wrong.classes.any():
        return 0.0
    other = Screen(wrong, screen.pairs)
    now = wrong.uncertainty(answer)
    return max(now - split.left - price(other, split.probe) for split in other.splits(answer))


def chance_of_nearness(rows: Labelled, rule: Rule) -> float:
    """How likely it is that rows which contradict a rule lie so near its borders, if they were drawn by chance.

    Wrong labels are anywhere. A rule that only follows the border of something smooth is contradicted along its own.
    """
    answer = said(rule.expression, rows)
    wrong = answer != rows.classes
    if not wrong.any() or wrong.all():
        return 1.0
    near = np.ones(len(rows))  # the rank of each row's distance from the nearest border, 1 where none is near
    for at, probe in enumerate(rule.probes):
        others = patterns(rows, [*rule.probes[:at], *rule.probes[at + 1 :]])
        kinds = np.bincount(others * rows.kinds + answer, minlength=(others.max() + 1) * rows.kinds) > 0
        decides = kinds.reshape(-1, rows.kinds).sum(1)[others] > 1
        rank = rankdata(np.abs(rows.numbers.away(probe))) / len(rows)
        near = np.where(decides, np.minimum(near, rank), near)
    return float(mannwhitneyu(near[wrong], near[~wrong], alternative="less").pvalue)


def smoother(rows: Labelled, rule: Rule) -> str | None:
    """A line or a product of two columns that parts the classes with fewer constants than a rule; None without one.

    A rule of several gaps and constants then is a staircase along a border that comparisons cannot say. Two rows that
    contradict the rule, and not the line, are worth a constant.
    """
    names = rows.numbers.names
    columns = sorted({column for probe in rule.probes for column in probe.pair if column < len(names)})
    constants = sum(not _plain(probe, names) for probe in rule.probes) + rule.wrong / 2
    if rows.kinds != 2 or len(columns) < 2:
        return None
    x = rows.numbers.x.double().numpy()[:, columns]
    own = [name(names[column]) for column in columns]
    tried = [(x, own, len(own))]
    if len(own) == 2:
        tried.append((x.prod(1, keepdims=True), [" * ".join(own)], 1))
    for terms, words, free in tried:
        if free < constants and len(rows) > ROWS_EACH * free:
            told = _parting(terms, words, rows.classes == 1)
            if told is not None:
                return told
    return None


def _parting(terms: np.ndarray, words: Sequence[str], holds: np.ndarray) -> str | None:
    """The inequality of a sum of terms that holds for some rows and for no other, in words; None without one."""
    scale = np.abs(terms).max(0)
    if not (scale > 0).all():
        return None
    signed = np.where(holds, 1.0, -1.0)[:, None] * np.column_stack([terms / scale, np.ones(len(terms))])
    some = some_rows(signed, SCREENED)  # it is checked on all
    # the widest margin: weights of at most 1, and every row on its side by at least the last number
    limits = np.column_stack([-signed[some], np.ones(len(some))])
    bounds = [*[(-1, 1)] * len(words), (None, None), (None, 1)]
    found = linprog([0.0] * signed.shape[1] + [-1.0], limits, np.zeros(len(some)), bounds=bounds)
    if not found.success or found.x[-1] < 1e-9 or (signed @ found.x[:-1] <= 0).any():
        return None
    weights, constant = found.x[:-2] / scale, float(found.x[-2])
    lead = int(np.abs(found.x[:-2]).argmax())
    others = [f"{-weights[at] / weights[lead]:.4g} * {words[at]}" for at in range(len(words)) if at != lead]
    right = " + ".join([*others, f"{-constant / weights[lead]:.4g}"])
    return f"{words[lead]} {'>' if weights[lead] > 0 else '<'} {right}".replace("+ -", "- ")


def _plain(probe: Probe, names: Sequence[str]) -> bool:
    """Whether a comparison is between two columns and nothing else."""
    return probe.at == 0 and probe.second < len(names)


@dataclass(frozen=True)
class Margin:
    """How far the nearest rows are from where a comparison changes, on either side, and whether some are there."""

    below: float
    at: bool
    above: float

    def __str__(self) -> str:
        below = [f"{self.below:.3g} below"] if self.below < math.inf else []
        above = [f"{self.above:.3g} above"] if self.above < math.inf else []
        return ", ".join(below + ["at it"] * self.at + above)


def margins(numbers: Numbers, rule: Rule) -> dict[str, Margin]:
    """For each comparison of a rule how near the rows come to where it changes."""
    near = {}
    for probe in rule.probes:
        away = numbers.away(probe)
        left, right = numbers.sides(probe, probe.at)
        below, above = (np.min(side, initial=math.inf) for side in (-away[away < 0], away[away > 0]))
        near[f"{left} and {right}"] = Margin(float(below), bool((away == 0).any()), float(above))
    return near


def unseen(numbers: Numbers, rule: Rule) -> tuple[str, ...]:
    """Cases of a rule's comparisons, one by one, that no row shows: of them the rule says what is shortest."""
    told = []
    for probe in rule.probes:
        sides = numbers.sides(probe, probe.at)
        there = set(np.unique(numbers.signs(probe)).tolist())
        told += [str(Compare(own, *sides).simplified()) for sign, own in SIGNED.items() if sign not in there]
    return tuple(told)
