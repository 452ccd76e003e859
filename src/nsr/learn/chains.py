"""Chains of comparisons, chosen greedily: each for the description of the rows that it shortens most."""

import math
import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from nsr.learn.rules import Reader, case_counts, case_nats, cases, exception_nats, nats_without_rule, refined
from nsr.reading.atoms import Atom, Weights
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import Screen
from nsr.reading.weights import integer_weights

DEEPEST = 10
"""How many comparisons the screen takes together at most."""
SLOW, PROGRESS = 5, 0.03
"""From so many comparisons on, each must explain at least this share of the classes: stairs along a slope do not."""
SAME_SUM = 2
"""How many of those that are added may compare the same sum; steps along one sum are looked for separately."""
CLOSE = 20
"""How many of the best splits are compared by the length of the description, prices included."""
FEW = 5
"""How many of the best comparisons with 0 are, where only the worst case is split."""
HEAVY = 5
"""A weight is heavy if it is so many times another one."""


def grown(screen: Screen, reader: Reader, atoms: list[Atom], deadline: float = math.inf) -> list[Atom]:
    """Atoms chosen greedily, each for the description it shortens most, as long as one does.

    Three descriptions count: one sees progress in mixed cases, one insists that cases become pure, and the last splits
    the case with the most exceptions only, since ``a = k or b = k or ...`` has many cases and a short formula.
    """
    rows, sums, given = screen.rows, screen.sums, len(atoms)
    place = cases(rows, atoms)
    leaves = case_counts(rows, place).argmax(1)[place]
    shortest = [math.inf] * 3
    while len(atoms) <= max(DEEPEST, given + SAME_SUM) and time.monotonic() < deadline:
        price = sum(map(reader.price, atoms))
        ways = (case_nats, place, refined), (exception_nats, place, refined), (exception_nats, leaves, _worst_refined)
        shortest = [min(before, way[0](rows, way[1]) + price) for before, way in zip(shortest, ways, strict=True)]
        splits = screen.splits(place, atoms, sums)
        if len(sums) == len(screen.sums):
            sums = [split.atom.weights for split in splits[: max(100, len(rows.columns.names))]]
        sums = [weights for weights in sums if _count(atoms[given:], weights) < SAME_SUM]
        close = _best_at_zero(rows, place, sums)[:CLOSE] + _best_at_zero(rows, leaves, sums)[:FEW]
        close += [split.atom for split in splits[:CLOSE]]
        options = [atom for atom in dict.fromkeys(close) if atom not in atoms]
        enough = PROGRESS * nats_without_rule(rows) if len(atoms) >= SLOW else 0.0
        for before, (describe, groups, refine) in zip(shortest, ways, strict=True):
            nats = [describe(rows, refine(rows, groups, atom)) + price + reader.price(atom) for atom in options]
            if options and min(nats) < before - enough:
                atoms = [*atoms, options[int(np.argmin(nats))]]
                place, leaves = cases(rows, atoms), _worst_refined(rows, leaves, atoms[-1])
                break
        else:
            break
    return atoms


def _count(atoms: Sequence[Atom], weights: Weights) -> int:
    return sum(atom.weights == weights for atom in atoms)


def _worst_refined(rows: LabelledRows, place: np.ndarray, atom: Atom) -> np.ndarray:
    """Cases of which the one with the most exceptions is split by an atom."""
    counts = case_counts(rows, place)
    worst = int((counts.sum(1) - counts.max(1)).argmax())
    return np.where(place == worst, len(counts) + rows.signs(atom) + 1, place)


def _best_at_zero(rows: LabelledRows, place: np.ndarray, sums: Sequence[Weights]) -> list[Atom]:
    """Sums of several columns compared with 0, those that leave the least uncertainty first."""
    atoms = [Atom(weights) for weights in sums if len(weights) > 1]
    return sorted(atoms, key=lambda atom: rows.uncertainty(refined(rows, place, atom)))


def parts_by_size(atom: Atom) -> list[Atom]:
    """An atom of weights of two sizes as one atom for each size; others as they are."""
    sizes = sorted({abs(weight) for _, weight in atom.weights}, reverse=True)
    if atom.constant or len(sizes) != 2 or sizes[0] < HEAVY * sizes[1]:
        return [atom]
    parts = [[(name, weight // size) for name, weight in atom.weights if abs(weight) == size] for size in sizes]
    if any(sum(weight for _, weight in part) for part in parts):
        return [atom]
    return [
        Atom(integer_weights([name for name, _ in part], [Fraction(weight) for _, weight in part])) for part in parts
    ]
