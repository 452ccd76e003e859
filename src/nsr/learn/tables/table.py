"""A table: the kinds of its columns over all rows, and a sample of its rows. A small table is its own sample."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nsr.errors import InputError, at_least
from nsr.learn.tables.cells import Column, parse
from nsr.learn.tables.files import Batch, batches

SAMPLE = 20_000
"""The most rows that a rule is learned from."""
STREAM = 0x6E7372
"""The sample is drawn from a stream of its own: a table made with ``default_rng(0)`` must not repeat the draw."""


@dataclass(frozen=True)
class Table:
    """A file that was read once from end to end."""

    path: Path
    rows: int
    columns: Mapping[str, Column]
    sample: Batch
    """Rows in file order, with their cells as read."""

    @property
    def complete(self) -> bool:
        """Whether the sample is the complete table."""
        return len(self.sample.rows) == self.rows

    def column(self, name: str) -> Column:
        """The column of that name; an InputError suggests the closest match of an unknown name."""
        if name in self.columns:
            return self.columns[name]
        by_folded_name = {known.casefold(): known for known in self.columns}
        close = difflib.get_close_matches(name.casefold(), by_folded_name, n=1, cutoff=0.5)
        if close:
            raise InputError(f"{self.path} has no column {name!r}; did you mean {by_folded_name[close[0]]!r}?")
        known = ", ".join(map(repr, list(self.columns)[:10])) + (", ..." if len(self.columns) > 10 else "")
        raise InputError(f"{self.path} has no column {name!r}; its columns are {known}")


class _Sampler:
    """A random sample of a stream of rows: those with the smallest random numbers."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.limit = size, 1.0
        self.generator = np.random.default_rng([STREAM, seed])
        self.kept: list[tuple[float, int, tuple[Any, ...]]] = []  # random number, row number, cells

    def add(self, batch: Batch) -> None:
        """Draw from the next rows."""
        draws = self.generator.random(len(batch.rows)).tolist()
        drawn = zip(draws, batch.rows, zip(*batch.cells.values(), strict=True), strict=True)
        self.kept += [each for each in drawn if each[0] < self.limit]
        if len(self.kept) > self.size:
            self.kept = sorted(self.kept)[: self.size]
            self.limit = self.kept[-1][0]

    def sample(self, names: Iterable[str]) -> Batch:
        """The rows drawn, in file order."""
        self.kept.sort(key=lambda each: each[1])
        by_column = zip(*(cells for _, _, cells in self.kept), strict=True) if self.kept else ([] for _ in names)
        return Batch([number for _, number, _ in self.kept], dict(zip(names, map(list, by_column), strict=True)))


def read(
    path: Path, *, rows: int = SAMPLE, seed: int = 0, on_progress: Callable[[float], None] = lambda _: None
) -> Table:
    """Read a file from end to end in bounded memory, and keep a sample of its rows.

    Args:
        path: A .csv, .tsv, .csv.gz, .tsv.gz or .parquet file.
        rows: The most rows in the sample. Every row is equally likely to be drawn.
        seed: Seed of the draw.
        on_progress: Called with the fraction of the file that has been read.
    """
    at_least(1, "rows", rows)
    sampler = _Sampler(rows, seed)
    columns: dict[str, Column] = {}
    total = 0
    for batch in batches(path):
        total += len(batch.rows)
        for name, cells in batch.cells.items():
            columns.setdefault(name, Column(name)).add(batch.rows, cells)
        sampler.add(batch)
        on_progress(batch.done)
    return Table(path, total, columns, sampler.sample(list(columns)))


def chunks(
    table: Table,
    columns: Sequence[str],
    *,
    target: str | None = None,
    drop_missing: bool = False,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Iterator[pd.DataFrame]:
    """All rows of a table in parts: columns of numbers, and the target with its labels.

    Every part has the same types and the row numbers as index. Raises the same errors as ``prepare``.
    ``on_progress`` is called with the fraction of the file that has been read.
    """
    numbers = [table.column(name) for name in dict.fromkeys(columns)]
    for column in numbers:
        if table.rows and column.not_numeric:
            raise InputError(f"column {column.name!r} of {table.path} is not numeric: {column.not_numeric}")
    labels = [] if target is None else [table.column(target)]
    for column in numbers + labels:
        column.check()
    if not drop_missing:
        check_nothing_missing(table, numbers + labels)
    return _chunks(table.path, dtypes(numbers, labels), on_progress)


def _chunks(path: Path, types: Mapping[str, str], on_progress: Callable[[float], None]) -> Iterator[pd.DataFrame]:
    for batch in batches(path, list(types)):
        yield frame(parsed(batch, types), types)
        on_progress(batch.done)


def dtypes(numbers: Iterable[Column], labels: Iterable[Column]) -> dict[str, str]:
    """The types of columns of numbers, where booleans count as 0 and 1, and of columns of labels."""
    types = {column.name: "int64" if column.dtype == "bool" else column.dtype for column in numbers}
    return types | {column.name: column.dtype for column in labels}


def parsed(batch: Batch, types: Mapping[str, str]) -> Batch:
    """The batch with the cells of the typed columns as exact values."""
    return Batch(batch.rows, {name: parse(batch.cells[name], dtype) for name, dtype in types.items()}, batch.done)


def frame(batch: Batch, types: Mapping[str, str]) -> pd.DataFrame:
    """The rows of a parsed batch in which no typed column is missing, indexed by row number."""
    rows, cells = batch.rows, {name: batch.cells[name] for name in types}
    if any(None in column for column in cells.values()):
        complete = [None not in row for row in zip(*cells.values(), strict=True)]
        rows = list(compress(rows, complete))
        cells = {name: list(compress(column, complete)) for name, column in cells.items()}
    return pd.DataFrame({name: _array(cells[name], dtype) for name, dtype in types.items()}, index=rows)


def _array(values: list[Any], dtype: str) -> Any:
    return pd.array(values, dtype="str") if dtype == "str" else np.array(values, dtype=dtype)


def check_nothing_missing(table: Table, columns: Iterable[Column]) -> None:
    """Raise an InputError if cells of the columns are missing."""
    missing = {column.name: column.missing for column in columns if column.missing}
    if not missing:
        return
    places = ", ".join(f"{count:,} in {name!r}" for name, count in list(missing.items())[:10])
    more = f", and more in {len(missing) - 10} other columns" if len(missing) > 10 else ""
    raise InputError(
        f"{table.path} has missing values ({places}{more}; {table.rows:,} rows in total): "
        f"fill them in, or use --drop-missing to skip those rows"
    )
