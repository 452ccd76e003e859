"""Random tables with a known rule: a few columns that matter among many of other scales that do not.

Rows are drawn naturally: none is placed on a border. The columns that matter are drawn as integer steps of a unit (1,
1000, 0.01, or a power of two for numbers with many digits), and the rule is evaluated on these integers, so that the
answers are exact. A draw is repeated, with new parameters and rows, until every class has its share and the rows rule
out constants that are as round as the true ones, and ``>`` for ``>=`` unless no row shows the tie. ``far`` draws fresh
rows whose ranges are many times as wide.

``rule_lines.py`` lists the rules. Nothing here is shared with the search.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from nsr.errors import one_of

Columns = Mapping[str, np.ndarray]
Steps = Mapping[str, np.ndarray]
Truth = Callable[[Steps], np.ndarray]
Kind = Literal["binary", "classes", "number"]

ROWS = (300, 2000)
"""Rows of a table, from and to."""
DISTRACTORS = (5, 20)
"""Columns that do not matter, from and to."""
SCALES = (-3, 6)
"""Their scales are drawn log-uniformly, from and to these powers of ten."""
ATTEMPTS = 2000
"""How often a table may be drawn again."""
TOGETHER = 8
"""One far row in so many keeps columns of a unit near each other, and one in so many is drawn as before."""
FLOAT = 2**20
"""Steps in 1 for columns of floats with many digits: sums of them are exact."""


@dataclass(frozen=True)
class Scale:
    """Numbers that are integer multiples of ``unit / per``."""

    unit: int = 1
    per: int = 1

    def values(self, steps: np.ndarray) -> np.ndarray:
        """The numbers of a column: integers, or the floats nearest to the decimals."""
        return np.asarray(steps * self.unit if self.per == 1 else steps * self.unit / self.per)

    def exact(self, steps: Any) -> Fraction:
        """One number."""
        return Fraction(int(steps) * self.unit, self.per)

    def text(self, steps: Any) -> str:
        """One number as it is written."""
        return number(self.exact(steps))


def number(value: Fraction) -> str:
    """A decimal fraction as text.

    >>> number(Fraction(75, 2)), number(Fraction(-3)), number(Fraction(1, 100))
    ('37.5', '-3', '0.01')
    """
    digits = next((digits for digits in range(40) if (value * 10**digits).denominator == 1), None)
    if digits is None:
        raise ValueError(f"value must have finitely many digits, got {value}")
    scaled = str(abs(int(value * 10**digits))).rjust(digits + 1, "0")
    text = f"{scaled[: len(scaled) - digits]}.{scaled[len(scaled) - digits :]}" if digits else scaled
    return f"-{text}" if value < 0 else text


@dataclass(frozen=True)
class Column:
    """How the steps of one column that matters are drawn."""

    low: int
    high: int
    shape: str = "uniform"
    """``uniform``, ``normal``, ``skewed``, or ``flag``, which is never stretched."""
    scale: Scale = Scale()
    group: str = ""
    """Columns of one group share a unit: some far rows keep them near each other."""

    def draw(self, rng: np.random.Generator, rows: int, stretch: int) -> np.ndarray:
        """Steps of fresh rows; ranges are ``stretch`` times as wide."""
        if self.shape == "flag":
            return rng.integers(0, 2, rows)
        low, high = self.low * stretch, self.high * stretch
        match self.shape:
            case "uniform":
                return rng.integers(low, high + 1, rows)
            case "normal":
                return np.rint((low + high) / 2 + 0.2 * (high - low) * rng.normal(size=rows)).astype(np.int64)
        return low + np.rint(0.2 * (high - low) * rng.lognormal(sigma=0.7, size=rows)).astype(np.int64)


@dataclass(frozen=True)
class Plan:
    """A rule with its parameters, and how rows for it are drawn."""

    rule: str
    """In the language of ``Program.parse``."""
    columns: Mapping[str, Column]
    truth: Truth
    """Answers in steps of ``answer``, from columns in steps."""
    answer: Scale = Scale()
    rivals: tuple[Truth, ...] = ()
    """The rule with a constant that is as round. The rows of a table contradict each."""
    branch: Truth | None = None
    """For numbers: which case of the rule a row is."""
    least: float = 0.1
    """The share of the rows that every class, or every branch, has at least."""
    most: float = 0.9
    ties: tuple[tuple[str, Truth], ...] = ()
    """Ties of a formula, as a column and a difference that is 0. Of the rows that show one, it decides some."""


@dataclass(frozen=True)
class Line:
    """One kind of table."""

    name: str
    title: str
    kind: Kind
    plan: Callable[[np.random.Generator], Plan | None]
    """Draws parameters; None if they do not go together."""


@dataclass(frozen=True)
class Distractor:
    """A column that does not matter."""

    kind: str
    scale: float
    source: str | None = None
    """The distractor that it follows with some noise."""

    def draw(self, rng: np.random.Generator, rows: int, before: Columns) -> np.ndarray:
        """Fresh numbers; ``before`` are the distractors that are there."""
        match self.kind:
            case "normal":
                return self.scale * rng.normal(0.5, size=rows)
            case "uniform":
                return self.scale * rng.uniform(size=rows)
            case "lognormal":
                return self.scale * rng.lognormal(size=rows)
            case "integer":
                return rng.integers(0, max(2, round(self.scale)), rows)
            case "flag":
                return rng.integers(0, 2, rows)
            case "few":
                return rng.integers(1, 6, rows)
        assert self.source is not None
        source = before[self.source]
        return np.asarray(source + 0.3 * source.std() * rng.normal(size=rows))


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Rows of one line. ``columns`` are in the shuffled order of the table."""

    line: Line
    plan: Plan
    columns: Columns
    y: np.ndarray
    steps: Steps
    """The columns that matter, as integers."""
    distractors: tuple[Distractor, ...] = field(repr=False)

    @property
    def rule(self) -> str:
        """The true rule, as text for ``Program.parse``."""
        return self.plan.rule

    @property
    def kind(self) -> Kind:
        """``binary``, ``classes`` or ``number``."""
        return self.line.kind

    @property
    def classification(self) -> bool:
        """Whether y holds labels rather than numbers."""
        return self.kind != "number"

    @property
    def integers(self) -> bool:
        """Whether all columns that matter are integers."""
        return all(column.scale.per == 1 for column in self.plan.columns.values())

    def exact_row(self, row: int) -> dict[str, Fraction]:
        """The decimals of one row that the floats stand for, of the columns that matter."""
        return {name: column.scale.exact(self.steps[name][row]) for name, column in self.plan.columns.items()}

    def exact_answer(self, row: int) -> Fraction:
        """The exact answer for one row, if no label is flipped."""
        return self.plan.answer.exact(self.plan.truth({name: steps[[row]] for name, steps in self.steps.items()})[0])

    def near(self, rng: np.random.Generator, rows: int = 2000) -> "RuleTable":
        """Fresh rows of the same ranges. No label is flipped."""
        return self._fresh(rng, _steps(self.plan, rng, rows, 1))

    def far(self, rng: np.random.Generator, magnitude: int = 1000, rows: int = 2000) -> "RuleTable":
        """Fresh rows in which the ranges of the columns that matter are so many times as wide.

        In an eighth of the rows, columns of a unit are far from 0 but near each other; an eighth is drawn as before.
        """
        part = rows // TOGETHER
        wide, together, as_before = (
            _steps(self.plan, rng, count, stretch)
            for count, stretch in ((rows - 2 * part, magnitude), (part, 1), (part, 1))
        )
        bases: dict[str, np.ndarray] = {}
        for name, column in self.plan.columns.items():
            if column.shape != "flag":
                if column.group not in bases:
                    bases[column.group] = column.draw(rng, part, magnitude)
                together[name] = together[name] + bases[column.group]
        steps = {name: np.concatenate([wide[name], together[name], as_before[name]]) for name in wide}
        return self._fresh(rng, steps)

    def resized(self, rng: np.random.Generator, rows: int, columns: int) -> "RuleTable":
        """A table with the same rule and other numbers of rows and of columns."""
        others = columns - len(self.plan.columns)
        if others < 0:
            raise ValueError(f"columns must be at least {len(self.plan.columns)}, got {columns}")
        distractors = draw_distractors(rng, (others, others))
        names = [*self.plan.columns, *(f"n{position}" for position in range(1, others + 1))]
        order = dict.fromkeys(map(str, rng.permutation(names)), np.empty(0))
        return replace(self, distractors=distractors, columns=order).near(rng, rows)

    def _fresh(self, rng: np.random.Generator, steps: Steps) -> "RuleTable":
        drawn = _columns(self.plan, steps, self.distractors, rng)
        columns = {name: drawn[name] for name in self.columns}
        return replace(self, columns=columns, y=_answers(self.line, self.plan, steps), steps=steps)


