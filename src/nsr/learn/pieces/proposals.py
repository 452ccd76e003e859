"""Proposals for pieces: columns and weights that many rows agree on. They are read as rationals and verified later.

Each proposer looks at a few hundred rows. A proposal is the positions of its columns and their weights; what they leave
of the target is the constant.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

SAMPLE = 300
"""How many rows a proposer examines."""
DRAWS = 1_200
"""How many small sets of rows are solved."""
AT_ONCE = 4_000_000
"""How many numbers are processed at a time."""
MOST_PAIRS = 400
"""How many pairs of columns are solved for two weights."""
LOOSE = 1e5
"""Weights from exact solves are right up to this many rounding errors."""
ITERATIONS = 25
"""Rounds of reweighted least squares."""
TRIMMINGS, NEAREST, EXACT = 8, 0.3, 1e-9
"""Rounds of least squares with so large a share of the rows, the nearest ones, and all that are not farther away than
this, beside the largest target."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """Columns and weights, by position, and on how many of the sampled rows they leave the same remainder."""

    columns: tuple[int, ...]
    weights: tuple[float, ...]
    origin: str
    count: float = 0.0


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows (rows, columns) and targets to propose from."""

    x: np.ndarray
    y: np.ndarray
    resolution: float
    rng: np.random.Generator

    @cached_property
    def scale(self) -> float:
        """The size of the targets."""
        return float(np.abs(self.y).max()) or 1.0

    @cached_property
    def spread(self) -> np.ndarray:
        """The spread of each column; 1 for constant ones."""
        spread = self.x.std(0)
        return np.where(spread > 0, spread, 1.0)

    def slack(self, weights: np.ndarray) -> np.ndarray:
        """(proposals, 1): how far remainders may differ by rounding."""
        sizes = np.abs(weights) @ np.abs(self.x).max(0) + self.scale
        return np.asarray(64 * self.resolution * sizes)[:, None]


