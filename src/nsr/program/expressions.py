"""Exact programs as a small immutable tree: numbers, comparisons, formulas of them, and a choice between numbers.

Every node is a value: equal trees are equal, and nothing in them can be changed. Coefficients and constants are
exact rationals. How a tree is evaluated is in ``evaluation``, how it is brought to its canonical form in
``simplification``, how it reads in ``text``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

from nsr.data import COMPARISONS
from nsr.errors import one_of

NEGATED: Mapping[str, str] = {">": "<=", "<=": ">", "<": ">=", ">=": "<", "=": "!=", "!=": "="}
"""``not (a > b)`` is ``a <= b``."""
MIRRORED: Mapping[str, str] = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}
"""``a > b`` is ``b < a``."""

Number = int | float | Fraction | Decimal
"""What is taken for a constant."""


def rational(value: object) -> Fraction:
    """A number as an exact rational. A float is the decimal that it prints as: 0.1 is 1/10."""
    if isinstance(value, bool) or not isinstance(value, Integral | float | Fraction | Decimal):
        raise ValueError(f"a constant must be an int, a Fraction, a Decimal or a float, got {value!r}")
    exact = Decimal(repr(float(value))) if isinstance(value, float) else value
    if isinstance(exact, Decimal) and not exact.is_finite():
        raise ValueError(f"a constant must be finite, got {value}")
    return Fraction(exact) if isinstance(exact, Fraction | Decimal) else Fraction(int(exact))


@dataclass(frozen=True)
class Expression:
    """A node. Numbers can be added, subtracted and multiplied by constants; formulas cannot."""

    @property
    def is_truth(self) -> bool:
        """Whether it is a formula, true or false, rather than a number."""
        return isinstance(self, Truth | Compare | And | Or | Not)

    @property
    def children(self) -> tuple["Expression", ...]:
        """The nodes directly below."""
        return ()

    def walk(self) -> Iterator["Expression"]:
        """This node and all below it."""
        ahead: list[Expression] = [self]
        while ahead:
            node = ahead.pop()
            yield node
            ahead += reversed(node.children)

    @property
    def size(self) -> int:
        """How many nodes there are, a term or a constant of a sum counting as one."""
        return sum(1 + (isinstance(node, Linear) and node.constant != 0) for node in self.walk())

    @property
    def variables(self) -> tuple[str, ...]:
        """The names it depends on, each once, in the order in which a person would list them."""
        return tuple(sorted({node.name for node in self.walk() if isinstance(node, Variable)}, key=natural))

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Its value where each variable has the value of its name; see ``nsr.program.evaluation``."""
        from nsr.program.evaluation import evaluate

        return evaluate(self, values)

    def simplified(self) -> "Expression":
        """Its canonical form: what is equal by the rules of ``nsr.program.simplification`` becomes the same tree."""
        from nsr.program.simplification import simplify

        return simplify(self)

    def __str__(self) -> str:
        from nsr.program.text import text

        return text(self)

    def __add__(self, other: object) -> "Expression":
        return total([(Fraction(1), self), (Fraction(1), as_number(other))])

    def __sub__(self, other: object) -> "Expression":
        return total([(Fraction(1), self), (Fraction(-1), as_number(other))])

    def __rsub__(self, other: object) -> "Expression":
        return total([(Fraction(1), as_number(other)), (Fraction(-1), self)])

    def __neg__(self) -> "Expression":
        return total([(Fraction(-1), self)])

    def __mul__(self, other: object) -> "Expression":
        return total([(rational(other), self)])

    __radd__, __rmul__ = __add__, __mul__


