"""The columns of a table as numbers that a rule can be searched in.

Numbers stay what they are; dates and times become numbers of days or of seconds; truth values, texts and missing
cells become columns of 0 and 1, one for each condition, such as ``member == 'gold'`` and ``x is missing``. What
each of these stands for is kept, so that a rule can be written in terms of the table.
"""

import itertools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pandas as pd

from nsr.program.cells import evaluate_cells, is_missing
from nsr.program.conditions import Flag, Missing, OneOf
from nsr.program.expressions import Compare, Expression, Linear, Variable
from nsr.program.kinds import Kind
from nsr.program.times import POINTS, TEMPORAL, UNITS, microseconds
from nsr.reading.atoms import Atom, Weights

MOST_TEXTS = 40
"""A column with at most this many different texts is asked for each of them."""
COMMON = 3
"""A text that fewer rows have is not asked for."""
SETS = 3
"""How many sets of texts are asked for in a column, for each class."""
MOST_CLASSES = 5
DECIDED = 0.9
"""The texts of a column decide the class if the most frequent class of each text is that of this share of the rows."""
MOST_CONDITIONS = 200
"""Of more conditions, those that are associated most with the target are kept."""
EQUAL = (0.01, 0.99)
"""Two columns of text are compared if they are equal on a share of the rows in this range."""
ANSWERS = 2
"""Columns with so many texts, such as yes and no, are not compared: each is a condition of its own."""
MOST_PAIRS = 200
"""How many pairs of columns of text are compared."""
DAY = UNITS["day"]


