"""Comparisons of columns that have missing cells: whether rows where a cell is missing count as on their side.

A rule is searched in numbers, with some number in the place of missing cells. In the table a comparison with a missing
cell is false, so that a rule may need ``x > 5 or x is missing`` in the place of ``x > 5``, which follows from the rows.
"""

import math
from collections.abc import Callable, Iterator
from itertools import chain, combinations

import numpy as np
import pandas as pd

from nsr.learn.diagnostics import Margin
from nsr.program.cells import evaluate_cells, is_missing
from nsr.program.conditions import Missing
from nsr.program.expressions import Compare, Expression, Or, Variable
from nsr.program.substitution import rebuilt
from nsr.program.text import sides
from nsr.program.times import is_temporal

MOST_LEAVES = 20
"""How many comparisons are examined."""


def with_gaps(expression: Expression, nullable: frozenset[str], wrong: Callable[[Expression], int]) -> Expression:
    """The expression that the fewest rows contradict, with comparisons extended to missing cells where that helps.

    Args:
        expression: A canonical formula or number.
        nullable: The columns that have missing cells.
        wrong: How many rows contradict an expression.
    """
    leaves = [node for node in dict.fromkeys(expression.walk()) if isinstance(node, Compare) and _gaps(node, nullable)]
    if not leaves:
        return expression
    best, least = expression, wrong(expression)
    for leaf in leaves[:MOST_LEAVES]:
        for extended in _extensions(leaf, nullable):
            if not least:
                return best
            candidate = _replaced(best, leaf, extended).simplified()
            if (now := wrong(candidate)) < least:
                best, least = candidate, now
    return best


def _gaps(node: Expression, nullable: frozenset[str]) -> list[Variable]:
    columns = (each for each in node.walk() if isinstance(each, Variable) and each.name in nullable)
    return list(dict.fromkeys(columns))


def _extensions(leaf: Compare, nullable: frozenset[str]) -> Iterator[Expression]:
    """The comparison, or one of its columns missing."""
    gaps = _gaps(leaf, nullable)
    some = chain.from_iterable(combinations(gaps, count) for count in range(1, len(gaps) + 1))
    return (Or(leaf, *map(Missing, columns)) for columns in some)


def _replaced(node: Expression, old: Expression, new: Expression) -> Expression:
    if node == old:
        return new
    return rebuilt(node, [_replaced(child, old, new) for child in node.children])


def margins_of_rows(expression: Expression, rows: pd.DataFrame) -> dict[str, Margin]:
    """For each comparison of numbers or times, how near the rows come to where it changes; without missing cells."""
    near: dict[str, Margin] = {}
    for node in dict.fromkeys(expression.walk()):
        if not isinstance(node, Compare) or node.of_texts or any(inner.is_boolean for inner in node.left.walk()):
            continue
        difference = evaluate_cells((node.left - node.right).simplified(), rows, len(rows))
        away = difference[~is_missing(difference)].astype(np.float64)
        below, above = (np.min(side, initial=math.inf) for side in (-away[away < 0], away[away > 0]))
        unit = 1 if is_temporal(node) else None
        near[sides(Compare("=", node.left, node.right))] = Margin(
            float(below), bool((away == 0).any()), float(above), unit
        )
    return near
