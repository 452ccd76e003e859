"""An atom: one comparison of a weighted sum of columns with a constant. Formulas are made of atoms."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

from nsr.program.expressions import Compare, Expression, Linear, Variable, total

Weights = tuple[tuple[str, int], ...]
"""A sum of columns: the name of each and its integer weight. The first weight is positive."""

CASES: Mapping[int, str] = {-1: "<", 0: "=", 1: ">"}
"""What the sign of a difference says of its two sides."""


@dataclass(frozen=True)
class Atom:
    """The weighted sum of some columns, compared with a constant.

    Which comparison it is (less, equal, greater or a union of these) is for the formula to say; an atom is the place
    where the answer may change.
    """

    weights: Weights
    constant: Fraction = Fraction(0)

    @classmethod
    def difference(cls, first: str, second: str | None = None, constant: Fraction = Fraction(0)) -> "Atom":
        """``first - second``, or ``first`` alone, compared with a constant."""
        return cls(((first, 1),) if second is None else ((first, 1), (second, -1)), constant)

    @classmethod
    def from_comparison(cls, comparison: Compare) -> "Atom | None":
        """The atom of a comparison between sums of columns; None where something else is compared."""
        difference = comparison.left - comparison.right
        if isinstance(difference, Variable):
            return cls.difference(difference.name)
        if not isinstance(difference, Linear):
            return None
        names = [term.name for term in difference.children if isinstance(term, Variable)]
        if len(names) < len(difference.terms):
            return None
        coefficients = [coefficient for coefficient, _ in difference.terms]
        factor = Fraction(lcm(*(c.denominator for c in coefficients)))
        factor /= gcd(*((c * factor).numerator for c in coefficients))
        factor = -factor if coefficients[0] < 0 else factor
        weights = tuple((name, int(c * factor)) for name, c in zip(names, coefficients, strict=True))
        return cls(weights, -difference.constant * factor)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it compares."""
        return tuple(name for name, _ in self.weights)

    @property
    def has_constant(self) -> bool:
        """Whether a constant has to be named: always for a single column, for several unless it is 0."""
        return self.constant != 0 or len(self.weights) == 1

    @property
    def sum(self) -> Expression:
        """What is compared with the constant."""
        return total([(Fraction(weight), Variable(name)) for name, weight in self.weights])

    @property
    def sides(self) -> tuple[Expression, Expression]:
        """Both sides of a comparison, every column where its weight is positive and the constant on the right."""
        left = total([(Fraction(weight), Variable(name)) for name, weight in self.weights if weight > 0])
        right = total(
            [(Fraction(-weight), Variable(name)) for name, weight in self.weights if weight < 0], self.constant
        )
        return left, right

    def compare(self, operator: str) -> Expression:
        """One of the six comparisons of its two sides."""
        return Compare(operator, *self.sides).simplified()

    @property
    def canonical(self) -> "Atom":
        """The same border with the columns sorted by name, and the first weight positive."""
        weights = sorted(self.weights)
        sign = 1 if weights[0][1] > 0 else -1
        return Atom(tuple((name, sign * weight) for name, weight in weights), sign * self.constant)

    def with_constant(self, constant: Fraction) -> "Atom":
        """The same sum, compared with another constant."""
        return replace(self, constant=constant)

    def __str__(self) -> str:
        left, right = self.sides
        return f"{left} = {right}"
