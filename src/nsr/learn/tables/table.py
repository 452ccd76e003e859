"""A table: the kinds of its columns over all rows, a sample of its rows, and queries on all of them."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nsr.errors import InputError, at_least
from nsr.learn.tables.columns import Column
from nsr.learn.tables.engine import Engine, Progress, between, explain
from nsr.learn.tables.files import open_files
from nsr.learn.tables.frames import data_frame
from nsr.learn.tables.kinds import CELLS, find_columns
from nsr.learn.tables.source import ROW
from nsr.learn.tables.text import plural, shorten, sql_name
from nsr.program.kinds import Kind

SAMPLE = 20_000
"""The most rows that a rule is learned from."""
STREAM = 0x6E7372
"""The sample is drawn from a stream of its own: a table made with ``default_rng(0)`` must not repeat the draw."""
PART = 50_000
"""About how many cells a part of all rows has."""
DRAWN = 1_000_000
"""Random numbers that are drawn at once."""
VECTOR = 2048
"""Rows that DuckDB hands out at once."""
ROWS = "nsr_rows"
"""The view of all rows; with row numbers, it ends in ``_numbered``."""


@dataclass(frozen=True)
class Table:
    """A table that was read once from end to end. Its queries run in DuckDB, in bounded memory."""

    name: str
    """What messages call it: the path, as it was given."""
    rows: int
    columns: Mapping[str, Column]
    """By name, in the order of the file."""
    engine: Engine = field(repr=False)
    sample: pd.DataFrame = field(repr=False)
    """All rows, or a sample in the order of the file; the index holds the row numbers.

    Rows are numbered as in a spreadsheet: the header is row 1. Where there is no header, as in Parquet, the first row
    is row 1. Blank lines between rows are not counted.
    """
    relation: str = ROWS
    """A view of all rows, with the names and types of ``columns``: ``SELECT ... FROM nsr_rows``."""

    @property
    def connection(self) -> Any:
        """The DuckDB connection that knows the view ``relation``."""
        return self.engine.connection

    @property
    def complete(self) -> bool:
        """Whether the sample is the complete table."""
        return len(self.sample) == self.rows

    def column(self, name: str) -> Column:
        """The column of that name; an InputError suggests the closest match of an unknown name."""
        if name in self.columns:
            return self.columns[name]
        by_folded_name = {known.casefold(): known for known in self.columns}
        close = difflib.get_close_matches(name.casefold(), by_folded_name, n=1, cutoff=0.5)
        if close:
            raise InputError(f"{self.name} has no column {name!r}; did you mean {by_folded_name[close[0]]!r}?")
        known = ", ".join(map(repr, list(self.columns)[:10])) + (", ..." if len(self.columns) > 10 else "")
        raise InputError(f"{self.name} has no column {name!r}; its columns are {known}")

    def check(self, names: Iterable[str]) -> None:
        """Raise an InputError if a cell in one of the columns does not fit into it."""
        for column in map(self.column, names):
            cell = f"c{list(self.columns).index(column.name)}"
            for misfit in column.misfits:
                ((count, row, text),) = self.engine.rows(
                    f"SELECT count(*), min({ROW}), arg_min({cell}, {ROW}) FROM {CELLS}_numbered "
                    f"WHERE {cell} IS NOT NULL AND {misfit.where}"
                )
                if count:
                    such = "" if "64 bits" in misfit.problem else f"; {plural(count, 'such cell')}"
                    raise InputError(
                        f"{shorten(text)} {misfit.problem} (row {row}, column {column.name!r}{such}): {misfit.remedy}"
                    )

    def count(self, condition: str, on_progress: Progress | None = None) -> int:
        """How many rows meet a condition, given in SQL."""
        ((count,),) = self.engine.rows(f"SELECT count(*) FROM {self.relation} WHERE {condition}", on_progress)
        return int(count)

    def texts(self, name: str, most: int) -> list[str] | None:
        """All texts of a column in order, if there are no more than so many."""
        quoted = sql_name(name)
        query = f"SELECT DISTINCT {quoted} FROM {self.relation} WHERE {quoted} IS NOT NULL LIMIT {most + 1:d}"
        found = sorted(text for (text,) in self.engine.rows(query))
        return found if len(found) <= most else None

    def rows_where(self, condition: str, limit: int, on_progress: Progress | None = None) -> pd.DataFrame:
        """The first rows that meet a condition, given in SQL; the index holds their row numbers."""
        columns = list(self.columns.values())
        query = f"SELECT {_selected(columns)} FROM {self.relation}_numbered WHERE {condition} LIMIT {limit:d}"
        return _typed(self.engine.frame(query, on_progress), columns)

    def parts(
        self,
        columns: Sequence[str] | None = None,
        on_progress: Progress = lambda _: None,
        *,
        exact: bool = False,
    ) -> Iterator[pd.DataFrame]:
        """All rows in order, in parts of bounded size, typed as ``sample`` is. A table without rows is one part.

        With ``exact``, a column of decimals that doubles would round to integers holds ``Decimal``.
        """
        wanted = [self.column(name) for name in (self.columns if columns is None else columns)]
        cursor = self.connection.cursor()
        try:
            cursor.execute(f"SELECT {_selected(wanted, exact)} FROM {self.relation}_numbered")
            size, done = max(1, PART // VECTOR // max(1, len(wanted))), 0
            while True:
                part = _typed(cursor.fetch_df_chunk(size), wanted, exact)
                if part.empty and done:
                    return
                done += max(1, len(part))
                yield part
                on_progress(min(1.0, done / max(1, self.rows)))
        except Exception as problem:
            if type(problem).__module__ in {"duckdb", "_duckdb"}:
                raise InputError(explain(self.name, str(problem))) from None
            raise
        finally:
            cursor.close()


def _selected(columns: Iterable[Column], exact: bool = False) -> str:
    """SQL of columns as pandas takes them, after the row number; large decimals as texts, if they are to be exact."""
    values = [ROW]
    for column in columns:
        quoted = sql_name(column.name)
        if exact and column.has_large_decimals:
            values.append(f"CAST({quoted} AS VARCHAR) AS {quoted}")
            continue
        as_double = column.kind is Kind.NUMBER and not column.is_integer
        values.append(f"{column.as_double.format(quoted)} AS {quoted}" if as_double else quoted)
    return ", ".join(values)


def _typed(rows: pd.DataFrame, columns: Sequence[Column], exact: bool = False) -> pd.DataFrame:
    """Rows from DuckDB, indexed by their row number, with the same types in every part of the table."""
    decimals = [column.name for column in columns if exact and column.has_large_decimals]
    typed = rows.set_index(ROW).rename_axis(None)
    typed = typed.astype({column.name: _dtype(column) for column in columns if column.name not in decimals})
    for name in decimals:
        cells = [None if pd.isna(cell) else Decimal(cell) for cell in typed[name]]
        typed[name] = pd.Series(cells, index=typed.index, dtype=object)
    return typed


def _dtype(column: Column) -> str:
    """The type of a column in pandas."""
    if column.kind is Kind.NUMBER:
        return ("Int64" if column.missing or column.misfits else "int64") if column.is_integer else "float64"
    times = {Kind.DATE: "datetime64[us]", Kind.TIMESTAMP: "datetime64[us]", Kind.DURATION: "timedelta64[us]"}
    return "boolean" if column.kind is Kind.BOOLEAN else times.get(column.kind, "str")


def read(
    source: Any,
    *,
    rows: int = SAMPLE,
    seed: int = 0,
    dates: Mapping[str, str] | None = None,
    on_progress: Progress = lambda _: None,
) -> Table:
    """Read a table from end to end in bounded memory, and keep a sample of its rows.

    Args:
        source: A .csv, .tsv, .txt, .jsonl or .parquet file, the first four also with .gz; a pattern such as
            ``2024-*.csv``; ``file.db::table`` of SQLite or DuckDB; or a pandas, polars or Arrow table.
        rows: The most rows in the sample. Every row is equally likely to be drawn.
        seed: Seed of the draw.
        dates: For columns of dates, how these are written, such as ``day/month/year``: used where the cells do not
            decide it, as in 03/04/2024.
        on_progress: Called with the fraction of the work that is done.
    """
    at_least(1, "rows", rows)
    is_path = isinstance(source, str | Path)
    engine = Engine(str(source) if is_path else "the table")
    found = open_files(engine, str(source)) if is_path else data_frame(engine, source)
    total, columns = find_columns(engine, found, between(on_progress, 0.0, 0.8), dates)
    _create_rows(engine, columns)
    places = drawn_places(total, rows, seed) if total > rows else None
    sample = _draw(engine, columns, places, between(on_progress, 0.8, 1.0))
    if places is None:
        columns = [replace(column, distinct=int(sample[column.name].nunique())) for column in columns]
    return Table(engine.name, total, {column.name: column for column in columns}, engine, sample)


def _create_rows(engine: Engine, columns: Sequence[Column]) -> None:
    """Create the views of all rows with their types, without and with row numbers."""
    values = ", ".join(f"{column.value} AS {sql_name(column.name)}" for column in columns)
    engine.execute(f"CREATE VIEW {ROWS} AS SELECT {values} FROM {CELLS}")
    engine.execute(f"CREATE VIEW {ROWS}_numbered AS SELECT {ROW}, {values} FROM {CELLS}_numbered")


def drawn_places(total: int, size: int, seed: int) -> np.ndarray:
    """The places of a sample of rows, from 0: those with the smallest of ``total`` random numbers."""
    generator = np.random.default_rng([STREAM, seed])
    numbers, places = np.empty(0), np.empty(0, dtype=np.int64)
    for start in range(0, total, DRAWN):
        more = generator.random(min(DRAWN, total - start))
        numbers = np.concatenate([numbers, more])
        places = np.concatenate([places, np.arange(start, start + len(more))])
        if len(numbers) > size:
            least = np.argpartition(numbers, size)[:size]
            numbers, places = numbers[least], places[least]
    return np.sort(places)


def _draw(engine: Engine, columns: Sequence[Column], places: np.ndarray | None, on_progress: Progress) -> pd.DataFrame:
    """The rows at the given places, or all of them, in the order of the file."""
    query = f"SELECT {_selected(columns)} FROM {ROWS}_numbered"
    if places is not None:
        ((first,),) = engine.rows(f"SELECT {ROW} FROM {CELLS}_numbered LIMIT 1")
        engine.connection.register("nsr_drawn", pd.DataFrame({ROW: places + first}))
        query += f" WHERE {ROW} IN (SELECT {ROW} FROM nsr_drawn)"
    rows = engine.frame(query, on_progress)
    if places is not None:
        engine.connection.unregister("nsr_drawn")
    return _typed(rows.sort_values(ROW), columns)
