"""Weights as a person would have written them: small integers, short decimals, simple fractions; and their price."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from nsr.reading.atoms import Weights
from nsr.reading.rounding import as_rational, number_nats, simplest

FURTHER = 2.0
"""Nats for each column beyond the second: of very many sums, the best one fits some wrong labels too."""
LARGEST_DENOMINATOR = 12
"""Fractions such as 1/3 are tried up to this denominator; decimals always."""


def ratio_nats(ratio: Fraction) -> float:
    """Nats to name the ratio of two weights, either way round: ``a > 1.1 b`` is ``b < a / 1.1``."""
    return min(number_nats(ratio), number_nats(1 / ratio))


def simplest_ratio(low: Fraction, high: Fraction) -> Fraction:
    """The cheapest number between two of the same sign: a decimal, the inverse of one, or a fraction."""
    return min(simple_ratios(low, high), key=ratio_nats)


def simple_ratios(low: Fraction, high: Fraction) -> list[Fraction]:
    """The simplest decimal between two numbers of the same sign, the inverse of one, and the simplest fraction."""
    if low < 0:
        return [-option for option in simple_ratios(-high, -low)]
    middle = (low + high) / 2
    options = [simplest(low, high, middle), 1 / simplest(1 / high, 1 / low, 1 / middle)]
    for denominator in range(2, LARGEST_DENOMINATOR + 1):
        first = -(-low * denominator // 1)
        if first <= high * denominator:
            options.append(Fraction(first, denominator))
            break
    return options


def integer_weights(names: Sequence[str], ratios: Sequence[Fraction]) -> Weights:
    """Weights in these ratios as integers without a common factor, the first one positive, in the order of names."""
    pairs = sorted((name, ratio) for name, ratio in zip(names, ratios, strict=True) if ratio)
    factor = Fraction(math.lcm(*(ratio.denominator for _, ratio in pairs)))
    factor /= math.gcd(*((ratio * factor).numerator for _, ratio in pairs))
    factor = -factor if pairs[0][1] < 0 else factor
    return tuple((name, int(ratio * factor)) for name, ratio in pairs)


@lru_cache(maxsize=100_000)
def weights_nats(weights: Weights, n_columns: int) -> float:
    """Nats to name a sum: its columns, and the ratio of each weight to the cheapest choice of a leading one."""
    columns = len(weights) * math.log(max(n_columns, 2)) - math.lgamma(len(weights) + 1)
    columns += FURTHER * max(len(weights) - 2, 0)
    values = [Fraction(weight) for _, weight in weights]
    leads = [sum(ratio_nats(value / lead) for value in values) - ratio_nats(Fraction(1)) for lead in values]
    return columns + min(leads)


def rounded_weights(names: Sequence[str], weights: np.ndarray, tolerance: float) -> Weights | None:
    """The simplest weights whose ratios are within a relative tolerance of these; None where they are out of reach."""
    lead = weights[int(np.abs(weights).argmax())]
    if not (np.isfinite(weights).all() and lead):
        return None
    ratios = []
    for weight in weights:
        ratio = as_rational(float(weight / lead))
        if abs(ratio) <= 1e-9:
            return None
        slack = as_rational(tolerance)
        ratios.append(simplest_ratio(*sorted((ratio * (1 - slack), ratio * (1 + slack)))))
    if max(ratio.denominator for ratio in ratios) > 10**9:
        return None
    return integer_weights(names, ratios)
