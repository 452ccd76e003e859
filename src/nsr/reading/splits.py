"""How well a value tells classes apart: rows below it, at it and above it, by what is left to be told of them."""

import numpy as np


def nats_left(
    column: np.ndarray, width: int, groups: np.ndarray, classes: np.ndarray, weight: np.ndarray, kinds: int
) -> np.ndarray:
    """For each of ``width`` values in order, the nats left once it is known on which side of it each row lies.

    Args:
        column: The place of each row's value in the order.
        width: How many values there are.
        groups: The group of each row, 0, 1, ...: what is known of it already.
        classes: Its class, 0, 1, ...
        weight: How often it occurs.
        kinds: How many classes there are.
    """
    count = int(groups.max()) + 1
    cells = groups * width + column
    left = np.zeros(width)
    whole: list[np.ndarray] = [np.zeros((count, width))] * 3
    for kind in range(kinds):
        own = classes == kind
        at = np.bincount(cells[own], weight[own], count * width).reshape(count, width)
        up_to = at.cumsum(1)
        parts = [up_to - at, at, up_to[:, -1:] - up_to]
        left -= times_log(np.stack(parts)).sum((0, 1))
        whole = [total + part for total, part in zip(whole, parts, strict=True)]
    left += times_log(np.stack(whole)).sum((0, 1))
    return np.asarray(np.maximum(left, 0).round(9))


def times_log(counts: np.ndarray) -> np.ndarray:
    """x log x, and 0 at 0."""
    return np.asarray(counts * np.log(np.where(counts > 0, counts, 1)))
