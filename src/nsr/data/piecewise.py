"""The two piecewise functions of Section 4.3: a comparison of the first two numbers chooses between two sums."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nsr.data.rows import Rows
from nsr.errors import one_of


class Function(NamedTuple):
    """The number of inputs, and the values for rows of inputs."""

    inputs: int
    values: Callable[[Tensor], Tensor]


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "abs": Function(2, lambda x: (x[:, 0] - x[:, 1]).abs()),
        "f": Function(5, lambda x: torch.where(x[:, 0] > x[:, 1], x[:, 4] + 4, x[:, 3] - x[:, 2])),
    }
)


def function_of_all_pairs(function: str, generator: np.random.Generator, *, low: int = -10, high: int = 9) -> Rows:
    """One row for each pair of integers from ``low`` to ``high``; other inputs are drawn from [-100, 100]."""
    numbers = torch.arange(low, high + 1)
    return _with_targets(function, generator, torch.cartesian_prod(numbers, numbers))


def function_around(function: str, generator: np.random.Generator, *, power: int, base: int = 3) -> Rows:
    """The test set at one magnitude: a random n in [base^power, base^(power + 1)) with n - 5 to n + 5."""
    n = int(generator.integers(base**power, base ** (power + 1)))
    return _with_targets(function, generator, torch.tensor([(n, n + i) for i in range(-5, 6)]))


def _with_targets(function: str, generator: np.random.Generator, pairs: Tensor) -> Rows:
    inputs, values = FUNCTIONS[one_of("function", function, FUNCTIONS)]
    others = torch.as_tensor(generator.integers(-100, 101, (len(pairs), inputs - 2)))
    x = torch.cat([pairs, others], dim=-1)
    return Rows.of(x, values(x).double())
