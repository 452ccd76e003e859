"""Reading an arm of a piecewise function: whole weights, and the constant that the rows leave."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from nsr.nn import NAU
from nsr.program.expressions import Expression, Variable, total
from nsr.reading.columns import Numbers, rational_of
from nsr.reading.rounding import simplest

MARGIN = Fraction(1, 50)
"""How far a learned constant may be from the one that is read where no answers are given."""


def read_arm(arms: NAU, at: int, numbers: Numbers, chosen: np.ndarray, y: np.ndarray | None) -> Expression:
    """The sum that an arm computes on the rows where it is chosen: ``y`` less its terms is its constant."""
    weights = whole_weights(arms, at)
    constant = near(arms, at) if y is None or not chosen.any() else _left_over(numbers, weights, chosen, y)
    return sum_of(weights, numbers.names, constant)


def whole_weights(sums: NAU, at: int) -> np.ndarray:
    """The weights of a sum as -1, 0 and 1."""
    return np.asarray(sums.weight[at].clamp(-1, 1).round().int().numpy())


def near(sums: NAU, at: int) -> Fraction:
    """The simplest number near the learned constant of a sum."""
    learned = rational_of(float(sums.bias[at])) if sums.bias is not None else Fraction(0)
    return simplest(learned - MARGIN, learned + MARGIN, learned)


def sum_of(weights: np.ndarray, names: Sequence[str], constant: Fraction) -> Expression:
    """Variables with whole weights, and a constant."""
    return total(
        [(Fraction(int(weight)), Variable(name)) for weight, name in zip(weights, names, strict=True)], constant
    )


def _left_over(numbers: Numbers, weights: np.ndarray, chosen: np.ndarray, y: np.ndarray) -> Fraction:
    """The simplest number that most of the rows leave: exactly where all are whole, else within their rounding."""
    slack, x = numbers.rounding(y)[chosen], numbers.x.numpy()[chosen]
    if not slack.any():
        values, counts = np.unique(y[chosen].astype(x.dtype) - x @ weights.astype(x.dtype), return_counts=True)
        return Fraction(values[counts.argmax()].item())
    rest = y[chosen] - x.astype(np.float64) @ weights
    middle = float(np.median(rest))
    near = np.abs(rest - middle) <= slack
    if not near.any():
        return rational_of(middle)
    low, high = float((rest - slack)[near].max()), float((rest + slack)[near].min())
    return simplest(rational_of(min(low, middle)), rational_of(max(high, middle)), rational_of(middle))
