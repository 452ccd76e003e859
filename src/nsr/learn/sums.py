"""The sums in a table: columns with integer weights, and a constant, that give the target exactly on many rows."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from nsr.program.expressions import Expression
from nsr.reading.columns import Columns
from nsr.reading.pieces import weighted_sum
from nsr.reading.rounding import as_rational, rounding_tolerance, simplest
from nsr.reading.rows import merge_equal_rows

MOST_SUMS = 4
"""How many pieces a function may have."""
MOST_COLUMNS = 3
"""How many columns a piece may add up, unless a single sum gives the target on all rows."""
WORTH = 0.03
"""The share of the rows on which a piece must give the target."""
FEWEST = 4
"""And on how many rows at least, in addition to one for each of its terms."""
TRIED = 200
"""A sum is first tried on this many rows."""
PLENTY = 0.4
"""If a sum gives the target on this share of the rows, longer ones are not tried."""
EXACT = 2**50
"""Integers below this are added exactly."""
AT_ONCE = 4_000_000
"""How many numbers are processed at a time."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Rows of numbers, each with a target number and a weight: how often it occurs."""

    columns: Columns
    y: np.ndarray
    weight: np.ndarray
    resolution: float = float(np.finfo(np.float64).eps)
    """The relative precision of the numbers: the eps of the columns' or the target's dtype, whichever is larger."""

    def __len__(self) -> int:
        return len(self.y)

    @property
    def x(self) -> np.ndarray:
        """The rows as floats."""
        return np.asarray(self.columns.x.double().numpy())

    @cached_property
    def integer_columns(self) -> np.ndarray:
        """Which columns hold only integers, small enough for float64 to add up exactly."""
        return np.asarray((self.x == np.rint(self.x)).all(0) & (np.abs(self.x).max(0) < EXACT))

    @cached_property
    def integer_target(self) -> bool:
        """Whether all targets are such integers."""
        return bool((self.y == np.rint(self.y)).all() and np.abs(self.y).max() < EXACT)

    def subset(self, rows: np.ndarray) -> "Targets":
        """Some of the rows."""
        return Targets(self.columns.subset(rows), self.y[rows], self.weight[rows], self.resolution)

    def distinct(self) -> "Targets":
        """Equal rows with equal targets merged into one, in a canonical order."""
        rows, weight = merge_equal_rows(self.columns, self.y, self.weight)
        return replace(self.subset(rows), weight=weight)


@dataclass(frozen=True)
class Sum:
    """Columns with integer weights, and a constant."""

    weights: tuple[int, ...]
    constant: Fraction

    def values(self, targets: Targets) -> np.ndarray:
        """Its value for each row."""
        return np.asarray(targets.x @ np.array(self.weights, dtype=np.float64) + float(self.constant))

    def holds(self, targets: Targets) -> np.ndarray:
        """For which rows it gives the target, up to rounding."""
        return np.asarray(np.abs(self.values(targets) - targets.y) <= tolerance(targets, np.array(self.weights)))

    def expression(self, names: Sequence[str]) -> Expression:
        """As a program writes it."""
        return weighted_sum(np.array(self.weights), names, self.constant)


def tolerance(targets: Targets, weights: np.ndarray) -> np.ndarray:
    """How far a sum may be from the target by rounding: 0 where all numbers are integers."""
    if targets.integer_target and targets.integer_columns[np.asarray(weights) != 0].all():
        return np.zeros(len(targets))
    sizes = np.abs(targets.x) @ np.abs(weights).astype(np.float64) + np.abs(targets.y)
    return rounding_tolerance(sizes, targets.resolution)


def find_sums(targets: Targets, rng: np.random.Generator) -> list[Sum]:
    """The pieces of a function, the one that fits the most rows first; none if no sum fits enough of them."""
    single = _one_sum(targets)
    if single is not None:
        return [single]
    found: list[Sum] = []
    left = np.ones(len(targets), dtype=bool)
    total = targets.weight.sum()
    while len(found) < MOST_SUMS and targets.weight[left].sum() > 0.001 * total:
        best = _best_sum(targets.subset(np.flatnonzero(left)), rng)
        if best is None:
            break
        new = left & best.holds(targets)
        terms = sum(weight != 0 for weight in best.weights)
        if targets.weight[new].sum() < max(WORTH * total, FEWEST + terms):
            break
        found.append(best)
        left &= ~new
    return found