@dataclass(frozen=True)
class Variable(Expression):
    """A number with a name: a column, an input. Any text is a name."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"the name of a variable must be a text that is not empty, got {self.name!r}")


@dataclass(frozen=True, init=False)
class Constant(Expression):
    """A number."""

    value: Fraction

    def __init__(self, value: Number) -> None:
        object.__setattr__(self, "value", rational(value))


@dataclass(frozen=True)
class Truth(Expression):
    """The formula that always holds, or never."""

    value: bool

    def __post_init__(self) -> None:
        if not isinstance(self.value, bool):
            raise ValueError(f"the value of Truth must be True or False, got {self.value!r}")


@dataclass(frozen=True, init=False)
class Linear(Expression):
    """A sum of numbers, each times a coefficient, and a constant.

    With floats the order of the additions matters: it is that of ``parts``, in every target.
    """

    terms: tuple[tuple[Fraction, Expression], ...]
    constant: Fraction

    def __init__(self, terms: Iterable[tuple[Number, Expression]], constant: Number = 0) -> None:
        exact = tuple((rational(coefficient), _number(atom, "a term of a sum")) for coefficient, atom in terms)
        if not exact or any(coefficient == 0 for coefficient, _ in exact):
            raise ValueError("a sum must have at least one term, and no coefficient of 0")
        object.__setattr__(self, "terms", exact)
        object.__setattr__(self, "constant", rational(constant))

    @property
    def children(self) -> tuple[Expression, ...]:
        """The terms without their coefficients."""
        return tuple(atom for _, atom in self.terms)

    def parts(self) -> tuple[tuple[Fraction, Expression | None], ...]:
        """What is added, in this order; None stands for 1. A constant comes last, but 4 - x is not -x + 4."""
        constant: tuple[tuple[Fraction, Expression | None], ...] = ((self.constant, None),) if self.constant else ()
        if self.constant > 0 and all(coefficient < 0 for coefficient, _ in self.terms):
            return constant + self.terms
        return self.terms + constant


@dataclass(frozen=True)
class Compare(Expression):
    """Whether a comparison of two numbers holds. ``operator`` is one of > < >= <= = !=."""

    operator: str
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        one_of("comparison", self.operator, COMPARISONS)
        _number(self.left, "a side of a comparison")
        _number(self.right, "a side of a comparison")

    @property
    def children(self) -> tuple[Expression, ...]:
        """Both sides."""
        return self.left, self.right


@dataclass(frozen=True, init=False)
class _Joined(Expression):
    parts: tuple[Expression, ...]

    def __init__(self, *parts: Expression) -> None:
        if not parts:
            raise ValueError(f"{type(self).__name__} must join at least one formula, got none")
        for part in parts:
            _formula(part, f"a part of {type(self).__name__}")
        object.__setattr__(self, "parts", parts)

    @property
    def children(self) -> tuple[Expression, ...]:
        """What is joined."""
        return self.parts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"


class And(_Joined):
    """Whether all of these formulas hold: ``And(p, q)``."""


class Or(_Joined):
    """Whether any of these formulas holds: ``Or(p, q)``."""


@dataclass(frozen=True)
class Not(Expression):
    """Whether a formula does not hold."""

    part: Expression

    def __post_init__(self) -> None:
        _formula(self.part, "what Not denies")

    @property
    def children(self) -> tuple[Expression, ...]:
        """What is denied."""
        return (self.part,)


@dataclass(frozen=True)
class Where(Expression):
    """One number where a formula holds, and another where it does not."""

    condition: Expression
    then: Expression
    otherwise: Expression

    def __post_init__(self) -> None:
        _formula(self.condition, "the condition of Where")
        _number(self.then, "a branch of Where")
        _number(self.otherwise, "a branch of Where")

    @property
    def children(self) -> tuple[Expression, ...]:
        """The condition and both branches."""
        return self.condition, self.then, self.otherwise


def total(parts: list[tuple[Fraction, Expression]], constant: Fraction = Fraction(0)) -> Expression:
    """The sum of numbers times coefficients, sums inside sums made flat and equal terms added up."""
    coefficients: dict[Expression, Fraction] = {}
    for coefficient, part in parts:
        _number(part, "a term of a sum")
        if isinstance(part, Constant):
            constant += coefficient * part.value
            continue
        inner = part.terms if isinstance(part, Linear) else ((Fraction(1), part),)
        constant += coefficient * part.constant if isinstance(part, Linear) else 0
        for own, atom in inner:
            coefficients[atom] = coefficients.get(atom, Fraction(0)) + coefficient * own
    terms = tuple((coefficient, atom) for atom, coefficient in coefficients.items() if coefficient)
    if not terms:
        return Constant(constant)
    if constant == 0 and len(terms) == 1 and terms[0][0] == 1:
        return terms[0][1]
    return Linear(terms, constant)


def as_number(value: object) -> Expression:
    """An expression as it is, and a plain number as a Constant."""
    return value if isinstance(value, Expression) else Constant(rational(value))


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts x2 before x10."""
    parts = re.findall("[0-9]+|[^0-9]+", name)
    return tuple((0, int(p), p) if "0" <= p[0] <= "9" and len(p) < 4000 else (1, 0, p) for p in parts)


def _number(part: Expression, what: str) -> Expression:
    if not isinstance(part, Expression) or part.is_truth:
        raise ValueError(f"{what} must be a number, got {part!r}")
    return part


def _formula(part: Expression, what: str) -> Expression:
    if not isinstance(part, Expression) or not part.is_truth:
        raise ValueError(f"{what} must be a formula, got {part!r}")
    return part
