"""A target that is a sum of points, each given where a comparison holds: how many of five marks are at least 50.

Comparisons are added one at a time, each with the threshold and the points that leave least of the target, and all
others are then found anew: once the last one is there, nothing is left, and every threshold lies where the rows say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nsr.learn.candidates import comparable
from nsr.learn.pieces.targets import Targets
from nsr.learn.rules import Reader
from nsr.program.expressions import Count, Expression, total
from nsr.program.simplification import negated
from nsr.reading.atoms import Atom, Weights
from nsr.reading.rounding import as_rational
from nsr.reading.rows import LabelledRows

MOST_TERMS = 12
"""How many comparisons are added at most."""
MOST_SUMS = 400
"""How many columns and differences of two are compared at most."""
ROWS_PER_TERM = 20
"""A comparison more needs so many rows more."""
MOST_ROWS = 4_000
"""Thresholds are looked for in this many rows at most, and then verified on all."""
ROUNDS = 8
"""How often the comparisons are found anew after one was added."""
NOTHING = 1e-9
"""What is left of the target, relative to its largest size, that counts as rounding."""
FEWEST = 3
"""A comparison must hold, and fail, on so many rows."""
LEAST_GAIN = 0.02
"""The search ends if another comparison explains a smaller share of what is left than this."""
VALUES_PER_ROW = 0.25
"""Points are looked for if the target has at most so many different values for each row."""


@dataclass(frozen=True, eq=False)
class _Term:
    """A comparison: the position of its sum, its constant, and the rows on which it holds."""

    sum: int
    constant: Fraction
    holds: np.ndarray


def points(targets: Targets) -> tuple[Expression, tuple[Atom, ...]] | None:
    """The target as a sum of points, exact on all rows, with what it compares; None if it is none."""
    rows = np.unique(np.linspace(0, len(targets) - 1, MOST_ROWS).astype(int))
    few = targets.subset(rows) if len(rows) < len(targets) else targets
    sums = list(comparable(few.columns))[:MOST_SUMS]
    if not sums or not 3 <= np.unique(few.y).size <= VALUES_PER_ROW * len(few):
        return None
    terms = _Stumps(few, sums).terms()
    if not terms:
        return None
    formulas, atoms = list[Expression](), list[Atom]()
    for term in terms:
        atom = Atom(sums[term.sum], term.constant)
        labelled = LabelledRows(few.columns, term.holds.astype(np.int64), few.weight, 2)
        rule = Reader(labelled).read([atom])
        if rule.wrong or not rule.expression.is_boolean or rule.comparisons == 0:
            return None
        formulas.append(rule.expression)
        atoms += rule.atoms
    weights, constant = _solved([term.holds for term in terms], few.y)
    return _expression(formulas, [_exact(weight) for weight in weights], _exact(constant)), tuple(atoms)


class _Stumps:
    """Rows, sorted once by each sum, and the best comparison of what is left of a target."""

    def __init__(self, targets: Targets, sums: Sequence[Weights]) -> None:
        self.targets, self.sums = targets, sums
        self.values = np.stack([targets.columns.sums(weights).astype(np.float64) for weights in sums])
        self.order = np.argsort(self.values, axis=1, kind="stable")
        ranked = np.take_along_axis(self.values, self.order, axis=1)
        self.cuts = ranked[:, :-1] < ranked[:, 1:]  # a threshold may lie between two rows that differ
        self.cuts[:, : FEWEST - 1] = self.cuts[:, len(targets) - FEWEST :] = False
        self.ties = np.array([len(weights) == 2 for weights in sums])[:, None] & (self.values == 0)

    def terms(self) -> list[_Term]:
        """Comparisons whose points add up to the target exactly; none if there are no such."""
        y, chosen = self.targets.y, list[_Term]()
        tolerance = NOTHING * max(float(np.abs(y).max()), 1.0)
        for _ in range(min(MOST_TERMS, len(y) // ROWS_PER_TERM)):
            left = _left(chosen, y)
            if np.abs(left).max() <= tolerance:
                return chosen
            if (best := self.best(left)) is None:
                return []
            more = self._found_anew([*chosen, best], y)
            if np.square(_left(more, y)).sum() > (1 - LEAST_GAIN) * np.square(left).sum():
                return []
            chosen = more
        return chosen if np.abs(_left(chosen, y)).max() <= tolerance else []

    def _found_anew(self, chosen: list[_Term], y: np.ndarray) -> list[_Term]:
        """Each comparison found again, given the others, until none changes."""
        for _ in range(ROUNDS if len(chosen) > 1 else 0):
            before = float(np.square(_left(chosen, y)).sum())
            for at in range(len(chosen)):
                weights, constant = _solved([term.holds for term in chosen], y)
                weights[at] = 0.0
                others = sum((w * term.holds for w, term in zip(weights, chosen, strict=True)), start=constant)
                chosen[at] = self.best(y - others) or chosen[at]
            if float(np.square(_left(chosen, y)).sum()) >= before * (1 - 1e-9):
                break
        return chosen

    def best(self, left: np.ndarray) -> _Term | None:
        """The comparison that leaves the smallest squares of what is left."""
        n, whole = len(left), float(left.sum())
        below = np.cumsum(left[self.order], axis=1)[:, :-1]
        count = np.arange(1, n)
        gain = np.where(self.cuts, below**2 / count + (whole - below) ** 2 / (n - count), -np.inf)
        at, cut = divmod(int(gain.argmax()), n - 1)
        equal = self.ties.sum(1)
        usable = (equal >= FEWEST) & (equal <= n - FEWEST)
        on = self.ties @ left
        tied = np.where(usable, on**2 / np.maximum(equal, 1) + (whole - on) ** 2 / np.maximum(n - equal, 1), -np.inf)
        if not np.isfinite(max(gain.max(), tied.max())):
            return None
        if tied.max() > gain.max():
            at = int(tied.argmax())
            return _Term(at, Fraction(0), self.ties[at])
        return self._threshold(at, cut)

    def _threshold(self, at: int, cut: int) -> _Term:
        sums = self.targets.columns.sums(self.sums[at])
        least = sums[self.order[at, cut + 1]]
        return _Term(at, self.targets.columns.value(self.sums[at], least), sums >= least)


def _left(terms: Sequence[_Term], y: np.ndarray) -> np.ndarray:
    """What is left of the target."""
    weights, constant = _solved([term.holds for term in terms], y)
    return y - sum((weight * term.holds for weight, term in zip(weights, terms, strict=True)), start=constant)


def _solved(holds: Sequence[np.ndarray], y: np.ndarray) -> tuple[np.ndarray, float]:
    """Points for each comparison, and for none, by least squares."""
    design = np.column_stack([*holds, np.ones(len(y))]).astype(np.float64)
    solved = np.linalg.lstsq(design, y, rcond=None)[0]
    return solved[:-1], float(solved[-1])


def _exact(number: float) -> Fraction:
    return as_rational(round(number, 9))


def _expression(formulas: Sequence[Expression], weights: Sequence[Fraction], constant: Fraction) -> Expression:
    """Points that are positive: a comparison that costs points gives them where it does not hold."""
    by_points: dict[Fraction, list[Expression]] = {}
    for formula, weight in zip(formulas, weights, strict=True):
        if weight:
            by_points.setdefault(abs(weight), []).append(formula if weight > 0 else negated(formula))
            constant += min(weight, Fraction(0))
    return total([(weight, Count(*group)) for weight, group in by_points.items()], constant).simplified()
