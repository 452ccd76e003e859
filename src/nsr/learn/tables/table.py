"""A table: what all its rows say about its columns, and a sample of its rows. A small one is its own sample."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nsr.errors import InputError, at_least
from nsr.learn.tables.cells import Column, typed
from nsr.learn.tables.files import Batch, batches

SAMPLE = 20_000
"""How many rows a rule is learned from, at most."""


@dataclass(frozen=True)
class Table:
    """A file that was read once from end to end."""

    path: Path
    rows: int
    columns: Mapping[str, Column]
    sample: pd.DataFrame
    """Cells as they stand in the file, of rows in their order; the index numbers rows as a spreadsheet does."""

    @property
    def complete(self) -> bool:
        """Whether the sample is the whole table."""
        return len(self.sample) == self.rows

    def column(self, name: str) -> Column:
        """The column of a name; an unknown one is an InputError that suggests the nearest."""
        if name in self.columns:
            return self.columns[name]
        folded = {known.casefold(): known for known in self.columns}
        near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
        if near:
            raise InputError(f"{self.path} has no column {name!r}; did you mean {folded[near[0]]!r}?")
        some = ", ".join(map(repr, list(self.columns)[:10])) + (", ..." if len(self.columns) > 10 else "")
        raise InputError(f"{self.path} has no column {name!r}: it has {some}")


def read(path: Path, *, rows: int = SAMPLE, seed: int = 0, watch: Callable[[float], None] = lambda _: None) -> Table:
    """Read a file from end to end in bounded memory, and keep a sample of its rows.

    Args:
        path: A .csv, .tsv, .csv.gz, .tsv.gz or .parquet file.
        rows: How many rows the sample has at most. Each row has the same chance; the order is the file's.
        seed: What the choice of rows depends on.
        watch: Told which share of the file is read.
    """
    at_least(1, "rows", rows)
    generator = np.random.default_rng(seed)
    columns: dict[str, Column] = {}
    total, limit = 0, 1.0
    kept: list[tuple[float, int, tuple[Any, ...]]] = []  # the rows of the smallest draws
    for batch in batches(path):
        total += len(batch.rows)
        for name, cells in batch.cells.items():
            columns.setdefault(name, Column(name)).add(batch.rows, cells)
        draws = generator.random(len(batch.rows)).tolist()
        drawn = zip(draws, batch.rows, zip(*batch.cells.values(), strict=True), strict=True)
        kept += [each for each in drawn if each[0] < limit]
        if len(kept) > rows:
            kept = sorted(kept)[:rows]
            limit = kept[-1][0]
        watch(batch.done)
    kept.sort(key=lambda each: each[1])
    numbers = [number for _, number, _ in kept]
    sample = pd.DataFrame([cells for _, _, cells in kept], index=numbers, columns=list(columns), dtype=object)
    return Table(path, total, columns, sample)


def chunks(
    table: Table,
    columns: Sequence[str],
    *,
    target: str | None = None,
    drop_missing: bool = False,
    watch: Callable[[float], None] = lambda _: None,
) -> Iterator[pd.DataFrame]:
    """All rows of a table, part by part: columns of numbers, and the target with its labels.

    Types are the same in all parts, and the index numbers the rows. What ``prepare`` refuses is refused here too.
    ``watch`` is told which share of the file is read.
    """
    numbers = [table.column(name) for name in dict.fromkeys(columns)]
    for column in numbers:
        if table.rows and column.unfit:
            raise InputError(f"column {column.name!r} of {table.path} has to hold numbers, and it is {column.unfit}")
    labels = [] if target is None else [table.column(target)]
    for column in numbers + labels:
        column.check()
    if not drop_missing:
        refuse_missing(table, numbers + labels)
    types = dtypes(numbers, labels)
    return _parts(table.path, types, watch)


def _parts(path: Path, types: Mapping[str, str], watch: Callable[[float], None]) -> Iterator[pd.DataFrame]:
    for batch in batches(path, list(types)):
        yield dense(frame(batch, types))
        watch(batch.done)


def dtypes(numbers: Iterable[Column], labels: Iterable[Column]) -> dict[str, str]:
    """The types of columns of numbers, where true and false are 1 and 0, and of columns of labels."""
    whole = {column.name: "int64" if column.dtype == "bool" else column.dtype for column in numbers}
    return whole | {column.name: column.dtype for column in labels}


def frame(batch: Batch, types: Mapping[str, str]) -> pd.DataFrame:
    """Rows with the cells as values of types, in which cells can be missing."""
    return pd.DataFrame({name: typed(batch.cells[name], dtype) for name, dtype in types.items()}, index=batch.rows)


def dense(some: pd.DataFrame) -> pd.DataFrame:
    """The rows in which nothing is missing, with numpy's types."""
    full = some.dropna()
    return full.astype({name: str(dtype).lower().replace("boolean", "bool") for name, dtype in full.dtypes.items()})


def refuse_missing(table: Table, columns: Iterable[Column]) -> None:
    """Refuse columns in which cells are missing."""
    lost = {column.name: column.missing for column in columns if column.missing}
    if not lost:
        return
    places = ", ".join(f"{count:,} in {name!r}" for name, count in list(lost.items())[:10])
    more = f" and more in {len(lost) - 10} other columns" if len(lost) > 10 else ""
    raise InputError(
        f"{table.path} has missing values ({places}{more}; it has {table.rows:,} rows): "
        f"fill them in, or use --drop-missing to leave those rows out"
    )
