"""The columns of a table that a rule can be learned from, and why the others are not used."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from nsr.errors import InputError
from nsr.learn.tables.columns import AMBIGUOUS, Column
from nsr.learn.tables.source import UNNAMED
from nsr.learn.tables.table import Table
from nsr.learn.tables.text import plural, sql_name
from nsr.program.kinds import Kind
from nsr.program.times import TEMPORAL

LEAST_GROUPS = 3
"""To learn from, to choose by and to judge by."""


@dataclass(frozen=True)
class Prepared:
    """Rows to learn from; the index holds their row numbers in the file."""

    rows: pd.DataFrame
    """The columns to learn from; cells may be missing."""
    kinds: Mapping[str, Kind]
    """What they hold."""
    target: pd.Series
    """Labels or numbers: str, bool, int64 or float64; none is missing."""
    left_out: tuple[tuple[str, str], ...]
    """Columns that are not used, each with the reason."""
    notes: tuple[tuple[str, str], ...]
    """Columns whose texts were read as something else, each with how."""
    dropped: int
    """How many rows of the complete file were skipped: those without a target, and with gaps if these are to go."""
    groups: pd.Series | None = None
    """The group of each row, as text, if groups are to be held out together."""

    def messages(self) -> Iterator[str]:
        """What a user should know about rows and columns that are not used as they are."""
        if self.dropped:
            yield f"skipping {plural(self.dropped, 'row')} with missing values"
        for name, note in self.notes:
            yield f"column {name!r}: {note}"
        for name, reason in self.left_out:
            yield f"not using column {name!r}: {reason}"


def prepare(
    table: Table,
    target: str,
    *,
    drop_missing: bool = False,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    group: str | None = None,
) -> Prepared:
    """The rows and columns to learn a rule for the target from.

    Args:
        table: The table, as returned by ``read``.
        target: Column to predict. Rows where it is missing are skipped.
        drop_missing: Skip all rows with missing values.
        only: The columns to learn from; by default all but the target.
        without: Columns not to learn from, such as other targets.
        group: A column whose equal values are rows to hold out together. It is not learned from.
    """
    label = table.column(target)
    _check_target(table, label, only)
    columns, left_out = _usable(table, {target, *without} | ({table.column(group).name} if group else set()), only)
    table.check([column.name for column in (*columns, label)])
    in_sample = "" if table.complete else " in the sample"
    left_out |= _uninformative(table.sample, columns, in_sample)
    columns = [column for column in columns if column.name not in left_out]
    names = [column.name for column in columns]
    needed = [*names, target] if drop_missing else [target]
    rows = table.sample.dropna(subset=needed)
    dropped = _count_incomplete(table, needed)
    if len(rows) < len(table.sample):
        left_out |= _uninformative(rows, columns, in_sample)
    labels = labels_of(rows[target], label)
    _check_rows(table, labels, dropped)
    kinds = {column.name: column.kind for column in columns if column.name not in left_out}
    if not kinds:
        raise nothing_to_learn_from(target, left_out)
    notes = tuple((column.name, column.note) for column in (*columns, label) if column.note)
    groups = None if group is None else rows[group].astype(object).where(rows[group].notna(), rows.index).map(str)
    if groups is not None and groups.nunique() < LEAST_GROUPS:
        raise InputError(
            f"column {group!r} has {plural(groups.nunique(), 'group')}: at least {LEAST_GROUPS} are needed"
        )
    return Prepared(rows[list(kinds)], kinds, labels, tuple(left_out.items()), notes, dropped, groups)


def nothing_to_learn_from(target: str, left_out: Mapping[str, str]) -> InputError:
    """The error for a table none of whose columns can be used, with the reasons."""
    reasons = ", ".join(f"{name!r} ({reason})" for name, reason in list(left_out.items())[:5])
    return InputError(f"no column is left to learn {target!r} from: {reasons or 'there is no other column'}")


def labels_of(cells: pd.Series, column: Column) -> pd.Series:
    """The cells of a target, none of which is missing, as texts, truth values, int64 or float64."""
    if column.kind is Kind.NUMBER:
        return cells.astype("int64" if column.is_integer else "float64")
    return cells.astype("bool" if column.kind is Kind.BOOLEAN else "str")


def check_columns(table: Table, kinds: Mapping[str, Kind]) -> None:
    """Raise an InputError if a table has no column of a name and kind that a rule needs."""
    table.check(kinds)
    for name, kind in kinds.items():
        column = table.column(name)
        as_numbers = kind == Kind.NUMBER and column.kind == Kind.BOOLEAN
        as_times = {kind, column.kind} == {Kind.DATE, Kind.TIMESTAMP}
        if column.kind != kind and not as_numbers and not as_times and column.problem != "empty":
            raise InputError(
                f"column {name!r} of {table.name} is of kind {column.kind}, but the rule needs {kind}"
                + _how_to_date(column, kind)
            )
        if column.problem and column.problem != "empty":
            raise InputError(f"column {name!r} of {table.name} cannot be used: {column.problem}")


def _how_to_date(column: Column, kind: Kind) -> str:
    """What would be right for dates that could be read in two ways."""
    if kind not in (Kind.DATE, Kind.TIMESTAMP) or not column.note.startswith(AMBIGUOUS):
        return ""
    known = json.dumps({"dates": {column.name: "day/month/year"}}, ensure_ascii=False)[1:-1]
    note = column.note.removeprefix(AMBIGUOUS)
    return f": {note}, or add to the file of the rule how they are written, as in {known}"


def _check_target(table: Table, target: Column, only: Sequence[str]) -> None:
    """Raise an InputError if the table is too short or the target cannot be learned."""
    if target.name in only:
        raise InputError(f"{target.name!r} is the target: remove it from the columns to learn from")
    if table.rows == 0:
        raise InputError(f"{table.name} has a header but no rows: add at least two rows")
    if table.rows < 2:
        raise InputError(
            f"{table.name} has only one row: a rule needs at least two, with different values of {target.name!r}"
        )
    if target.kind in TEMPORAL:
        raise InputError(
            f"the target {target.name!r} holds dates or times: a rule gives classes or numbers; add a column with the "
            "number of days since another date, and learn that"
        )
    if target.problem == "empty":
        raise InputError(f"the target {target.name!r} of {table.name} is empty: fill it in, or choose another column")


def _usable(table: Table, others: set[str], only: Sequence[str]) -> tuple[list[Column], dict[str, str]]:
    """The columns to learn from, and those that cannot be used with the reason; some others are not considered."""
    named = [name for name in table.columns if name not in others and not name.startswith(UNNAMED)]
    candidates = [table.column(name) for name in dict.fromkeys(only)] or [table.columns[name] for name in named]
    left_out = {} if only else {name: "no name" for name in table.columns if name not in {*named, *others}}
    left_out |= {column.name: column.problem for column in candidates if column.problem}
    return [column for column in candidates if column.name not in left_out], left_out


def _uninformative(rows: pd.DataFrame, columns: Sequence[Column], in_sample: str) -> dict[str, str]:
    """Constant columns, and copies of an earlier column, each with the reason."""
    reasons: dict[str, str] = {}
    first: dict[tuple[str, bytes], str] = {}
    for name in (column.name for column in columns):
        cells = rows[name]
        if cells.nunique(dropna=False) <= 1:
            reasons[name] = f"constant{in_sample}"
            continue
        key = str(cells.dtype), pd.util.hash_pandas_object(cells, index=False).to_numpy().tobytes()
        if (original := first.setdefault(key, name)) != name:
            reasons[name] = f"identical to {original!r}{in_sample}"
    return reasons


def _count_incomplete(table: Table, names: Sequence[str]) -> int:
    """How many rows of the file miss a value in one of the columns."""
    gaps = [name for name in names if table.columns[name].missing]
    return table.count(" OR ".join(f"{sql_name(name)} IS NULL" for name in gaps)) if gaps else 0


def _check_rows(table: Table, target: pd.Series, dropped: int) -> None:
    """Raise an InputError if the rows are too few, or have a constant target."""
    after = f" left after skipping {plural(dropped, 'row')} with missing values" if dropped else ""
    if len(target) < 2:
        count = "one row" if len(target) else "no row"
        raise InputError(f"{table.name} has {count}{after}: a rule needs at least two")
    if target.nunique() == 1:
        rows = f"{len(target):,} {'' if table.complete else 'sampled '}rows{after}"
        raise InputError(f"the target {target.name!r} is constant: it is {target.iloc[0]} in all {rows}")
