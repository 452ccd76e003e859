"""Files of tables as batches of cells, in bounded memory: CSV and TSV, also gzipped, and Parquet."""

import csv
import gzip
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from nsr.errors import InputError, needs_extra
from nsr.learn.tables.cells import plural

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SEPARATOR_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
CELLS = 50_000
"""About how many cells a batch has."""
MISSING_MARKERS = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "null", "None"]
)
UNNAMED = "unnamed column "
"""Prefix of the name given to a column without one; its position follows."""


@dataclass(frozen=True)
class Batch:
    """Rows of a file: their row numbers, and their cells by column. A missing cell is None."""

    rows: Sequence[int]
    cells: dict[str, list[Any]]
    done: float = 1.0
    """Fraction of the file read, including this batch."""


def batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[Batch]:
    """The rows of a file in order, with all columns or only those given; raises an InputError if it cannot be read.

    A file without rows is one batch without rows. Rows are numbered as in a spreadsheet: the header is row 1. Parquet
    has no header, so its first row is row 1.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the path of a file")
    if not path.exists():
        raise InputError(f"{path} does not exist: check the file name and the folder")
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in SEPARATORS and not name.endswith(".parquet"):
        raise InputError(f"{path} has an unsupported file type: save the table as .csv, .tsv or .parquet")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path} is empty: expected a header row with the column names, followed by rows of numbers")
    try:
        rows = _separated(path, SEPARATORS[suffix], columns) if suffix in SEPARATORS else _parquet(path, columns)
        yield from rows
    except UnicodeDecodeError:
        raise InputError(f"{path} is not encoded in UTF-8: save it as UTF-8 ('CSV UTF-8' in Excel)") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise InputError(f"{path} cannot be decompressed: it is truncated or not a gzip file ({problem})") from None
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}") from None


def _separated(path: Path, separator: str, columns: Sequence[str] | None) -> Iterator[Batch]:
    length = path.stat().st_size or 1
    with path.open("rb") as raw, _text(path, raw) as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        numbered = ((number, row) for number, row in enumerate(reader, 1) if row)
        try:
            header = next(numbered, (0, [""]))[1]
            _check_separator(path, separator, header)
            names = _names(path, header)
            places = [(place, name) for place, name in enumerate(names) if columns is None or name in columns]
            size = max(1, CELLS // len(names))
            part = list(islice(numbered, size))
            if not part:
                yield Batch([], {name: [] for _, name in places})
            while part:
                for number, row in part:
                    if len(row) != len(names):
                        raise InputError(
                            f"row {number} of {path} has {plural(len(row), 'cell')}, but the header has {len(names)}: "
                            f"every row needs one cell per column, and cells that contain a separator need quotes"
                        )
                by_column = list(zip(*(row for _, row in part), strict=True))
                cells = {name: _without_markers(by_column[place]) for place, name in places}
                yield Batch([number for number, _ in part], cells, raw.tell() / length)
                part = list(islice(numbered, size))
        except csv.Error as problem:
            raise InputError(
                f"{path} cannot be parsed at or before line {reader.line_num} ({problem}): check the quotes there"
            ) from None


def _text(path: Path, raw: BinaryIO) -> TextIO:
    """The text of an open file, without the byte order mark that it may start with."""
    gzipped = path.name.lower().endswith(".gz")
    return TextIOWrapper(gzip.GzipFile(fileobj=raw) if gzipped else raw, encoding="utf-8-sig", newline="")


def _check_separator(path: Path, separator: str, header: list[str]) -> None:
    other = next((each for each in SEPARATOR_NAMES if each in header[0]), None)
    if len(header) == 1 and other:
        raise InputError(
            f"{path} separates its columns with {SEPARATOR_NAMES[other]}, but its file extension stands for "
            f"{SEPARATOR_NAMES[separator]}: save it with {SEPARATOR_NAMES[separator]}"
            + (" and decimal points" if other == ";" else "")
        )


def _parquet(path: Path, columns: Sequence[str] | None) -> Iterator[Batch]:
    with needs_extra("learn"):
        import pyarrow as arrow
        from pyarrow import parquet
    try:
        with parquet.ParquetFile(path) as file:
            names = _names(
                path, ["" if name.startswith("__index_level_") else name for name in file.schema_arrow.names]
            )
            stored = dict(zip(names, file.schema_arrow.names, strict=True))
            wanted = [name for name in names if columns is None or name in columns]
            size, start = max(1, CELLS // max(1, len(names))), 1
            if not file.metadata.num_rows:
                yield Batch([], {name: [] for name in wanted})
                return
            for part in file.iter_batches(size, columns=[stored[n] for n in wanted]):
                cells = {name: _python(arrow, part.column(stored[name])) for name in wanted}
                end = start + part.num_rows
                yield Batch(range(start, end), cells, (end - 1) / file.metadata.num_rows)
                start = end
    except arrow.ArrowException as problem:
        reason = str(problem).splitlines()[0].rstrip(".")
        raise InputError(f"{path} is truncated or not a Parquet file: write it again ({reason})") from None


def _python(arrow: Any, column: Any) -> list[Any]:
    """A Parquet column as Python values; decimals and float32 as decimal text, which is exact."""
    if arrow.types.is_decimal(column.type) or arrow.types.is_float32(column.type):
        column = column.cast(arrow.string())
    cells = column.to_pylist()
    if arrow.types.is_nested(column.type):
        return [None if cell is None else str(cell) for cell in cells]
    if arrow.types.is_floating(column.type):
        return [None if cell != cell else cell for cell in cells]
    return _without_markers(cells)


def _without_markers(cells: Sequence[Any]) -> list[Any]:
    """The cells, with None for texts that mark a missing value."""
    if MISSING_MARKERS.isdisjoint(cells):
        return list(cells)
    return [None if cell in MISSING_MARKERS else cell for cell in cells]


def _names(path: Path, header: Sequence[str]) -> list[str]:
    """The names in a header, with one made up for each that is blank; raises an InputError for duplicates."""
    names = [name if name.strip() else f"{UNNAMED}{place}" for place, name in enumerate(header, 1)]
    if not any(name.strip() for name in header):
        raise InputError(f"{path} has no column names: the first row must be a header")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path} has {times} columns named {name!r}: column names must be unique")
    return names
