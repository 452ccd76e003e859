"""Lexicographic order as one idea: ``(major, minor, patch) > (m, n, p)``, of columns, or of columns and constants.

Written out, as programs are, it makes two comparisons for every level but the last. Its description is shorter: the
levels in their order, the direction of each, and what becomes of rows that are equal at all of them. So the last level,
which decides few rows, is cheap to name.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import torch

from nsr.program.expressions import And, Expression, Or
from nsr.program.program import Program
from nsr.reading.atoms import Atom

AN_ORDER = 2.0
"""Nats to say that a rule is an order."""
MOST_LEVELS = 4
"""How many levels of an order are recognised."""


def order_nats(levels: int) -> float:
    """Nats to make an order of so many comparisons: the direction of each, and what equal rows are.

    The comparisons are named one after the other anyway, so their order costs nothing.
    """
    return AN_ORDER + (levels + 1) * math.log(2)


def written_out(levels: Sequence[tuple[Atom, int]], *, ties: bool) -> Expression:
    """An order of atoms and their directions, 1 or -1, as a formula; ``ties`` is the answer for rows equal in all."""
    (atom, direction), *others = levels
    strict = ">" if direction > 0 else "<"
    if not others:
        return atom.compare(f"{strict}=" if ties else strict)
    return Or(atom.compare(strict), And(atom.compare("="), written_out(others, ties=ties)))


def can_be_levels(atoms: Sequence[Atom]) -> bool:
    """Whether atoms compare different columns, all with each other or all with constants, and without weights."""
    names = [name for atom in atoms for name in atom.columns]
    kinds = {tuple(sorted(weight for _, weight in atom.weights)) for atom in atoms}
    return kinds in ({(1,)}, {(-1, 1)}) and len(set(names)) == len(names)


def is_order(expression: Expression, atoms: Sequence[Atom]) -> bool:
    """Whether a formula is a lexicographic order of two or more atoms, however it is written."""
    if not (2 <= len(atoms) <= MOST_LEVELS and expression.is_boolean and can_be_levels(atoms)):
        return False
    signs = np.array(list(itertools.product((-1, 0, 1), repeat=len(atoms))))
    columns: dict[str, np.ndarray] = {}
    for atom, sign in zip(atoms, signs.T, strict=True):
        (first, weight), *second = atom.weights
        constant = float(atom.constant)
        columns |= {name: np.zeros(len(signs)) for name, _ in second}
        columns[first] = (constant + sign * (1 + abs(constant))) * weight
    x = torch.from_numpy(np.column_stack(list(columns.values())))
    answers = np.broadcast_to(np.asarray(Program(expression, tuple(columns))(x)), len(signs)).astype(bool)
    return _is_order_of(signs, answers, list(range(len(atoms))))


def _is_order_of(signs: np.ndarray, answers: np.ndarray, atoms: Sequence[int]) -> bool:
    """Whether the first level decides all rows that differ in it, and so on for the others and the rows left."""
    for at in atoms:
        above, below = (answers[signs[:, at] == side] for side in (1, -1))
        if (above.all() and not below.any()) or (below.all() and not above.any()):
            equal = signs[:, at] == 0
            others = [each for each in atoms if each != at]
            return not others or _is_order_of(signs[equal], answers[equal], others)
    return False
