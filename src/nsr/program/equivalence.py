"""Whether two programs give the same answer for all inputs: a proof by z3, or a row where they differ."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

from nsr.errors import InputError, needs_extra, one_of
from nsr.program import text
from nsr.program.emit.smtlib import term
from nsr.program.expressions import Compare, Expression, Number, Variable, rational
from nsr.program.integers import with_integer_coefficients
from nsr.program.program import Program

DOMAINS = {"reals": ("Real", "numbers"), "integers": ("Int", "integers")}
"""For each set of inputs, the sort in SMT-LIB and the word in a sentence."""

LONGEST = 86_400.0
SEARCH, STEP = 2.0, 0.25
"""Seconds spent on making a row simpler, and on each attempt."""

UNITS = (1, 2, 10)
"""A row of integers is preferred, then one of halves, then one of tenths."""

HUGE = 10**100
"""Numbers from here on are not made smaller."""

Row = dict[str, Fraction | int]
Bounds = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class Equivalence:
    """The result of comparing two programs; true if they are proved to be the same.

    >>> from nsr.program import Program
    >>> verdict = Program.parse("a > b").equivalent(Program.parse("a >= b + 1"))
    >>> print(verdict)
    differ at a = 0, b = -0.5: True and False
    >>> print(Program.parse("a > b").equivalent(Program.parse("a >= b + 1"), over="integers"))
    the same for all integers
    """

    equal: bool | None
    """True if proved, False if there is a row where they differ, None if neither was found, in time or at all."""
    over: str
    """The inputs that were considered: ``reals`` or ``integers``."""
    low: Fraction | None = None
    high: Fraction | None = None
    """The range of the inputs that were considered, if it was limited."""
    row: Row | None = field(default=None, hash=False)
    """A row where they differ."""
    answers: tuple[Any, Any] | None = None
    """What the two programs give for it."""
    timeout: float = 10.0
    """The seconds that were allowed."""
    same_for_integers: bool = False
    """Whether they are proved to be the same for all integers, although not for all reals."""

    def __bool__(self) -> bool:
        return self.equal is True

    @property
    def integral(self) -> bool:
        """Whether they differ at a row of integers."""
        return self.row is not None and all(value.denominator == 1 for value in self.row.values())

    def __str__(self) -> str:
        integers = f"the same for all integers{self._range()}; " if self.same_for_integers else ""
        if self.row is None or self.answers is None:
            found = "the same" if self.equal else f"not decided within {self.timeout:g} s"
            return f"{integers}{found} for all {DOMAINS[self.over][1]}{self._range()}"
        values = ", ".join(f"{text.name(name)} = {text.number(Fraction(value))}" for name, value in self.row.items())
        one, other = map(_shown, self.answers)
        return f"{integers}{'they ' if integers else ''}differ{' at ' if values else ''}{values}: {one} and {other}"

    def _range(self) -> str:
        low, high = (None if bound is None else text.number(bound) for bound in (self.low, self.high))
        if low is not None and high is not None:
            return f" from {low} to {high}"
        return f" of at least {low}" if low is not None else f" of at most {high}" if high is not None else ""


def _shown(answer: Any) -> str:
    return text.number(Fraction(answer)) if type(answer) in (int, Fraction) else str(answer)


def compare(
    left: Program,
    right: Program | Expression,
    *,
    over: str = "reals",
    low: Number | None = None,
    high: Number | None = None,
    timeout: float = 10.0,
) -> Equivalence:
    """Prove that two programs are the same, or find a simple row where they differ; see ``Program.equivalent``."""
    one_of("set of numbers", over, (*DOMAINS, "auto"))
    if not isinstance(right, Program | Expression):
        raise InputError(f"a program can only be compared with another program, got {type(right).__name__}")
    right = right if isinstance(right, Program) else Program(right)
    if left.expression.is_boolean != right.expression.is_boolean:
        raise InputError(f"a formula cannot be compared with a number, got {left} and {right}")
    if not 0 < timeout <= LONGEST:
        raise InputError(f"the time limit must be more than 0 and at most {LONGEST:,.0f} seconds, got {timeout}")
    bounds = _bounds(over, low, high)
    if over != "auto":
        return _compare(left, right, over, bounds, timeout)
    on_reals = _compare(left, right, "reals", bounds, timeout)
    if on_reals or on_reals.integral or not _has_integers(bounds):
        return on_reals
    on_integers = _compare(left, right, "integers", bounds, timeout)
    return on_integers if on_integers.row is not None else replace(on_reals, same_for_integers=bool(on_integers))


def _compare(left: Program, right: Program, over: str, bounds: Bounds, timeout: float) -> Equivalence:
    with needs_extra("prove"):
        import z3

    search = _Search(z3, left, right, over, bounds)
    equal = search.exhausted(timeout)
    if equal is not False:
        return Equivalence(equal, over, *bounds, timeout=timeout)
    row = search.simple_row()
    answers = left(row), right(row)  # exact, so that the solver need not be trusted
    if answers[0] == answers[1] and search.rounded:
        return Equivalence(None, over, *bounds, timeout=timeout)
    if answers[0] == answers[1]:
        raise RuntimeError(f"z3 claims that {left} and {right} differ at {row}, where both give {answers[0]}")
    return Equivalence(False, over, *bounds, row=row, answers=answers, timeout=timeout)


def _bounds(over: str, low: Number | None, high: Number | None) -> Bounds:
    lowest, highest = (None if bound is None else rational(bound) for bound in (low, high))
    if lowest is not None and highest is not None and lowest > highest:
        raise InputError(f"low must be at most high, got {low} and {high}")
    if over == "integers" and not _has_integers((lowest, highest)):
        raise InputError(f"there is no integer from {low} to {high}")
    return lowest, highest


def _has_integers(bounds: Bounds) -> bool:
    low, high = bounds
    return low is None or high is None or ceil(low) <= high


class _Search:
    """Looks for rows in a range where two programs differ."""

    def __init__(self, z3: Any, left: Program, right: Program, over: str, bounds: Bounds) -> None:
        self.z3, self.over, self.rounded = z3, over, False
        names = dict.fromkeys((*left.inputs, *right.inputs))
        symbols, sort = {name: f"x{position}" for position, name in enumerate(names)}, DOMAINS[over][0]
        self.solver = z3.Solver(ctx=z3.Context())
        lines = [f"(declare-const {symbol} {sort})" for symbol in symbols.values()]
        lines += [f"(assert {condition})" for condition in _conditions(left, right, symbols, sort, bounds)]
        self.solver.from_string("\n".join(lines))
        make = z3.Int if sort == "Int" else z3.Real
        self.columns = {name: make(symbol, self.solver.ctx) for name, symbol in symbols.items()}

    def exhausted(self, seconds: float) -> bool | None:
        """True if there is no further row, False if there is one, None if time runs out."""
        self.solver.set("timeout", max(1, int(1000 * seconds)))
        found = self.solver.check()
        return None if found == self.z3.unknown else bool(found == self.z3.unsat)

    def row(self) -> Row:
        """The row that was found last; irrational numbers, such as a root of 2, are rounded."""
        model = self.solver.model()
        values = {name: model.eval(column, model_completion=True) for name, column in self.columns.items()}
        irrational = {name for name, value in values.items() if self.z3.is_algebraic_value(value)}
        self.rounded = bool(irrational)
        rational = {name: value.approx(20) if name in irrational else value for name, value in values.items()}
        return {name: _number(value.as_string()) for name, value in rational.items()}

    def row_where(self, *conditions: Any) -> Row | None:
        """A row that meets further conditions, if one is found quickly."""
        self.solver.push()
        self.solver.add(*conditions)
        row = self.row() if self.exhausted(STEP) is False else None
        self.solver.pop()
        return row

    def simple_row(self) -> Row:
        """A row that is easy to read: of integers, else of halves, else of tenths; and small numbers."""
        any_row, deadline = self.row(), time.monotonic() + SEARCH
        for unit in UNITS if self.over == "reals" else UNITS[:1]:
            grid = [self.z3.IsInt(unit * column) for column in self.columns.values() if self.over == "reals"]
            if (row := self.row_where(*grid)) is not None:
                self.solver.add(*grid)
                return self.small_row(row, unit, deadline)
        return any_row

    def small_row(self, row: Row, unit: int, deadline: float) -> Row:
        """Make one number after the other as small as those before it allow."""
        for name, column in self.columns.items():
            smallest, largest = 0, int(abs(Fraction(row[name])) * unit)
            while smallest < largest < HUGE and time.monotonic() < deadline:
                middle = (smallest + largest) // 2
                found = self.row_where(unit * column >= -middle, unit * column <= middle)
                if found is None:
                    smallest = middle + 1
                else:
                    row, largest = found, int(abs(Fraction(found[name])) * unit)
            if largest >= HUGE:
                return row
            row = self.row_where(unit * column == largest) or row
            self.solver.add(unit * column == int(row[name] * unit))
        return row


def _conditions(left: Program, right: Program, symbols: Mapping[str, str], sort: str, bounds: Bounds) -> Iterator[str]:
    """What holds for a row in the range where the programs differ, in SMT-LIB without fractions."""

    def write(expression: Expression) -> str:
        return term(with_integer_coefficients(expression), symbols, sort)

    if left.expression.is_boolean:
        yield f"(distinct {write(left.expression)} {write(right.expression)})"
    else:
        yield write(Compare("!=", left.expression, right.expression))
    for name in symbols:
        for operator, bound in zip((">=", "<="), bounds, strict=True):
            if bound is not None:
                yield write(Compare(operator, Variable(name), bound))


def _number(digits: str) -> Fraction | int:
    """A number of any length; ``int`` reads at most 4,300 digits."""
    above, _, below = digits.partition("/")
    value = Fraction(Decimal(above)) / Fraction(Decimal(below or "1"))
    return value.numerator if value.denominator == 1 else value