def modes(
    values: np.ndarray, absolute: np.ndarray | float, relative: float = 0.0, top: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """(rows, top) each: the sizes of the largest groups of equal numbers in each row, and the position of a member."""
    order = values.argsort(1)
    ranked = np.take_along_axis(values, order, 1)
    with np.errstate(invalid="ignore"):
        new = ~(np.diff(ranked, axis=1) <= absolute + relative * np.abs(ranked[:, 1:]))  # nan is a group of its own
    group = np.concatenate([np.zeros((len(values), 1), dtype=np.int64), new.cumsum(1)], axis=1)
    cells = (group + np.arange(len(values))[:, None] * values.shape[1]).ravel()
    counts = np.bincount(cells, minlength=values.size).reshape(values.shape)
    best = np.argpartition(-counts, min(top, values.shape[1] - 1), 1)[:, :top]
    sizes = np.take_along_axis(counts, best, 1)
    middle = np.take_along_axis(counts.cumsum(1) - counts, best, 1) + sizes // 2
    return sizes, np.take_along_axis(order, np.minimum(middle, values.shape[1] - 1), 1)


def largest_group(values: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """For each row, how many of its numbers are equal at most."""
    ranked = np.sort(values, axis=1)
    positions = np.arange(values.shape[1], dtype=np.int32)
    start = np.zeros(values.shape, dtype=np.int32)
    np.multiply(np.diff(ranked, axis=1) > slack, positions[1:], out=start[:, 1:])
    np.maximum.accumulate(start, axis=1, out=start)
    return np.asarray((positions - start).max(1) + 1)


def scored(sample: Sample, proposals: Sequence[Proposal], keep: int) -> list[Proposal]:
    """The proposals that leave the same remainder on the most rows; of equals, the shortest."""
    found: list[Proposal] = []
    for start in range(0, len(proposals), 2_000):
        part = proposals[start : start + 2_000]
        weights = np.zeros((len(part), sample.x.shape[1]))
        for row, one in enumerate(part):
            weights[row, list(one.columns)] = one.weights
        counts = largest_group(sample.y - weights @ sample.x.T, LOOSE / 64 * sample.slack(weights))
        found += [
            Proposal(one.columns, one.weights, one.origin, float(count))
            for one, count in zip(part, counts, strict=True)
            if count >= 3
        ]
    found.sort(key=lambda one: (len(one.columns) - one.count, len(one.columns)))
    distinct: dict[tuple[object, ...], Proposal] = {}
    for one in found:
        distinct.setdefault((one.columns, *(float(f"{weight:.7g}") for weight in one.weights)), one)
    return list(distinct.values())[:keep]


def ratios(sample: Sample, top: int = 3) -> list[Proposal]:
    """One column without a constant: the ratios of target and column that most rows have."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (sample.y[:, None] / sample.x).T
    values = np.where(np.isfinite(values) & (values != 0), values, np.nan)
    sizes, at = modes(values, 0.0, 256 * sample.resolution, top)
    return [
        Proposal((column,), (float(values[column, at[column, rank]]),), "consensus")
        for column, rank in zip(*np.nonzero(sizes >= 3), strict=True)
    ]


def lines(sample: Sample, top: int = 12) -> list[Proposal]:
    """One column with a constant: the slopes that most pairs of rows have, random pairs and neighbours."""
    n = len(sample.y)
    one, other = sample.rng.integers(0, n, (2, DRAWS))
    up, right = [(sample.y[one] - sample.y[other])[:, None]], [sample.x[one] - sample.x[other]]
    order = sample.x.argsort(0)
    x, y = np.take_along_axis(sample.x, order, 0), sample.y[order]
    for gap in (1, 2, 5):
        up.append(y[gap:] - y[:-gap])
        right.append(x[gap:] - x[:-gap])
    across = np.concatenate(right)
    climb = np.concatenate([np.broadcast_to(part, (len(part), across.shape[1])) for part in up])
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = climb / across
        flat = np.abs(climb) <= 64 * sample.resolution * sample.scale
        slopes[flat | (np.abs(across) < 1e-6 * sample.spread)] = np.nan
    rough = 64 * sample.resolution * sample.scale / (1e-3 * sample.spread)
    sizes, at = modes(slopes.T, rough[:, None], 1e-10, top)
    return [
        Proposal((column,), (float(slopes[at[column, rank], column]),), "consensus")
        for column, rank in zip(*np.nonzero(sizes >= 3), strict=True)
    ]


def planes(sample: Sample, pairs: np.ndarray, top: int = 2) -> Iterator[Proposal]:
    """Two columns with a constant: the weights that most sets of three rows have, random rows and neighbours."""
    base, *others = _triples(sample)
    one, two = ((sample.x[rows] - sample.x[base]) / sample.spread for rows in others)
    up, down = ((sample.y[rows] - sample.y[base])[:, None] / sample.scale for rows in others)
    for part in np.array_split(pairs, max(1, len(pairs) * len(base) // AT_ONCE)):
        a, b = part[:, 0], part[:, 1]
        determinant = one[:, a] * two[:, b] - one[:, b] * two[:, a]
        with np.errstate(divide="ignore", invalid="ignore"):
            solved = np.stack([up * two[:, b] - down * one[:, b], down * one[:, a] - up * two[:, a]]) / determinant
            vote = solved[0] + np.pi * solved[1]  # equal where both weights are
        poor = (np.abs(determinant) < 1e-5) | (np.abs(solved) < 1e-9).any(0)
        sizes, at = modes(np.where(poor, np.nan, vote).T, LOOSE * sample.resolution, LOOSE * sample.resolution, top)
        for row, rank in zip(*np.nonzero(sizes >= 3), strict=True):
            weights = solved[:, at[row, rank], row] * sample.scale / sample.spread[part[row]]
            yield Proposal(tuple(part[row].tolist()), tuple(weights.tolist()), "consensus")


def _triples(sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of three rows, half of them random and half neighbours in the target or in a column."""
    n, rng = len(sample.y), sample.rng
    drawn = [rng.integers(0, n, (3, DRAWS))]
    keys = [sample.y, *(sample.x[:, at] for at in rng.permutation(sample.x.shape[1])[:11])]
    each = -(-DRAWS // len(keys))
    for key in keys:
        near = rng.integers(0, n, (1, each)) + rng.integers(-max(3, n // 20), max(4, n // 20), (3, each))
        drawn.append(key.argsort()[np.clip(near, 0, n - 1)])
    base, first, second = np.concatenate(drawn, 1)
    return base, first, second


def signed_sums(sample: Sample, columns: Sequence[int], count: int, keep: int) -> list[Proposal]:
    """All sums of so many of the columns with weights -1 and 1, those that most rows agree on."""
    choices = np.array(list(itertools.combinations(columns, count)), dtype=np.int64).reshape(-1, count)
    best: list[Proposal] = []
    size = max(1, AT_ONCE // (4 * len(sample.y)))
    for signs in itertools.product((1.0, -1.0), repeat=count):
        for start in range(0, len(choices), size):
            part = choices[start : start + size]
            rest = np.broadcast_to(sample.y, (len(part), len(sample.y))).copy()
            sizes = np.full(len(part), sample.scale)
            for at, sign in zip(part.T, signs, strict=True):
                rest -= sign * sample.x[:, at].T
                sizes += np.abs(sample.x).max(0)[at]
            counts = largest_group(rest, 64 * sample.resolution * sizes[:, None])
            for row in np.argsort(-counts, kind="stable")[:keep]:
                best.append(Proposal(tuple(part[row].tolist()), signs, "enumeration", float(counts[row])))
    return sorted(best, key=lambda one: -one.count)[:keep]


def differences(sample: Sample, keep: int) -> list[Proposal]:
    """Sums of two of very many columns with weights -1 and 1: those that explain the most differences of two rows."""
    votes: dict[tuple[int, int], int] = {}
    width = sample.x.shape[1]
    for one, other in sample.rng.integers(0, len(sample.y), (DRAWS // 2, 2)):
        step = sample.x[one] - sample.x[other]
        signed = np.concatenate([step, -step])
        order = signed.argsort()
        wanted = (sample.y[one] - sample.y[other]) - signed
        slack = 64 * sample.resolution * (np.abs(sample.x[one]) + np.abs(sample.x[other]) + sample.scale).max()
        low, high = (np.searchsorted(signed[order], wanted + away) for away in (-slack, slack))
        for first in np.flatnonzero((low < high) & (high - low < 5)):
            for second in order[low[first] : high[first]]:
                if first < second and first % width != second % width:
                    votes[int(first), int(second)] = votes.get((int(first), int(second)), 0) + 1
    found = []
    for pair in sorted(votes, key=lambda pair: -votes[pair])[:keep]:
        signs = tuple(1.0 if at < width else -1.0 for at in pair)
        found.append(Proposal(tuple(at % width for at in pair), signs, "enumeration"))
    return found


def least_squares(sample: Sample, starts: int) -> Iterator[Proposal]:
    """All columns, with weights from least squares that come to disregard the rows that do not fit."""
    n, width = sample.x.shape
    if n <= 2 * width + 8:
        return
    x = np.column_stack([(sample.x - sample.x.mean(0)) / sample.spread, np.ones(n)])
    y = sample.y / sample.scale
    for weight in itertools.islice(_regions(sample), starts):
        for solve in (_reweighted, trimmed):
            fits = np.abs(y - x @ solve(x, y, weight)) < 1e-7
            if fits.sum() > width + 4:
                break
        else:
            continue
        columns, solved = _solved_with_few(x[fits], y[fits])
        weights = solved * sample.scale / sample.spread[columns]
        yield Proposal(tuple(columns.tolist()), tuple(weights.tolist()), "least squares")


def _reweighted(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The solution where rows count the less the farther away they are."""
    solved = np.zeros(x.shape[1])
    for round_ in range(ITERATIONS):
        solved = _weighted_solution(x, y, weight)
        away = np.abs(y - x @ solved)
        floor = max(np.quantile(away, 0.3) * 0.5**round_, 1e-11)
        weight = floor / np.maximum(away, floor)
        few, most = np.quantile(away, (0.2, 0.9))
        if few < 1e-10 or (round_ > 8 and few > 0.03 * most):
            break
    return solved


def trimmed(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weights of columns by least squares of the nearest rows, whatever sum holds on the others."""
    solved, exact = _weighted_solution(x, y, weight), EXACT * float(np.abs(y).max())
    for _ in range(TRIMMINGS):
        away = np.abs(y - x @ solved)
        near = away <= max(float(np.quantile(away, NEAREST)), exact)
        solved = np.linalg.lstsq(x[near], y[near], rcond=None)[0]
        if away[near].max() <= exact:
            break
    return solved


def _solved_with_few(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns that an exact sum needs, and their weights; the last column is that of the constant.

    Of columns that determine each other, as the conditions on a text do, the one that holds most often is left out.
    """
    solved = np.linalg.lstsq(x, y, rcond=None)[0]
    kept = [*np.flatnonzero(np.abs(solved[:-1]) > 1e-9).tolist(), x.shape[1] - 1]
    if np.linalg.matrix_rank(x[:, kept]) < len(kept):
        for column in sorted(kept[:-1], key=lambda at: (len(np.unique(x[:, at])), -np.median(x[:, at]))):
            fewer = [at for at in kept if at != column]
            rest = y - x[:, fewer] @ np.linalg.lstsq(x[:, fewer], y, rcond=None)[0]
            kept = fewer if np.abs(rest).max() < 1e-7 else kept
    solved = np.linalg.lstsq(x[:, kept], y, rcond=None)[0]
    return np.array(kept[:-1], dtype=np.intp), solved[:-1]


def forward(
    x: np.ndarray, y: np.ndarray, most: int, *, close: float = 0.0, without: Sequence[int] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """The positions of some columns, each the one that follows most what those before it leave, and their weights.

    Args:
        x: The columns.
        y: The target.
        most: How many are chosen at most.
        close: It ends where so small a share of the spread of the target is left.
        without: Columns that are not chosen.
    """
    x, y = x - x.mean(0), y - y.mean()
    size = np.sqrt(np.maximum((x**2).sum(0), 1e-300))
    chosen, left, solved = list[int](), y, np.zeros(0)
    while len(chosen) < min(most, x.shape[1] - len(without)) and np.abs(left).max() > close * np.abs(y).max():
        follows = np.abs(x.T @ left) / size
        follows[[*without, *chosen]] = -1.0
        chosen.append(int(follows.argmax()))
        solved = np.linalg.lstsq(x[:, chosen], y, rcond=None)[0]
        left = y - x[:, chosen] @ solved
    return np.array(chosen, dtype=np.intp), solved


def _regions(sample: Sample) -> Iterator[np.ndarray]:
    """Weights of rows to start from: all, then those with small or large targets, numbers, or differences of two."""
    yield np.ones(len(sample.y))
    width = sample.x.shape[1]
    keys = itertools.chain(
        [sample.y],
        (sample.x[:, at] for at in sample.rng.permutation(width)),
        (sample.x[:, one] - sample.x[:, two] for one, two in sample.rng.permutation(list(_pairs(width)))),
    )
    for key in keys:
        middle = np.median(key)
        yield np.where(key > middle, 1.0, 1e-6)
        yield np.where(key < middle, 1.0, 1e-6)


def _pairs(width: int) -> Iterator[tuple[int, int]]:
    return itertools.combinations(range(width), 2)


def _weighted_solution(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    weighted = x * weight[:, None]
    normal = weighted.T @ x
    normal[np.diag_indices_from(normal)] += 1e-13 * np.trace(normal) / len(normal)
    try:
        return np.asarray(np.linalg.solve(normal, weighted.T @ y))
    except np.linalg.LinAlgError:
        return np.zeros(x.shape[1])
