"""What DuckDB reads: an expression for all rows, with the names and SQL types of the columns."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nsr.errors import InputError

UNNAMED = "unnamed column "
"""Prefix of the name given to a column without one; its position follows."""
MOST_COLUMNS = 2_000
"""DuckDB needs 32 kB for each column of each thread, several times over."""
ROW = "nsr_row"
"""Name of the column of row numbers in our views."""
MISSING_MARKERS = (
    *("", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan"),
    *("NULL", "null", "None"),
)
"""Texts that stand for a missing value."""


@dataclass(frozen=True)
class Source:
    """All rows of a table as DuckDB sees them: columns c0, c1 ... in order."""

    relation: str
    """SQL after FROM."""
    names: tuple[str, ...]
    types: tuple[str, ...]
    """The SQL type of each column; VARCHAR if the kind is to be found from the texts."""
    row_number: str = "row_number() OVER ()"
    """SQL of the number of a row."""
    with_markers: str | None = None
    """The relation with the texts that mark a missing value, if DuckDB already reads these as NULL."""
    decimal_comma: bool = False
    """Whether a comma in a number is rather a decimal comma than a separator of thousands."""


def check_names(where: object, header: Sequence[str]) -> tuple[str, ...]:
    """The names in a header, with one made up for each that is blank; raises an InputError for duplicates."""
    names = tuple(name if name.strip() else f"{UNNAMED}{place}" for place, name in enumerate(header, 1))
    if not any(name.strip() for name in header):
        raise InputError(f"{where} has no column names: the first row must be a header")
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{where} has {len(names):,} columns; at most {MOST_COLUMNS:,} can be read: remove the others")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(f"{where} has {times} columns named {name!r}: column names must be unique")
    _check_case(where, names)
    return names


def _check_case(where: object, names: Iterable[str]) -> None:
    """Refuse names that differ only in case: to SQL they are the same."""
    first: dict[str, str] = {}
    for name in names:
        if name.lower() == ROW:
            raise InputError(f"{where} has a column named {name!r}, which is reserved: rename it")
        if (other := first.setdefault(name.lower(), name)) != name:
            raise InputError(f"{where} has columns named {other!r} and {name!r}: names must differ in more than case")


def literal_path(path: Path) -> str:
    """A path in which DuckDB sees no wildcard and no address."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path.absolute()))
