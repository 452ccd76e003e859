"""Columns of numbers that stand for something else in a table: dates as days, conditions as 0 and 1."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nsr.program.conditions import Flag, Missing, OneOf
from nsr.program.expressions import Compare, Constant, Count, Expression, Linear, Not, Or, Truth, Variable
from nsr.program.simplification import negated
from nsr.program.substitution import rebuilt

Derived = Mapping[str, Expression]
"""For a column, the number or the formula that it stands for."""


@dataclass(frozen=True)
class Meaning:
    """What columns stand for; those that are not mentioned stand for themselves."""

    derived: Derived = field(default_factory=dict)
    nullable: frozenset[str] = frozenset()
    """Columns of the table that have missing cells. A condition that does not hold because a cell is missing does not
    hold the other way round either, so that the negation has to mention it."""

    def group(self, name: str) -> str:
        """Whether a column stands for a ``condition``, for a ``time``, or for a ``number``."""
        meant = self.derived.get(name)
        if meant is None:
            return "number"
        return "condition" if meant.is_boolean else "time"

    def microseconds(self, name: str) -> int | None:
        """The microseconds of the unit in which a column counts time; None if it does not."""
        meant = self.derived.get(name)
        return int(1 / meant.terms[0][0]) if isinstance(meant, Linear) else None

    def source(self, name: str) -> str:
        """The column of the table that a column comes from; the first of them if there are several."""
        return next(iter(self.derived[name].variables), name) if name in self.derived else name

    def opposite(self, condition: Expression) -> Expression | None:
        """The formula that holds wherever a condition does not, at missing cells too; None where that is not simple."""
        opposite = Not(condition).simplified()
        gaps = [node for node in condition.walk() if isinstance(node, Variable) and node.name in self.nullable]
        if not gaps:
            return opposite
        if not isinstance(condition, Compare | OneOf | Flag) or any(
            isinstance(node, Count) for node in condition.walk()
        ):
            return None
        return Or(opposite, *(Missing(column) for column in dict.fromkeys(gaps)))

    def of(self, expression: Expression) -> Expression:
        """An expression with what its columns stand for in their place."""
        return _replaced(expression, self.derived, self.nullable).simplified() if self.derived else expression


def _replaced(node: Expression, derived: Derived, nullable: frozenset[str]) -> Expression:
    if isinstance(node, Compare) and isinstance(node.left, Variable) and isinstance(node.right, Constant):
        formula = derived.get(node.left.name)
        if formula is not None and formula.is_boolean:
            return _condition(node, formula, nullable)
    if isinstance(node, Variable):
        meant = derived.get(node.name, node)
        return Count(meant) if meant.is_boolean else meant
    return rebuilt(node, [_replaced(child, derived, nullable) for child in node.children])


def _condition(comparison: Compare, formula: Expression, nullable: frozenset[str]) -> Expression:
    """What the comparison of a column of 0 and 1 with a constant says about the formula."""
    assert isinstance(comparison.left, Variable)
    when_false, when_true = (bool(comparison.evaluate({comparison.left.name: value})) for value in (0, 1))
    if when_false == when_true:
        return Truth(when_true)
    if when_true:
        return formula
    opposite = negated(formula.simplified())
    if isinstance(formula, Missing):
        return opposite
    gaps = [node for node in formula.walk() if isinstance(node, Variable) and node.name in nullable]
    return Or(opposite, *(Missing(column) for column in dict.fromkeys(gaps)))
