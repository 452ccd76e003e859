"""Text files with separators: which separator and quotes they use, their header, and how DuckDB reads them."""

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from nsr.errors import InputError
from nsr.learn.tables.engine import LONGEST_LINE, Engine
from nsr.learn.tables.source import MISSING_MARKERS, Source, check_names, literal_path
from nsr.learn.tables.text import sql_list, sql_text

SEPARATORS = (",", ";", "\t", "|")
NEWLINE = re.compile(rb"[\r\n]")
LINES = 50
"""Lines after the header that decide between two possible separators."""


@dataclass(frozen=True)
class Header:
    """The names in the first row, and how the file is to be parsed."""

    names: tuple[str, ...]
    separator: str
    skip: int
    """Blank lines before the header."""
    blank: int
    """Blank lines directly after it."""


def delimited(engine: Engine, paths: Sequence[Path]) -> Source:
    """CSV, TSV and text files, also compressed with gzip; all with the same header."""
    for path in paths:
        check_lines(path)
    quote, escape = _quotes(engine, paths[0], read_header(paths[0]))
    header = read_header(paths[0], quote)
    for path in paths[1:]:
        other = read_header(path, quote)
        if (other.names, other.separator, other.skip) != (header.names, header.separator, header.skip):
            raise InputError(f"{path} has other columns than {paths[0]}: files read together need the same header")
    names = check_names(paths[0], header.names)
    columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(len(names)))
    options = [
        f"auto_detect = false, header = true, skip = {header.skip}, columns = {{{columns}}}",
        f"delim = {sql_text(header.separator)}, quote = {sql_text(quote)}, escape = {sql_text(escape)}",
        "strict_mode = true, null_padding = false",
        f"max_line_size = {LONGEST_LINE}, buffer_size = {8 * LONGEST_LINE}",
        f"compression = '{'gzip' if is_gzip(paths[0]) else 'none'}'",
    ]
    files = sql_list(literal_path(path) for path in paths)
    before = header.skip + 1 + header.blank if len(paths) == 1 else 0
    unmarked, marked = (
        f"read_csv({files}, {', '.join(options)}, nullstr = {sql_list(each)})" for each in ([""], MISSING_MARKERS)
    )
    return Source(
        relation=marked,
        names=names,
        types=("VARCHAR",) * len(names),
        row_number=f"row_number() OVER () + {before}",
        with_markers=unmarked,
        decimal_comma=header.separator != ",",
    )


def read_header(path: Path, quote: str = '"') -> Header:
    """Read the start of a file; raises an InputError if it is not text or has no header."""
    with _readable(path):
        lines, complete = _first_lines(path)
    skip = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if not lines[skip:] or not any(lines[skip]):
        raise InputError(f"{path} has no column names: the first row must be a header")
    if any("\0" in line for line in lines):
        raise InputError(f"{path} is a binary file: save the table as .csv, .tsv or .parquet")
    separator = _separator(path, lines[skip:], quote, complete=complete)
    records = _records(lines[skip:], separator, quote)
    names = records[0] if records else []
    blank = next((number for number, record in enumerate(records[1:]) if record), 0)
    return Header(tuple(names), separator, skip, blank)


def check_lines(path: Path) -> None:
    """Raise an InputError for a line that is too long: DuckDB skips one at the end of a file without a word."""
    too_long = InputError(f"{path} has a line of more than {LONGEST_LINE:,} bytes: it is damaged, or it is not a table")
    with _readable(path), _opened(path) as file:
        if not is_gzip(path):
            if file.seek(0, os.SEEK_END) > LONGEST_LINE:
                file.seek(-LONGEST_LINE, os.SEEK_END)
                if not NEWLINE.search(file.read().rstrip()):
                    raise too_long
            return
        length = 0
        while block := file.read(LONGEST_LINE // 2):
            ends = block.rfind(b"\n")
            length = length + len(block) if ends < 0 and b"\r" not in block else len(block) - ends
            if length > LONGEST_LINE:
                raise too_long


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn the errors of reading a file into InputErrors."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(f"{path} is not encoded in UTF-8: save it as UTF-8 ('CSV UTF-8' in Excel)") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise InputError(f"{path} cannot be decompressed: it is truncated or not a gzip file ({problem})") from None
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}") from None


def _opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path)) if is_gzip(path) else path.open("rb")


def is_gzip(path: Path) -> bool:
    """Whether the name says that the file is compressed."""
    return path.name.lower().endswith(".gz")


def _first_lines(path: Path) -> tuple[list[str], bool]:
    """The first lines of a text file, and whether they are all; at most ``LONGEST_LINE`` characters of each."""
    with gzip.open(path) if is_gzip(path) else path.open("rb") as raw:
        file = TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        lines = []
        for _ in range(LINES):
            line = file.readline(LONGEST_LINE)
            if len(line) == LONGEST_LINE:
                raise InputError(
                    f"{path} has a line of more than {LONGEST_LINE:,} bytes: it is damaged, or it is not a table"
                )
            lines.append(line)
            if not line:
                return lines, True
        return lines, False


def _records(lines: Sequence[str], separator: str, quote: str) -> list[list[str]]:
    """The complete records at the start of a file; fewer if the quotes are wrong."""
    records: list[list[str]] = []
    reader = csv.reader(lines, delimiter=separator, quotechar=quote, strict=True)
    try:
        for record in islice(reader, LINES):
            records.append(record)
    except csv.Error:
        pass
    return records


def _separator(path: Path, lines: Sequence[str], quote: str, *, complete: bool) -> str:
    """The separator that splits the header and fits most of the first rows; that of the file name for one column."""
    usual = "\t" if Path(path.name.lower().removesuffix(".gz")).suffix in {".tsv", ".tab"} else ","
    scores = {}
    for separator in SEPARATORS:
        records = [record for record in _records(lines, separator, quote) if record]
        if records and len(records[0]) > 1:
            rows = records[1:] if complete else records[1:-1]
            fitting = sum(len(record) == len(records[0]) for record in rows)
            scores[separator] = (fitting / max(1, len(rows)), separator == usual, len(records[0]))
    return max(scores, key=lambda separator: scores[separator]) if scores else usual


def _quotes(engine: Engine, path: Path, header: Header) -> tuple[str, str]:
    """The quote and the escape character, as DuckDB sniffs them; the usual ones if it sees none."""
    try:
        ((quote, escape),) = engine.rows(
            f"SELECT Quote, Escape FROM sniff_csv({sql_text(literal_path(path))}, "
            f"delim = {sql_text(header.separator)}, header = true, skip = {header.skip}, sample_size = 20480, "
            f"max_line_size = {LONGEST_LINE}, buffer_size = {8 * LONGEST_LINE})"
        )
    except InputError:  # the rows are ragged or damaged: reading them says where
        return '"', '"'
    quote = '"' if quote in {"", "(empty)", "\0"} else quote
    return quote, (quote if escape in {"", "(empty)", "\0"} else escape)
