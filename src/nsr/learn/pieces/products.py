"""Products of two columns that a target may be made of, as further columns."""

from collections.abc import Iterator

import numpy as np

from nsr.learn.pieces.proposals import SAMPLE, Proposal, Sample, forward, least_squares, lines, ratios, scored
from nsr.learn.pieces.reading import Judge, read_piece
from nsr.learn.pieces.targets import Targets

Pair = tuple[int, int]

MOST_ROWS = 4_000
"""How many rows are examined."""
MOST_PRODUCTS = 12
"""How many products are added."""
READ = 16
"""How many proposals are read."""
AT_ONCE = 1_000
"""How many products are examined at a time."""
ALL_COLUMNS = 60
"""With more columns, products are examined on fewer rows."""
FEWER = 100
FORWARD = 10
"""So many terms, chosen one by one, are tried where all of them at once fit too few rows."""
MOST_TERMS = 400
"""Least squares has so many terms at most."""


def likely_products(targets: Targets, rng: np.random.Generator, *, worth: float) -> list[Pair]:
    """Pairs of columns whose product, with a factor and perhaps a constant, explains more than ``worth`` bits.

    The best comes first; then follow the other products of the same columns.
    """
    width = targets.x.shape[1]
    best = sorted(_proposals(targets, rng), key=lambda each: -each[1].count)[:READ]
    pairs = list(dict.fromkeys(pair for pair, _ in best))
    wider = targets.with_products(pairs)
    judge, rows = Judge(wider, rng), wider.numbers.some(np.arange(len(targets)), MOST_ROWS, rng)
    gains: dict[Pair, float] = {}
    for pair, one in best:
        valued = read_piece(Proposal((width + pairs.index(pair),), one.weights, "product"), rows, judge)
        if valued is not None and valued.gain > worth:
            gains[pair] = max(valued.gain, gains.get(pair, 0.0))
    return _with_others(sorted(gains, key=lambda pair: -gains[pair]), targets)


def _with_others(pairs: list[Pair], targets: Targets) -> list[Pair]:
    columns = list(dict.fromkeys(at for pair in pairs for at in pair))
    others = [(min(a, b), max(a, b)) for at, a in enumerate(columns) for b in columns[at:]]
    return [pair for pair in dict.fromkeys([*pairs, *others]) if _is_new(targets, *pair)][:MOST_PRODUCTS]


def _is_new(targets: Targets, first: np.ndarray | int, second: np.ndarray | int) -> np.ndarray:
    """Whether products are other numbers than their factors: the square of a column of 0 and 1 is not."""
    return np.asarray((np.asarray(first) != second) | ~targets.binary[first])


def _proposals(targets: Targets, rng: np.random.Generator) -> Iterator[tuple[Pair, Proposal]]:
    """Pairs of columns, and proposals for their products."""
    width = targets.x.shape[1]
    rows = np.sort(rng.permutation(len(targets))[: SAMPLE if width <= ALL_COLUMNS else FEWER])
    x, y = targets.x[rows], targets.y[rows]
    first, second = np.triu_indices(width)
    new = _is_new(targets, first, second)
    first, second = first[new], second[new]
    for start in range(0, len(first), AT_ONCE):
        a, b = first[start : start + AT_ONCE], second[start : start + AT_ONCE]
        sample = Sample(x[:, a] * x[:, b], y, targets.resolution, rng)
        found = [*ratios(sample, 2), *(lines(sample, 2) if width <= ALL_COLUMNS else ())]
        for one in scored(sample, found, READ):
            yield (int(a[one.columns[0]]), int(b[one.columns[0]])), one


def sums_of_products(targets: Targets, rng: np.random.Generator) -> list[Pair]:
    """Pairs of columns whose products have a weight in a sum of columns and products that fits many rows.

    Where there are too many for the rows, those columns are tried that follow the target most.
    """
    x, y = targets.x - targets.x.mean(0), targets.y - targets.y.mean()
    follows = np.abs(x.T @ y) / np.sqrt(np.maximum((x**2).sum(0), 1e-300))
    most = min(MOST_TERMS, len(targets) // 3)
    columns = np.argsort(-follows, kind="stable")[: most // 2]
    factors = columns[: int(np.sqrt(2 * (most - len(columns)) + 0.25) - 0.5)]
    first, second = (factors[at] for at in np.triu_indices(len(factors)))
    new = _is_new(targets, first, second)
    first, second = first[new], second[new]
    rows = targets.numbers.some(np.arange(len(targets)), 6 * MOST_TERMS, rng)
    terms = np.column_stack([rows.x[:, columns], rows.x[:, first] * rows.x[:, second]])
    few = np.union1d(
        np.arange(min(2 * FORWARD, len(columns))), forward(terms, rows.y, FORWARD)[0]
    )  # columns that follow it most
    for chosen, starts in ((np.arange(terms.shape[1]), 1), (few, 2 * FORWARD + 1)):
        for one in least_squares(Sample(terms[:, chosen], rows.y, rows.resolution, rng), starts):
            used = [at - len(columns) for at in chosen[list(one.columns)].tolist() if at >= len(columns)]
            pairs = [(int(min(first[at], second[at])), int(max(first[at], second[at]))) for at in used]
            if 0 < len(pairs) <= MOST_PRODUCTS:
                return pairs
    return []
