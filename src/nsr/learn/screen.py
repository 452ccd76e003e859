"""The screen of a table: which pairs of columns, compared at which value, tell its classes apart at all."""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

import numpy as np

from nsr.reading.columns import Numbers, Probe
from nsr.reading.splits import nats_left, times_log

DEPTH = 4
"""How many comparisons a chain has at most."""
PLAIN = 6.0
"""Nats by which two columns must tell classes better apart than one column and a constant do."""
MOST_PAIRS = 3_000
"""How many pairs are looked at closely."""
COMPARABLE = 100.0
"""Columns whose spreads differ by no more than this are compared with each other."""
WITHIN = 0.02
"""So are columns that each have this share of their rows in the range of the other."""


SCREENED = 2_000
"""The screen looks at so many rows at most; a rule that it leads to is read again on all."""

Preferred = Mapping[tuple[int, int], Sequence[Fraction]]
"""Values of the differences of pairs that are taken before rounder ones."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Distinct rows, each with a class (0, 1, ...) and a weight: how often it occurs."""

    numbers: Numbers
    classes: np.ndarray
    weight: np.ndarray
    kinds: int
    """How many classes there are, here or elsewhere."""

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    def some(self, rows: np.ndarray) -> "Labelled":
        """Some of the rows."""
        numbers = Numbers(self.numbers.x[rows], self.numbers.names)
        return Labelled(numbers, self.classes[rows], self.weight[rows], self.kinds)

    def distinct(self) -> "Labelled":
        """Equal rows of one class as one row with the sum of their weights, in an order of their own.

        What is learned then depends on neither the order of the rows nor on whether a row is there twice or weighs two.
        """
        rows, weight = distinct(self.numbers, self.classes, self.weight)
        return replace(self.some(rows), weight=weight)

    def uncertainty(self, codes: np.ndarray) -> float:
        """Nats that are left to be told of the classes once the group of each row is known."""
        cells = np.bincount(codes * self.kinds + self.classes, self.weight, (codes.max() + 1) * self.kinds)
        counts = cells.reshape(-1, self.kinds)
        return float(times_log(counts.sum(1)).sum() - times_log(counts).sum())


