"""Programs as infix text: what the targets python, c, sql and latex have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from nsr.program.expressions import And, Compare, Constant, Expression, Linear, Or, Truth, Variable, Where

CHOICE, OR, AND, COMPARE, SUM, PRODUCT, ATOM = range(7)
"""How tightly an operator binds, loosest first."""


@dataclass
class Writer(ABC):
    """The walk over a canonical tree. Each target says what differs."""

    names: Mapping[str, str]
    """How the target writes each variable."""

    truths: ClassVar[tuple[str, str]] = ("False", "True")
    operators: ClassVar[Mapping[str, str]] = {"=": "=="}
    """Comparisons that the target does not write as the tree does."""
    both: ClassVar[str] = " and "
    either: ClassVar[str] = " or "
    inside_both: ClassVar[int] = COMPARE
    inside_either: ClassVar[int] = AND
    """How tightly the parts of a formula must bind to stand without parentheses."""
    choice_binds: ClassVar[int] = CHOICE

    def write(self, node: Expression, around: int = CHOICE) -> str:
        """The text of a node, in parentheses where it binds less tightly than what is around it."""
        match node:
            case Variable(name):
                return self.names[name]
            case Truth(value):
                return self.truths[value]
            case Constant(value):
                written = self.number(abs(value))
                return self.bound(f"-{written}" if value < 0 else written, SUM, around)
            case Linear():
                return self.bound(self.sum(node), SUM, around)
            case Compare(operator, left, right):
                symbol = self.operators.get(operator, operator)
                return self.bound(f"{self.write(left, SUM)} {symbol} {self.write(right, SUM)}", COMPARE, around)
            case And():
                return self.bound(
                    self.both.join(self.write(part, self.inside_both) for part in node.parts), AND, around
                )
            case Or():
                return self.bound(
                    self.either.join(self.write(part, self.inside_either) for part in node.parts), OR, around
                )
            case Where():
                return self.bound(self.choice(node), self.choice_binds, around)
        raise TypeError(f"no text for {node!r}")

    def sum(self, node: Linear) -> str:
        """The parts of a sum in their order. ``a - b`` has the bits of ``a + (-b)``."""
        written = ""
        for coefficient, atom in node.parts():
            sign = ("-" if coefficient < 0 else "") if not written else (" - " if coefficient < 0 else " + ")
            size = abs(coefficient)
            written += sign + (self.number(size) if atom is None else self.product(size, atom))
        return written

    def product(self, coefficient: Fraction, atom: Expression) -> str:
        """``n * x / d``, first times, then over."""
        times = "" if coefficient.numerator == 1 else f"{self.factor(coefficient.numerator)} * "
        over = "" if coefficient.denominator == 1 else f" / {self.divisor(coefficient.denominator)}"
        return f"{times}{self.write(atom, PRODUCT)}{over}"

    def factor(self, value: int) -> str:
        """A numerator that a term is multiplied with."""
        return self.number(Fraction(value))

    def divisor(self, value: int) -> str:
        """A denominator that a term is divided by."""
        return self.number(Fraction(value))

    @abstractmethod
    def number(self, value: Fraction) -> str:
        """A constant that is not negative."""

    @abstractmethod
    def choice(self, node: Where) -> str:
        """One number or another."""

    def bound(self, written: str, own: int, around: int) -> str:
        """The text, in parentheses where it binds less tightly than what is around it."""
        return f"({written})" if own < around else written
