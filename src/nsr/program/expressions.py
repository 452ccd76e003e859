"""Exact programs as a small immutable tree: numbers, comparisons, formulas, and choices between numbers.

Trees are values: equal trees compare equal, can be put in sets and dicts, and cannot be changed. Coefficients and
constants are exact rationals. Evaluation is in ``evaluation``, the canonical form in ``simplification``, printing in
``text``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from math import prod
from numbers import Integral
from typing import Any, NoReturn

from nsr.data import COMPARISONS
from nsr.errors import one_of
from nsr.program.kinds import Kind

NEGATED: Mapping[str, str] = {">": "<=", "<=": ">", "<": ">=", ">=": "<", "=": "!=", "!=": "="}
"""``not (a > b)`` is ``a <= b``."""
MIRRORED: Mapping[str, str] = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}
"""``a > b`` is ``b < a``."""

LARGEST_POWER = 100
"""The largest exponent for ``**``; a product may have any number of factors."""

Number = int | float | Fraction | Decimal
"""Types accepted as constants."""


def rational(value: object) -> Fraction:
    """Convert a number to an exact rational. A float stands for the decimal it prints as: 0.1 is 1/10."""
    if not _is_plain_number(value):
        raise ValueError(f"a constant must be an int, a Fraction, a Decimal or a float, got {value!r}")
    exact: Any = Decimal(repr(float(value))) if isinstance(value, float) else value
    if isinstance(exact, Decimal) and not exact.is_finite():
        raise ValueError(f"a constant must be finite, got {value}")
    return Fraction(exact) if isinstance(exact, Fraction | Decimal) else Fraction(int(exact))


@dataclass(frozen=True, repr=False)
class Expression:
    """A node of the tree: a number, or a formula that is true or false.

    Python's operators build larger trees, and a plain number on either side becomes a ``Constant``:

    >>> from nsr.program import Variable
    >>> a, b = Variable("a"), Variable("b")
    >>> print(2 * a - b / 3 + 1)
    2*a - b/3 + 1
    >>> print((a > b) & ~(a >= 3) | a.eq(b))
    a > b and not a >= 3 or a == b

    ``==`` and ``!=`` compare trees; ``eq`` and ``ne`` build comparisons.
    """

    @property
    def is_boolean(self) -> bool:
        """Whether this is a formula, which is true or false, rather than a number."""
        return False

    @property
    def children(self) -> tuple["Expression", ...]:
        """The nodes directly below this one."""
        return ()

    def walk(self) -> Iterator["Expression"]:
        """Yield this node and all nodes below it, parents first."""
        pending: list[Expression] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.children)

    @property
    def size(self) -> int:
        """Number of nodes; the constant of a sum counts as one, and what an absolute value is taken of counts once."""
        size, pending = 0, [self]
        while pending:
            node = pending.pop()
            size += 1 + (isinstance(node, Linear) and node.constant != 0)
            absolute = node.absolute if isinstance(node, Order) else None
            pending += node.children if absolute is None else (absolute,)
        return size

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, each once, in natural order: x2 before x10."""
        return tuple(sorted({node.name for node in self.walk() if isinstance(node, Variable)}, key=natural_key))

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each variable, in the order of ``variables``."""
        kinds = {node.name: node.kind for node in self.walk() if isinstance(node, Variable)}
        return {name: kinds[name] for name in self.variables}

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Evaluate with a value for each variable; see ``nsr.program.evaluation``."""
        from nsr.program.evaluation import evaluate

        return evaluate(self, values)

    def simplified(self) -> "Expression":
        """The canonical form: trees that ``nsr.program.simplification`` can show to be equal become the same tree."""
        from nsr.program.simplification import simplify

        return simplify(self)

    def eq(self, other: "Expression | Number") -> "Compare":
        """The comparison ``self = other``. (``==`` compares the trees themselves.)"""
        return Compare("=", self, other)

    def ne(self, other: "Expression | Number") -> "Compare":
        """The comparison ``self != other``. (``!=`` compares the trees themselves.)"""
        return Compare("!=", self, other)

    def __str__(self) -> str:
        from nsr.program.text import text

        return text(self)

    def __repr__(self) -> str:
        from nsr.program.text import constructor_call

        return constructor_call(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self} has no truth value until it is evaluated: use & instead of and, | instead of or, ~ instead of not,"
            " and (a < b) & (b < c) instead of a < b < c"
        )

    def __gt__(self, other: "Expression | Number") -> "Compare":
        return Compare(">", self, other)

    def __lt__(self, other: "Expression | Number") -> "Compare":
        return Compare("<", self, other)

    def __ge__(self, other: "Expression | Number") -> "Compare":
        return Compare(">=", self, other)

    def __le__(self, other: "Expression | Number") -> "Compare":
        return Compare("<=", self, other)

    def __and__(self, other: object) -> "And":
        return And(*_both("&", self, other))

    def __or__(self, other: object) -> "Or":
        return Or(*_both("|", self, other))

    def __rand__(self, other: object) -> "And":
        return And(*_both("&", other, self))  # `a > 3 & b > 4` is `a > (3 & b) > 4`

    def __ror__(self, other: object) -> "Or":
        return Or(*_both("|", other, self))

    def __invert__(self) -> "Not":
        return Not(self)

    def __add__(self, other: object) -> "Expression":
        return total([(Fraction(1), self), (Fraction(1), as_number(other))])

    def __sub__(self, other: object) -> "Expression":
        return total([(Fraction(1), self), (Fraction(-1), as_number(other))])

    def __rsub__(self, other: object) -> "Expression":
        return total([(Fraction(1), as_number(other)), (Fraction(-1), self)])

    def __neg__(self) -> "Expression":
        return total([(Fraction(-1), self)])

    def __mul__(self, other: object) -> "Expression":
        return multiplied([self, as_number(other)])

    def __pow__(self, exponent: int) -> "Expression":
        if not isinstance(exponent, int) or isinstance(exponent, bool) or not 1 <= exponent <= LARGEST_POWER:
            raise ValueError(f"a power must be an integer from 1 to {LARGEST_POWER}, got {exponent!r}")
        return multiplied([self] * exponent)

    def __truediv__(self, other: object) -> "Expression":
        return total([(1 / rational(other), self)])

    __radd__, __rmul__ = __add__, __mul__


