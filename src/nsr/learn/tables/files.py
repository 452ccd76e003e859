"""Which reader a file needs, and the readers of Parquet and JSON lines."""

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from nsr.errors import InputError
from nsr.learn.tables.databases import database
from nsr.learn.tables.delimited import delimited, is_gzip
from nsr.learn.tables.engine import Engine
from nsr.learn.tables.source import Source, check_names, literal_path
from nsr.learn.tables.text import sql_list, sql_name, sql_text

DELIMITED = (".csv", ".tsv", ".tab", ".txt")
JSON = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
DATABASES = (".db", ".sqlite", ".sqlite3", ".duckdb")
EXCEL = (".xlsx", ".xls", ".ods")
SUPPORTED = ".csv, .tsv or .parquet"


def open_files(engine: Engine, source: str) -> Source:
    """The source for a path, a pattern such as ``2024-*.csv``, or a table of a database, ``file.db::table``."""
    if re.match(r"[a-z0-9]+:/", source) and not Path(source).exists():
        raise InputError(f"{source} is an address: download the file, and give its path")
    path, _, table = source.rpartition("::")
    if path and not Path(source).exists():
        return database(engine, _existing(Path(path)), table)
    paths = _paths(source)
    suffix = _suffix(paths[0])
    for other in paths[1:]:
        if _suffix(other) != suffix:
            raise InputError(f"{source} matches files of different types: {paths[0].name} and {other.name}")
    if suffix in DATABASES:
        return database(engine, paths[0], "")
    for path_ in paths:
        _check_not_empty(path_)
    if suffix in DELIMITED:
        return delimited(engine, paths)
    if suffix in JSON:
        return _json(engine, paths)
    if suffix in PARQUET and not is_gzip(paths[0]):
        return _parquet(engine, paths)
    if suffix in EXCEL:
        raise InputError(f"{source} has an unsupported file type: save the table as .csv ('CSV UTF-8' in Excel)")
    raise InputError(f"{source} has an unsupported file type: save the table as {SUPPORTED}")


def _paths(source: str) -> list[Path]:
    """The files that a path or a pattern names, sorted."""
    if not Path(source).exists() and glob.has_magic(source):
        if not (found := sorted(glob.glob(source, recursive=True))):  # noqa: PTH207 (may be absolute)
            raise InputError(f"no file matches {source}: check the pattern and the folder")
        return [_existing(Path(each)) for each in found]
    return [_existing(Path(source))]


def _existing(path: Path) -> Path:
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the path of a file")
    if not path.exists():
        raise InputError(f"{path} does not exist: check the file name and the folder")
    return path


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _check_not_empty(path: Path) -> None:
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path} is empty: expected a header row with the column names, followed by rows")


def _parquet(engine: Engine, paths: Sequence[Path]) -> Source:
    files = sql_list(map(literal_path, paths))
    described = engine.rows(f"DESCRIBE SELECT * FROM read_parquet({files})")
    schema = engine.rows(f"SELECT name, num_children FROM parquet_schema({sql_text(literal_path(paths[0]))})")
    stored = list(_top_level(schema))  # DuckDB itself renames a second column of the same name
    names = check_names(engine.name, ["" if name.startswith("__index_level_") else name for name in stored])
    numbered = len(paths) == 1 and "file_row_number" not in map(str.lower, stored)
    selected = [f"{sql_name(row[0])} AS c{place}" for place, row in enumerate(described)]
    option = ", file_row_number = true" if numbered else ""
    more = ", file_row_number" if numbered else ""
    return Source(
        relation=f"(SELECT {', '.join(selected)}{more} FROM read_parquet({files}{option}))",
        names=names,
        types=tuple(row[1] for row in described),
        row_number="file_row_number + 1" if numbered else "row_number() OVER ()",
    )


def _top_level(schema: Sequence[tuple[str, int | None]]) -> Iterator[str]:
    """The names of the columns in a Parquet schema, which lists the parts of nested columns as well."""
    inside: list[int] = []
    for name, children in schema[1:]:
        if not inside:
            yield name
        while inside and inside[-1] == 1:
            inside.pop()
        if inside:
            inside[-1] -= 1
        if children:
            inside.append(children)


def _json(engine: Engine, paths: Sequence[Path]) -> Source:
    """Objects, one per line or in one list. Numbers are read as texts, which are exact."""
    files = sql_list(map(literal_path, paths))
    options = f"compression = '{'gzip' if is_gzip(paths[0]) else 'none'}'"
    described = engine.rows(
        f"DESCRIBE SELECT * FROM read_json({files}, sample_size = -1, map_inference_threshold = -1, "
        f"convert_strings_to_integers = false, {options})"
    )
    if [row[0] for row in described] == ["json"]:
        raise InputError(f'{engine.name} has no objects with names: write one object such as {{"a": 1}} per line')
    names = check_names(engine.name, [row[0] for row in described])
    columns = ", ".join(f"{sql_text(row[0])}: 'VARCHAR'" for row in described)
    selected = [f"{sql_name(row[0])} AS c{place}" for place, row in enumerate(described)]
    relation = f"(SELECT {', '.join(selected)} FROM read_json({files}, columns = {{{columns}}}, {options}))"
    types = [row[1] if _is_nested(row[1]) else "VARCHAR" for row in described]
    for place in (place for place, row in enumerate(described) if row[1] == "JSON"):  # its cells differ in type
        ((nested,),) = engine.rows(f"SELECT bool_or(regexp_matches(c{place}, '^[{{\\[]')) FROM {relation}")
        types[place] = "JSON" if nested else "VARCHAR"
    return Source(relation=relation, names=names, types=tuple(types))


def _is_nested(sql_type: str) -> bool:
    return sql_type.startswith(("STRUCT", "MAP")) or sql_type.endswith("]")
