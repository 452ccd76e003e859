"""From labelled rows and the pairs that a register compares to the rule that says the class of every row.

The rule that makes rows and rule together shortest to tell is taken (minimum description length): a comparison more
must tell more than it costs to name it. So no rule is found in labels that follow none, and a few wrong labels do not
make a rule longer.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsr.learn.screen import DEPTH, Labelled, Screen
from nsr.program.expressions import Compare, Constant, Expression, Truth, Where
from nsr.program.program import Program
from nsr.reading.columns import Probe
from nsr.reading.formulas import Pattern, smallest_formula
from nsr.reading.rounding import simplest
from nsr.reading.splits import times_log

DECISIVE = 4.0
"""Nats that the rows of a case must speak for one class where labels may be wrong; else the case is left open."""
WOBBLE = 2.0
"""How many rows more a rounder constant may contradict where labels are wrong anyway."""


@dataclass(frozen=True, eq=False)
class Rule:
    """An expression for the class: a formula where there are two, else a choice between their numbers."""

    expression: Expression
    probes: tuple[Probe, ...]
    """The comparisons that it may use."""
    nats: float
    """What it takes to tell the rule, and the classes of the rows once the rule is known."""
    wrong: float
    """The weight of the rows that contradict it."""

    @property
    def comparisons(self) -> int:
        """How many comparisons it makes."""
        return comparisons(self.expression)


def comparisons(expression: Expression) -> int:
    """How many comparisons an expression makes."""
    return sum(isinstance(node, Compare) for node in expression.walk())


def read(screen: Screen, probes: Sequence[Probe]) -> Rule:
    """The shortest rule of the comparisons that some probes make, there or at other values."""
    pairs = list(dict.fromkeys(probe.pair for probe in probes))
    known = screen.chain(pairs=pairs)
    known += screen.chain(taken=known, pairs=pairs)
    known += [probe for probe in probes[:DEPTH] if probe not in known]
    found = []
    for count in range(min(DEPTH, len(known)) + 1):
        chosen = min(itertools.combinations(known, count), key=lambda some: _contradicted(screen.rows, some))
        found.append(_rule(screen, list(chosen)))
        if found[-1].wrong == 0:
            break
    return min(found, key=lambda rule: rule.nats)


def said(expression: Expression, rows: Labelled) -> np.ndarray:
    """The class that an expression gives each row."""
    return rows.numbers.of(Program(expression, rows.numbers.names)).astype(np.int64)


def nats_to_tell(classes: np.ndarray, guessed: np.ndarray, weight: np.ndarray, kinds: int) -> float:
    """Nats to tell the classes of rows whose class was guessed: how often each guess is which class, then which."""
    counts = np.bincount(guessed * kinds + classes, weight, kinds * kinds).reshape(kinds, kinds)
    whole = counts.sum(1)
    shares = 0.5 * (kinds - 1) * np.log(np.maximum(whole, 1)).sum()
    return float(times_log(whole).sum() - times_log(counts).sum() + shares)


def _rule(screen: Screen, probes: list[Probe]) -> Rule:
    rows = screen.rows
    for at in range(len(probes)):
        probes[at] = _rounder(screen, probes, at)
    table = _table(rows, probes)
    expression = _expression(table, [rows.numbers.sides(probe, probe.at) for probe in probes], rows.kinds)
    answer = said(expression, rows)
    told = nats_to_tell(rows.classes, answer, rows.weight, rows.kinds)
    named = sum(price(screen, probe) for probe in probes)
    return Rule(expression, tuple(probes), told + named, float(rows.weight[answer != rows.classes].sum()))


def price(screen: Screen, probe: Probe) -> float:
    """Nats to name a comparison: which pair, which of six, and which constant unless it is 0 between two columns."""
    plain = probe.at == 0 and probe.second < len(screen.rows.numbers.names)
    return math.log(6 * screen.among) + (0.0 if plain else math.log(screen.distinct(probe.pair)))


def patterns(rows: Labelled, probes: Sequence[Probe]) -> np.ndarray:
    """The place of each row's pattern of signs in the order of ``itertools.product``."""
    codes = np.zeros(len(rows), dtype=np.int64)
    for probe in probes:
        codes = codes * 3 + rows.numbers.signs(probe) + 1
    return codes


def _votes(rows: Labelled, probes: Sequence[Probe]) -> np.ndarray:
    """(patterns, classes): the weight of the rows of each class that show each pattern."""
    kinds, count = rows.kinds, 3 ** len(probes)
    cells = np.bincount(patterns(rows, probes) * kinds + rows.classes, rows.weight, count * kinds)
    return cells.reshape(count, kinds)


