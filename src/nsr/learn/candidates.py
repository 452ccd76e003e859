"""Which sums of columns a rule may compare with a constant: each column alone, and differences of two.

To let rules compare something else, such as ``a + b`` with ``c``, propose its weights here and price it in
``rules.price``; everything else takes any weights.
"""

import itertools
from collections.abc import Iterator, Sequence, Sized
from fractions import Fraction

import numpy as np

from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows
from nsr.reading.weights import integer_weights

MOST_SUMS = 3_000
"""How many sums are examined closely."""
COMPARABLE = 100.0
"""Columns whose spreads differ by no more than this factor are compared with each other."""
SIMILAR = 20.0
"""Columns are added to a sum if their spread differs by no more than this factor."""
WITHIN = 0.02
"""So are columns that each have this share of their rows within the range of the other."""
SCREENED = 2_000
"""The screen examines this many rows at most; a rule that it leads to is read again on all of them."""


def evenly_spaced(rows: Sized, most: int) -> np.ndarray:
    """The positions of at most ``most`` rows, spread evenly."""
    return np.unique(np.linspace(0, len(rows) - 1, most).astype(np.int64))


def candidate_sums(rows: LabelledRows) -> list[Weights]:
    """The sums to screen; of very many, those whose sign alone separates the classes best."""
    sums = list(comparable(rows.columns))
    names = rows.columns.names
    if len(sums) <= MOST_SUMS:
        return sums
    if len(names) >= MOST_SUMS:
        return sums[: len(names)]
    position = {name: at for at, name in enumerate(names)}
    pairs = [(position[weights[0][0]], position[weights[1][0]]) for weights in sums[len(names) :]]
    score = _sign_scores(rows, pairs)
    ranked = sorted(range(len(pairs)), key=lambda at: -score[at])[: MOST_SUMS - len(names)]
    return sums[: len(names)] + [sums[len(names) + at] for at in ranked]


def _sign_scores(rows: LabelledRows, pairs: list[tuple[int, int]]) -> list[float]:
    """How strongly the sign of each difference, or equality, is associated with one class."""
    x = rows.columns.x.double().numpy()
    excess = np.eye(rows.n_classes)[rows.classes] * rows.weight[:, None]
    excess -= rows.weight[:, None] * excess.sum(0) / rows.total
    by_first: dict[int, list[int]] = {}
    for first, second in pairs:
        by_first.setdefault(first, []).append(second)
    score: dict[tuple[int, int], float] = {}
    for first, seconds in by_first.items():
        difference = x[:, [first]] - x[:, seconds]
        signs = np.abs(np.sign(difference).T @ excess).max(1)
        ties = np.abs((difference == 0).T @ excess).max(1)
        score |= {(first, second): float(s) for second, s in zip(seconds, np.maximum(signs, ties), strict=True)}
    return [score[pair] for pair in pairs]


def comparable(columns: Columns) -> Iterator[Weights]:
    """Each column alone, then the differences of two columns that are worth comparing.

    Two columns are worth comparing if their spreads are similar, or if enough rows of each lie within the range of the
    other. Otherwise, the larger one alone is as good as their difference. Times are compared with times, and conditions
    and other columns of 0 and 1 with nothing: nobody writes ``member <= paid`` for ``member == 0 or paid == 1``.
    """
    names, x = columns.names, columns.x.double().numpy()
    low, high = np.quantile(x, (0.05, 0.95), axis=0)
    spread = np.maximum(high - low, 1e-300)
    similar = np.abs(np.log(spread) - np.log(spread)[:, None]) <= np.log(COMPARABLE)
    within = np.array([_enough_within(x, column) for column in x.T])
    groups = [columns.meaning.group(name) for name in names]
    binary = ((x == 0) | (x == 1)).all(0)
    yield from (Atom.difference(name).weights for name in names)
    for first in range(len(names)):
        for second in range(first + 1, len(names)):
            if groups[first] != groups[second] or binary[first] or binary[second]:
                continue
            if similar[first, second] or (within[first, second] and within[second, first]):
                yield Atom.difference(names[first], names[second]).weights


def short_sums(columns: Columns, names: Sequence[str]) -> Iterator[Weights]:
    """Sums of up to four of some columns with weights 1 and -1, where their spreads are similar; the shortest first."""
    spread = _spreads(columns)
    for count in range(1, 5):
        for chosen in itertools.combinations(sorted(names), count):
            if max(spread[name] for name in chosen) > COMPARABLE * min(spread[name] for name in chosen):
                continue
            for signs in itertools.product((1, -1), repeat=count - 1):
                yield tuple(zip(chosen, (1, *signs), strict=True))


def neighbours(columns: Columns, weights: Weights, *, more: bool) -> list[Weights]:
    """Sums that differ from a sum in one column: dropped, or with another weight; with ``more``, added or exchanged."""
    own, sizes = dict(weights), sorted({abs(weight) for _, weight in weights})
    new = _similar_terms(columns, weights, sizes) if more else []
    found = [own | {name: size if weight > 0 else -size} for name, weight in weights for size in sizes]
    found.append({name: 1 if weight > 0 else -1 for name, weight in weights})
    for name in own:
        others = {each: weight for each, weight in weights if each != name}
        found += [others] if others else []
        found += [others | term for term in new if abs(*term.values()) == abs(own[name])]
    found += [own | term for term in new]
    every = (integer_weights(list(each), [Fraction(weight) for weight in each.values()]) for each in found)
    return list(dict.fromkeys(every))


def _similar_terms(columns: Columns, weights: Weights, sizes: Sequence[int]) -> list[dict[str, int]]:
    """Further columns, each with weights of some sizes, that vary about as much as a sum does."""
    spread = _spreads(columns)
    reach = max(abs(weight) * spread[name] for name, weight in weights)
    return [
        {name: sign * size}
        for name in columns.names
        for size in sizes
        for sign in (1, -1)
        if name not in dict(weights) and reach <= SIMILAR * size * spread[name] <= SIMILAR**2 * reach
    ]


def _spreads(columns: Columns) -> dict[str, float]:
    """The standard deviation of each column."""
    spread = np.maximum(columns.x.double().numpy().std(0), 1e-300)
    return dict(zip(columns.names, spread.tolist(), strict=True))


def _enough_within(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which columns have enough rows, not all of one value, within the range of another."""
    inside = (x >= other.min()) & (x <= other.max())
    low, high = np.where(inside, x, np.inf).min(0), np.where(inside, x, -np.inf).max(0)
    return np.asarray((inside.mean(0) >= WITHIN) & (low < high))
