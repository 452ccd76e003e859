"""A rule as a person would write it in terms of the table, as long as no more rows contradict it.

The search knows texts as columns of 0 and 1, and has some value in the place of each missing cell. So a rule may
exclude all texts but one, or mention comparisons that only concern values which are not there.
"""

from collections.abc import Callable

import pandas as pd

from nsr.program.conditions import OneOf
from nsr.program.expressions import And, Compare, Constant, Count, Expression, Not, Or, Variable
from nsr.program.kinds import Kind
from nsr.program.substitution import rebuilt, without_parts
from nsr.program.times import POINTS

Wrong = Callable[[Expression], int]
"""How many rows contradict an expression."""
MOST_ROUNDS = 20


def tidied(expression: Expression, rows: pd.DataFrame, wrong: Wrong, *, shorten: bool) -> Expression:
    """The expression with few texts named, dates compared as usual, and if wanted without parts that change nothing."""
    plain = _with_plain_conditions(expression).simplified()
    if plain != expression and wrong(plain) <= wrong(expression):
        expression = plain
    if shorten:
        expression = _shortened(expression, wrong)
    least = wrong(expression)
    for tidy in (_with_few_texts, _with_usual_ties):
        candidate = tidy(expression, rows).simplified()
        if candidate != expression and wrong(candidate) <= least:
            expression = candidate
    return expression


def _with_plain_conditions(node: Expression) -> Expression:
    """With ``a and not b`` in the place of ``count(a) > count(b)``, and so on."""
    match node:
        case Compare((">" | ">=") as operator, Count((one,)), Count((other,))):
            join = And if operator == ">" else Or
            return join(_with_plain_conditions(one), Not(_with_plain_conditions(other)))
        case Compare(("<" | "<=") as operator, Count((one,)), Count((other,))):
            join = And if operator == "<" else Or
            return join(Not(_with_plain_conditions(one)), _with_plain_conditions(other))
    return rebuilt(node, [_with_plain_conditions(child) for child in node.children])


def _shortened(expression: Expression, wrong: Wrong) -> Expression:
    """Leave out parts of and and or as long as no more rows contradict the rule."""
    least = wrong(expression)
    for _ in range(MOST_ROUNDS):
        candidates = sorted(without_parts(expression), key=lambda each: each.size)
        shorter = next((each for each in candidates if each.variables and wrong(each) <= least), None)
        if shorter is None:
            break
        expression = shorter
    return expression


def _with_few_texts(node: Expression, rows: pd.DataFrame) -> Expression:
    """With ``size == 'small'`` in the place of ``size not in ('large', 'medium')``, where there are no other texts."""
    if isinstance(node, OneOf) and not node.holds:
        others = set(rows[node.column.name].dropna()) - set(node.texts)
        return OneOf(node.column, others) if 0 < len(others) <= len(node.texts) else node
    return rebuilt(node, [_with_few_texts(child, rows) for child in node.children])


def _with_usual_ties(node: Expression, rows: pd.DataFrame) -> Expression:
    """With ``day >= 2024-07-01`` in the place of ``day > 2024-07-01``, and < for <=, where no row is on that day."""
    match node:
        case Compare((">" | "<=") as operator, Variable(name, kind), Constant(value)) if kind in POINTS:
            days = rows[name].dropna()
            tie = pd.Timestamp(int(value), unit="us")
            if value.denominator == 1 and not (days == tie).any():
                return Compare(">=" if operator == ">" else "<", Variable(name, Kind(kind)), Constant(value))
            return node
    return rebuilt(node, [_with_usual_ties(child, rows) for child in node.children])
