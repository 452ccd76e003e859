"""Whether two programs give the same answer for all inputs: a proof by z3, or a row where they differ."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

from nsr.errors import InputError, needs_extra, one_of
from nsr.program import text
from nsr.program.cells import exact_answer, needs_cells
from nsr.program.conditions import Condition, OneOf
from nsr.program.emit.smtlib import Terms, gap_columns
from nsr.program.evaluation import evaluate
from nsr.program.expressions import LARGEST_POWER, Compare, Expression, Number, Product, Variable, rational, total
from nsr.program.integers import with_integer_coefficients
from nsr.program.kinds import Kind
from nsr.program.lowering import has_cells, without_negations
from nsr.program.program import Program
from nsr.program.substitution import rebuilt
from nsr.program.times import EPOCH, POINTS, UNITS, duration_text, microseconds, point_text

DOMAINS = {"reals": ("Real", "numbers"), "integers": ("Int", "integers"), "steps": ("Real", "multiples")}
"""For each set of inputs, the sort in SMT-LIB and the word in a sentence."""

LONGEST = 86_400.0
SEARCH, STEP = 2.0, 0.25
"""Seconds spent on making a row simpler, and on each attempt."""

UNITS_OF_NUMBERS = (1, 2, 10)
"""A row of integers is preferred, then one of halves, then one of tenths."""

HUGE = 10**100
"""Numbers from here on are not made smaller."""

FIRST, LAST = microseconds(datetime.min), microseconds(datetime.max)
LONGEST_DURATION = 999_999_999 * UNITS["day"]
"""What Python's dates, times and durations can be, and therefore a row."""

Numbers = dict[str, Fraction | int]
Row = dict[str, Any]
"""Numbers, texts, truth values, dates, times and durations, as ``Program`` takes them; None for a missing cell."""
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
    """The inputs that were considered: ``reals``, ``integers`` or ``steps``."""
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
    has_cells: bool = False
    """Whether there are texts, dates or the like, so that rows are not only numbers."""
    steps: Mapping[str, Fraction] = field(default_factory=dict, hash=False)
    """For ``steps``, or where they are the same for these: the number that all numbers of a column are multiples of."""
    gaps: tuple[str, ...] = ()
    """The columns whose cells may be missing."""
    where_missing: "Equivalence | None" = field(default=None, hash=False)
    """For two that are the same for all rows without missing cells, a row with one where they differ, or no proof."""
    known_texts: bool = False
    """Whether columns have no texts but those of a table, and those that the programs name."""
    other_texts: "Equivalence | None" = field(default=None, hash=False)
    """For two that are the same for all of these texts, a row with another text where they differ, or no proof."""

    def __bool__(self) -> bool:
        return self.equal is True

    @property
    def integral(self) -> bool:
        """Whether they differ at a row of integers."""
        return self.row is not None and not any(
            isinstance(v, Fraction) and v.denominator > 1 for v in self.row.values()
        )

    def __str__(self) -> str:
        integers = f"the same for all integers{self._range()}; " if self.same_for_integers else ""
        if self.steps and self.over != "steps":
            integers = f"the same for all {self._multiples()}{self._range()}; "
        if self.where_missing is not None:
            which = "missing cells in other columns" if self.gaps else "missing cells"
            return f"{replace(self, where_missing=None)}; with {which}, {self.where_missing._beyond()}"
        if self.other_texts is not None:
            return f"{replace(self, other_texts=None)}; with other texts, {self.other_texts._beyond()}"
        if self.row is None or self.answers is None:
            found = "the same" if self.equal else f"not decided within {self.timeout:g} s"
            return f"{integers}{found} for all {self._inputs()}{self._range()}"
        values = ", ".join(f"{text.name(name)} {_shown_cell(value)}" for name, value in self.row.items())
        one, other = (answer if isinstance(answer, str) else _shown(answer) for answer in self.answers)  # a class
        return f"{integers}{'they ' if integers else ''}differ{' at ' if values else ''}{values}: {one} and {other}"

    def _beyond(self) -> str:
        return f"they {self}" if self.row is not None else f"not decided within {self.timeout:g} s"

    def _inputs(self) -> str:
        inputs = self._multiples() if self.over == "steps" else DOMAINS[self.over][1]
        if not self.has_cells:
            return inputs
        return "rows" if self.over == "reals" else f"rows of {inputs}"

    def _multiples(self) -> str:
        """What the numbers are: ``multiples of 0.1``, if that is so in all columns."""
        steps = {text.number(step) for step in self.steps.values()}
        if len(steps) > 1:
            return "numbers in the steps of the columns"
        return "integers" if steps == {"1"} else f"multiples of {steps.pop()}"

    def _range(self) -> str:
        low, high = (None if bound is None else text.number(bound) for bound in (self.low, self.high))
        texts = " with the texts of the table" if self.known_texts else ""
        if low is not None and high is not None:
            return f" from {low} to {high}{texts}"
        least_or_most = f" of at least {low}" if low is not None else f" of at most {high}" if high is not None else ""
        return f"{least_or_most}{texts}"


