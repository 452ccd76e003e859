"""Lists of numbers and the results of loops over them (Section 4.5): minimum, and recurrences of the first number."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from nsr.data.rows import Rows
from nsr.errors import one_of

LOOPS: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType(
    {"minimum": lambda x: x.amin(-1), "count": lambda x: (x[:, 1:] == x[:, :1]).sum(-1)}
)
"""The result of each loop for lists of the same length."""


def random_lists(loop: str, generator: np.random.Generator, *, count: int = 500, length: int = 5) -> Rows:
    """The paper's training set: lists of integers from -10 to 9."""
    return _with_targets(loop, torch.as_tensor(generator.integers(-10, 10, (count, length))))


def lists_around(
    loop: str, generator: np.random.Generator, *, length: int, power: int, count: int = 50, base: int = 3
) -> Rows:
    """Test lists of one length and magnitude: the numbers of each lie within 5 of a random centre."""
    centres = generator.integers(base**power, base ** (power + 1), (count, 1))
    return _with_targets(loop, torch.as_tensor(centres + generator.integers(-5, 6, (count, length))))


def _with_targets(loop: str, x: Tensor) -> Rows:
    return Rows.of(x, LOOPS[one_of("loop", loop, LOOPS)](x).double())