@dataclass(frozen=True)
class Features:
    """How the columns of a table become numbers."""

    kinds: Mapping[str, Kind]
    """What the columns of the table hold."""
    conditions: Mapping[str, Expression]
    """Columns of 0 and 1, and the condition that each stands for."""
    unit: int
    """Microseconds of a day or a second: what times are counted in."""
    nullable: frozenset[str]
    """The columns that have missing cells."""
    preferred: Mapping[Weights, Sequence[Fraction]] = field(default_factory=dict)
    """Dates and durations to prefer where the rows leave a constant open: the start of a year, a number of days."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Columns that are not used, each with the reason."""
    note: str = ""
    """What a user should know about the conditions."""

    @property
    def derived(self) -> dict[str, Expression]:
        """What columns stand for, if not for themselves."""
        times = {name: kind for name, kind in self.kinds.items() if kind in TEMPORAL}
        return {
            **{name: Linear([(Fraction(1, self.unit), Variable(name, kind))]) for name, kind in times.items()},
            **self.conditions,
        }

    def encode(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of the table as numbers: int64 and float64, nothing missing.

        In the place of a missing cell is one of the same column that is drawn at random: a rule can only get such rows
        right by asking whether the cell is missing.
        """
        columns = {
            name: self._numbers(table[name], name, kind)
            for name, kind in self.kinds.items()
            if kind in (Kind.NUMBER, *TEMPORAL)
        }
        for name, formula in self.conditions.items():
            columns[name] = evaluate_cells(formula, table, len(table)).astype(np.int64)
        return pd.DataFrame(columns, index=table.index)

    def _numbers(self, cells: pd.Series, name: str, kind: Kind) -> np.ndarray:
        missing = is_missing(cells)
        numbers = in_microseconds(cells) // self.unit if kind in TEMPORAL else _plain_numbers(cells, missing)
        if missing.any():
            drawn = np.random.default_rng(zlib.crc32(name.encode())).integers(
                0, max(1, int((~missing).sum())), len(cells)
            )
            present = numbers[~missing] if not missing.all() else np.zeros(1, dtype=numbers.dtype)
            numbers = np.where(missing, present[drawn], numbers)
        return numbers


def _plain_numbers(cells: pd.Series, missing: np.ndarray) -> np.ndarray:
    """Numbers as int64 or float64; 0 where they are missing."""
    is_integer = pd.api.types.is_integer_dtype(cells.dtype) or pd.api.types.is_bool_dtype(cells.dtype)
    filled = cells.mask(missing, 0) if missing.any() else cells
    return np.asarray(filled.to_numpy(dtype=np.int64 if is_integer else np.float64))


def in_microseconds(cells: pd.Series) -> np.ndarray:
    """Dates, times and durations as integers; 0 where they are missing."""
    if cells.dtype.kind == "M" and getattr(cells.dtype, "tz", None) is not None:
        cells = cells.dt.tz_convert("UTC").dt.tz_localize(None)
    array = cells.to_numpy()
    if array.dtype.kind not in "mM":
        present = ~is_missing(cells)
        numbers = np.zeros(len(array), dtype=np.int64)
        numbers[present] = [microseconds(cell) for cell in array[present]]
        return numbers
    numbers = array.astype(f"{array.dtype.kind}8[us]").astype(np.int64)
    return np.where(np.isnat(array), 0, numbers)


def features_of(table: pd.DataFrame, kinds: Mapping[str, Kind], target: pd.Series) -> Features:
    """How to turn the columns of a table into numbers, given rows of it and their targets."""
    nullable = frozenset(str(name) for name in kinds if is_missing(table[name]).any())
    unit = _unit([in_microseconds(table[name]) for name, kind in kinds.items() if kind in TEMPORAL])
    conditions: dict[str, Expression] = {}
    note = ""
    left_out: list[tuple[str, str]] = []
    for name, kind in kinds.items():
        column = Variable(name, kind)
        if name in nullable and not is_missing(table[name]).all():
            _add(conditions, kinds, Missing(column))
        if kind == Kind.BOOLEAN:
            _add(conditions, kinds, Flag(column))
        if kind == Kind.TEXT:
            found = list(_text_conditions(table[name], column, target))
            for condition in found:
                _add(conditions, kinds, condition)
            if not found:
                left_out.append((name, _why_no_text(table[name], name in nullable)))
    for equality in _text_equalities(table, [name for name, kind in kinds.items() if kind == Kind.TEXT]):
        _add(conditions, kinds, equality)
    if len(conditions) > MOST_CONDITIONS:
        note = f"of {len(conditions):,} texts and gaps, the {MOST_CONDITIONS} most associated with the target are used"
        conditions = _most_associated(conditions, table, target)
    preferred = _preferred(table, {name: kind for name, kind in kinds.items() if kind in TEMPORAL}, unit)
    return Features(dict(kinds), conditions, unit, nullable, preferred, tuple(left_out), note)


def _most_associated(
    conditions: dict[str, Expression], table: pd.DataFrame, target: pd.Series
) -> dict[str, Expression]:
    """The conditions whose rows differ most from the others in the target, in standard errors."""
    likes = np.column_stack(list(_indicators(target)))
    likes = (likes - likes.mean(0)) / np.where(likes.std(0) > 0, likes.std(0), 1.0)

    def score(condition: Expression) -> float:
        holds = evaluate_cells(condition, table, len(table)).astype(np.float64)
        spread = holds.std()
        return float(np.abs((holds - holds.mean()) @ likes).max() / spread) if spread > 0 else 0.0

    ranked = sorted(conditions, key=lambda name: -score(conditions[name]))[:MOST_CONDITIONS]
    return {name: conditions[name] for name in conditions if name in set(ranked)}


def _add(conditions: dict[str, Expression], kinds: Mapping[str, Kind], condition: Expression) -> None:
    """Add a condition under its text, or under a longer name where a column of the table is called so."""
    name = str(condition)
    while name in kinds or conditions.get(name, condition) != condition:
        name += " "
    conditions[name] = condition


def _unit(times: Sequence[np.ndarray]) -> int:
    """The largest unit of which all times are multiples."""
    return next((size for size in (DAY, UNITS["second"]) if all((each % size == 0).all() for each in times)), 1)


def _why_no_text(cells: pd.Series, nullable: bool) -> str:
    """Why no text of a column is asked for: there are too many, or too few rows of each."""
    also = "; only whether it is missing" if nullable else ""
    rare = f", each in fewer than {COMMON} rows" if 1 < cells.nunique() <= MOST_TEXTS else ""
    return f"text with {cells.nunique():,} different value{'s' * (cells.nunique() != 1)}{rare}{also}"


def _text_conditions(cells: pd.Series, column: Variable, target: pd.Series) -> Iterator[OneOf]:
    """Each common text of a column, and sets of texts whose rows have similar targets."""
    counts = cells.value_counts()
    if not 1 < len(counts) <= MOST_TEXTS:
        return
    common = [str(text) for text, count in counts.items() if count >= COMMON]
    if len(counts) == 2 and len(common) == 2:  # one of the two is enough
        common = [max(common)]
    yield from (OneOf(column, [text]) for text in common)
    if len(common) > 2:
        sets = itertools.chain.from_iterable(_sets(cells, common, likes) for likes in _indicators(target))
        yield from (OneOf(column, texts) for texts in dict.fromkeys([*sets, *_texts_of_classes(cells, common, target)]))


def _indicators(target: pd.Series) -> Iterator[np.ndarray]:
    """What sets of texts are chosen by: each of the most frequent classes; for numbers, the number."""
    if target.dtype.kind in "iuf" and target.nunique() > MOST_CLASSES:
        yield target.to_numpy(dtype=np.float64)
        return
    for label in target.value_counts().index[:MOST_CLASSES]:
        yield (target == label).to_numpy(dtype=np.float64)


def _sets(cells: pd.Series, common: Sequence[str], likes: np.ndarray) -> list[tuple[str, ...]]:
    """Sets of at least two texts that split the rows best: those whose mean is above a border.

    A rule of single texts comes to the same, but 15 of 40 of them take twenty times as long to find one by one.
    """
    means = pd.Series(likes, index=cells.index).groupby(cells).agg(["mean", "size"]).loc[list(common)]
    ranked = means.sort_values("mean", kind="stable")
    names, size, sums = list(ranked.index), ranked["size"].cumsum(), (ranked["mean"] * ranked["size"]).cumsum()
    total, whole = float(size.iloc[-1]), float(sums.iloc[-1])
    gains = []
    for at in range(len(names) - 1):
        below, above = float(size.iloc[at]), total - float(size.iloc[at])
        gain = sums.iloc[at] ** 2 / below + (whole - sums.iloc[at]) ** 2 / above
        gains.append((-gain, at))
    chosen = [at for _, at in sorted(gains)[:SETS]]
    both = [(names[: at + 1], names[at + 1 :]) for at in chosen]
    sorted_sets = ((tuple(sorted(map(str, one))), tuple(sorted(map(str, other)))) for one, other in both)
    smaller = (min(sets, key=lambda texts: (len(texts), texts)) for sets in sorted_sets)
    return [texts for texts in smaller if len(texts) > 1]


def _texts_of_classes(cells: pd.Series, common: Sequence[str], target: pd.Series) -> Iterator[tuple[str, ...]]:
    """The texts of each class, if the texts decide the class of nearly all rows."""
    counts = pd.crosstab(cells, target)
    if counts.shape[1] > len(counts) or counts.max(axis=1).sum() < DECIDED * len(cells):
        return
    of_class = counts.loc[list(common)].idxmax(axis=1)
    for texts in of_class.groupby(of_class).groups.values():
        if len(texts) > 1:
            yield tuple(sorted(map(str, texts)))


def _text_equalities(table: pd.DataFrame, names: Sequence[str]) -> Iterator[Compare]:
    names = [name for name in names if table[name].nunique() > ANSWERS]
    for one, other in itertools.islice(itertools.combinations(names, 2), MOST_PAIRS):
        equal = (table[one].astype(object) == table[other].astype(object)).mean()
        if EQUAL[0] <= equal <= EQUAL[1]:
            yield Compare("=", Variable(one, Kind.TEXT), Variable(other, Kind.TEXT))


def _preferred(table: pd.DataFrame, times: Mapping[str, Kind], unit: int) -> dict[Weights, Sequence[Fraction]]:
    """For each column of times, starts of years and months; for each difference of two, numbers of days and hours."""
    preferred: dict[Weights, Sequence[Fraction]] = {}
    for name, kind in times.items():
        numbers = in_microseconds(table[name][~is_missing(table[name])])
        if kind in POINTS and len(numbers):
            preferred[Atom.difference(name).weights] = list(_round_dates(int(numbers.min()), int(numbers.max()), unit))
    for one, other in itertools.permutations(times, 2):
        if unit < DAY:
            preferred[Atom.difference(one, other).weights] = _round_durations(unit)
    return preferred


def _round_dates(low: int, high: int, unit: int) -> Iterator[Fraction]:
    """Starts of years, then of months, in a range of microseconds, counted in units."""
    first, last = (date(1970, 1, 1) + timedelta(microseconds=each) for each in (low, high))
    years = range(first.year, last.year + 2)
    for day in [date(year, 1, 1) for year in years] + [
        date(year, month, 1) for year in years for month in range(2, 13)
    ]:
        if low <= microseconds(day) <= high:
            yield Fraction(microseconds(day), unit)


def _round_durations(unit: int) -> list[Fraction]:
    """Numbers of days, hours and minutes, the roundest first, of both signs."""
    days = [DAY * each for each in range(1, 1000)]
    hours = [UNITS["hour"] * each for each in range(1, 73)]
    minutes = [UNITS["minute"] * each for each in (*range(1, 121), *range(135, 1_440, 15))]
    sizes = sorted({*days, *hours, *minutes}, key=lambda each: (each % DAY != 0, each % UNITS["hour"] != 0, each))
    return [Fraction(0), *(Fraction(sign * each, unit) for each in sizes for sign in (1, -1))]