@dataclass(frozen=True, repr=False)
class Variable(Expression):
    """A named input of a model, or column of a table. Any text can be a name.

    Dates and timestamps count as numbers: of microseconds since the start of 1970. So do durations, of microseconds.
    Texts can only be compared for equality, and truth values only be asked for; ``nsr.program.conditions`` has both.
    """

    name: str
    kind: Kind = Kind.NUMBER

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"the name of a variable must be a non-empty string, got {self.name!r}")
        object.__setattr__(self, "kind", Kind(one_of("kind of variable", str(self.kind), [str(kind) for kind in Kind])))


@dataclass(frozen=True, init=False, repr=False)
class Constant(Expression):
    """A fixed number."""

    value: Fraction

    def __init__(self, value: Number) -> None:
        object.__setattr__(self, "value", rational(value))


@dataclass(frozen=True, repr=False)
class Formula(Expression):
    """A node that is true or false."""

    @property
    def is_boolean(self) -> bool:
        """Always true."""
        return True


@dataclass(frozen=True, repr=False)
class Truth(Formula):
    """A fixed truth value: the formula that always holds, or the one that never does."""

    value: bool

    def __post_init__(self) -> None:
        if not isinstance(self.value, bool):
            raise ValueError(f"the value of Truth must be True or False, got {self.value!r}")


@dataclass(frozen=True, init=False, repr=False)
class Linear(Expression):
    """A sum of numbers, each multiplied by a coefficient, and a constant: ``Linear([(2, a), (-1, b)], 4)``.

    With floats the order of the additions matters: it is that of ``parts``, in every target.
    """

    terms: tuple[tuple[Fraction, Expression], ...]
    constant: Fraction

    def __init__(self, terms: Iterable[tuple[Number, Expression | Number]], constant: Number = 0) -> None:
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
        """Terms and constant in the order of addition; None stands for 1.

        The constant comes last, except that ``4 - x`` is not written ``-x + 4``.
        """
        constant: tuple[tuple[Fraction, Expression | None], ...] = ((self.constant, None),) if self.constant else ()
        if self.constant > 0 and all(coefficient < 0 for coefficient, _ in self.terms):
            return constant + self.terms
        return self.terms + constant


@dataclass(frozen=True, init=False, repr=False)
class Product(Expression):
    """A product of at least two numbers: ``Product(a, b)`` or ``a * b``, and ``a**2`` for equal factors.

    With floats the order of the multiplications matters: a coefficient comes first, then the factors from left to
    right, one at a time, in every target.
    """

    factors: tuple[Expression, ...]

    def __init__(self, *factors: Expression | Number) -> None:
        if len(factors) < 2:
            raise ValueError(f"a product must have at least two factors, got {len(factors)}")
        object.__setattr__(self, "factors", tuple(_number(factor, "a factor of a product") for factor in factors))

    @property
    def children(self) -> tuple[Expression, ...]:
        """The factors."""
        return self.factors

    def powers(self) -> list[tuple[Expression, int]]:
        """The factors in order, with how often each occurs in a row."""
        return [(factor, len(list(run))) for factor, run in groupby(self.factors)]


