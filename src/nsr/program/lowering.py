"""Simpler trees for targets: counts and order statistics as choices, and missing cells as conditions.

The result is equal for all numbers; on floats it is not defined where a number is NaN, as in ``evaluation``.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.expressions import (
    NEGATED,
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Not,
    Or,
    Order,
    Truth,
    Variable,
    Where,
)
from nsr.program.integers import with_integer_coefficients
from nsr.program.kinds import Kind
from nsr.program.simplification import negated
from nsr.program.substitution import rebuilt
from nsr.program.times import is_temporal


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


def without_negations(expression: Expression) -> Expression:
    """The same with negations in the comparisons, and else as it is written, whatever cells are missing.

    The canonical form may differ at missing cells: it turns ``where(a <= b, 0, 1)`` into ``where(a > b, 1, 0)``.
    """
    if isinstance(expression, Not):
        return _opposite(expression.part)
    return rebuilt(expression, [without_negations(child) for child in expression.children])


def _opposite(formula: Expression) -> Expression:
    match formula:
        case Truth(value):
            return Truth(not value)
        case Not(part):
            return without_negations(part)
        case And(parts) | Or(parts):
            return (Or if isinstance(formula, And) else And)(*map(_opposite, parts))
        case Compare(operator, left, right):
            return Compare(NEGATED[operator], without_negations(left), without_negations(right))
        case Condition():
            return formula.negated()
    raise TypeError(f"only a formula can be negated, got {formula!r}")


def has_cells(expression: Expression) -> bool:
    """Whether there are conditions, or columns that are not numbers."""
    return any(
        isinstance(node, Condition) or (isinstance(node, Variable) and node.kind != Kind.NUMBER)
        for node in expression.walk()
    )


def cleared(expression: Expression, *, integers: bool) -> Expression:
    """Comparisons without fractions: all of them for columns of integers, else those that have nothing but times."""
    if integers:
        return with_integer_coefficients(expression)
    if not has_cells(expression):
        return expression
    if isinstance(expression, Compare) and is_temporal(expression) and Kind.NUMBER not in expression.kinds.values():
        return with_integer_coefficients(expression)
    return rebuilt(expression, [cleared(child, integers=False) for child in expression.children])


def with_presence(node: Expression, *, every: bool = False) -> Expression:
    """The same with all cells that a comparison or condition needs required to be present, before it.

    Args:
        node: A canonical expression.
        every: Also for conditions that a language finds false for a missing cell: one of several texts, or true.
    """
    match node:
        case Compare():
            return _all([presence(node, every=every), rebuilt(node, _each_with_presence(node, every))])
        case Missing():
            return node
        case OneOf() | Flag():
            return _all([presence(node), node]) if every or not node.holds else node
        case And(parts):
            lowered = [with_presence(part, every=every) for part in parts]
            return _all(sorted(_flat(lowered), key=_is_presence, reverse=True))
    return rebuilt(node, _each_with_presence(node, every))


def presence(node: Expression, *, every: bool = False) -> Expression:
    """The formula that no number in a number, or in both sides of a comparison, is missing."""
    match node:
        case Variable():
            return Missing(node, False)
        case Where(condition, then, otherwise):
            one, other = presence(then, every=every), presence(otherwise, every=every)
            if one == other:
                return one
            holds = with_presence(condition, every=every)
            return Or(_all([holds, one]), _all([Not(holds), other]))
        case Count():
            return Truth(True)
    return _all(presence(child, every=every) for child in node.children)


def _each_with_presence(node: Expression, every: bool) -> list[Expression]:
    return [with_presence(child, every=every) for child in node.children]


def _all(formulas: Iterable[Expression]) -> Expression:
    """All of the formulas, flat and each once."""
    kept = list(dict.fromkeys(each for each in _flat(formulas) if each != Truth(True)))
    if len(kept) > 1:
        return And(*kept)
    return kept[0] if kept else Truth(True)


def _flat(formulas: Iterable[Expression]) -> list[Expression]:
    return [part for each in formulas for part in (each.parts if isinstance(each, And) else (each,))]


def _is_presence(formula: Expression) -> bool:
    return isinstance(formula, Missing) and not formula.holds
