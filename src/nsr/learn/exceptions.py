"""A condition that would explain the few rows which contradict a rule, and that is too long for them to pay for.

Three rows are cheaper to list as exceptions than a condition of two comparisons. They may be wrong labels, or the only
rows that show a clause. The rule stays as it is; where chance would hardly put the exceptions, and no other rows, in a
corner of two comparisons, the evidence names the longer rule.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsr.learn.rules import Reader, Rule
from nsr.program.expressions import And, Expression, Not, Or
from nsr.reading.atoms import Atom, Weights

FEWEST, MOST = 2, 10
"""How many rows contradict a rule where such a condition is looked for."""
SHARE = 0.02
"""The share of the rows that they are at most."""
BY_CHANCE = 0.001
"""The largest probability that some condition of this kind would fit as many random rows."""
MOST_HALVES = 300
"""How many half-lines are combined in pairs, those with the fewest other rows."""


@dataclass(frozen=True, eq=False)
class _Half:
    """The rows on one side of a constant, where all exceptions are: a condition, and other rows for which it holds."""

    condition: Expression
    price: float
    others: np.ndarray


def exact_rule(reader: Reader, rule: Rule, sums: Sequence[Weights], guess: np.ndarray) -> Expression | None:
    """The rule with a further condition that makes it right on all rows; None if there is none beyond chance."""
    rows = reader.rows
    wrong = np.flatnonzero(guess != rows.classes)
    if rows.n_classes != 2 or not FEWEST <= len(wrong) <= min(MOST, SHARE * len(rows)):
        return None
    label = int(rows.classes[wrong[0]])
    if not (rows.classes[wrong] == label).all():
        return None
    others = np.flatnonzero(rows.classes != label)
    halves = [half for weights in sums for half in _halves(reader, weights, wrong, others)]
    condition = _condition(halves, len(wrong), len(others))
    if condition is None:
        return None
    return (Or(rule.expression, condition) if label else And(rule.expression, Not(condition))).simplified()


def _halves(reader: Reader, weights: Weights, wrong: np.ndarray, others: np.ndarray) -> list[_Half]:
    """Conditions ``sum >= c`` and ``sum <= c`` that hold for all exceptions, with the constant nearest to them."""
    rows, found = reader.rows, []
    sums = rows.columns.sums(weights)
    for operator, end in ((">=", sums[wrong].min()), ("<=", sums[wrong].max())):
        atom = Atom(weights, rows.columns.value(weights, end))
        holds = sums[others] >= end if operator == ">=" else sums[others] <= end
        found.append(_Half(atom.compare(operator), reader.price(atom), holds))
    return found


def _condition(halves: Sequence[_Half], wrong: int, others: int) -> Expression | None:
    """The cheapest half-line, or pair of them, that holds for no other row, unless chance would have found one."""
    exact = [half for half in halves if not half.others.any()]
    if exact:
        best = min(exact, key=lambda half: half.price)
        return best.condition if _chance(len(halves), wrong, others) <= BY_CHANCE else None
    chosen = sorted(halves, key=lambda half: int(half.others.sum()))[:MOST_HALVES]
    if len(chosen) < 2 or _chance(len(halves) ** 2 / 2 * wrong, wrong, others) > BY_CHANCE:
        return None
    overlap = np.array([half.others for half in chosen], dtype=np.float32)
    together = overlap @ overlap.T
    pairs = [pair for pair in itertools.combinations(range(len(chosen)), 2) if together[pair] == 0]
    if not pairs:
        return None
    one, two = min(pairs, key=lambda pair: chosen[pair[0]].price + chosen[pair[1]].price)
    return And(chosen[one].condition, chosen[two].condition)


def _chance(options: float, wrong: int, others: int) -> float:
    """The probability that one of so many conditions holds for the exceptions alone, were they random rows."""
    ways = math.lgamma(others + wrong + 1) - math.lgamma(wrong + 1) - math.lgamma(others + 1)
    return options * math.exp(-ways)
