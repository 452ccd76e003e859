"""From labelled rows and the sums to compare to the rule that gives the class of every row.

The rule with the shortest description of rule and rows together is chosen (minimum description length): a further
comparison must explain more than it costs to name. So random labels give no rule, and a few wrong labels do not make a
rule longer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nsr.program.expressions import Expression
from nsr.reading.atoms import Atom, Weights
from nsr.reading.rounding import simplest
from nsr.reading.rows import LabelledRows, times_log
from nsr.reading.rules import (
    ChooseConstant,
    Gap,
    answers,
    best_combinations,
    class_expression,
    comparisons,
    floats_agree,
    majority_classes,
    simplest_atom,
)
from nsr.reading.screen import DEPTH, Screen

DECISIVE = 4.0
"""Nats by which the rows of a case must favour one class where labels may be wrong; else the case is left open."""

Preferred = Mapping[Weights, Sequence[Fraction]]
"""Constants for sums that are taken before simpler ones."""


@dataclass(frozen=True, eq=False)
class Rule:
    """An expression for the class: a formula if there are two classes, else a choice between class numbers."""

    expression: Expression
    atoms: tuple[Atom, ...]
    """What the expression may compare."""
    nats: float
    """The length of the description: the rule, and the classes of the rows given the rule."""
    wrong: float
    """The weight of the rows that contradict it."""

    @property
    def comparisons(self) -> int:
        """How many comparisons it makes."""
        return comparisons(self.expression)


def read_rule(screen: Screen, atoms: Sequence[Atom], preferred: Preferred | None = None) -> Rule:
    """The rule with the shortest description that compares the sums of the atoms, with these or other constants."""
    sums = list(dict.fromkeys(atom.weights for atom in atoms))
    known = screen.chain(sums=sums)
    known += screen.chain(taken=known, sums=sums)
    known += [atom for atom in atoms[:DEPTH] if atom not in known]
    choose = _simple_constants(screen.rows, preferred or {})
    found = []
    for chosen in best_combinations(screen.rows, known):
        found.append(_rule(screen, chosen, choose))
        if found[-1].wrong == 0:
            break
    return min(found, key=lambda rule: rule.nats)


def _simple_constants(rows: LabelledRows, preferred: Preferred) -> ChooseConstant:
    """A preferred constant if one fits, else the simplest; away from rows that float sums would misplace."""

    def choose(atom: Atom, gap: Gap) -> Fraction:
        fitting = [value for value in preferred.get(atom.weights, ()) if gap.low <= value <= gap.high]
        constant = fitting[0] if fitting else simplest(gap.low, gap.high, gap.middle)
        if floats_agree(rows, atom.with_constant(constant)):
            return constant
        quarter = (gap.above - gap.below) / 4
        return simplest(gap.below + quarter, gap.above - quarter, gap.middle)

    return choose


def _rule(screen: Screen, atoms: list[Atom], choose: ChooseConstant) -> Rule:
    rows = screen.rows
    for position in range(len(atoms)):
        atoms[position] = simplest_atom(rows, atoms, position, choose)
    table = majority_classes(rows, atoms, decisive=DECISIVE)
    expression = class_expression(table, atoms, rows.n_classes)
    guess = answers(expression, rows)
    nats = description_length(rows.classes, guess, rows.weight, rows.n_classes)
    nats += sum(price(screen, atom) for atom in atoms)
    return Rule(expression, tuple(atoms), nats, float(rows.weight[guess != rows.classes].sum()))


def price(screen: Screen, atom: Atom) -> float:
    """Nats to name a comparison: which sum, which of the six operators, and which constant, if it has one."""
    return math.log(6 * screen.among) + (math.log(screen.n_values(atom.weights)) if atom.has_constant else 0.0)


def description_length(classes: np.ndarray, guess: np.ndarray, weight: np.ndarray, n_classes: int) -> float:
    """Nats to describe the classes of rows given a guess: the counts of classes for each guess, then which rows."""
    counts = np.bincount(guess * n_classes + classes, weight, n_classes * n_classes).reshape(n_classes, n_classes)
    totals = counts.sum(1)
    shares = 0.5 * (n_classes - 1) * np.log(np.maximum(totals, 1)).sum()
    return float(times_log(totals).sum() - times_log(counts).sum() + shares)