def _contradicted(rows: Labelled, probes: Sequence[Probe]) -> float:
    """The weight of the rows of which no function of these signs can tell the class."""
    return _outvoted(_votes(rows, probes))


def _outvoted(votes: np.ndarray) -> float:
    """The weight of the rows that are not of the class of most in their pattern, short of rounding."""
    return round(float((votes.sum(1) - votes.max(1)).sum()), 6)


def _table(rows: Labelled, probes: Sequence[Probe]) -> dict[Pattern, int]:
    """The class of every pattern that rows decide."""
    votes = _votes(rows, probes)
    wrong = _outvoted(votes) / rows.total
    a_row = math.inf if wrong == 0 else math.log((1 - wrong) / wrong)
    ahead = np.sort(votes, axis=1)[:, -1] - np.sort(votes, axis=1)[:, -2]
    decided = (ahead > 0) & (np.where(ahead > 0, ahead, 1) * a_row >= DECISIVE)
    every = itertools.product((-1, 0, 1), repeat=len(probes))
    best = votes.argmax(1)
    return {pattern: int(best[at]) for at, pattern in enumerate(every) if decided[at]}


def _expression(table: Mapping[Pattern, int], sides: Sequence[tuple[Expression, Expression]], kinds: int) -> Expression:
    """The class as a formula, or as a choice that asks for the simplest classes first."""
    formulas = {
        kind: smallest_formula({pattern: own == kind for pattern, own in table.items()}, sides)
        for kind in sorted(set(table.values()))
    }
    if kinds == 2:
        return formulas.get(1, Truth(False))
    ranked = sorted(formulas, key=lambda kind: (comparisons(formulas[kind]), formulas[kind].size, kind))
    whole: Expression = Constant(ranked[-1] if ranked else 0)
    for kind in reversed(ranked[:-1]):
        whole = Where(formulas[kind], Constant(kind), whole)
    return whole


def _rounder(screen: Screen, probes: Sequence[Probe], at: int) -> Probe:
    """The probe with the simplest constant that the rows allow, where it only parts what is below from what is above.

    The others stay as they are. The class of each side is known from the rows, so for each place of the cut the rows
    that contradict it can be counted.
    """
    rows, probe = screen.rows, probes[at]
    votes = _votes(rows, [probes[at], *probes[:at], *probes[at + 1 :]])
    below, same, above = votes.reshape(3, -1, rows.kinds)
    sides = (below + same, above), (below, same + above)  # what is equal goes with what is below, or above
    spoiled = [sum(map(_outvoted, parts)) for parts in sides]
    contradicted = _outvoted(votes)
    slack = WOBBLE if contradicted > 0 else 0.0
    if min(spoiled) > contradicted + slack:
        return probe  # what is equal is a case of its own
    others = patterns(rows, [*probes[:at], *probes[at + 1 :]])
    low, high = (part.argmax(1)[others] for part in sides[int(np.argmin(spoiled))])
    difference = rows.numbers.difference(*probe.pair)
    values, place = np.unique(difference, return_inverse=True)
    if_low, if_high = (np.bincount(place, rows.weight * (part != rows.classes), len(values)) for part in (low, high))
    wrong = np.concatenate([[0], if_low.cumsum()]) + np.concatenate([if_high[::-1].cumsum()[::-1], [0]])
    cut = int(wrong.argmin())  # so many of the values are below
    fine = wrong <= wrong[cut] + slack + 1e-6  # short of rounding
    first, last = cut, cut
    while first > 1 and fine[first - 1]:
        first -= 1
    while last < len(values) - 1 and fine[last + 1]:
        last += 1
    if not 0 < first <= last < len(values):
        return probe
    bottom, top, under, over = (rows.numbers.value(probe.pair, values[at]) for at in (first - 1, last, cut - 1, cut))
    fitting = [value for value in screen.preferred.get(probe.pair, ()) if bottom <= value <= top]
    rounder = replace(probe, at=fitting[0] if fitting else simplest(bottom, top, (under + over) / 2))
    if _survives_floats(rows, rounder):
        return rounder
    aside = (over - under) / 4
    return replace(probe, at=simplest(under + aside, over - aside, (under + over) / 2))


def _survives_floats(rows: Labelled, probe: Probe) -> bool:
    """Whether a program decides every row as the probe does, although floats round sums such as ``b + 0.3``."""
    sides, signs = rows.numbers.sides(probe, probe.at), rows.numbers.signs(probe)
    said = (rows.numbers.of(Program(Compare(name, *sides), rows.numbers.names)) for name in "<>")
    return all(np.array_equal(own, signs == sign) for own, sign in zip(said, (-1, 1), strict=True))