def rule_table(line: str, rng: np.random.Generator, *, flipped: float = 0.0) -> Any:
    """A table of a line of ``LINES``, or of one of the first kinds of ``no_rule_tables.RULELESS``.

    Args:
        line: Its name.
        rng: Everything is drawn from it.
        flipped: Share of the labels that are changed to another class, for lines with classes.
    """
    from no_rule_tables import RULELESS, no_rule_table
    from rule_lines import LINES

    one_of("line", line, {**LINES, **RULELESS})
    if not 0 <= flipped < 0.5:
        raise ValueError(f"flipped must be from 0 to less than 0.5, got {flipped}")
    if line in RULELESS:
        return no_rule_table(line, rng)
    if flipped and LINES[line].kind == "number":
        raise ValueError(f"flipped must be 0 for {line!r}, whose answers are numbers, got {flipped}")
    plan, steps = _natural_draw(LINES[line], rng)
    distractors = draw_distractors(rng)
    drawn = _columns(plan, steps, distractors, rng)
    y = _answers(LINES[line], plan, steps)
    order = rng.permutation(list(drawn))
    if flipped:  # last, so that the rows are those of the table without
        _flip(y, round(flipped * len(y)), rng)
    return RuleTable(LINES[line], plan, {str(name): drawn[name] for name in order}, y, steps, distractors)


