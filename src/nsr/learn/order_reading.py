"""Reads lexicographic orders from rows: which comparisons are its levels, and which further ones pay."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nsr.learn.orders import MOST_LEVELS, can_be_levels, order_nats, written_out
from nsr.learn.rules import Reader, Rule, description_length
from nsr.reading.atoms import Atom, Weights


@dataclass(frozen=True, eq=False)
class _Order:
    """Some levels, the class that they give each row, and the rows that are equal in all of them."""

    levels: tuple[tuple[Atom, int], ...]
    guess: np.ndarray
    equal: np.ndarray
    nats: float = 0.0

    @property
    def atoms(self) -> list[Atom]:
        return [atom for atom, _ in self.levels]


def read_order(reader: Reader, atoms: Sequence[Atom], sums: Sequence[Weights], origin: str) -> Rule | None:
    """The order with the shortest description whose first levels are among some atoms; None if there is none.

    Further levels are differences of two columns, each the one that explains most of the rows that are still equal.
    """
    rows = reader.rows
    plain = [atom for atom in dict.fromkeys(atoms) if can_be_levels([atom])][:MOST_LEVELS]
    if rows.n_classes != 2 or not plain:
        return None
    best = min(
        (
            _extended(reader, order, sums)
            for count in range(1, len(plain) + 1)
            for order in _orders(reader, itertools.permutations(plain, count))
        ),
        key=lambda order: order.nats,
        default=None,
    )
    if best is None or len(best.levels) < 2:
        return None
    ties = bool(best.guess[best.equal].any())
    expression = written_out(best.levels, ties=ties).simplified()
    return reader.scored(expression, best.atoms, origin)


def _orders(reader: Reader, sequences: Iterable[Sequence[Atom]]) -> Iterable[_Order]:
    nothing = np.full(len(reader.rows), reader.rows.majority)
    start = _Order((), nothing, np.ones(len(reader.rows), dtype=bool))
    for atoms in sequences:
        if can_be_levels(atoms) and all(_has_three_sides(reader, atom) for atom in atoms[:-1]):
            order = start
            for atom in atoms:
                order = _with_level(reader, order, atom)
            yield order


def _has_three_sides(reader: Reader, atom: Atom) -> bool:
    """Whether rows are above, below and equal. A level without one of them is a plain condition, as of a flag."""
    return len(np.unique(reader.rows.signs(atom))) == 3


def _with_level(reader: Reader, order: _Order, atom: Atom) -> _Order:
    """An order with one more level, in the direction that more of the rows show that were equal."""
    rows = reader.rows
    signs = np.where(order.equal, rows.signs(atom), 0)
    towards = rows.weight * np.where(rows.classes == 1, 1, -1) * signs
    direction = 1 if towards.sum() >= 0 else -1
    equal = order.equal & (signs == 0)
    ties = bool((rows.weight * np.where(rows.classes == 1, 1, -1))[equal].sum() > 0)
    guess = np.where(equal, ties, np.where(signs == 0, order.guess, signs == direction)).astype(np.int64)
    levels = (*order.levels, (atom, direction))
    nats = description_length(rows.classes, guess, rows.weight, 2) + order_nats(len(levels))
    return _Order(levels, guess, equal, nats + sum(reader.price(each) for each, _ in levels))


def _explained(reader: Reader, equal: np.ndarray, atom: Atom) -> float:
    """The weight of the rows that were equal and that one more level gives the right class, equal ones included."""
    rows, at = reader.rows, np.flatnonzero(equal)
    votes = np.zeros((3, 2))
    np.add.at(votes, (rows.signs(atom)[at] + 1, rows.classes[at]), rows.weight[at])
    return float(max(votes[0, 0] + votes[2, 1], votes[0, 1] + votes[2, 0]) + votes[1].max())


def _extended(reader: Reader, order: _Order, sums: Sequence[Weights]) -> _Order:
    """An order with further levels as long as they pay."""
    while len(order.levels) < MOST_LEVELS and order.equal.any() and _has_three_sides(reader, order.atoms[-1]):
        used = {name for atom in order.atoms for name in atom.columns}
        options = [Atom(weights) for weights in sums if len(weights) == 2 and not used & {name for name, _ in weights}]
        options = [atom for atom in options if can_be_levels([atom])]
        if not options:
            break
        longer = _with_level(reader, order, max(options, key=lambda atom: _explained(reader, order.equal, atom)))
        if longer.nats >= order.nats:
            break
        order = longer
    return order
