"""What kind of cells a column holds, over all rows of a file, and the cells as exact values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nsr.errors import InputError

INT64 = range(-(2**63), 2**63)
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Kind(StrEnum):
    """What a cell holds."""

    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    HUGE = "integer beyond 64 bits"
    INFINITE = "infinite"
    TEXT = "text"
    MISSING = "missing"


@dataclass
class Column:
    """How many cells of each kind a column has, and the first of each kind with its row."""

    name: str
    counts: Counter[Kind] = field(default_factory=Counter)
    first: dict[Kind, tuple[int, Any]] = field(default_factory=dict)

    def add(self, rows: Sequence[int], cells: Sequence[Any]) -> None:
        """Count more cells, given with their row numbers."""
        present = [cell for cell in cells if cell is not None] if None in cells else cells
        if len(present) < len(cells):
            self.counts[Kind.MISSING] += len(cells) - len(present)
        if (kind := _common_kind(present)) is not None:
            self.counts[kind] += len(present)
            return
        for row, cell in zip(rows, cells, strict=True):
            if cell is not None:
                kind = _kind(cell)
                self.counts[kind] += 1
                self.first.setdefault(kind, (row, cell))

    @property
    def missing(self) -> int:
        """How many cells are missing."""
        return self.counts[Kind.MISSING]

    @property
    def dtype(self) -> str:
        """The type that holds every cell: bool, int64, float64, or str for text and dates."""
        if 2 * self.counts[Kind.TEXT] > self.counts.total() - self.missing:
            return "str"
        if self.counts[Kind.FLOAT]:
            return "float64"
        return "int64" if self.counts[Kind.INTEGER] or self.counts[Kind.HUGE] else "bool"

    @property
    def not_numeric(self) -> str | None:
        """Why the column cannot be used as numbers; None if it can."""
        if self.missing == self.counts.total():
            return "empty"
        if self.dtype == "str":
            row, cell = self.first[Kind.TEXT]
            return f"text or dates, such as {_shorten(cell)} in row {row}"
        return None

    def check(self) -> None:
        """Raise an InputError if a column of numbers holds a cell that is not a finite, exact number."""
        if self.dtype == "str":
            return
        for kind, problem in ((Kind.TEXT, "is not a number"), (Kind.INFINITE, "is infinite or too large")):
            if count := self.counts[kind]:
                row, cell = self.first[kind]
                raise InputError(
                    f"{_shorten(cell)} {problem} (row {row}, column {self.name!r}; {plural(count, 'such cell')}): "
                    f"correct it, or clear the cell and use --drop-missing"
                )
        if self.counts[Kind.HUGE] and not self.counts[Kind.FLOAT]:
            row, cell = self.first[Kind.HUGE]
            raise InputError(
                f"{_shorten(cell)} does not fit in 64 bits (row {row}, column {self.name!r}): "
                f"leave the column out, or divide it by a common factor"
            )


def parse(cells: Sequence[Any], dtype: str) -> list[Any]:
    """The cells of a column as exact values of its type; None where a cell is missing."""
    if dtype == "str":
        return [None if cell is None else str(cell) for cell in cells]
    if dtype == "bool":
        return [TRUTH.get(cell, cell) for cell in cells]
    number = float if dtype == "float64" else int
    try:
        return list(map(number, cells))
    except (TypeError, ValueError):  # a cell is missing, or is the word true or false
        return [None if cell is None else number(TRUTH.get(cell, cell)) for cell in cells]


def plural(count: int, noun: str) -> str:
    """A count with its noun, such as ``1 row`` and ``2,000 rows``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _common_kind(cells: Sequence[Any]) -> Kind | None:
    """The kind of all cells if they are plain numbers of one kind, as in most columns: a shortcut."""
    types = set(map(type, cells))
    if types == {str} and "_" not in "".join(cells):  # Python would read 1_000
        for number in (int, float):
            try:
                cells, types = list(map(number, cells)), {number}
                break
            except ValueError:
                continue
    if types == {int} and min(cells) in INT64 and max(cells) in INT64:
        return Kind.INTEGER
    if types == {float} and all(map(math.isfinite, cells)):
        return Kind.FLOAT
    return Kind.BOOLEAN if types == {bool} or (types == {str} and TRUTH.keys() >= set(cells)) else None


def _kind(cell: Any) -> Kind:
    if isinstance(cell, bool) or (isinstance(cell, str) and cell in TRUTH):
        return Kind.BOOLEAN
    if not isinstance(cell, str | int | float) or "_" in str(cell):
        return Kind.TEXT
    try:
        number = float(cell)
    except ValueError:
        return Kind.TEXT
    if not math.isfinite(number):
        return Kind.TEXT if math.isnan(number) else Kind.INFINITE
    try:
        return Kind.INTEGER if int(str(cell)) in INT64 else Kind.HUGE
    except ValueError:
        return Kind.FLOAT


def _shorten(cell: Any) -> str:
    text = str(cell)
    return repr(text if len(text) <= 40 else text[:37] + "...")
