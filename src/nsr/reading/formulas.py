"""From a truth table over signs to the smallest formula of comparisons.

A pattern gives, for each pair of sides, whether the first is less (-1), equal (0) or greater (1). The table holds the
answer for some patterns; for the others the formula may answer either way.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from nsr.program.expressions import And, Compare, Expression, Not, Or, Truth
from nsr.program.simplification import SIGNS

Pattern = tuple[int, ...]
Sides = tuple[Expression, Expression]

LITERALS: tuple[str | None, ...] = (None, *SIGNS)
"""What a term may ask of a pair: nothing, or one of the six comparisons."""
MOST_TERMS, MOST_COVERS = 3, 20_000
"""Up to this many terms and choices the smallest cover is searched for exhaustively; beyond, greedily."""


def smallest_formula(table: Mapping[Pattern, bool], sides: Sequence[Sides]) -> Expression:
    """The formula with the fewest comparisons that agrees with the table.

    Args:
        table: The answer for each known pattern.
        sides: What is compared at each position of a pattern.
    """
    answers = list(table.values())
    if all(answers) or not any(answers):
        return Truth(all(answers))
    patterns = list(itertools.product((-1, 0, 1), repeat=len(sides)))
    true = np.array([table.get(pattern) is True for pattern in patterns])
    false = np.array([table.get(pattern) is False for pattern in patterns])
    terms = _terms(len(sides))
    found = []
    for negated, wanted, unwanted in ((False, true, false), (True, false, true)):
        chosen = _cover(terms, wanted, unwanted)
        formula: Expression = Or(*(_conjunction(terms.literals[index], sides) for index in chosen))
        found.append((terms.cost[chosen].sum(), (Not(formula) if negated else formula).simplified()))
    return min(found, key=lambda candidate: (candidate[0], candidate[1].size, str(candidate[1])))[1]


@dataclass(frozen=True)
class _Terms:
    """All conjunctions of at most one comparison for each pair of sides."""

    literals: list[tuple[int, ...]]
    """For each term, the position in ``LITERALS`` of what it asks of each pair."""
    covers: np.ndarray
    """(terms, patterns): whether a term holds for a pattern."""
    cost: np.ndarray
    """(terms,): how many comparisons a term makes."""


@cache
def _terms(n_pairs: int) -> _Terms:
    literals = list(itertools.product(range(len(LITERALS)), repeat=n_pairs))
    holds = np.array([[name is None or sign in SIGNS[name] for sign in (-1, 0, 1)] for name in LITERALS])
    covers = np.ones((1, 1), dtype=bool)
    for _ in range(n_pairs):
        covers = (covers[:, None, :, None] & holds[None, :, None, :]).reshape(
            len(covers) * len(LITERALS), covers.shape[1] * 3
        )
    return _Terms(literals, covers, np.array([sum(literal > 0 for literal in term) for term in literals]))


def _cover(terms: _Terms, wanted: np.ndarray, unwanted: np.ndarray) -> list[int]:
    """Terms that together hold for all wanted patterns and for no unwanted one, at the lowest cost."""
    covers, cost = terms.covers, terms.cost
    valid = ~(covers & unwanted).any(1) & (covers & wanted).any(1)
    best: dict[bytes, int] = {}
    for index in sorted(np.flatnonzero(valid), key=lambda index: (cost[index], index)):
        best.setdefault((covers[index] & wanted).tobytes(), int(index))
    candidates = sorted(best.values(), key=lambda index: (cost[index], index))
    for count in range(1, MOST_TERMS + 1):
        fitting = [
            list(chosen)
            for chosen in itertools.combinations(candidates, count)
            if not (wanted & ~covers[list(chosen)].any(0)).any()
        ]
        if fitting:
            return min(fitting, key=lambda chosen: (cost[chosen].sum(), chosen))
        if len(candidates) ** (count + 1) > MOST_COVERS:
            break
    return _greedy_cover(terms, candidates, wanted)


def _greedy_cover(terms: _Terms, candidates: Sequence[int], wanted: np.ndarray) -> list[int]:
    chosen: list[int] = []
    left = wanted.copy()
    while left.any():
        chosen.append(max(candidates, key=lambda index: (terms.covers[index] & left).sum() / (terms.cost[index] + 1)))
        left &= ~terms.covers[chosen[-1]]
    return chosen


def _conjunction(literals: tuple[int, ...], sides: Sequence[Sides]) -> Expression:
    parts = [Compare(str(LITERALS[literal]), *sides[at]) for at, literal in enumerate(literals) if literal]
    return And(*parts) if parts else Truth(True)