def distinct(numbers: Numbers, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of the rows that are equal in all columns and in ``y``, in an order of their own, with their weight.

    Rows without weight are left out. All weights together are the number of distinct rows: a row that is there twice is
    no more evidence than once.
    """
    there = np.flatnonzero(weight > 0)
    keys = np.column_stack([numbers.x.numpy()[there], y[there]])
    first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)[1:]
    sums = np.bincount(place.ravel(), weight[there])
    return there[first], sums * len(first) / sums.sum()


@dataclass(frozen=True)
class Split:
    """A probe and the nats that it leaves to be told."""

    probe: Probe
    left: float


class Screen:
    """Rows, sorted once by the difference of every pair of columns that is worth a look."""

    def __init__(
        self,
        rows: Labelled,
        pairs: Sequence[tuple[int, int]] | None = None,
        *,
        among: int = 0,
        preferred: Preferred = MappingProxyType({}),
    ) -> None:
        self.rows, self.preferred = rows, preferred
        self.pairs = worth_a_look(rows) if pairs is None else list(pairs)
        self.among = among or len(self.pairs)  # how many pairs there were to choose these from
        self._sorted = {pair: np.unique(rows.numbers.difference(*pair), return_inverse=True) for pair in self.pairs}

    def distinct(self, pair: tuple[int, int]) -> int:
        """How many values the difference of a pair takes."""
        return len(self._sorted[pair][0])

    def chain(
        self,
        *,
        start: Sequence[Probe] = (),
        taken: Sequence[Probe] = (),
        pairs: Sequence[tuple[int, int]] | None = None,
    ) -> list[Probe]:
        """Comparisons one after another, each the one that tells most where those before it have been made.

        Probes that are taken are passed over. The chain ends where nothing is left to be told.
        """
        chosen = list(start)
        codes = np.zeros(len(self.rows), dtype=np.int64)
        for probe in chosen:
            codes = codes * 3 + self.rows.numbers.signs(probe) + 1
        if self.rows.uncertainty(codes) < 1e-9:
            return chosen
        while len(chosen) < DEPTH:
            splits = self.splits(codes, [*taken, *chosen], pairs)
            if not splits:
                break
            chosen.append(splits[0].probe)
            codes = codes * 3 + self.rows.numbers.signs(splits[0].probe) + 1
            if splits[0].left < 1e-9:
                break
        return chosen

    def splits(
        self, codes: np.ndarray, taken: Sequence[Probe] = (), pairs: Sequence[tuple[int, int]] | None = None
    ) -> list[Split]:
        """The best split of each pair within groups of equal codes, the best pair first."""
        zero, groups = len(self.rows.numbers.names), np.unique(codes, return_inverse=True)[1]
        found = []
        for pair in self.pairs if pairs is None else pairs:
            out = [probe.at for probe in taken if probe.pair == pair]
            left, value = self._best(pair, groups, out)
            if np.isfinite(left):
                price = 0.0 if pair[1] == zero else PLAIN
                found.append((left + price, Split(Probe(*pair, self.rows.numbers.value(pair, value)), left)))
        return [split for _, split in sorted(found, key=lambda each: each[0])]

    def _best(self, pair: tuple[int, int], groups: np.ndarray, out: Sequence[object]) -> tuple[float, np.generic]:
        """What is left after the best split of a pair: below a value, at it, above it."""
        values, column = self._sorted[pair]
        left = nats_left(column, len(values), groups, self.rows.classes, self.rows.weight, self.rows.kinds)
        if out:
            left[[self.rows.numbers.value(pair, value) in out for value in values]] = np.inf
        left = np.where(np.isfinite(values), left, np.inf)
        best = np.flatnonzero(left == left.min())
        middle = int(best[len(best) // 2])
        return float(left[middle]), values[middle]


def some_rows(rows: Sized, most: int) -> np.ndarray:
    """Rows spread evenly over the table."""
    return np.unique(np.linspace(0, len(rows) - 1, most).astype(np.int64))


def worth_a_look(rows: Labelled) -> list[tuple[int, int]]:
    """Pairs of columns to compare; of very many, those that tell the classes best apart by their signs alone."""
    pairs = list(comparable(rows.numbers))
    if len(pairs) <= MOST_PAIRS:
        return pairs
    x, count = rows.numbers.x.double().numpy(), len(rows.numbers.names)
    told = np.eye(rows.kinds)[rows.classes] * rows.weight[:, None]
    told -= rows.weight[:, None] * told.sum(0) / rows.total
    score: dict[tuple[int, int], float] = {}
    for first in range(count):
        seconds = [second for own, second in pairs if own == first and second < count]
        away = x[:, [first]] - x[:, seconds]
        signs = np.maximum(np.abs(np.sign(away).T @ told).max(1), np.abs((away == 0).T @ told).max(1))
        score |= {(first, second): float(each) for second, each in zip(seconds, signs, strict=True)}
    best = sorted(score, key=lambda pair: -score[pair])[: MOST_PAIRS - count] if count < MOST_PAIRS else []
    return pairs[:count] + best


def comparable(numbers: Numbers) -> Iterable[tuple[int, int]]:
    """Each column with 0, which stands after the last, and the pairs of columns that are worth comparing.

    Two columns are where their spreads are not too different, or where enough rows of each lie within the range of the
    other. Else their difference is as good as the larger one alone.
    """
    count, x = len(numbers.names), numbers.x.double().numpy()
    low, high = np.quantile(x, (0.05, 0.95), axis=0)
    spread = np.maximum(high - low, 1e-300)
    alike = np.abs(np.log(spread) - np.log(spread)[:, None]) <= np.log(COMPARABLE)
    within = np.array([_enough_within(x, column) for column in x.T])
    yield from ((column, count) for column in range(count))
    for first in range(count):
        for second in range(first + 1, count):
            if alike[first, second] or (within[first, second] and within[second, first]):
                yield first, second


def _enough_within(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which columns have enough rows, and not all of one value, in the range of another."""
    inside = (x >= other.min()) & (x <= other.max())
    low, high = np.where(inside, x, np.inf).min(0), np.where(inside, x, -np.inf).max(0)
    return np.asarray((inside.mean(0) >= WITHIN) & (low < high))
