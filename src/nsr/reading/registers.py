"""Reading a register: which comparisons its units make, and which formula of them it computes.

The weights say what is compared; the register's answers on rows say how. A unit's difference is a sum of the inputs
with the weights softmax(v1) - softmax(v2). Its operands are the extremes of these weights: the arg-max of each
selection where the selections are sharp, and the right pair where they are not. With learned offsets, the difference
is compared with constants: those at which the register's answer changes on the rows.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from nsr.nn import NSR
from nsr.program.expressions import And, Expression
from nsr.reading.atoms import CASES, Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.formulas import Pattern, smallest_formula
from nsr.reading.rounding import as_rational, simplest
from nsr.reading.rows import LabelledRows
from nsr.reading.rules import Gap, best_combinations, comparisons, majority_classes, simplest_atom
from nsr.reading.screen import DEPTH, Screen

MOST_ATOMS = 12
"""How many atoms a formula is chosen from."""
SELECTED = 1e-4
"""A unit that weighs its operands less than this compares nothing."""
IMAGINED = 20
"""How many rows are moved to every side of the atoms, to ask a register about cases that no row shows."""

Ask = Callable[[Tensor], np.ndarray]
"""A register's answers to rows."""


@dataclass(frozen=True)
class Unit:
    """What one redundant unit compares, and how far it moves the logit."""

    first: int
    """The position of its first operand."""
    second: int | None
    """The position of its second operand; None where that is the number 0."""
    threshold: float
    """What the difference of the operands is compared with."""
    influence: float

    def weights(self, names: Sequence[str]) -> Weights:
        """The difference of its operands as a sum of named columns."""
        return Atom.difference(names[self.first], None if self.second is None else names[self.second]).weights


def units(register: NSR) -> list[Unit]:
    """What each unit compares, the lower operand first, the most influential unit first.

    Units that compare nothing are left out.
    """
    selection = (register.v1.softmax(0) - register.v2.softmax(0)).detach().double()
    found = []
    for r in range(register.redundancy):
        first, second = int(selection[:, r].argmax()), int(selection[:, r].argmin())
        reach = float(selection[first, r] - selection[second, r]) / 2
        if first == second or reach < SELECTED:
            continue
        threshold = float(register.offset[r].detach()) / reach if register.constants else 0.0
        influence = abs(float(register.w_sign[r].detach())) + abs(float(register.w_zero[r].detach()))
        low, high = sorted((first, second))
        operand = None if high == register.inputs else high  # the number 0 follows the inputs
        found.append(Unit(low, operand, threshold if first < second else -threshold, influence))
    return sorted(found, key=lambda unit: -unit.influence)


@dataclass(frozen=True)
class Reading:
    """A formula, the sums it compares, and the cases that no row shows."""

    formula: Expression
    sums: frozenset[Weights]
    not_covered: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Observed:
    """What a register is read from: rows, its answers, and on which rows they matter."""

    columns: Columns
    answers: np.ndarray
    matters: np.ndarray
    ask: Ask
    slack: float | None = None
    """How far a constant may be from the learned threshold; None: as far as the rows allow."""

    @cached_property
    def decisive(self) -> LabelledRows:
        """The rows on which the answer matters, labelled with it."""
        rows = np.flatnonzero(self.matters)
        return LabelledRows(self.columns.subset(rows), self.answers[rows].astype(np.int64), np.ones(len(rows)), 2)


def readings(register: NSR, rows: Observed) -> Iterator[list[Reading]]:
    """Formulas for what a register does, those of fewest comparisons first.

    For each number of comparisons the best combination is read: with simple constants, and with those of the rows.
    """
    found = units(register)
    influence: dict[Weights, float] = {}
    for unit in found:
        weights = unit.weights(rows.columns.names)
        influence[weights] = influence.get(weights, 0) + unit.influence
    atoms = _candidates(list(influence), rows, constants=register.constants)
    for chosen in best_combinations(rows.decisive, atoms, cost=lambda group: -sum(influence[a.weights] for a in group)):
        rounded = _with_simple_constants(chosen, found, rows) if register.constants else chosen
        variants = [rounded] if rounded == chosen else [rounded, chosen]
        yield [_read(register, atoms, rows) for atoms in variants]


