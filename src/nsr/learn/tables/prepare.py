"""The columns of a table that a rule can be learned from, and why the others are left out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nsr.errors import InputError
from nsr.learn.tables.files import UNNAMED, Batch, batches
from nsr.learn.tables.table import Table, dense, dtypes, frame, refuse_missing


@dataclass(frozen=True)
class Prepared:
    """Rows to learn from, with nothing missing; the index numbers them as in the file."""

    features: pd.DataFrame
    """Columns of int64 and float64; true and false are 1 and 0."""
    target: pd.Series
    """Labels or numbers: str, bool, int64 or float64."""
    left_out: tuple[tuple[str, str], ...]
    """Columns that are not among the features, each with the reason."""
    dropped: int
    """How many rows of the whole file were dropped since something is missing in them."""


def prepare(table: Table, target: str, *, drop_missing: bool = False, only: Sequence[str] = ()) -> Prepared:
    """What a rule for the target can be learned from.

    Args:
        table: The table, as ``read`` gives it.
        target: The column that the rule is to tell.
        drop_missing: Drop rows in which a value is missing, instead of refusing them.
        only: The columns to learn from, instead of all that are fit.
    """
    label = table.column(target)
    if target in only:
        raise InputError(f"{target!r} is the target and cannot be a column to learn from: leave it out")
    if table.rows == 0:
        raise InputError(f"{table.path} names its columns and has no rows: add at least two rows of numbers")
    if table.rows < 2:
        raise InputError(f"{table.path} has one row: a rule needs at least two, with different values of {target!r}")
    if label.unfit == "empty":
        raise InputError(f"the target {target!r} of {table.path} is empty: fill it in, or choose another column")

    named = [name for name in table.columns if name != target and not name.startswith(UNNAMED)]
    wanted = [table.column(name) for name in dict.fromkeys(only)] or [table.columns[name] for name in named]
    left_out = {} if only else {name: "no name" for name in table.columns if name not in (*named, target)}
    left_out |= {column.name: column.unfit for column in wanted if column.unfit}
    used = [column for column in wanted if column.name not in left_out]
    for column in (*used, label):
        column.check()

    types = dtypes(used, [label])
    rows = frame(Batch(table.sample.index, {name: table.sample[name].tolist() for name in types}), types)
    left_out |= _useless(rows.drop(columns=target), table.complete)
    used = [column for column in used if column.name not in left_out]
    if not drop_missing:
        refuse_missing(table, (*used, label))
    names = [*(column.name for column in used), target]
    dropped = _incomplete(table, names)
    rows = dense(rows[names])
    left_out |= _useless(rows.drop(columns=target), table.complete)

    if len(rows) < 2 or rows[target].nunique() == 1:
        after = f" without the {dropped:,} in which a value is missing" if dropped else ""
        if len(rows) < 2:
            raise InputError(
                f"{table.path} has {'one row' if len(rows) else 'no row'}{after}: a rule needs two or more"
            )
        raise InputError(
            f"the target {target!r} is {rows[target].iloc[0]!s} in all {len(rows):,} rows"
            f"{'' if table.complete else ' sampled'}{after}: there is nothing to tell apart"
        )
    features = rows[[name for name in names[:-1] if name not in left_out]]
    if features.empty:
        reasons = ", ".join(f"{name!r} ({reason})" for name, reason in list(left_out.items())[:5])
        raise InputError(
            f"no column of numbers is left to learn {target!r} from: {reasons or 'there is no other column'}"
        )
    return Prepared(features, rows[target], tuple(left_out.items()), dropped)


def _useless(features: pd.DataFrame, complete: bool) -> dict[str, str]:
    """Columns that tell nothing: constant ones, and copies of one before them."""
    sampled = "" if complete else " in the rows sampled"
    useless: dict[str, str] = {}
    seen: dict[int, list[str]] = {}
    for name in features:
        column = features[name]
        if column.nunique() <= 1:
            useless[name] = f"constant{sampled}"
            continue
        alike = seen.setdefault(int(pd.util.hash_pandas_object(column, index=False).sum()), [])
        twin = next((other for other in alike if column.equals(features[other])), None)
        if twin is not None:
            useless[name] = f"the same as {twin!r}{sampled}"
        alike.append(name)
    return useless


def _incomplete(table: Table, names: Sequence[str]) -> int:
    """How many rows of the file miss a value in one of the columns."""
    if not any(table.columns[name].missing for name in names):
        return 0
    cells = (batch.cells.values() for batch in batches(table.path, names))
    return sum(int(np.any([[cell is None for cell in column] for column in part], axis=0).sum()) for part in cells)
