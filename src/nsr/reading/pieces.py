"""Reading a branch of a piecewise function: integer weights, and the constant that the rows leave."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from nsr.nn import NAU
from nsr.program.expressions import Expression, Variable, total
from nsr.reading.columns import Columns
from nsr.reading.rounding import as_rational, simplest

MARGIN = Fraction(1, 50)
"""How far a learned constant may be from the one that is read if there are no answers to decide."""


def read_branch(branches: NAU, at: int, columns: Columns, chosen: np.ndarray, y: np.ndarray | None) -> Expression:
    """The sum that a branch computes on the rows where it is chosen; what its terms leave of ``y`` is its constant."""
    weights = integer_weights(branches, at)
    if y is None or not chosen.any():
        return weighted_sum(weights, columns.names, learned_constant(branches, at))
    return weighted_sum(weights, columns.names, _remaining_constant(columns, weights, chosen, y))


def integer_weights(sums: NAU, at: int) -> np.ndarray:
    """The weights of a sum, rounded to -1, 0 and 1."""
    return np.asarray(sums.weight[at].clamp(-1, 1).round().int().numpy())


def learned_constant(sums: NAU, at: int) -> Fraction:
    """The simplest number near the learned constant of a sum."""
    learned = as_rational(float(sums.bias[at])) if sums.bias is not None else Fraction(0)
    return simplest(learned - MARGIN, learned + MARGIN, learned)


def weighted_sum(weights: np.ndarray, names: Sequence[str], constant: Fraction) -> Expression:
    """Columns with integer weights, and a constant."""
    return total(
        [(Fraction(int(weight)), Variable(name)) for weight, name in zip(weights, names, strict=True)], constant
    )


def _remaining_constant(columns: Columns, weights: np.ndarray, chosen: np.ndarray, y: np.ndarray) -> Fraction:
    """The simplest constant for most of the rows: exactly where all numbers are integers, else up to rounding."""
    slack, x = columns.tolerance(y)[chosen], columns.x.numpy()[chosen]
    if not slack.any():
        values, counts = np.unique(y[chosen].astype(x.dtype) - x @ weights.astype(x.dtype), return_counts=True)
        return Fraction(values[counts.argmax()].item())
    rest = y[chosen] - x.astype(np.float64) @ weights
    middle = float(np.median(rest))
    near = np.abs(rest - middle) <= slack
    if not near.any():
        return as_rational(middle)
    low, high = float((rest - slack)[near].max()), float((rest + slack)[near].min())
    return simplest(as_rational(min(low, middle)), as_rational(max(high, middle)), as_rational(middle))
