"""How surprising it is that a statement holds: the chance that it would if the columns were shuffled.

All chances are upper bounds, so that a statement is never called more surprising than it is.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHUFFLED_ROWS = 20_000
"""About how many shuffled rows an estimate is made from."""


def rarity(count: int, events: int, chance: float) -> float:
    """Nats of surprise that at most ``events`` of ``count`` happened, where each had this ``chance`` (Chernoff bound).

    The bound also holds for draws without replacement (Hoeffding 1963), as shuffling is.
    """
    if count == 0 or events >= chance * count:
        return 0.0
    share = events / count
    seen = share * math.log(share / chance) if share else 0.0
    unseen = (1 - share) * (math.log1p(-share) - math.log1p(-min(chance, 1 - 1e-12)))
    return count * (seen + unseen)


def order_chance(low: Numbers, high: Numbers, *, strict: bool = False) -> float:
    """The chance that a cell of ``low`` is at most a cell of ``high``, each drawn from its own column."""
    below = np.searchsorted(np.sort(low), high, side="left" if strict else "right")
    return float(below.mean() / len(low))


def overlap_surprise(one: Mask, other: Mask) -> float:
    """Nats of surprise that two sets of rows overlap as much as they do."""
    rows, both = len(one), int((one & other).sum())
    neither = rows - int((one | other).sum())
    bounds = [
        rarity(size, size - inside, 1 - share / rows)
        for size, inside, share in (
            (int(one.sum()), both, int(other.sum())),
            (int(other.sum()), both, int(one.sum())),
            (rows - int(one.sum()), neither, rows - int(other.sum())),
            (rows - int(other.sum()), neither, rows - int(one.sum())),
        )
    ]
    return max(bounds)


def mismatch(one: Mask, other: Mask) -> float:
    """The share of rows in which two sets differ, among the rows of both sets, or of what is left if that is less."""
    differ = int((one != other).sum())
    return max(differ / max(1, int(side.sum())) for side in (one | other, ~one | ~other))


def shuffled_chance(
    columns: Sequence[Numbers], holds: Callable[[Sequence[Numbers]], Mask], generator: np.random.Generator
) -> float:
    """The largest share of rows on which a statement holds when one of its columns is shuffled.

    So every column must matter: ``a <= b + c`` is not surprising where ``a <= b`` would do.
    """
    rows = len(columns[0])
    return max(
        _upper(sum(int(holds(_with_shuffled(columns, place, generator)).sum()) for _ in range(times)), rows * times)
        for times in [max(1, min(50, SHUFFLED_ROWS // max(1, rows)))]
        for place in range(len(columns))
    )


def _with_shuffled(columns: Sequence[Numbers], place: int, generator: np.random.Generator) -> list[Numbers]:
    return [generator.permutation(column) if at == place else column for at, column in enumerate(columns)]


def _upper(hits: int, total: int) -> float:
    """A share with a margin for having been estimated."""
    return min(1.0, (hits + 2 * math.sqrt(min(hits, total - hits)) + 1) / (total + 1))


def agreement_surprise(sizes: NDArray[np.int64], most: NDArray[np.int64], shares: Numbers) -> float:
    """Nats of surprise that in groups of these sizes so many rows have the same value, with these shares of values."""
    pairs, times = np.unique(np.stack([sizes, most]), axis=1, return_counts=True)
    top = np.sort(shares)[::-1][:200]
    rest = max(0.0, 1.0 - float(top.sum()))
    total = 0.0
    for (size, same), count in zip(pairs.T.tolist(), times.tolist(), strict=True):
        if size < 2:
            continue
        chance = sum(math.exp(-rarity(size, size - same, 1 - share)) for share in top.tolist())
        chance += rest * float(top[-1]) ** (same - 1)
        total += -math.log(min(1.0, chance)) * count
    return total
