"""Inequalities of sums whose columns hold multiples of known steps, with a constant that such sums can have."""

import math
from collections.abc import Mapping
from fractions import Fraction

from nsr.program.expressions import Compare, Expression, Linear, Product, Variable, total
from nsr.program.substitution import rebuilt


def with_whole_constants(expression: Expression, steps: Mapping[str, Fraction]) -> Expression:
    """The expression with ``a + b > c`` in the place of ``a + b > c + 0.005``, where columns hold multiples of 0.01.

    It gives the same for all multiples of the steps. Of the two constants beside the given one, the shorter is taken.

    >>> from nsr.program import Program
    >>> cents = dict.fromkeys("abc", Fraction(1, 100))
    >>> print(with_whole_constants(Program.parse("a + b > c + 0.005 or a >= 2.495").expression, cents))
    a >= 2.5 or a + b > c
    """
    whole = _whole(expression, steps) if isinstance(expression, Compare) else None
    if whole is not None:
        return whole
    return rebuilt(expression, [with_whole_constants(child, steps) for child in expression.children])


def _whole(comparison: Compare, steps: Mapping[str, Fraction]) -> Expression | None:
    """An inequality with another constant; None where it has to stay as it is."""
    difference = comparison.left - comparison.right
    if isinstance(difference, Variable | Product):
        difference = Linear([(1, difference)])
    if comparison.operator in ("=", "!=") or not isinstance(difference, Linear):
        return None
    known = [_step(part, steps) for part in difference.children]
    sizes = [abs(weight) * step for (weight, _), step in zip(difference.terms, known, strict=True) if step is not None]
    step = _common_step(sizes)
    if len(sizes) < len(known) or (difference.constant / step).denominator == 1:
        return None
    below = math.floor(-difference.constant / step) * step
    upwards = comparison.operator[0] == ">"
    options = [(below, ">" if upwards else "<="), (below + step, ">=" if upwards else "<")]
    constant, operator = min(options, key=lambda option: len(str(float(abs(option[0])))) if option[0] else 0)
    left = [term for term in difference.terms if term[0] > 0]
    right = [(-weight, part) for weight, part in difference.terms if weight < 0]
    return Compare(operator, total(left), total(right, constant)).simplified()


def _step(part: Expression, steps: Mapping[str, Fraction]) -> Fraction | None:
    """What a column or a product of columns is a multiple of; None where that is not known."""
    if isinstance(part, Variable):
        return steps.get(part.name)
    if not isinstance(part, Product):
        return None
    factors = [_step(factor, steps) for factor in part.factors]
    known = [step for step in factors if step is not None]
    return math.prod(known, start=Fraction(1)) if len(known) == len(factors) else None


def _common_step(steps: list[Fraction]) -> Fraction:
    """The largest number that all of some steps are multiples of."""
    denominator = math.lcm(*(step.denominator for step in steps))
    return Fraction(math.gcd(*(int(step * denominator) for step in steps)), denominator)