def _natural_draw(line: Line, rng: np.random.Generator) -> tuple[Plan, dict[str, np.ndarray]]:
    """Parameters and rows such that every class has its share and no rival explains the rows."""
    for _ in range(ATTEMPTS):
        plan = line.plan(rng)
        if plan is None:
            continue
        rows = round(np.exp(rng.uniform(*np.log(ROWS))))
        steps = _steps(plan, rng, rows, 1)
        y = plan.truth(steps)
        cases = plan.branch(steps) if plan.branch else y if line.kind != "number" else None
        if cases is not None:
            shares = np.unique(np.asarray(cases).astype(np.int64), return_counts=True)[1] / rows
            expected = _cases(plan, rng)
            if len(shares) < expected or shares.min() < plan.least or shares.max() > plan.most:
                continue
        if any((np.asarray(rival(steps)) == y).all() for rival in plan.rivals):
            continue
        if any(_shown_in_vain(plan, steps, *tie) for tie in plan.ties):
            continue
        return plan, steps
    raise RuntimeError(f"no table of {line.name!r} in {ATTEMPTS} attempts")


def _shown_in_vain(plan: Plan, steps: Steps, column: str, difference: Truth) -> bool:
    """Whether rows show a tie, and the answer of none of them depends on it."""
    tied = {name: values[difference(steps) == 0] for name, values in steps.items()}
    below, above = (plan.truth({**tied, column: tied[column] + half}) for half in (-0.5, 0.5))
    return bool(len(tied[column]) and (np.asarray(below) == above).all())


def _cases(plan: Plan, rng: np.random.Generator) -> int:
    """How many classes or branches many rows show, two at least."""
    steps = _steps(plan, rng, 5000, 1)
    return max(2, len(np.unique(np.asarray((plan.branch or plan.truth)(steps)).astype(np.int64))))


def _flip(y: np.ndarray, count: int, rng: np.random.Generator) -> None:
    """Change so many labels to another class, drawn at random."""
    labels = np.unique(y)
    rows = rng.permutation(len(y))[:count]
    shift = rng.integers(1, len(labels), count)
    y[rows] = labels[(np.searchsorted(labels, y[rows]) + shift) % len(labels)]


def draw_distractors(rng: np.random.Generator, count: tuple[int, int] = DISTRACTORS) -> tuple[Distractor, ...]:
    """The columns that do not matter, the first of which follows no other."""
    kinds = ["normal", "uniform", "lognormal", "integer", "flag", "few", "copy"]
    found: list[Distractor] = []
    for position in range(int(rng.integers(count[0], count[1] + 1))):
        kind = str(rng.choice(kinds if position else kinds[:-1]))
        source = f"n{rng.integers(1, position + 1)}" if kind == "copy" else None
        found.append(Distractor(kind, float(10 ** rng.uniform(*SCALES)), source))
    return tuple(found)


def add_distractors(
    drawn: dict[str, np.ndarray], distractors: tuple[Distractor, ...], rng: np.random.Generator, rows: int
) -> dict[str, np.ndarray]:
    """The columns n1, n2 and so on after those that are there."""
    for position, distractor in enumerate(distractors, start=1):
        drawn[f"n{position}"] = distractor.draw(rng, rows, drawn)
    return drawn


def _steps(plan: Plan, rng: np.random.Generator, rows: int, stretch: int) -> dict[str, np.ndarray]:
    return {name: column.draw(rng, rows, stretch) for name, column in plan.columns.items()}


def _columns(
    plan: Plan, steps: Steps, distractors: tuple[Distractor, ...], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    drawn = {name: column.scale.values(steps[name]) for name, column in plan.columns.items()}
    return add_distractors(drawn, distractors, rng, len(next(iter(steps.values()))))


def _answers(line: Line, plan: Plan, steps: Steps) -> np.ndarray:
    """Integers for labels, floats for numbers."""
    answers = np.asarray(plan.truth(steps))
    if line.kind != "number":
        return answers.astype(np.int64)
    return plan.answer.values(answers).astype(np.float64)
