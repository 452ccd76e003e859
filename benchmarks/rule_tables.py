"""Random tables with a known rule: a few columns that matter among many of other scales that do not.

Columns that are compared share a unit and are written with few digits, so that ``=`` is well defined, and every table
has rows on each boundary of its rule and one step beside it: `>` and `>=` can be told apart. ``far`` draws fresh rows
of the same rule whose ranges are many times as wide.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from nsr.errors import one_of

Columns = Mapping[str, np.ndarray]
Kind = Literal["binary", "classes", "number"]

ROWS = (300, 2000)
"""Rows of a table, from and to."""
DISTRACTORS = (5, 20)
"""Columns that do not matter, from and to."""
SCALES = (-3, 6)
"""Their scales are drawn log-uniformly, from and to these powers of ten."""
NEIGHBOURS = 0.05
"""Share of the rows that miss a boundary by one step."""


@dataclass(frozen=True)
class Grid:
    """Numbers of few digits: whole steps of ``unit / per``, of which one is 1."""

    shape: str
    span: int
    """Steps in the range."""
    unit: int = 1
    per: int = 1

    def steps(self, rng: np.random.Generator, rows: int, stretch: int) -> np.ndarray:
        """How many steps each row is from 0."""
        span = self.span * stretch
        match self.shape:
            case "uniform":
                return rng.integers(0, span + 1, rows)
            case "centred":
                return rng.integers(-(span // 2), span // 2 + 1, rows)
            case "normal":
                return np.rint(0.2 * span * rng.normal(size=rows)).astype(np.int64)
        return np.rint(0.2 * span * rng.lognormal(sigma=0.7, size=rows)).astype(np.int64)

    def values(self, steps: np.ndarray) -> np.ndarray:
        """The numbers themselves: whole ones as integers, decimals as the floats that are nearest."""
        return steps * self.unit if self.per == 1 else steps / self.per


@dataclass(frozen=True)
class Group:
    """Columns of one unit, a letter each. The first is compared with the second plus ``offset``, or with it alone."""

    names: str
    ties: float = 0.05
    """Share of the rows in which both sides are equal; 0 where nothing is compared."""
    offset: float = 0.0
    width: float | None = None
    """The range; None for one of any magnitude."""
    per: tuple[int, ...] = (1,)
    """Where there is a width: into how many steps 1 may be divided."""

    def grid(self, rng: np.random.Generator) -> Grid:
        """A unit, a range and a distribution."""
        shape = str(rng.choice(["centred", "normal"] if len(self.names) == 1 else ["uniform", "normal", "skewed"]))
        if self.width is not None:
            per = int(rng.choice(self.per))
            return Grid(shape if self.ties else "uniform", round(self.width * per), per=per)
        power = int(rng.integers(-3, 4))
        return Grid(shape, round(10 ** rng.uniform(1.5, 4)), unit=10 ** max(power, 0), per=10 ** max(-power, 0))

    def draw(self, grid: Grid, rng: np.random.Generator, rows: int, stretch: int) -> dict[str, np.ndarray]:
        """Fresh columns."""
        steps = {name: grid.steps(rng, rows, stretch) for name in self.names}
        if self.ties:
            first, second = self.names[0], self.names[1:]
            boundary = round(self.offset * grid.per) + (steps[second] if second else np.zeros(rows, dtype=np.int64))
            left = steps[first] if second else steps[first] + boundary
            beside = boundary + rng.choice([-1, 1], rows)
            order, ties = rng.permutation(rows), round(self.ties * rows)
            left = np.where(left == boundary, beside, left)
            left[order[:ties]] = boundary[order[:ties]]
            missed = order[ties : ties + round(NEIGHBOURS * rows)]
            left[missed] = beside[missed]
            steps[first] = left
        return {name: grid.values(own) for name, own in steps.items()}


@dataclass(frozen=True)
class Line:
    """One kind of table: what it is called, its rule as ``str`` of the program, and how rows are made."""

    title: str
    rule: str | None
    kind: Kind
    groups: tuple[Group, ...]
    answer: Callable[[Columns], np.ndarray] | None
    """The labels or numbers of rows; None for labels at random."""


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
            case "whole":
                return rng.integers(0, max(2, round(self.scale)), rows)
        assert self.source is not None
        own = before[self.source]
        return np.asarray(own + 0.3 * own.std() * rng.normal(size=rows))


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Rows of one line. ``columns`` are in the shuffled order of the table."""

    line: Line
    columns: Columns
    y: np.ndarray
    grids: tuple[Grid, ...]
    distractors: tuple[Distractor, ...]

    @property
    def rule(self) -> str | None:
        """The true rule as the text of its program; None where there is none."""
        return self.line.rule

    @property
    def classification(self) -> bool:
        """Whether y holds labels rather than numbers."""
        return self.line.kind != "number"

    def near(self, rng: np.random.Generator, rows: int = 2000) -> "RuleTable":
        """Fresh rows of the same ranges. No label is flipped."""
        return self._fresh(rng, rows, 1)

    def far(self, rng: np.random.Generator, magnitude: int = 1000, rows: int = 2000) -> "RuleTable":
        """Fresh rows in which the ranges of the columns that matter are so many times as wide."""
        return self._fresh(rng, rows, magnitude)

    def _fresh(self, rng: np.random.Generator, rows: int, stretch: int) -> "RuleTable":
        drawn = _columns(self.line, self.grids, self.distractors, rng, rows, stretch)
        return replace(self, columns={name: drawn[name] for name in self.columns}, y=_answers(self.line, drawn, rng))


