"""What the cells of a column are, over all rows of a file, and the cells as exact numbers or labels."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from nsr.errors import InputError

INT64 = range(-(2**63), 2**63)
TRUTH = {"true": 1, "True": 1, "TRUE": 1, "false": 0, "False": 0, "FALSE": 0}
WHOLE, REAL, TRUE, HUGE, INFINITE, TEXT, LOST = "whole", "real", "true or false", "huge", "infinite", "text", "missing"
NULLABLE = {"int64": pd.arrays.IntegerArray, "float64": pd.arrays.FloatingArray, "bool": pd.arrays.BooleanArray}


@dataclass
class Column:
    """How many cells of each kind a column has, and the first of each kind with its row."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def add(self, rows: Sequence[int], cells: Sequence[Any]) -> None:
        """Count some more cells."""
        present = [cell for cell in cells if cell is not None] if None in cells else cells
        if len(present) < len(cells):
            self.counts[LOST] += len(cells) - len(present)
        if (kind := _kind_of_all(present)) is not None:
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
        return self.counts[LOST]

    @property
    def dtype(self) -> str:
        """The type that holds every cell: bool, int64, float64, or str for text and dates."""
        if 2 * self.counts[TEXT] > self.counts.total() - self.missing:
            return "str"
        if self.counts[REAL]:
            return "float64"
        return "int64" if self.counts[WHOLE] or self.counts[HUGE] else "bool"

    @property
    def unfit(self) -> str | None:
        """Why the column holds no numbers at all, if so."""
        if self.missing == self.counts.total():
            return "empty"
        if self.dtype == "str":
            row, cell = self.first[TEXT]
            return f"text or dates, such as {_shown(cell)} in row {row}"
        return None

    def check(self) -> None:
        """Refuse cells that are no finite exact numbers in a column of numbers."""
        if self.dtype == "str":
            return
        if count := self.counts[TEXT]:
            raise InputError(
                f"{self._place(TEXT)} is no number, in a column of numbers ({_times(count, 'such cell')}): "
                f"correct it, or empty the cell and use --drop-missing"
            )
        if count := self.counts[INFINITE]:
            raise InputError(
                f"{self._place(INFINITE)} is infinite or too large ({_times(count, 'such cell')}): "
                f"correct it, or empty the cell and use --drop-missing"
            )
        if self.counts[HUGE] and not self.counts[REAL]:
            raise InputError(
                f"{self._place(HUGE)} does not fit in 64 bits: leave the column out, or divide it by a common factor"
            )

    def _place(self, kind: str) -> str:
        row, cell = self.first[kind]
        return f"{_shown(cell)} in row {row} of column {self.name!r}"


def typed(cells: Sequence[Any], dtype: str) -> Any:
    """Cells as an array of a type, exact, in which cells can be missing."""
    if dtype == "str":
        return pd.array([None if cell is None else str(cell) for cell in cells], dtype="str")
    number = float if dtype == "float64" else int
    lost = np.zeros(len(cells), dtype=bool)
    try:
        numbers = list(map(number, cells))
    except (TypeError, ValueError):  # there are None, or true and false as words
        lost = np.array([cell is None for cell in cells])
        numbers = [number(0 if cell is None else TRUTH.get(cell, cell)) for cell in cells]
    return NULLABLE[dtype](np.array(numbers, dtype=dtype), lost)


def _kind_of_all(cells: Sequence[Any]) -> str | None:
    """The kind of all cells, where they are plain numbers of one kind. It is a short cut: most columns are."""
    types = set(map(type, cells))
    if types == {str} and "_" not in "".join(cells):  # Python would read 1_000
        for number in (int, float):
            try:
                cells, types = list(map(number, cells)), {number}
                break
            except ValueError:
                continue
    if types == {int} and min(cells) in INT64 and max(cells) in INT64:
        return WHOLE
    if types == {float} and all(map(math.isfinite, cells)):
        return REAL
    return TRUE if types == {bool} or (types == {str} and TRUTH.keys() >= set(cells)) else None


def _kind(cell: Any) -> str:
    if isinstance(cell, bool) or (isinstance(cell, str) and cell in TRUTH):
        return TRUE
    if not isinstance(cell, str | int | float) or "_" in str(cell):
        return TEXT
    try:
        number = float(cell)
    except ValueError:
        return TEXT
    if not math.isfinite(number):
        return TEXT if math.isnan(number) else INFINITE
    try:
        return WHOLE if int(str(cell)) in INT64 else HUGE
    except ValueError:
        return REAL


def _shown(cell: Any) -> str:
    text = str(cell)
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _times(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