def nearest_sum(targets: Targets, weights: np.ndarray) -> Sum:
    """The sum with these integer weights and the constant that is right on most rows."""
    rest = targets.y - targets.x @ weights.astype(np.float64)
    return Sum(tuple(int(weight) for weight in weights), _constant(rest, tolerance(targets, weights), targets.weight))


def _one_sum(targets: Targets) -> Sum | None:
    """The sum that gives the target on every row, by least squares."""
    x, y = targets.x, targets.y
    if len(y) <= x.shape[1] + FEWEST:
        return None
    middle, scale = x.mean(0), x.std(0)
    scale = np.where(scale > 0, scale, 1.0)
    solved = np.linalg.lstsq(np.column_stack([(x - middle) / scale, np.ones(len(y))]), y, rcond=None)[0]
    weights = np.rint(solved[:-1] / scale)
    if not np.abs(weights).max() < 1e6:
        return None
    best = nearest_sum(targets, weights.astype(np.int64))
    return best if best.holds(targets).all() else None


def _best_sum(targets: Targets, rng: np.random.Generator) -> Sum | None:
    """The sum of a few columns that fits the most rows; of two that fit equally many, the shorter one."""
    tried = targets.subset(np.sort(rng.permutation(len(targets))[:TRIED]))
    columns = tried.x.shape[1]
    best: tuple[float, np.ndarray] | None = None
    for count in range(MOST_COLUMNS + 1):
        for weights in _chunks(columns, count, AT_ONCE // len(tried)):
            rest = tried.y - weights @ tried.x.T
            slack = rounding_tolerance(np.abs(weights) @ np.abs(tried.x.T) + np.abs(tried.y), tried.resolution)
            if tried.integer_target:
                slack[~(weights[:, ~tried.integer_columns] != 0).any(1)] = 0
            covered = _covered(rest, slack, tried.weight)
            at = int(covered.argmax())
            if best is None or covered[at] > best[0] * 1.05 + 1:
                best = float(covered[at]), weights[at]
        if best is not None and best[0] >= PLENTY * tried.weight.sum():
            break
    return None if best is None else nearest_sum(targets, best[1].astype(np.int64))


def _chunks(columns: int, count: int, size: int) -> Iterator[np.ndarray]:
    """(sums, columns): all weights of -1 and 1 on ``count`` columns, in batches."""
    choices = (
        (chosen, signs)
        for chosen in itertools.combinations(range(columns), count)
        for signs in itertools.product((1.0, -1.0), repeat=count)
    )
    while batch := list(itertools.islice(choices, max(1, size))):
        weights = np.zeros((len(batch), columns))
        for row, (chosen, signs) in enumerate(batch):
            weights[row, list(chosen)] = signs
        yield weights


def _covered(rest: np.ndarray, slack: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """For each sum, the weight of the largest group of rows with equal remainders, up to rounding."""
    order = rest.argsort(1)
    ranked, wide = np.take_along_axis(rest, order, 1), np.take_along_axis(slack, order, 1)
    new = np.diff(ranked, axis=1) > wide[:, 1:] + wide[:, :-1]
    group = np.concatenate([np.zeros((len(rest), 1), dtype=np.int64), new.cumsum(1)], axis=1)
    cells = (group + np.arange(len(rest))[:, None] * rest.shape[1]).ravel()
    return np.asarray(np.bincount(cells, weight[order].ravel(), rest.size).reshape(rest.shape).max(1))


def _constant(rest: np.ndarray, slack: np.ndarray, weight: np.ndarray) -> Fraction:
    """The simplest constant that fits most of the remainders."""
    order = rest.argsort()
    new = np.diff(rest[order]) > slack[order][1:] + slack[order][:-1]
    group = np.concatenate([[0], new.cumsum()])
    members = order[group == np.bincount(group, weight[order]).argmax()]
    middle = float(np.median(rest[members]))
    low, high = float((rest - slack)[members].max()), float((rest + slack)[members].min())
    return simplest(as_rational(min(low, middle)), as_rational(max(high, middle)), as_rational(middle))
