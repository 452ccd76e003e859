"""The one reader: from atoms and rows to the formula that gives the class of every row.

``harden`` reads the answers of a trained register with it, the estimators of ``nsr.learn`` the labels of a table.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nsr.program.expressions import Compare, Constant, Expression, Truth, Where
from nsr.program.program import Program
from nsr.reading.atoms import Atom
from nsr.reading.formulas import Pattern, smallest_formula
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import DEPTH, patterns

WOBBLE = 2.0
"""How many more rows a simpler constant may contradict where labels are wrong anyway."""


@dataclass(frozen=True)
class Gap:
    """The constants that the rows allow for an atom."""

    low: Fraction
    high: Fraction
    below: Fraction
    """The value of the atom's sum just below the cut that the fewest rows contradict."""
    above: Fraction
    """The value just above it."""

    @property
    def middle(self) -> Fraction:
        """Halfway between the values on both sides of the best cut."""
        return (self.below + self.above) / 2


ChooseConstant = Callable[[Atom, Gap], Fraction]


def answers(expression: Expression, rows: LabelledRows) -> np.ndarray:
    """The class that an expression gives to each row."""
    if expression not in rows.answers:
        answer = rows.columns.evaluate(Program(expression, rows.columns.names)).astype(np.int64)
        rows.answers[expression] = np.broadcast_to(answer, len(rows))
    return rows.answers[expression]


def comparisons(expression: Expression) -> int:
    """How many comparisons an expression makes."""
    return sum(isinstance(node, Compare) for node in expression.walk())


def best_combinations(
    rows: LabelledRows, atoms: Sequence[Atom], *, cost: Callable[[Sequence[Atom]], float] = lambda _: 0.0
) -> Iterator[list[Atom]]:
    """For 0, 1, 2, ... atoms, the combination that the fewest rows contradict, and of these the cheapest."""
    for count in range(min(DEPTH, len(atoms)) + 1):
        every = [list(chosen) for chosen in itertools.combinations(atoms, count)]
        yield min(every, key=lambda chosen: (_outvoted(_votes(rows, chosen)), cost(chosen)))


def _votes(rows: LabelledRows, atoms: Sequence[Atom]) -> np.ndarray:
    """(patterns, classes): the weight of the rows of each class that show each pattern."""
    n_classes, n_patterns = rows.n_classes, 3 ** len(atoms)
    cells = np.bincount(patterns(rows, atoms) * n_classes + rows.classes, rows.weight, n_patterns * n_classes)
    return cells.reshape(n_patterns, n_classes)


def _outvoted(votes: np.ndarray) -> float:
    """The weight of the rows that are not of their pattern's majority class: no formula can be right on them."""
    return round(float((votes.sum(1) - votes.max(1)).sum()), 6)


def majority_classes(rows: LabelledRows, atoms: Sequence[Atom], *, decisive: float = 0.0) -> dict[Pattern, int]:
    """The class of every pattern that rows show.

    Args:
        rows: The rows that vote.
        atoms: What a pattern is made of.
        decisive: Where labels may be wrong, leave a pattern open unless its rows favour one class by so many nats.
    """
    votes = _votes(rows, atoms)
    decided = votes.sum(1) > 0
    if decisive:
        wrong = _outvoted(votes) / rows.total
        nats = math.inf if wrong == 0 else math.log((1 - wrong) / wrong)
        ranked = np.sort(votes, axis=1)
        lead = ranked[:, -1] - ranked[:, -2]
        decided = (lead > 0) & (np.where(lead > 0, lead, 1) * nats >= decisive)
    best = votes.argmax(1)
    every = itertools.product((-1, 0, 1), repeat=len(atoms))
    return {pattern: int(best[place]) for place, pattern in enumerate(every) if decided[place]}


def class_expression(table: Mapping[Pattern, int], atoms: Sequence[Atom], n_classes: int) -> Expression:
    """The class as a formula of two classes, or as a choice that tests for the simplest classes first."""
    sides = [atom.sides for atom in atoms]
    formulas = {
        label: smallest_formula({pattern: winner == label for pattern, winner in table.items()}, sides)
        for label in sorted(set(table.values()))
    }
    if n_classes == 2:
        return formulas.get(1, Truth(False))
    ranked = sorted(formulas, key=lambda label: (comparisons(formulas[label]), formulas[label].size, label))
    expression: Expression = Constant(ranked[-1] if ranked else 0)
    for label in reversed(ranked[:-1]):
        expression = Where(formulas[label], Constant(label), expression)
    return expression


def simplest_atom(rows: LabelledRows, atoms: Sequence[Atom], position: int, choose: ChooseConstant) -> Atom:
    """One of several atoms with the constant chosen from those that the rows allow, the others staying as they are.

    Where being equal to the constant is a case of its own, the atom stays as it is too.
    """
    sides = _classes_of_sides(rows, atoms, position)
    gap = None if sides is None else gap_between(rows, atoms[position], sides)
    return atoms[position] if gap is None else atoms[position].with_constant(choose(atoms[position], gap))


@dataclass(frozen=True)
class SideClasses:
    """For each row the class it would have below an atom's constant, and above it, by the votes of its pattern."""

    below: np.ndarray
    above: np.ndarray
    slack: float
    """The weight of rows that a simpler constant may contradict in addition."""


def _classes_of_sides(rows: LabelledRows, atoms: Sequence[Atom], position: int) -> SideClasses | None:
    """None where equal rows belong neither to those below nor to those above."""
    others = [*atoms[:position], *atoms[position + 1 :]]
    votes = _votes(rows, [atoms[position], *others])
    below, equal, above = votes.reshape(3, -1, rows.n_classes)
    cuts = (below + equal, above), (below, equal + above)
    lost = [sum(map(_outvoted, parts)) for parts in cuts]
    contradicted = _outvoted(votes)
    slack = WOBBLE if contradicted > 0 else 0.0
    if min(lost) > contradicted + slack:
        return None
    place = patterns(rows, others)
    low, high = (part.argmax(1)[place] for part in cuts[int(np.argmin(lost))])
    return SideClasses(low, high, slack)


def gap_between(rows: LabelledRows, atom: Atom, sides: SideClasses) -> Gap | None:
    """The constants around the best cut that contradict hardly more rows; None where the cut lies at an end."""
    values, place = np.unique(rows.columns.sums(atom.weights), return_inverse=True)
    if_below, if_above = (
        np.bincount(place, rows.weight * (classes != rows.classes), len(values))
        for classes in (sides.below, sides.above)
    )
    # wrong[n]: the weight of the rows that a cut above the n lowest values contradicts
    wrong = np.concatenate([[0], if_below.cumsum()]) + np.concatenate([if_above[::-1].cumsum()[::-1], [0]])
    cut = int(wrong.argmin())
    fine = wrong <= wrong[cut] + sides.slack + 1e-6
    first = last = cut
    while first > 1 and fine[first - 1]:
        first -= 1
    while last < len(values) - 1 and fine[last + 1]:
        last += 1
    if not 0 < first <= last < len(values):
        return None
    low, high, below, above = (
        rows.columns.value(atom.weights, values[index]) for index in (first - 1, last, cut - 1, cut)
    )
    return Gap(low, high, below, above)


def floats_agree(rows: LabelledRows, atom: Atom) -> bool:
    """Whether a program decides every row as the atom does, although floats round sums such as ``b + 0.3``."""
    signs = rows.signs(atom)
    for operator, sign in (("<", -1), (">", 1)):
        program = Program(Compare(operator, *atom.sides), rows.columns.names)
        if not np.array_equal(rows.columns.evaluate(program), signs == sign):
            return False
    return True