def rule_table(line: str, rng: np.random.Generator, *, flipped: float = 0.0) -> RuleTable:
    """A table of a line of ``LINES`` or ``RULELESS``.

    Args:
        line: Its name.
        rng: Everything is drawn from it.
        flipped: Share of the labels that are turned round, for lines with two of them.
    """
    known = {**LINES, **RULELESS}
    own = known[one_of("line", line, known)]
    if not 0 <= flipped < 0.5:
        raise ValueError(f"flipped must be from 0 to less than 0.5, got {flipped}")
    if flipped and own.kind != "binary":
        raise ValueError(f"flipped must be 0 for {line!r}, whose labels are not two, got {flipped}")
    rows = int(rng.integers(ROWS[0], ROWS[1] + 1))
    grids = tuple(group.grid(rng) for group in own.groups)
    distractors = _distractors(rng)
    drawn = _columns(own, grids, distractors, rng, rows, 1)
    y = _answers(own, drawn, rng)
    turned = rng.permutation(rows)[: round(flipped * rows)]
    y[turned] = 1 - y[turned]
    order = rng.permutation(list(drawn))
    return RuleTable(own, {str(name): drawn[name] for name in order}, y, grids, distractors)


def _distractors(rng: np.random.Generator) -> tuple[Distractor, ...]:
    """The columns that do not matter, the first of which follows no other."""
    found: list[Distractor] = []
    for position in range(int(rng.integers(DISTRACTORS[0], DISTRACTORS[1] + 1))):
        kind = str(rng.choice(["normal", "uniform", "lognormal", "whole", "copy"][: 5 if position else 4]))
        source = f"n{rng.integers(1, position + 1)}" if kind == "copy" else None
        found.append(Distractor(kind, float(10 ** rng.uniform(*SCALES)), source))
    return tuple(found)


def _columns(
    line: Line,
    grids: tuple[Grid, ...],
    distractors: tuple[Distractor, ...],
    rng: np.random.Generator,
    rows: int,
    stretch: int,
) -> dict[str, np.ndarray]:
    drawn: dict[str, np.ndarray] = {}
    for group, grid in zip(line.groups, grids, strict=True):
        drawn |= group.draw(grid, rng, rows, stretch)
    for position, distractor in enumerate(distractors, start=1):
        drawn[f"n{position}"] = distractor.draw(rng, rows, drawn)
    return drawn


def _answers(line: Line, drawn: Columns, rng: np.random.Generator) -> np.ndarray:
    """Integers for labels, floats for numbers."""
    if line.answer is None:
        return rng.permutation(np.arange(len(drawn["n1"])) % 2)
    return np.asarray(line.answer(drawn)).astype(np.float64 if line.kind == "number" else np.int64)


def _above_median(values: np.ndarray) -> np.ndarray:
    return np.asarray(values > np.median(values))


_AB = (Group("ab"),)
_ANGLE = (Group("a", ties=0.0, width=20.0, per=(1000,)),)
_SIDES = (Group("ab", ties=0.0, width=20.0, per=(1000,)),)

LINES: Mapping[str, Line] = MappingProxyType(
    {
        "greater": Line("a > b", "a > b", "binary", _AB, lambda t: t["a"] > t["b"]),
        "equal": Line("a = b", "a == b", "binary", (Group("ab", ties=0.02),), lambda t: t["a"] == t["b"]),
        "threshold": Line(
            "x >= 37.5",
            "x >= 37.5",
            "binary",
            (Group("x", offset=37.5, width=100.0, per=(2, 10, 100)),),
            lambda t: t["x"] >= 37.5,
        ),
        "both": Line(
            "a > b and c <= d",
            "a > b and c <= d",
            "binary",
            (Group("ab"), Group("cd")),
            lambda t: (t["a"] > t["b"]) & (t["c"] <= t["d"]),
        ),
        "either": Line(
            "a = b or c = 1",
            "a == b or c == 1",
            "binary",
            (Group("ab", ties=0.3), Group("c", ties=0.2, offset=1.0, width=8.0)),
            lambda t: (t["a"] == t["b"]) | (t["c"] == 1),
        ),
        "three": Line(
            "sign of a - b",
            "where(a >= b, where(a == b, 0, 1), -1)",
            "classes",
            (Group("ab", ties=0.25),),
            lambda t: np.sign(t["a"] - t["b"]),
        ),
        "distance": Line("|a - b|", "where(a > b, a - b, b - a)", "number", _AB, lambda t: np.abs(t["a"] - t["b"])),
        "choice": Line(
            "where(a > b, e + 4, d - c)",
            "where(a > b, e + 4, d - c)",
            "number",
            (Group("ab"), Group("cde", ties=0.0, width=40.0, per=(1, 2, 4))),
            lambda t: np.where(t["a"] > t["b"], t["e"] + 4, t["d"] - t["c"]),
        ),
        "maximum": Line("max(a, b)", "where(a > b, a, b)", "number", _AB, lambda t: np.maximum(t["a"], t["b"])),
        "gap": Line(
            "a > b + 12",
            "a > b + 12",
            "binary",
            (Group("ab", offset=12.0, width=100.0, per=(1, 2, 4)),),
            lambda t: t["a"] > t["b"] + 12,
        ),
    }
)
"""The kinds of tables that have a rule."""

RULELESS: Mapping[str, Line] = MappingProxyType(
    {
        "random": Line("labels at random", None, "binary", _AB, None),
        "sine": Line("sin(a)", None, "number", _ANGLE, lambda t: np.sin(t["a"])),
        "product": Line("a * b", None, "number", _SIDES, lambda t: t["a"] * t["b"]),
        "sine-class": Line("sin(a) > median", None, "binary", _ANGLE, lambda t: _above_median(np.sin(t["a"]))),
        "product-class": Line("a * b > median", None, "binary", _SIDES, lambda t: _above_median(t["a"] * t["b"])),
    }
)
"""The kinds of tables that have none, or none that comparisons and sums could say. The median is that of the rows."""
