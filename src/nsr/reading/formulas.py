"""From a truth table over signs to the smallest formula of comparisons.

A pattern says of each pair of sides whether the first is less (-1), equal (0) or greater (1). The table knows the
answer for some patterns; of the others the smallest formula may say what it likes.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from nsr.program.expressions import And, Compare, Expression, Not, Or, Truth
from nsr.program.simplification import SIGNS

Pattern = tuple[int, ...]
Sides = tuple[Expression, Expression]

LITERALS: tuple[str | None, ...] = (None, *SIGNS)
"""What a term can ask of a pair: nothing, or one of the six comparisons."""
MOST_TERMS, MOST_COVERS = 3, 20_000
"""Up to so many terms and choices the smallest cover is searched for; beyond, the best next term is taken."""


def smallest_formula(table: Mapping[Pattern, bool], sides: Sequence[Sides]) -> Expression:
    """The formula of fewest comparisons that fits the table.

    Args:
        table: What is known.
        sides: What is compared at each position of a pattern.
    """
    answers = list(table.values())
    if all(answers) or not any(answers):
        return Truth(all(answers))
    patterns = list(itertools.product((-1, 0, 1), repeat=len(sides)))
    true = np.array([table.get(pattern) is True for pattern in patterns])
    false = np.array([table.get(pattern) is False for pattern in patterns])
    terms = list(itertools.product(range(len(LITERALS)), repeat=len(sides)))
    holds = np.array([[name is None or sign in SIGNS[name] for sign in (-1, 0, 1)] for name in LITERALS])
    covered = np.ones((1, 1), dtype=bool)
    for _ in sides:
        covered = (covered[:, None, :, None] & holds[None, :, None, :]).reshape(
            len(covered) * len(LITERALS), covered.shape[1] * 3
        )
    cost = np.array([sum(literal > 0 for literal in term) for term in terms])

    found = []
    for negated, wanted, unwanted in ((False, true, false), (True, false, true)):
        chosen = _cover(covered, cost, wanted, unwanted)
        parts = [_term(terms[index], sides) for index in chosen]
        formula: Expression = Or(*parts)
        found.append((cost[chosen].sum(), (Not(formula) if negated else formula).simplified()))
    return min(found, key=lambda candidate: (candidate[0], candidate[1].size, str(candidate[1])))[1]


def _cover(covered: np.ndarray, cost: np.ndarray, wanted: np.ndarray, unwanted: np.ndarray) -> list[int]:
    """Terms that together hold of all wanted patterns and of no unwanted one, at least cost."""
    valid = ~(covered & unwanted).any(1) & (covered & wanted).any(1)
    best: dict[bytes, int] = {}
    for index in sorted(np.flatnonzero(valid), key=lambda index: (cost[index], index)):
        best.setdefault((covered[index] & wanted).tobytes(), int(index))
    candidates = sorted(best.values(), key=lambda index: (cost[index], index))
    for count in range(1, MOST_TERMS + 1):
        fitting = [
            list(chosen)
            for chosen in itertools.combinations(candidates, count)
            if not (wanted & ~covered[list(chosen)].any(0)).any()
        ]
        if fitting:
            return min(fitting, key=lambda chosen: (cost[chosen].sum(), chosen))
        if len(candidates) ** (count + 1) > MOST_COVERS:
            break
    chosen: list[int] = []
    left = wanted.copy()
    while left.any():
        chosen.append(max(candidates, key=lambda index: (covered[index] & left).sum() / (cost[index] + 1)))
        left &= ~covered[chosen[-1]]
    return chosen


def _term(literals: tuple[int, ...], sides: Sequence[Sides]) -> Expression:
    parts = [Compare(str(LITERALS[literal]), *sides[at]) for at, literal in enumerate(literals) if literal]
    return And(*parts) if parts else Truth(True)
