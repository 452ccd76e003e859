"""The columns of a sample as arrays, from which statements are proposed."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nsr.learn.profile.chance import Mask, Numbers
from nsr.learn.tables import Table
from nsr.program.conditions import Flag, Missing, OneOf
from nsr.program.expressions import Expression, Variable
from nsr.program.kinds import Kind
from nsr.program.times import POINTS, TEMPORAL

MOST_DECIMALS = 6
MOST_PLACES = 9
"""Numbers written with more decimal places are floats."""
FEW_VALUES = 12
LONGEST = 40
"""Conditions are made of columns with so few texts, of at most so many characters."""
PROBES = 200
"""Rows on which a statement is tried first."""
PROBE_SHARE = 0.9
"""A statement that holds on fewer of these is dropped."""


@dataclass(frozen=True, eq=False)
class SampledColumn:
    """A column of the sample."""

    name: str
    kind: Kind
    is_double: bool
    """Whether its numbers are floats, which sums and products round."""
    present: Mask
    numbers: Numbers
    """Numbers, or microseconds; NaN where missing, and everywhere for texts and truth values."""
    codes: NDArray[np.int64]
    """Equal cells have equal codes; -1 where missing."""
    values: Sequence[object]
    """The cell for each code."""

    @property
    def variable(self) -> Variable:
        """The column in a formula."""
        return Variable(self.name, self.kind)

    @property
    def is_number(self) -> bool:
        """Whether the cells can be added and multiplied."""
        return self.kind == Kind.NUMBER

    @property
    def is_category(self) -> bool:
        """Whether the cells are texts or truth values."""
        return self.kind in (Kind.TEXT, Kind.BOOLEAN)

    @cached_property
    def decimals(self) -> int | None:
        """How many decimal places the numbers have; None if there are too many."""
        numbers = self.numbers[self.present]
        for places in range(MOST_DECIMALS + 1):
            if np.allclose(numbers, np.round(numbers, places), rtol=1e-12, atol=1e-12):
                return places
        return None

    @cached_property
    def low(self) -> float:
        """The smallest number."""
        return float(self.numbers[self.present].min())

    @cached_property
    def high(self) -> float:
        """The largest number."""
        return float(self.numbers[self.present].max())

    def comparable(self, other: "SampledColumn") -> bool:
        """Whether an order of the two makes sense."""
        return self.kind == other.kind or (self.kind in POINTS and other.kind in POINTS)


@dataclass(frozen=True, eq=False)
class Condition:
    """A formula about one column, and the rows on which it holds and on which it is known."""

    column: SampledColumn
    formula: Expression
    holds: Mask
    known: Mask


class Clock:
    """The time that is left, and what was not tried because there was none."""

    def __init__(self, seconds: float) -> None:
        self.start = time.monotonic()
        self.seconds = seconds
        self.skipped: list[str] = []

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.start + self.seconds - time.monotonic()

    def over(self, what: str) -> bool:
        """Whether the time is over; if so, ``what`` is noted as not tried."""
        if self.left > 0:
            return False
        if what not in self.skipped:
            self.skipped.append(what)
        return True


@dataclass(frozen=True, eq=False)
class Sample:
    """What the proposals are made from."""

    columns: Sequence[SampledColumn]
    rows: int
    least: float
    """The smallest share of rows on which a statement must hold."""
    clock: Clock
    seed: int = 0

    @cached_property
    def measured(self) -> list[SampledColumn]:
        """Columns with an order (numbers, dates, times and durations) that are not constant."""
        return [c for c in self.columns if not c.is_category and len(c.values) > 1]

    @cached_property
    def numbers(self) -> list[SampledColumn]:
        """Columns of numbers that are not constant."""
        return [column for column in self.measured if column.is_number]

    @cached_property
    def categories(self) -> list[SampledColumn]:
        """Columns of texts and truth values that are not constant."""
        return [column for column in self.columns if column.is_category and len(column.values) > 1]

    @cached_property
    def with_gaps(self) -> list[SampledColumn]:
        """Columns of which some cells are missing."""
        return [column for column in self.columns if 0 < int(column.present.sum()) < self.rows]

    @cached_property
    def probes(self) -> NDArray[np.int64]:
        """A few rows."""
        generator = np.random.default_rng([0x70726F62, self.seed])
        return np.sort(generator.choice(self.rows, min(PROBES, self.rows), replace=False))

    def generator(self) -> np.random.Generator:
        """A stream of random numbers of our own."""
        return np.random.default_rng([0x73687566, self.seed])

    def probe_matrix(self, columns: Sequence[SampledColumn]) -> Numbers:
        """The numbers of a few rows: one row each, one column each."""
        empty = np.zeros((len(self.probes), 0))
        return np.stack([column.numbers[self.probes] for column in columns], axis=1) if columns else empty

    def conditions(self, column: SampledColumn) -> Iterator[Condition]:
        """What can be asked about a category, one formula for each value."""
        if column.kind == Kind.BOOLEAN:
            for code, value in enumerate(column.values):
                yield Condition(column, Flag(column.variable, bool(value)), column.codes == code, column.present)
        elif column.is_category and len(column.values) <= FEW_VALUES and max(map(len, column.values)) <= LONGEST:  # type: ignore[arg-type]
            for code, value in enumerate(column.values):
                yield Condition(column, OneOf(column.variable, [str(value)]), column.codes == code, column.present)

    def gap(self, column: SampledColumn) -> Condition:
        """Whether a cell is missing."""
        return Condition(column, Missing(column.variable), ~column.present, np.ones(self.rows, dtype=bool))


def sample_columns(table: Table) -> tuple[list[SampledColumn], list[tuple[str, str]]]:
    """The columns of a table's sample, and those that cannot be used with the reason."""
    columns, unused = [], list[tuple[str, str]]()
    for name, column in table.columns.items():
        if column.problem is not None:
            unused.append((name, column.problem))
            continue
        cells = table.sample[name]
        if cells.notna().any():
            columns.append(_sampled(name, column.kind, _holds_floats(column.sql_type), cells))
    return columns, unused


def _holds_floats(sql_type: str) -> bool:
    """Whether numbers are floats, or decimals as floats are written: 33.800000000000004."""
    scale = re.fullmatch(r"DECIMAL\(\d+, ?(\d+)\)", sql_type)
    return sql_type == "DOUBLE" or (scale is not None and int(scale[1]) > MOST_PLACES)


def _sampled(name: str, kind: Kind, is_double: bool, cells: pd.Series) -> SampledColumn:
    present = cells.notna().to_numpy(dtype=bool)
    numbers = np.full(len(cells), np.nan)
    if kind in TEMPORAL:
        units = "datetime64[us]" if kind in POINTS else "timedelta64[us]"
        numbers[present] = cells[present].to_numpy().astype(units).astype(np.int64)
    elif kind == Kind.NUMBER:
        numbers[present] = cells[present].to_numpy(dtype=np.float64)
    codes, values = pd.factorize(cells, sort=True, use_na_sentinel=True)
    return SampledColumn(name, kind, is_double, present, numbers, codes.astype(np.int64), list(values))


def pairs(columns: Sequence[SampledColumn]) -> Iterator[tuple[int, int]]:
    """The places of all pairs of columns."""
    return combinations(range(len(columns)), 2)


def by_name(columns: Sequence[SampledColumn]) -> Mapping[str, SampledColumn]:
    """The columns by name."""
    return {column.name: column for column in columns}
