"""Tables of SQLite and DuckDB files."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from nsr.errors import InputError, needs_extra, one_of
from nsr.learn.tables.engine import Engine
from nsr.learn.tables.source import Source, check_names, literal_path
from nsr.learn.tables.text import sql_name, sql_text

ROWS = 20_000
"""Rows of SQLite that are copied at once."""


def database(engine: Engine, path: Path, table: str) -> Source:
    """The named table of a database file; the name may be left out if the file has only one."""
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"SQLite format 3"):
        return _sqlite(engine, path, table)
    if start[8:12] == b"DUCK":
        return _duckdb(engine, path, table)
    raise InputError(f"{path} is not a database of SQLite or DuckDB: check the file name")


def _choose(path: Path, table: str, known: Sequence[str]) -> str:
    if table:
        return one_of(f"table of {path}", table, known)
    if len(known) == 1:
        return known[0]
    example = f" such as {path}::{known[0]}" if known else ""
    raise InputError(f"{path} has {len(known)} tables: give the name of one{example}")


def _duckdb(engine: Engine, path: Path, table: str) -> Source:
    engine.execute(f"ATTACH {sql_text(str(path.absolute()))} AS nsr_file (READ_ONLY)")
    known = engine.rows(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'nsr_file' ORDER BY ALL"
    )
    names = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in known}
    schema, name = names[_choose(path, table, list(names))]
    stored = f"nsr_file.{sql_name(schema)}.{sql_name(name)}"
    described = engine.rows(f"DESCRIBE {stored}")
    selected = [f"{sql_name(row[0])} AS c{place}" for place, row in enumerate(described)]
    return Source(
        relation=f"(SELECT {', '.join(selected)} FROM {stored})",
        names=check_names(engine.name, [row[0] for row in described]),
        types=tuple(row[1] for row in described),
    )


def _sqlite(engine: Engine, path: Path, table: str) -> Source:
    """A copy of a table of SQLite: its cells have no common type, so they are read as texts."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
            known = file.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            chosen = _choose(path, table, [name for (name,) in known if not name.startswith("sqlite_")])
            rows = file.execute(f"SELECT * FROM {sql_name(chosen)}")
            names = check_names(engine.name, [column[0] for column in rows.description])
            copy = engine.folder / "sqlite.parquet"
            _copy(copy, len(names), iter(lambda: rows.fetchmany(ROWS), []))
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        raise InputError(f"{path} cannot be read as a database of SQLite: {problem}"[:400]) from None
    except MemoryError:  # SQLite's own answer to the length that a damaged page gives for a cell
        raise InputError(f"{path} cannot be read as a database of SQLite: a cell is too long for the memory") from None
    return Source(
        relation=f"read_parquet({sql_text(literal_path(copy))})",
        names=names,
        types=("VARCHAR",) * len(names),
    )


def _copy(path: Path, width: int, parts: Iterator[list[tuple[Any, ...]]]) -> None:
    with needs_extra("learn"):
        import pyarrow as arrow
        from pyarrow import parquet
    schema = arrow.schema([(f"c{place}", arrow.string()) for place in range(width)])
    with parquet.ParquetWriter(path, schema) as writer:
        for part in parts:
            columns = [[_text(cell) for cell in column] for column in zip(*part, strict=True)]
            writer.write_table(arrow.table(columns, schema=schema))


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return cell.hex() if isinstance(cell, bytes) else repr(cell)