@dataclass(frozen=True, init=False, repr=False)
class Count(Expression):
    """How many of the formulas hold: ``Count(p, q, r) >= 2``."""

    formulas: tuple[Expression, ...]

    def __init__(self, *formulas: Expression) -> None:
        if not formulas:
            raise ValueError("Count must have at least one formula, got none")
        object.__setattr__(self, "formulas", tuple(_formula(part, "a part of Count") for part in formulas))

    @property
    def children(self) -> tuple[Expression, ...]:
        """The counted formulas."""
        return self.formulas


@dataclass(frozen=True, init=False, repr=False)
class Order(Expression):
    """The ``rank``-th smallest of several numbers: ``Order(1, a, b)`` is the minimum, ``Order(2, a, b)`` the maximum.

    The absolute value of a number is the maximum of the number and its negative.
    """

    rank: int
    parts: tuple[Expression, ...]

    def __init__(self, rank: int, *parts: Expression | Number) -> None:
        if not parts:
            raise ValueError("Order must have at least one number, got none")
        if not isinstance(rank, int) or isinstance(rank, bool) or not 1 <= rank <= len(parts):
            raise ValueError(f"the rank of Order must be an integer from 1 to {len(parts)}, got {rank!r}")
        object.__setattr__(self, "rank", rank)
        object.__setattr__(self, "parts", tuple(_number(part, "a part of Order") for part in parts))

    @property
    def children(self) -> tuple[Expression, ...]:
        """The numbers."""
        return self.parts

    @property
    def is_minimum(self) -> bool:
        """Whether this is the smallest of the numbers."""
        return self.rank == 1

    @property
    def is_maximum(self) -> bool:
        """Whether this is the largest of the numbers."""
        return self.rank == len(self.parts)

    @property
    def absolute(self) -> Expression | None:
        """The number whose absolute value this is."""
        if self.rank != 2 or len(self.parts) != 2 or any(isinstance(part, Constant) for part in self.parts):
            return None
        return self.parts[0] if total([(Fraction(1), part) for part in self.parts]) == Constant(0) else None

    @property
    def clipped(self) -> tuple[Expression, Fraction, Fraction] | None:
        """The number that is limited to a range, the least value and the largest."""
        bounds = sorted(part.value for part in self.parts if isinstance(part, Constant))
        others = [part for part in self.parts if not isinstance(part, Constant)]
        if self.rank != 2 or len(bounds) != 2 or len(others) != 1 or bounds[0] == bounds[1]:
            return None
        return others[0], bounds[0], bounds[1]


@dataclass(frozen=True, init=False, repr=False)
class Compare(Formula):
    """A comparison of two numbers. ``operator`` is one of > < >= <= = !=, and == means =.

    Two columns of text can be compared by = and !=. A comparison with a missing value is false, as it is in SQL.
    """

    operator: str
    left: Expression
    right: Expression

    def __init__(self, operator: str, left: Expression | Number, right: Expression | Number) -> None:
        known = one_of("comparison", "=" if operator == "==" else operator, COMPARISONS)
        object.__setattr__(self, "operator", known)
        object.__setattr__(self, "left", _number(left, "a side of a comparison"))
        object.__setattr__(self, "right", _number(right, "a side of a comparison"))
        _check_texts(self)

    @property
    def of_texts(self) -> bool:
        """Whether two columns of text are compared."""
        return isinstance(self.left, Variable) and self.left.kind == Kind.TEXT

    @property
    def children(self) -> tuple[Expression, ...]:
        """Both sides."""
        return self.left, self.right


@dataclass(frozen=True, init=False, repr=False)
class _Joined(Formula):
    parts: tuple[Expression, ...]

    def __init__(self, *parts: Expression) -> None:
        if not parts:
            raise ValueError(f"{type(self).__name__} must join at least one formula, got none")
        for part in parts:
            _formula(part, f"a part of {type(self).__name__}")
        object.__setattr__(self, "parts", parts)

    @property
    def children(self) -> tuple[Expression, ...]:
        """The joined formulas."""
        return self.parts


class And(_Joined):
    """True where all of the formulas hold: ``And(p, q)`` or ``p & q``."""


class Or(_Joined):
    """True where at least one of the formulas holds: ``Or(p, q)`` or ``p | q``."""


@dataclass(frozen=True, repr=False)
class Not(Formula):
    """The negation of a formula: ``Not(p)`` or ``~p``."""

    part: Expression

    def __post_init__(self) -> None:
        _formula(self.part, "the argument of Not")

    @property
    def children(self) -> tuple[Expression, ...]:
        """The negated formula."""
        return (self.part,)


