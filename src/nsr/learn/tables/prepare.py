"""The columns of a table that a rule can be learned from, and why the others are not used."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from nsr.errors import InputError
from nsr.learn.tables import forms
from nsr.learn.tables.columns import Column
from nsr.learn.tables.engine import Progress
from nsr.learn.tables.source import UNNAMED
from nsr.learn.tables.table import Table
from nsr.learn.tables.text import plural, shorten, sql_name
from nsr.program.kinds import Kind

NUMERIC = (Kind.NUMBER, Kind.BOOLEAN)


@dataclass(frozen=True)
class Prepared:
    """Rows to learn from, with no value missing; the index holds their row numbers in the file."""

    features: pd.DataFrame
    """Columns of int64 and float64; booleans are 0 and 1."""
    target: pd.Series
    """Labels or numbers: str, bool, int64 or float64."""
    left_out: tuple[tuple[str, str], ...]
    """Columns that are not among the features, each with the reason."""
    dropped: int
    """How many rows of the complete file were dropped because a value is missing."""


def prepare(table: Table, target: str, *, drop_missing: bool = False, only: Sequence[str] = ()) -> Prepared:
    """The rows and columns to learn a rule for the target from.

    Args:
        table: The table, as returned by ``read``.
        target: Column to predict.
        drop_missing: Drop rows with missing values instead of raising an error.
        only: The columns to learn from; by default all numeric columns.
    """
    label = table.column(target)
    _check_target(table, label, only)
    columns, left_out = _numeric_columns(table, target, only)
    table.check(column.name for column in (*columns, label))

    in_sample = "" if table.complete else " in the sample"
    left_out |= _uninformative(table.sample[[column.name for column in columns]], in_sample)
    columns = [column for column in columns if column.name not in left_out]
    if not drop_missing:
        check_nothing_missing(table, (*columns, label))

    names = [column.name for column in columns]
    rows = complete_rows(table.sample, columns, label)
    dropped = _count_incomplete(table, (*names, target))
    if len(rows) < len(table.sample):
        left_out |= _uninformative(rows[names], in_sample)
    _check_rows(table, rows[target], dropped)
    features = rows[[name for name in names if name not in left_out]]
    if features.empty:
        reasons = ", ".join(f"{name!r} ({reason})" for name, reason in list(left_out.items())[:5])
        raise InputError(f"no numeric column is left to learn {target!r} from: {reasons or 'there is no other column'}")
    return Prepared(features, rows[target], tuple(left_out.items()), dropped)


def chunks(
    table: Table,
    columns: Sequence[str],
    *,
    target: str | None = None,
    drop_missing: bool = False,
    on_progress: Progress = lambda _: None,
) -> Iterator[pd.DataFrame]:
    """All rows of a table in parts: columns of numbers, and the target with its labels.

    Every part has the same types and the row numbers as index. Raises the same errors as ``prepare``.
    ``on_progress`` is called with the fraction of the rows that have been read.
    """
    numbers = [table.column(name) for name in dict.fromkeys(columns)]
    for column in numbers:
        if table.rows and (reason := not_numeric(table, column)):
            raise InputError(f"column {column.name!r} of {table.name} is not numeric: {reason}")
    label = None if target is None else table.column(target)
    used = [*numbers, *([] if label is None else [label])]
    table.check(column.name for column in used)
    if not drop_missing:
        check_nothing_missing(table, used)
    parts = table.parts([column.name for column in used], on_progress)
    return (complete_rows(part, numbers, label) for part in parts)


def not_numeric(table: Table, column: Column) -> str | None:
    """Why a column cannot be used as numbers; None if it can."""
    if column.problem or column.kind in NUMERIC:
        return column.problem
    cells = table.sample[column.name].dropna()
    if cells.empty:
        cells = table.rows_where(f"{sql_name(column.name)} IS NOT NULL", 1)[column.name]
    if column.kind is Kind.TEXT:
        cells = cells[~cells.str.fullmatch(forms.FLOAT.pattern)] if len(cells) > 1 else cells
    cell = cells.iloc[0]
    shown = cell.date() if column.kind is Kind.DATE else cell
    return f"text or dates, such as {shorten(shown)} in row {cells.index[0]}"


def complete_rows(rows: pd.DataFrame, numbers: Sequence[Column], label: Column | None) -> pd.DataFrame:
    """The rows in which nothing is missing: numbers as int64 and float64, labels as texts, booleans or numbers."""
    used = [column.name for column in numbers] + ([] if label is None else [label.name])
    rows = rows[used].dropna()
    types = {column.name: _number_type(column) for column in numbers}
    if label is not None:
        as_text = label.kind not in NUMERIC
        types[label.name] = "str" if as_text else "bool" if label.kind is Kind.BOOLEAN else _number_type(label)
    return rows.astype(types)


def check_nothing_missing(table: Table, columns: Iterable[Column]) -> None:
    """Raise an InputError if cells of the columns are missing."""
    missing = {column.name: column.missing for column in columns if column.missing}
    if not missing:
        return
    places = ", ".join(f"{count:,} in {name!r}" for name, count in list(missing.items())[:10])
    more = f", and more in {len(missing) - 10} other columns" if len(missing) > 10 else ""
    raise InputError(
        f"{table.name} has missing values ({places}{more}; {table.rows:,} rows in total): "
        f"fill them in, or use --drop-missing to skip those rows"
    )


def _is_float(column: Column) -> bool:
    return column.kind is Kind.NUMBER and not column.is_integer


def _number_type(column: Column) -> str:
    return "float64" if _is_float(column) else "int64"


def _check_target(table: Table, target: Column, only: Sequence[str]) -> None:
    """Raise an InputError if the table is too short or the target cannot be learned."""
    if target.name in only:
        raise InputError(f"{target.name!r} is the target: remove it from the columns to learn from")
    if table.rows == 0:
        raise InputError(f"{table.name} has a header but no rows: add at least two rows of numbers")
    if table.rows < 2:
        raise InputError(
            f"{table.name} has only one row: a rule needs at least two, with different values of {target.name!r}"
        )
    if target.problem == "empty":
        raise InputError(f"the target {target.name!r} of {table.name} is empty: fill it in, or choose another column")


def _numeric_columns(table: Table, target: str, only: Sequence[str]) -> tuple[list[Column], dict[str, str]]:
    """The columns to learn from, and the others with the reason."""
    named = [name for name in table.columns if name != target and not name.startswith(UNNAMED)]
    candidates = [table.column(name) for name in dict.fromkeys(only)] or [table.columns[name] for name in named]
    left_out = {} if only else {name: "no name" for name in table.columns if name not in {*named, target}}
    for column in candidates:
        if reason := not_numeric(table, column):
            left_out[column.name] = reason
    return [column for column in candidates if column.name not in left_out], left_out


def _uninformative(rows: pd.DataFrame, in_sample: str) -> dict[str, str]:
    """Constant columns, and copies of an earlier column, each with the reason."""
    reasons: dict[str, str] = {}
    first: dict[tuple[str, bytes, bytes], str] = {}
    for name, column in rows.items():
        if column.nunique() <= 1:
            reasons[name] = f"constant{in_sample}"
            continue
        is_float = column.dtype.kind == "f"
        values = column.fillna(0).to_numpy("float64" if is_float else "int64")
        key = ("float" if is_float else "integer", column.isna().to_numpy().tobytes(), values.tobytes())
        if (original := first.setdefault(key, name)) != name:
            reasons[name] = f"identical to {original!r}{in_sample}"
    return reasons


def _count_incomplete(table: Table, names: Sequence[str]) -> int:
    """How many rows of the file miss a value in one of the columns."""
    gaps = [name for name in names if table.columns[name].missing]
    return table.count(" OR ".join(f"{sql_name(name)} IS NULL" for name in gaps)) if gaps else 0


def _check_rows(table: Table, target: pd.Series, dropped: int) -> None:
    """Raise an InputError if the rows without missing values are too few, or have a constant target."""
    after = f" left after dropping {plural(dropped, 'row')} with missing values" if dropped else ""
    if len(target) < 2:
        count = "one row" if len(target) else "no row"
        raise InputError(f"{table.name} has {count}{after}: a rule needs at least two")
    if target.nunique() == 1:
        rows = f"{len(target):,} {'' if table.complete else 'sampled '}rows{after}"
        raise InputError(f"the target {target.name!r} is constant: it is {target.iloc[0]} in all {rows}")
