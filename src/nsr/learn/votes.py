"""Comparisons that vote on the class, as in ``at least 3 of (p >= 50, q >= 50, r >= 50, s >= 50, t >= 50)``.

Each is associated with the class by itself, and hardly improves what those before it say, so chains that grow by one
comparison at a time end too early where rows are few or labels wrong, and cases of five comparisons have few rows each.
Here the best comparisons vote together from the start.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nsr.learn.proposals import best_cut
from nsr.learn.rules import LN2, Reader, Rule, description_length
from nsr.program.expressions import Compare, Count
from nsr.program.simplification import SIGNS
from nsr.reading.atoms import Atom
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import Screen

FEWEST, MOST = 3, 8
"""How many comparisons vote."""
ROUNDS = 4
"""How often the constants are chosen anew, given the other votes."""


@dataclass(frozen=True, eq=False)
class _Vote:
    """A comparison, and for which rows it holds."""

    atom: Atom
    operator: str
    holds: np.ndarray


@dataclass(frozen=True, eq=False)
class _Votes:
    """Comparisons, and how many must hold for a row to be of class 1: so many at least, or exactly."""

    votes: tuple[_Vote, ...]
    operator: str
    wanted: int
    nats: float
    """The length of the description: the comparisons, and the classes of the rows given how many hold."""

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(vote.atom for vote in self.votes)


def voting_atoms(screen: Screen) -> Iterator[list[Atom]]:
    """The best comparisons of different columns, so many or more: of single columns, then of differences of two too."""
    if screen.rows.n_classes != 2:
        return
    alone = [weights for weights in screen.sums if len(weights) == 1]
    for sums in (alone, screen.sums) if len(alone) < len(screen.sums) else (alone,):
        chosen: list[Atom] = []
        for split in screen.splits(np.zeros(len(screen.rows), dtype=np.int64), sums=sums):
            if not any(set(split.atom.columns) & set(each.columns) for each in chosen):
                chosen.append(split.atom)
            if len(chosen) == MOST:
                break
        yield from (chosen[:count] for count in range(FEWEST, len(chosen) + 1))


def read_votes(reader: Reader, atoms: Sequence[Atom], origin: str) -> Rule | None:
    """The rule in which some atoms vote, with the constants for which that describes the rows best; None for others."""
    if reader.rows.n_classes != 2 or not FEWEST <= len(atoms) <= MOST:
        return None
    best = _counted(reader, [_vote(reader.rows, atom) for atom in atoms])
    for _ in range(ROUNDS):
        before = best.nats
        for at in range(len(atoms)):
            best = min([best, *_with_other_constants(reader, best, at)], key=lambda each: each.nats)
        if best.nats >= before:
            break
    parts = (Compare(vote.operator, *vote.atom.sides) for vote in best.votes)
    return reader.tidied(Compare(best.operator, Count(*parts), best.wanted).simplified(), best.atoms, origin)


def _vote(rows: LabelledRows, atom: Atom) -> _Vote:
    """An atom with the operator for which it resembles class 1; rows at the constant go with those they resemble."""
    signs, ones = rows.signs(atom), rows.weight * (rows.classes == 1)
    equal = _share(rows, ones, signs == 0, 0.0)
    below, above = (_share(rows, ones, signs == side, equal) for side in (-1, 1))
    with_above = abs(equal - above) <= abs(equal - below) if (signs < 0).any() else not (signs > 0).any()
    more = above >= below
    operator = (">" if more else "<") + "=" * (with_above == more)
    return _Vote(atom, operator, np.isin(signs, list(SIGNS[operator])))


def _share(rows: LabelledRows, ones: np.ndarray, some: np.ndarray, without: float) -> float:
    """The share of class 1 among some rows; what is given if there are none."""
    return float(ones[some].sum() / rows.weight[some].sum()) if some.any() else without


def _counted(reader: Reader, votes: Sequence[_Vote]) -> _Votes:
    """Votes with the number of them that describes the classes best; those that hold exactly cost a bit more."""
    rows, count = reader.rows, np.sum([vote.holds for vote in votes], axis=0)
    price = reader.prices([vote.atom for vote in votes])
    options = []
    for wanted in range(1, len(votes) + 1):
        for operator, holds in ((">=", count >= wanted), ("=", count == wanted)):
            nats = description_length(rows.classes, holds.astype(np.int64), rows.weight, 2) + price
            options.append(_Votes(tuple(votes), operator, wanted, nats + LN2 * (operator == "=")))
    return min(options, key=lambda each: each.nats)


def _with_other_constants(reader: Reader, before: _Votes, at: int) -> Iterator[_Votes]:
    """One comparison with the constant that is best for the rows on which its vote decides, or with those of others."""
    rows, atom = reader.rows, before.votes[at].atom
    others = [vote for place, vote in enumerate(before.votes) if place != at]
    count = np.sum([vote.holds for vote in others], axis=0)
    too_many = (count == before.wanted) & (before.operator == "=")
    deciding = np.flatnonzero((count == before.wanted - 1) | too_many)
    if not len(deciding):
        return
    side = np.where((rows.classes == 1) ^ too_many, 1, -1)[deciding]
    preferred = reader.preferred.get(atom.weights, ())
    cut = best_cut(rows.columns.subset(deciding), atom.weights, side, rows.weight[deciding], preferred)
    step = rows.columns.step(atom.weights)
    shared = {
        each for each in (vote.atom.constant for vote in others) if step is None or (each / step).denominator == 1
    }
    for constant in {cut.constant, Fraction(0), *shared}:
        changed = _vote(rows, atom.with_constant(constant))
        yield _counted(reader, [*before.votes[:at], changed, *before.votes[at + 1 :]])
