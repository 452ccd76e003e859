"""Programs as infix text: the common part of the targets python, c, sql and latex."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from nsr.program.conditions import Condition
from nsr.program.expressions import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Not,
    Or,
    Order,
    Product,
    Truth,
    Variable,
    Where,
)
from nsr.program.lowering import as_choices
from nsr.program.times import TEMPORAL, as_moments, is_temporal
from nsr.program.times import Moments as Moments

CHOICE, OR, AND, COMPARE, SUM, PRODUCT, ATOM = range(7)
"""How tightly an operator binds, loosest first."""


@dataclass
class Writer(ABC):
    """Writes a canonical tree recursively. Each target overrides what differs."""

    names: Mapping[str, str]
    """How each variable is written."""

    truths: ClassVar[tuple[str, str]] = ("False", "True")
    operators: ClassVar[Mapping[str, str]] = {"=": "=="}
    """Comparison operators that are written differently."""
    both: ClassVar[str] = " and "
    either: ClassVar[str] = " or "
    inside_both: ClassVar[int] = COMPARE
    inside_either: ClassVar[int] = AND
    """How tightly the parts of a formula must bind to stand without parentheses."""
    choice_binds: ClassVar[int] = CHOICE

    def write(self, node: Expression, around: int = CHOICE) -> str:
        """Write a node, in parentheses if it binds less tightly than what is around it."""
        match node:
            case Variable():
                return self.variable(node)
            case Truth(value):
                return self.truths[value]
            case Constant(value):
                written = self.number(abs(value))
                return self.bound(f"-{written}" if value < 0 else written, SUM, around)
            case Linear():
                return self.bound(self.sum(node), SUM, around)
            case Compare():
                return self.bound(self.comparison(node), COMPARE, around)
            case And():
                both = [self.write(part, self.inside_both) for part in node.parts]
                return self.bound(self.joined(both, self.both), AND, around)
            case Or():
                either = [self.write(part, self.inside_either) for part in node.parts]
                return self.bound(self.joined(either, self.either), OR, around)
            case Where():
                return self.bound(self.choice(node), self.choice_binds, around)
            case Condition():
                return self.condition(node, around)
            case Not(part):
                return self.negation(part, around)
        return self.write_number(node, around)

    def joined(self, parts: Sequence[str], word: str) -> str:
        """Write the parts of a formula with a word between them."""
        return word.join(parts)

    def variable(self, node: Variable) -> str:
        """Write a column as a number; dates, times and durations in microseconds."""
        return self.microseconds(node) if node.kind in TEMPORAL else self.names[node.name]

    def comparison(self, node: Compare) -> str:
        """Write a comparison; of dates and durations where it is one."""
        if is_temporal(node) and (moments := as_moments(node)) is not None:
            written = self.moments(moments)
            if written is not None:
                return written
        symbol = self.operators.get(node.operator, node.operator)
        return f"{self.write(node.left, SUM)} {symbol} {self.write(node.right, SUM)}"

    def moments(self, node: Moments) -> str | None:  # noqa: ARG002
        """Write a comparison of dates, times or durations; by default in microseconds (None)."""
        return None

    def microseconds(self, node: Variable) -> str:
        """Write a date, a time or a duration as a number of microseconds."""
        raise TypeError(f"cannot write {node!r}")

    def condition(self, node: Condition, around: int) -> str:  # noqa: ARG002
        """Write a condition about a text, a truth value or a missing cell."""
        raise TypeError(f"cannot write {node!r}")

    def negation(self, part: Expression, around: int) -> str:  # noqa: ARG002
        """Write the negation of a formula that is never missing."""
        raise TypeError(f"cannot write the negation of {part!r}")

    def write_number(self, node: Expression, around: int) -> str:
        """Write a product, a count, or an order statistic."""
        match node:
            case Product():
                return self.bound(self.product(Fraction(1), node), PRODUCT, around)
            case Count():
                return self.count(node, around)
            case Order():
                return self.order(node)
        raise TypeError(f"cannot write {node!r}")

    def count(self, node: Count, around: int) -> str:
        """Write how many formulas hold; by default as a sum of choices."""
        return self.write(as_choices(node), around)

    def order(self, node: Order) -> str:
        """Write an order statistic as a call or in parentheses; by default as choices."""
        return self.write(as_choices(node), ATOM)

    def sum(self, node: Linear) -> str:
        """Write the parts of a sum in order. ``a - b`` has the same bits as ``a + (-b)``."""
        written = ""
        for coefficient, atom in node.parts():
            sign = ("-" if coefficient < 0 else "") if not written else (" - " if coefficient < 0 else " + ")
            size = abs(coefficient)
            written += sign + (self.number(size) if atom is None else self.product(size, atom))
        return written

    def product(self, coefficient: Fraction, atom: Expression) -> str:
        """``n * x / d``, or ``n * x * y / d``: first multiply, from left to right, then divide."""
        factors = [] if coefficient.numerator == 1 else [self.factor(coefficient.numerator)]
        for factor in atom.factors if isinstance(atom, Product) else (atom,):
            factors.append(self.write(factor, ATOM if factors else PRODUCT))
        divisor = "" if coefficient.denominator == 1 else f" / {self.divisor(coefficient.denominator)}"
        return f"{' * '.join(factors)}{divisor}"

    def factor(self, value: int) -> str:
        """Write the numerator that a term is multiplied by."""
        return self.number(Fraction(value))

    def divisor(self, value: int) -> str:
        """Write the denominator that a term is divided by."""
        return self.number(Fraction(value))

    @abstractmethod
    def number(self, value: Fraction) -> str:
        """Write a non-negative constant."""

    @abstractmethod
    def choice(self, node: Where) -> str:
        """Write a choice."""

    def bound(self, written: str, binding: int, around: int) -> str:
        """Put the text in parentheses if it binds less tightly than what is around it."""
        return f"({written})" if binding < around else written
