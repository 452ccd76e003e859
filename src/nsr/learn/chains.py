"""Chains of comparisons, chosen greedily: each for the description of the rows that it shortens most."""

import math
import time
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from nsr.learn.rules import Reader, case_nats, cases, exception_nats, nats_without_rule
from nsr.reading.atoms import Atom, Weights
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import Screen
from nsr.reading.weights import integer_weights

DEEPEST = 10
"""How many comparisons the screen takes together at most."""
SLOW, PROGRESS = 5, 0.03
"""From so many comparisons on, each must explain at least this share of the classes: stairs along a slope do not."""
SAME_SUM = 2
"""How many of them may compare the same sum; steps along one sum are looked for separately."""
CLOSE = 20
"""How many of the best splits are compared by the length of the description, prices included."""
DESCRIPTIONS = (case_nats, exception_nats)
HEAVY = 5
"""A weight is heavy if it is so many times another one."""


def grown(screen: Screen, reader: Reader, atoms: list[Atom], deadline: float = math.inf) -> list[Atom]:
    """Atoms chosen greedily, each for the description it shortens most, as long as one does.

    Two descriptions count: one sees progress in mixed cases, the other insists that cases become pure.
    """
    rows, sums = screen.rows, screen.sums
    now = [math.inf, math.inf]
    while len(atoms) <= DEEPEST and time.monotonic() < deadline:
        place = cases(_signs(rows, atoms))
        price = sum(map(reader.price, atoms))
        now = [min(before, describe(rows, place) + price) for before, describe in zip(now, DESCRIPTIONS, strict=True)]
        splits = screen.splits(place, atoms, sums)
        if len(sums) == len(screen.sums):
            sums = [split.atom.weights for split in splits[: max(100, len(rows.columns.names))]]
        used = Counter(atom.weights for atom in atoms)
        sums = [weights for weights in sums if used[weights] < SAME_SUM]
        enough = PROGRESS * nats_without_rule(rows) if len(atoms) >= SLOW else 0.0
        close = dict.fromkeys([*_best_at_zero(rows, place, sums)[:CLOSE], *(split.atom for split in splits[:CLOSE])])
        options = [[*atoms, atom] for atom in close if atom not in atoms]
        for before, describe in zip(now, DESCRIPTIONS, strict=True):
            nats = [describe(rows, cases(_signs(rows, option))) + sum(map(reader.price, option)) for option in options]
            if options and min(nats) < before - enough:
                atoms = options[int(np.argmin(nats))]
                break
        else:
            break
    return atoms


def _best_at_zero(rows: LabelledRows, place: np.ndarray, sums: Sequence[Weights]) -> list[Atom]:
    """Sums of several columns compared with 0, those that leave the least uncertainty first."""
    atoms = [Atom(weights) for weights in sums if len(weights) > 1]
    return sorted(atoms, key=lambda atom: rows.uncertainty(place * 3 + rows.signs(atom) + 1))


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


def _signs(rows: LabelledRows, atoms: Sequence[Atom]) -> np.ndarray:
    signs = [rows.signs(atom) for atom in atoms]
    return np.column_stack(signs) if signs else np.zeros((len(rows), 0), dtype=np.int8)