def _candidates(sums: Sequence[Weights], rows: Observed, *, constants: bool) -> list[Atom]:
    """Atoms that a formula may use: those of the units, or with constants those that separate the answers."""
    if not constants:
        return [Atom(weights) for weights in sums][:MOST_ATOMS]
    found: list[Atom] = []
    if sums:
        screen = Screen(rows.decisive, sums)
        for _ in range(MOST_ATOMS // DEPTH):
            found += screen.chain(taken=found)
    return found


def _with_simple_constants(atoms: Sequence[Atom], found: Sequence[Unit], rows: Observed) -> list[Atom]:
    """The atoms with the simplest constants that the rows allow, near a learned threshold if there is one."""

    def choose(atom: Atom, gap: Gap) -> Fraction:
        thresholds = [as_rational(u.threshold) for u in found if u.weights(rows.columns.names) == atom.weights]
        room = (gap.high - gap.low) / 100  # thresholds are learned, and 5.0000002 is 5
        inside = (min(max(t, gap.low), gap.high) for t in thresholds if gap.low - room <= t <= gap.high + room)
        near = next(inside, None)
        if near is None or rows.slack is None:
            return simplest(gap.low, gap.high, (gap.low + gap.high) / 2 if near is None else near)
        slack = as_rational(rows.slack)
        return simplest(max(gap.low, near - slack), min(gap.high, near + slack), near)

    rounded = list(atoms)
    for position in range(len(rounded)):
        rounded[position] = simplest_atom(rows.decisive, rounded, position, choose)
    return rounded


def _read(register: NSR, atoms: Sequence[Atom], rows: Observed) -> Reading:
    """The formula of some atoms. For cases that no row shows, the register is asked what it would answer."""
    table = {pattern: label == 1 for pattern, label in majority_classes(rows.decisive, atoms).items()}
    guess = _imagined_answers(atoms, rows, step=5 / register.scale)
    sides = [atom.sides for atom in atoms]
    formula, complete = (smallest_formula(known, sides) for known in (table, guess | table))
    if comparisons(complete) <= comparisons(formula):
        formula = complete  # the register's answers in cases that no row shows come at no cost
    not_covered = tuple(_describe(atoms, pattern) for pattern in guess if pattern not in table)
    return Reading(formula, frozenset(atom.weights for atom in atoms), not_covered)


def _imagined_answers(atoms: Sequence[Atom], rows: Observed, step: float) -> dict[Pattern, bool]:
    """The register's answer to each pattern that can be shown: rows, moved to each side of each atom and onto it."""
    x = rows.columns.x.double()
    base = x[:: max(1, len(x) // IMAGINED)][:IMAGINED]
    every = list(itertools.product((-1, 0, 1), repeat=len(atoms)))
    moved = torch.cat([_moved(base, rows.columns, atoms, pattern, step) for pattern in every])
    signs = torch.zeros(len(moved), len(atoms), dtype=torch.int64)
    for position, atom in enumerate(atoms):
        distance = _sum(moved, rows.columns, atom.weights) - float(atom.constant)
        signs[:, position] = torch.where(distance.abs() < step / 2, 0, distance.sign()).long()  # up to rounding
    votes: dict[Pattern, list[bool]] = {}
    for pattern, answer in zip(map(tuple, signs.tolist()), rows.ask(moved).tolist(), strict=True):
        votes.setdefault(pattern, []).append(answer)
    return {pattern: 2 * sum(votes[pattern]) > len(votes[pattern]) for pattern in every if pattern in votes}


def _moved(base: Tensor, columns: Columns, atoms: Sequence[Atom], pattern: Pattern, step: float) -> Tensor:
    """Rows with the first column of each atom moved so that the pattern is shown, as far as atoms allow."""
    moved = base.clone()
    for atom, sign in zip(atoms, pattern, strict=True):
        (name, weight), *others = atom.weights
        rest = -_sum(moved, columns, tuple(others)) / weight
        moved[:, columns.names.index(name)] = rest + float(atom.constant) / weight + sign * step
    return moved


def _sum(x: Tensor, columns: Columns, weights: Weights) -> Tensor:
    total = torch.zeros(len(x), dtype=x.dtype)
    for name, weight in weights:
        total = total + weight * x[:, columns.names.index(name)]
    return total


def _describe(atoms: Sequence[Atom], pattern: Pattern) -> str:
    parts = [atom.compare(CASES[sign]) for atom, sign in zip(atoms, pattern, strict=True)]
    return " and ".join(map(str, parts)) if parts else str(And(*parts))
