"""The columns of a table that a rule can be learned from, and why the others are not used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from nsr.errors import InputError
from nsr.learn.tables.cells import Column, plural
from nsr.learn.tables.files import UNNAMED, batches
from nsr.learn.tables.table import Table, check_nothing_missing, dtypes, frame, parsed


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
    for column in (*columns, label):
        column.check()

    types = dtypes(columns, [label])
    sample = parsed(table.sample, types)
    in_sample = "" if table.complete else " in the sample"
    left_out |= _uninformative({name: sample.cells[name] for name in types if name != target}, types, in_sample)
    columns = [column for column in columns if column.name not in left_out]
    if not drop_missing:
        check_nothing_missing(table, (*columns, label))

    names = [column.name for column in columns]
    rows = frame(sample, {name: types[name] for name in (*names, target)})
    dropped = _count_incomplete(table, (*names, target))
    if len(rows) < len(sample.rows):
        left_out |= _uninformative({name: rows[name].tolist() for name in names}, types, in_sample)
    _check_rows(table, rows[target], dropped)
    features = rows[[name for name in names if name not in left_out]]
    if features.empty:
        reasons = ", ".join(f"{name!r} ({reason})" for name, reason in list(left_out.items())[:5])
        raise InputError(f"no numeric column is left to learn {target!r} from: {reasons or 'there is no other column'}")
    return Prepared(features, rows[target], tuple(left_out.items()), dropped)


def _check_target(table: Table, target: Column, only: Sequence[str]) -> None:
    """Raise an InputError if the table is too short or the target cannot be learned."""
    if target.name in only:
        raise InputError(f"{target.name!r} is the target: remove it from the columns to learn from")
    if table.rows == 0:
        raise InputError(f"{table.path} has a header but no rows: add at least two rows of numbers")
    if table.rows < 2:
        raise InputError(
            f"{table.path} has only one row: a rule needs at least two, with different values of {target.name!r}"
        )
    if target.not_numeric == "empty":
        raise InputError(f"the target {target.name!r} of {table.path} is empty: fill it in, or choose another column")


def _numeric_columns(table: Table, target: str, only: Sequence[str]) -> tuple[list[Column], dict[str, str]]:
    """The columns to learn from, and the others with the reason."""
    named = [name for name in table.columns if name != target and not name.startswith(UNNAMED)]
    candidates = [table.column(name) for name in dict.fromkeys(only)] or [table.columns[name] for name in named]
    left_out = {} if only else {name: "no name" for name in table.columns if name not in (*named, target)}
    left_out |= {column.name: column.not_numeric for column in candidates if column.not_numeric}
    return [column for column in candidates if column.name not in left_out], left_out


def _uninformative(columns: Mapping[str, Sequence[Any]], types: Mapping[str, str], in_sample: str) -> dict[str, str]:
    """Constant columns, and copies of an earlier column, each with the reason. None marks a missing value."""
    reasons: dict[str, str] = {}
    first: dict[tuple[Any, ...], str] = {}
    for name, values in columns.items():
        if len(set(values) - {None}) <= 1:
            reasons[name] = f"constant{in_sample}"
            continue
        original = first.setdefault((types[name], *values), name)
        if original != name:
            reasons[name] = f"identical to {original!r}{in_sample}"
    return reasons


def _count_incomplete(table: Table, names: Sequence[str]) -> int:
    """How many rows of the file miss a value in one of the columns."""
    if not any(table.columns[name].missing for name in names):
        return 0
    return sum(None in row for batch in batches(table.path, names) for row in zip(*batch.cells.values(), strict=True))


def _check_rows(table: Table, target: pd.Series, dropped: int) -> None:
    """Raise an InputError if the rows without missing values are too few, or have a constant target."""
    after = f" left after dropping {plural(dropped, 'row')} with missing values" if dropped else ""
    if len(target) < 2:
        count = "one row" if len(target) else "no row"
        raise InputError(f"{table.path} has {count}{after}: a rule needs at least two")
    if target.nunique() == 1:
        rows = f"{len(target):,} {'' if table.complete else 'sampled '}rows{after}"
        raise InputError(f"the target {target.name!r} is constant: it is {target.iloc[0]} in all {rows}")
