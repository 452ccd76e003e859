"""Counts and order statistics as choices, for targets that have nothing like them.

The result is equal for all numbers; on floats it is not defined where a number is NaN, as in ``evaluation``.
"""

from collections.abc import Sequence
from fractions import Fraction

from nsr.program.expressions import And, Compare, Constant, Count, Expression, Linear, Or, Order, Truth, Where
from nsr.program.simplification import negated


def as_choices(number: Count | Order) -> Expression:
    """A count as a sum of choices between 1 and 0, an order statistic as a chain of choices, which may have counts."""
    if isinstance(number, Count):
        return Linear([(Fraction(1), Where(formula, 1, 0)) for formula in number.formulas])
    *cases, (_, chosen) = order_cases(number)
    for condition, part in reversed(cases):
        chosen = Where(condition, part, chosen)
    return chosen


def order_cases(number: Order) -> list[tuple[Expression, Expression]]:
    """Formulas and numbers: one formula always holds, and where one holds, its number is the answer."""
    if (absolute := number.absolute) is not None:
        negative = Linear([(-1, absolute)])  # not number.parts[1], whose terms floats would add in another order
        return [(Compare(">=", absolute, 0), absolute), (Compare("<=", absolute, 0), negative)]
    if (clipped := number.clipped) is not None:
        part, low, high = clipped
        inside = And(Compare(">=", part, low), Compare("<=", part, high))
        return [(Compare("<=", part, low), Constant(low)), (Compare(">=", part, high), Constant(high)), (inside, part)]
    return [(_has_rank(number, part), part) for part in dict.fromkeys(number.parts)]


def _has_rank(number: Order, part: Expression) -> Expression:
    """The formula that a part is the answer: n - 1 comparisons, or 2 * (n - 1) counted ones."""
    others = [other for other in number.parts if other != part]
    if not others:
        return Truth(True)
    if number.is_minimum or number.is_maximum:
        return And(*(Compare(">=" if number.is_maximum else "<=", part, other) for other in others))
    below, not_above = (Count(*(Compare(operator, other, part) for other in others)) for operator in ("<", "<="))
    times = len(number.parts) - len(others)
    return And(Compare("<=", below, number.rank - 1), Compare(">=", not_above, number.rank - times))


def without_count(operator: str, count: Count, number: int) -> Expression:
    """A canonical count compared with an integer (>= <= = !=) as And and Or, which can be long: C(n, number) parts."""
    formulas, negative = count.formulas, [negated(formula) for formula in count.formulas]
    match operator:
        case ">=":
            return _at_least(number, formulas)
        case "<=":
            return _at_least(len(formulas) - number, negative)
        case "=":
            return And(_at_least(number, formulas), _at_least(len(formulas) - number, negative))
    return Or(_at_least(number + 1, formulas), _at_least(len(formulas) - number + 1, negative))


def _at_least(number: int, formulas: Sequence[Expression]) -> Expression:
    if not 0 < number <= len(formulas):
        return Truth(number <= 0)
    if number in (1, len(formulas)):
        return (Or if number == 1 else And)(*formulas)
    first, *rest = formulas
    return Or(And(first, _at_least(number - 1, rest)), _at_least(number, rest))
