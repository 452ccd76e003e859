"""Tables on disk as batches of cells, in bounded memory: CSV and TSV, also gzipped, and Parquet."""

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

SEPARATORS = {".csv": ",", ".tsv": "\t"}
NAMED = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
CELLS = 50_000
"""How many cells a batch has, about."""
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "null", "None"]
)
UNNAMED = "unnamed column "
"""What a column without a name is called, before its place."""


@dataclass(frozen=True)
class Batch:
    """Some rows of a file: their numbers, and their cells by column. A missing cell is None."""

    rows: Sequence[int]
    cells: dict[str, list[Any]]
    done: float = 1.0
    """Which share of the file is read with this."""


def batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[Batch]:
    """The rows of a file in order, of all columns or of some; what is wrong with the file is an InputError.

    There is at least one batch: one without rows where the file has none.
    A row's number is the one that a spreadsheet shows, where the header is row 1. Parquet has no header: its first
    row is row 1.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if not path.exists():
        raise InputError(f"there is no file {path}: check the name and the folder")
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in SEPARATORS and not name.endswith(".parquet"):
        raise InputError(f"{path} is not a kind of table that can be read: save it as .csv, .tsv or .parquet")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path} is empty: the first row has to name the columns, and rows of numbers follow")
    try:
        parts = _separated(path, SEPARATORS[suffix], columns) if suffix in SEPARATORS else _parquet(path, columns)
        yield from parts
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8: save it as UTF-8, which Excel calls 'CSV UTF-8'") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise InputError(f"{path} cannot be unpacked, it is cut off or no gzip: {problem}") from None
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
            some = list(islice(numbered, size))
            if not some:
                yield Batch([], {name: [] for _, name in places})
            while some:
                for number, row in some:
                    if len(row) != len(names):
                        raise InputError(
                            f"row {number} of {path} has {_cells(len(row))} and the header has {len(names)}: "
                            f"give every row one cell for each column, and quote cells that contain a separator"
                        )
                by_column = list(zip(*(row for _, row in some), strict=True))
                cells = {name: _known(by_column[place]) for place, name in places}
                yield Batch([number for number, _ in some], cells, raw.tell() / length)
                some = list(islice(numbered, size))
        except csv.Error as problem:
            raise InputError(
                f"{path} cannot be read at line {reader.line_num} or before ({problem}): check the quotes there"
            ) from None


def _text(path: Path, raw: BinaryIO) -> TextIO:
    """The text of an open file; a mark of UTF-8 at its start (BOM) is skipped."""
    packed = path.name.lower().endswith(".gz")
    return TextIOWrapper(gzip.GzipFile(fileobj=raw) if packed else raw, encoding="utf-8-sig", newline="")


def _check_separator(path: Path, separator: str, header: list[str]) -> None:
    other = next((each for each in NAMED if each in header[0]), None)
    if len(header) == 1 and other:
        raise InputError(
            f"{path} separates its columns by {NAMED[other]}, and its name promises {NAMED[separator]}: "
            f"save it with {NAMED[separator]}" + (" and decimal points" if other == ";" else "")
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
        raise InputError(f"{path} is cut off or not Parquet: write it again ({reason})") from None


def _python(arrow: Any, column: Any) -> list[Any]:
    """A column of Parquet as Python's values; decimals as their digits, which may be whole, and short floats too."""
    if arrow.types.is_decimal(column.type) or arrow.types.is_float32(column.type):
        column = column.cast(arrow.string())
    cells = column.to_pylist()
    if arrow.types.is_nested(column.type):
        return [None if cell is None else str(cell) for cell in cells]
    if arrow.types.is_floating(column.type):
        return [None if cell != cell else cell for cell in cells]
    return _known(cells)


def _known(cells: Sequence[Any]) -> list[Any]:
    """The cells, with None for those whose text says that they are missing."""
    return list(cells) if MISSING.isdisjoint(cells) else [None if cell in MISSING else cell for cell in cells]


def _names(path: Path, header: Sequence[str]) -> list[str]:
    """The names in a header as they stand, with one made for each that is blank; two alike are refused."""
    names = [name if name.strip() else f"{UNNAMED}{place}" for place, name in enumerate(header, 1)]
    if not any(name.strip() for name in header):
        raise InputError(f"{path} names no columns: the first row has to name them")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path} has {times} columns named {name!r}: give each column a name of its own")
    return names


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