def _shown_cell(value: Any) -> str:
    return "is missing" if value is None else f"= {_shown(value)}"


def _shown(value: Any) -> str:
    """Write a cell or an answer."""
    match value:
        case None:
            return "missing"
        case bool():
            return str(value)
        case int() | Fraction() | float():
            return text.number(rational(value))
        case str():
            return text.quoted(value)
        case date():
            return point_text(microseconds(value)) or str(value)
        case timedelta():
            size = duration_text(abs(microseconds(value)))
            return f"-{size}" if value < timedelta(0) else str(size)
    return str(value)


@dataclass(frozen=True)
class AsWritten:
    """A formula or a number that is compared as it was typed: at missing cells, its canonical form may differ.

    A comparison with a missing cell is false, and so is its negation; ``where`` takes its last branch then.
    """

    expression: Expression
    """Without negations of more than a comparison or a condition."""

    @classmethod
    def of(cls, typed: Expression) -> "AsWritten":
        """What was typed; an ``InputError`` if it cannot be a program."""
        Program(typed)
        return cls(without_negations(typed))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of its columns."""
        return self.expression.variables

    def __str__(self) -> str:
        return str(self.expression)


def compare(
    left: Program,
    right: Program | Expression | AsWritten,
    *,
    over: str = "reals",
    low: Number | None = None,
    high: Number | None = None,
    timeout: float = 10.0,
    missing: bool | Collection[str] | None = None,
    steps: Mapping[str, Fraction] | None = None,
    texts: Mapping[str, Collection[str]] | None = None,
    unseen: bool = False,
) -> Equivalence:
    """Prove that two programs are the same, or find a simple row where they differ; see ``Program.equivalent``.

    Args:
        left: A program.
        right: Another one, or an expression as it was typed.
        over: As for ``Program.equivalent``; also ``steps``.
        low: The least number that an input can be.
        high: The largest.
        timeout: Seconds for each proof.
        missing: Whether cells may be missing, or in which columns.
        steps: For columns of numbers, what all numbers in them are multiples of. With ``auto``, this is tried in the
            place of integers.
        texts: For columns of texts, all that a table has there. They have no others but those that a program compares
            them with.
        unseen: Whether they may have any other text, too.
    """
    one_of("set of numbers", over, [each for each in (*DOMAINS, "auto") if steps or each != "steps"])
    if not isinstance(right, Program | Expression | AsWritten):
        raise InputError(f"a program can only be compared with another program, got {type(right).__name__}")
    right = Program(right) if isinstance(right, Expression) else right
    if left.expression.is_boolean != right.expression.is_boolean:
        raise InputError(f"a formula cannot be compared with a number, got {left} and {right}")
    largest = max(_degree(left.expression), _degree(right.expression))
    if largest > LARGEST_POWER:
        raise InputError(
            f"programs can be compared with powers and products of up to {LARGEST_POWER} factors, got {largest:,}"
        )
    if not 0 < timeout <= LONGEST:
        raise InputError(f"the time limit must be more than 0 and at most {LONGEST:,.0f} seconds, got {timeout}")
    kinds = left.expression.kinds
    for name, kind in right.expression.kinds.items():
        if kinds.setdefault(name, kind) != kind:
            raise InputError(
                f"column {name!r} is of kind {str(kinds[name])!r} in one program and {str(kind)!r} in the other: "
                f"give kinds={{{name!r}: ...}} to Program.parse"
            )
    bounds = _bounds(over, low, high)
    known = {name: step for name, step in (steps or {}).items() if kinds.get(name) == Kind.NUMBER}
    fractional = any(step.denominator > 1 for step in known.values())

    def proof(over: str) -> Equivalence:
        inputs = _Inputs.of(left, right, over, missing, known if over == "steps" else {}, _Texts(texts or {}, unseen))
        return _compare(left, right, inputs, bounds, timeout)

    if over != "auto":
        return proof(over)
    on_reals = proof("reals")
    if on_reals or on_reals.integral or not (fractional or _has_integers(bounds)):
        return on_reals
    again = proof("steps" if fractional else "integers")
    if again.row is not None:
        return again
    return replace(on_reals, steps=known) if again and fractional else replace(on_reals, same_for_integers=bool(again))


def _compare(
    left: Program,
    right: Program | AsWritten,
    inputs: "_Inputs",
    bounds: Bounds,
    timeout: float,
) -> Equivalence:
    with needs_extra("prove"):
        import z3

    search, gaps = _Search(z3, left, right, inputs, bounds), tuple(inputs.gaps)
    cells = has_cells(left.expression) or has_cells(right.expression) or bool(gaps)
    unknown = Equivalence(
        None,
        inputs.over,
        *bounds,
        timeout=timeout,
        has_cells=cells,
        steps=inputs.steps,
        gaps=gaps,
        known_texts=bool(inputs.allowed),
    )
    equal = search.exhausted(timeout)
    if equal is not False:
        return replace(unknown, equal=equal)
    row = search.simple_row()
    answers = _answer(left, row), _answer(right, row)  # exact, so that the solver need not be trusted
    if answers[0] == answers[1] and search.rounded:
        return unknown
    if answers[0] == answers[1]:
        raise RuntimeError(f"z3 claims that {left} and {right} differ at {row}, where both give {answers[0]}")
    return replace(unknown, equal=False, row=row, answers=answers)


def _answer(program: Program | AsWritten, row: Row) -> Any:
    """What a program gives for a row, as an exact number where it is one."""
    columns = {name: row[name] for name in program.inputs}
    if needs_cells(program.expression, columns):
        return exact_answer(program.expression, columns)
    return evaluate(program.expression, columns)


def _degree(node: Expression) -> int:
    """How many columns are multiplied at most."""
    degrees = map(_degree, node.children)
    if isinstance(node, Product):
        return sum(degrees)
    return max(degrees, default=int(isinstance(node, Variable)))


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


@dataclass(frozen=True)
class _Texts:
    """The texts of a table."""

    known: Mapping[str, Collection[str]]
    """By column."""
    unseen: bool
    """Whether there may be others."""


@dataclass(frozen=True)
class _Inputs:
    """The columns of two programs, and how the solver knows them."""

    kinds: Mapping[str, Kind]
    gaps: Sequence[str]
    """The columns that may be missing."""
    texts: Sequence[str]
    """All texts in the programs, and those of the table: the solver knows a text by its position, and other texts by
    further numbers."""
    allowed: Mapping[str, Collection[str]]
    """For columns that cannot have any text, those that they can have."""
    over: str
    steps: Mapping[str, Fraction]
    """For columns of numbers, what all numbers in them are multiples of: the solver knows how many times."""

    @classmethod
    def of(
        cls,
        left: Program,
        right: Program | AsWritten,
        over: str,
        missing: bool | Collection[str] | None,
        steps: Mapping[str, Fraction],
        texts: _Texts,
    ) -> "_Inputs":
        expressions = left.expression, right.expression
        kinds = left.expression.kinds | right.expression.kinds
        used = {name: kinds[name] for name in (*left.inputs, *right.inputs)}
        named = {name: {*each} for name, each in texts.known.items() if used.get(name) == Kind.TEXT}
        limited = [] if texts.unseen else [*named]
        conditions = [node for each in expressions for node in each.walk() if isinstance(node, OneOf)]
        for condition in conditions:
            named.setdefault(condition.column.name, set()).update(condition.texts)
        return cls(
            used,
            gap_columns(expressions, missing),
            sorted(set().union(*named.values())),
            {name: named[name] for name in limited},
            over,
            steps,
        )

    @property
    def symbols(self) -> dict[str, str]:
        return {name: f"x{position}" for position, name in enumerate(self.kinds)}

    @property
    def missing(self) -> dict[str, str]:
        return {name: f"missing_{self.symbols[name]}" for name in self.gaps}

    @property
    def sort(self) -> str:
        """The sort of columns of numbers; those with steps are counted in them."""
        counted = self.steps and all(name in self.steps for name, kind in self.kinds.items() if kind == Kind.NUMBER)
        return "Int" if counted else DOMAINS[self.over][0]

    def counted(self, expression: Expression) -> Expression:
        """An expression on columns that are counted in their steps."""
        if isinstance(expression, Variable) and expression.name in self.steps:
            return total([(self.steps[expression.name], expression)])
        if isinstance(expression, Condition) or not self.steps:
            return expression
        return rebuilt(expression, [self.counted(child) for child in expression.children])

    @property
    def sorts(self) -> dict[str, str]:
        other = {Kind.NUMBER: self.sort, Kind.BOOLEAN: "Bool"}
        return {name: other.get(kind, "Int") for name, kind in self.kinds.items()}

    @property
    def terms(self) -> Terms:
        return Terms(self.symbols, self.sort, self.sort, self.missing, lambda each: str(self.texts.index(each)))

    def cell(self, name: str, number: Fraction | int) -> Any:
        """What stands in a row for a number that the solver found."""
        match self.kinds[name]:
            case Kind.TEXT:
                position = int(number)
                return self.texts[position] if position < len(self.texts) else self.other_text(position)
            case Kind.DATE:
                return EPOCH.date() + timedelta(days=int(number))
            case Kind.TIMESTAMP:
                return EPOCH + timedelta(microseconds=int(number))
            case Kind.DURATION:
                return timedelta(microseconds=int(number))
        return _int_if_integral(number * self.steps.get(name, 1))

    def other_text(self, position: int) -> str:
        """A text that is not in the programs; a different one for each position."""
        word = "other" if position == len(self.texts) else f"other {position}"
        while word in self.texts:
            word += "_"
        return word


class _Search:
    """Looks for rows in a range where two programs differ."""

    def __init__(self, z3: Any, left: Program, right: Program | AsWritten, inputs: _Inputs, bounds: Bounds) -> None:
        self.z3, self.inputs, self.rounded = z3, inputs, False
        self.solver = z3.Solver(ctx=z3.Context())
        symbols, sorts = inputs.symbols, inputs.sorts
        lines = [f"(declare-const {symbols[name]} {sort})" for name, sort in sorts.items()]
        lines += [f"(declare-const {symbol} Bool)" for symbol in inputs.missing.values()]
        lines += [
            f"(assert {condition})" for condition in _conditions(left.expression, right.expression, inputs, bounds)
        ]
        self.solver.from_string("\n".join(lines))
        make = {"Int": z3.Int, "Real": z3.Real, "Bool": z3.Bool}
        constants = {name: make[sort](symbols[name], self.solver.ctx) for name, sort in sorts.items()}
        self.columns = {name: constant for name, constant in constants.items() if sorts[name] != "Bool"}
        self.flags = {name: constant for name, constant in constants.items() if sorts[name] == "Bool"}
        self.gaps = {name: z3.Bool(symbol, self.solver.ctx) for name, symbol in inputs.missing.items()}

    def exhausted(self, seconds: float) -> bool | None:
        """True if there is no further row, False if there is one, None if time runs out."""
        self.solver.set("timeout", max(1, int(1000 * seconds)))
        found = self.solver.check()
        return None if found == self.z3.unknown else bool(found == self.z3.unsat)

    def row(self) -> Numbers:
        """The numbers of the row that was found last; irrational ones, such as a root of 2, are rounded."""
        model = self.solver.model()
        values = {name: model.eval(column, model_completion=True) for name, column in self.columns.items()}
        irrational = {name for name, value in values.items() if self.z3.is_algebraic_value(value)}
        self.rounded = bool(irrational)
        rational = {name: value.approx(20) if name in irrational else value for name, value in values.items()}
        return {name: _number(value.as_string()) for name, value in rational.items()}

    def row_where(self, *conditions: Any) -> Numbers | None:
        """A row that meets further conditions, if one is found quickly."""
        self.solver.push()
        self.solver.add(*conditions)
        row = self.row() if self.exhausted(STEP) is False else None
        self.solver.pop()
        return row

    def simple_row(self) -> Row:
        """A row that is easy to read: few missing cells; integers, else halves, else tenths; and small numbers."""
        numbers, truths, deadline = self.row(), self.truths(), time.monotonic() + SEARCH
        if self.gaps or self.flags:
            for gap in self.gaps.values():
                if self.row_where(self.z3.Not(gap)) is not None:
                    self.solver.add(self.z3.Not(gap))
            if self.exhausted(STEP) is False:
                numbers, truths = self.row(), self.truths()
            self.solver.add(*(constant == truths[constant] for constant in truths))
        real = [self.columns[name] for name, sort in self.inputs.sorts.items() if sort == "Real"]
        for unit in UNITS_OF_NUMBERS if real else UNITS_OF_NUMBERS[:1]:
            grid = [self.z3.IsInt(unit * column) for column in real]
            if (row := self.row_where(*grid)) is not None:
                self.solver.add(*grid)
                return self.cells(self.small_row(row, unit, deadline), truths)
        return self.cells(numbers, truths)

    def truths(self) -> dict[Any, bool]:
        """The truth values in the row that was found last, and which of its cells are missing."""
        model = self.solver.model()
        constants = (*self.flags.values(), *self.gaps.values())
        return {each: self.z3.is_true(model.eval(each, model_completion=True)) for each in constants}

    def cells(self, numbers: Numbers, truths: Mapping[Any, bool]) -> Row:
        """A row as ``Program`` takes it."""
        row: Row = {name: self.inputs.cell(name, number) for name, number in numbers.items()}
        row |= {name: truths[flag] for name, flag in self.flags.items()}
        row |= {name: None for name, gap in self.gaps.items() if truths[gap]}
        return {name: row[name] for name in self.inputs.kinds}

    def small_row(self, row: Numbers, unit: int, deadline: float) -> Numbers:
        """Make one number after the other as small as those before it allow."""
        for name, column in self.columns.items():
            step = unit if self.inputs.kinds[name] == Kind.NUMBER else 1
            smallest, largest = 0, int(abs(Fraction(row[name])) * step)
            while smallest < largest < HUGE and time.monotonic() < deadline:
                middle = (smallest + largest) // 2
                found = self.row_where(step * column >= -middle, step * column <= middle)
                if found is None:
                    smallest = middle + 1
                else:
                    row, largest = found, int(abs(Fraction(found[name])) * step)
            if largest >= HUGE:
                return row
            row = self.row_where(step * column == largest) or row
            self.solver.add(step * column == int(row[name] * step))
        return row


def _conditions(left: Expression, right: Expression, inputs: _Inputs, bounds: Bounds) -> Iterator[str]:
    """What holds for a row in the range where the programs differ, in SMT-LIB without fractions."""
    terms = inputs.terms
    left, right = inputs.counted(left), inputs.counted(right)
    if left.is_boolean:
        one, other = (terms.guarded(with_integer_coefficients(each)) for each in (left, right))
        yield f"(distinct {one} {other})"
    else:
        one, other = map(terms.guarded, with_integer_coefficients(Compare("!=", left, right)).children)
        present = [terms.present(each) for each in (left, right)]
        unequal = f"(distinct {one} {other})"
        yield f"(or (distinct {' '.join(present)}) (and {present[0]} {unequal}))" if inputs.gaps else unequal
    for name, kind in inputs.kinds.items():
        if kind == Kind.NUMBER:
            if name in inputs.steps and inputs.sort == "Real":
                yield f"(is_int {inputs.symbols[name]})"
            for operator, bound in zip((">=", "<="), bounds, strict=True):
                if bound is not None:
                    compared = inputs.counted(Compare(operator, Variable(name), bound))
                    yield terms.term(with_integer_coefficients(compared))
        elif kind != Kind.BOOLEAN:
            yield _range_of(inputs.symbols[name], kind)
        if name in inputs.allowed:
            yield terms.condition(OneOf(Variable(name, kind), sorted(inputs.allowed[name])))


def _range_of(symbol: str, kind: Kind) -> str:
    """The numbers of texts, and the dates, times or durations that Python has."""
    if kind == Kind.TEXT:
        return f"(>= {symbol} 0)"
    low, high = (FIRST, LAST) if kind in POINTS else (-LONGEST_DURATION, LONGEST_DURATION)
    unit = UNITS["day"] if kind == Kind.DATE else 1
    return f"(and (>= {symbol} (- {-low // unit})) (<= {symbol} {high // unit}))"


def _number(digits: str) -> Fraction | int:
    """A number of any length; ``int`` reads at most 4,300 digits."""
    above, _, below = digits.partition("/")
    return _int_if_integral(Fraction(Decimal(above)) / Fraction(Decimal(below or "1")))


def _int_if_integral(value: Fraction | int) -> Fraction | int:
    return value.numerator if value.denominator == 1 else value
