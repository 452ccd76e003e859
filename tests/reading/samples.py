"""Registers with written weights: each unit is told what it compares and how."""

import itertools

import torch

from nsr import NSR
from nsr.data import COMPARISONS

SURE = 30.0
"""A selection logit that leaves nothing to the other operands."""


def unit_weights(comparison: str, *, size: float = 10.0) -> tuple[float, float, float]:
    """w_sign, w_zero and bias of a unit whose logit is +-size where the comparison holds or not."""
    less, equal, greater = (size if COMPARISONS[comparison](sign, 0) else -size for sign in (-1, 0, 1))
    w_zero = (equal - (greater + less) / 2) / 2
    return (greater - less) / 2, w_zero, equal - w_zero


def written(inputs: int, *units: tuple[int, str, int, float], redundancy: int = 3, **options) -> NSR:
    """A register whose first units compare: (first, comparison, second, offset); the others weigh nothing.

    With ``constants=True`` the operand after the last input is the number 0. The units' logits are summed.
    """
    register = NSR(
        inputs, redundancy=max(redundancy, len(units)), generator=torch.Generator().manual_seed(0), **options
    )
    with torch.no_grad():
        for parameter in (register.w_sign, register.w_zero, register.bias):
            parameter.zero_()
        for r, (first, comparison, second, offset) in enumerate(units):
            register.v1[:, r] = 0
            register.v2[:, r] = 0
            register.v1[first, r] = SURE
            register.v2[second, r] = SURE
            register.w_sign[r], register.w_zero[r], register.bias[r] = unit_weights(comparison)
            if register.constants:
                register.offset[r] = offset
    return register


def pairs(inputs: int) -> list[tuple[int, int]]:
    return list(itertools.permutations(range(inputs), 2))