@dataclass(frozen=True, init=False, repr=False)
class Where(Expression):
    """A choice: one number where the condition holds, another where it does not."""

    condition: Expression
    then: Expression
    otherwise: Expression

    def __init__(self, condition: Expression, then: Expression | Number, otherwise: Expression | Number) -> None:
        object.__setattr__(self, "condition", _formula(condition, "the condition of Where"))
        object.__setattr__(self, "then", _number(then, "a branch of Where"))
        object.__setattr__(self, "otherwise", _number(otherwise, "a branch of Where"))

    @property
    def children(self) -> tuple[Expression, ...]:
        """The condition and both branches."""
        return self.condition, self.then, self.otherwise


def total(parts: list[tuple[Fraction, Expression]], constant: Fraction = Fraction(0)) -> Expression:
    """Add up numbers times coefficients; nested sums are flattened and equal terms collected."""
    coefficients: dict[Expression, Fraction] = {}
    for coefficient, part in parts:
        _number(part, "a term of a sum")
        if isinstance(part, Constant):
            constant += coefficient * part.value
            continue
        terms = part.terms if isinstance(part, Linear) else ((Fraction(1), part),)
        constant += coefficient * part.constant if isinstance(part, Linear) else 0
        for inner, atom in terms:
            coefficients[atom] = coefficients.get(atom, Fraction(0)) + coefficient * inner
    collected = tuple((coefficient, atom) for atom, coefficient in coefficients.items() if coefficient)
    if not collected:
        return Constant(constant)
    if constant == 0 and len(collected) == 1 and collected[0][0] == 1:
        return collected[0][1]
    return Linear(collected, constant)


def multiplied(factors: Iterable[Expression]) -> Expression:
    """Multiply numbers; nested products are flattened and coefficients pulled out. Sums are not expanded."""
    coefficient, atoms = Fraction(1), list[Expression]()
    for factor in factors:
        further, inner = coefficient_and_factors(_number(factor, "a factor of a product"))
        coefficient *= further
        atoms += inner
    if not atoms:
        return Constant(coefficient)
    return total([(coefficient, atoms[0] if len(atoms) == 1 else Product(*atoms))])


def coefficient_and_factors(number: Expression) -> tuple[Fraction, tuple[Expression, ...]]:
    """Split a number into a coefficient and factors: 2*a*b into 2 and (a, b), and 3 into 3 and ()."""
    match number:
        case Constant(value):
            return value, ()
        case Linear(((coefficient, atom),), constant) if constant == 0:
            further, factors = coefficient_and_factors(atom)
            return coefficient * further, factors
        case Product(factors):
            split = [coefficient_and_factors(factor) for factor in factors]
            return prod((c for c, _ in split), start=Fraction(1)), tuple(atom for _, inner in split for atom in inner)
    return Fraction(1), (number,)


def as_number(value: object) -> Expression:
    """Return an expression unchanged and turn a plain number into a Constant."""
    return value if isinstance(value, Expression) else Constant(rational(value))


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts x2 before x10."""
    parts = re.findall("[0-9]+|[^0-9]+", name)
    return tuple((0, int(p), p) if "0" <= p[0] <= "9" and len(p) < 4000 else (1, 0, p) for p in parts)


def _is_plain_number(value: object) -> bool:
    return isinstance(value, Integral | float | Fraction | Decimal) and not isinstance(value, bool)


def _both(symbol: str, *sides: Any) -> tuple[Expression, ...]:
    """The two sides of & or |."""
    for side in sides:
        if not isinstance(side, Expression) or not side.is_boolean:
            hint = f"put comparisons in parentheses, as in (a > b) {symbol} (c > d)"
            raise ValueError(f"{symbol} joins formulas, got {side!r}: {hint}")
    return sides


def _check_texts(comparison: Compare) -> None:
    """Raise a ValueError for texts and truth values that are compared with anything but a column of their kind."""
    sides = comparison.children
    kinds = [side.kind if isinstance(side, Variable) else Kind.NUMBER for side in sides]
    if Kind.BOOLEAN in kinds or (Kind.TEXT in kinds and (set(kinds) != {Kind.TEXT} or comparison.operator not in "!=")):
        raise ValueError(f"texts can only be compared with texts, by = and !=, got {sides[0]!r} and {sides[1]!r}")


def _number(value: Expression | Number, role: str) -> Expression:
    if isinstance(value, Expression) and not value.is_boolean:
        return value
    if isinstance(value, Expression) or not _is_plain_number(value):
        raise ValueError(f"{role} must be a number, got {value!r}")
    return Constant(value)


def _formula(value: Expression, role: str) -> Expression:
    if not isinstance(value, Expression) or not value.is_boolean:
        raise ValueError(f"{role} must be a formula, got {value!r}")
    return value
