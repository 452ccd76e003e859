"""The six comparisons of two numbers (Section 4.1): all pairs in a range, and pairs around a large number."""

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from nsr.data.rows import Rows
from nsr.errors import one_of

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ">": operator.gt,
        "<": operator.lt,
        ">=": operator.ge,
        "<=": operator.le,
        "=": operator.eq,
        "!=": operator.ne,
    }
)


def comparison_of(less: bool, equal: bool, greater: bool) -> str | None:
    """The comparison that is true for a smaller, an equal and a greater first number as given; None if constant."""
    truth = {tuple(compare(i, 0) for i in (-1, 0, 1)): name for name, compare in COMPARISONS.items()}
    return truth.get((bool(less), bool(equal), bool(greater)))


def all_pairs(comparison: str, *, low: int = -10, high: int = 9) -> Rows:
    """All pairs of integers from ``low`` to ``high``, and whether the comparison holds: 400 rows by default."""
    numbers = torch.arange(low, high + 1)
    return _labelled(comparison, torch.cartesian_prod(numbers, numbers))


def pairs_around(comparison: str, generator: np.random.Generator, *, power: int, base: int = 10) -> Rows:
    """The paper's test set at one magnitude: a random n in [base^power, base^(power + 1)) and its neighbours.

    n is paired with n + i for i in -5..5. For = and != every other n + i is also paired with itself, which makes 11
    equal pairs of 21. The rows are int64, so magnitudes beyond 2^53 are not rounded.
    """
    n = int(generator.integers(base**power, base ** (power + 1)))
    steps = range(-5, 6)
    pairs = [(n, n + i) for i in steps]
    if comparison in ("=", "!="):
        pairs += [(n + i, n + i) for i in steps if i != 0]
    return _labelled(comparison, torch.tensor(pairs))


def _labelled(comparison: str, pairs: torch.Tensor) -> Rows:
    compare = COMPARISONS[one_of("comparison", comparison, COMPARISONS)]
    return Rows.of(pairs, compare(pairs[:, 0], pairs[:, 1]).double())
