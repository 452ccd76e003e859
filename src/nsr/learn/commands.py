"""One function per command: ``nsr learn``, ``nsr apply``, ``nsr emit`` and ``nsr check``. Read this first."""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from nsr.errors import InputError, at_least, between, check_error_rate, one_of, shortened
from nsr.files import check_name
from nsr.learn import tables
from nsr.learn.emission import check_language as check_language
from nsr.learn.emission import class_codes, emit_rule, needs_table
from nsr.learn.features import MOST_TEXTS
from nsr.learn.fitting import FitSettings, fit_and_verify
from nsr.learn.preparation import Prepared, check_columns, prepare
from nsr.learn.result import Learned
from nsr.learn.saved import SavedRule, load_saved
from nsr.learn.tables.columns import Column
from nsr.learn.verification import Verifier
from nsr.program.emit import options_of
from nsr.program.equivalence import AsWritten, Equivalence, compare
from nsr.program.expressions import Expression
from nsr.program.kinds import Kind
from nsr.program.parser import parse
from nsr.program.program import Program

KINDS = ("auto", "class", "number")


def learn(
    source: Any,
    target: str,
    *,
    columns: Sequence[str] = (),
    kind: str = "auto",
    errors: float = 0.1,
    restarts: int = 128,
    time_limit: float = 120.0,
    seed: int = 0,
    drop_missing: bool = False,
    without: Sequence[str] = (),
    group: str | None = None,
    on_message: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[str, float], None] = lambda *_: None,
) -> Learned:
    """Look for the exact rule that determines one column of a table from the others.

    Args:
        source: A file, as ``nsr.learn.tables.read`` takes it, or a pandas, polars or Arrow table. A large one is
            sampled for learning; a rule is verified on all rows.
        target: Column to predict.
        columns: Columns to learn from; by default all but the target.
        kind: Whether the target is a ``class`` or a ``number``; by default decided from its values.
        errors: The largest fraction of rows that may contradict a rule, if they look random.
        restarts: How many networks to train where the screen finds no rule.
        time_limit: Seconds for the search, without reading the table and verifying the rule on all of its rows.
        seed: Seed of everything random.
        drop_missing: Skip rows with missing values in the columns to learn from.
        without: Columns not to learn from.
        group: A column whose equal values are rows to hold out together; it is not learned from.
        on_message: Called with messages about the input.
        on_progress: Called with the name of the current step and the fraction of it that is done.
    """
    one_of("kind", kind, KINDS)
    at_least(1, "restarts", restarts)
    if not 0 < time_limit < math.inf:
        raise InputError(f"the time limit must be a positive number of seconds, got {time_limit}")
    check_error_rate(errors)
    between("seed", seed, 0, 2**32 - 1)
    if isinstance(source, str | Path):
        check_name(source)
    start = time.perf_counter()
    table = tables.read(source, seed=seed, on_progress=partial(on_progress, "reading"))
    sample = prepare(table, target, drop_missing=drop_missing, only=columns, without=without, group=group)
    for message in _input_messages(table, sample):
        on_message(message)
    fitted = fit_and_verify(
        sample,
        FitSettings(kind=kind, errors=errors, restarts=restarts, time_limit=time_limit, seed=seed),
        verify=Verifier(table, target, list(sample.rows.columns), drop_missing, partial(on_progress, "verifying")),
        sampled=not table.complete,
        on_message=on_message,
        on_progress=partial(on_progress, "learning"),
    )
    return Learned(
        source=Path(table.name).name,
        target=target,
        rows=table.rows,
        dropped=sample.dropped,
        left_out=(*sample.left_out, *fitted.features.left_out),
        table=fitted.rows,
        x=fitted.x,
        y=fitted.y,
        estimator=fitted.estimator,
        program=fitted.program,
        verified=fitted.verified,
        seconds=time.perf_counter() - start,
        has_floats=fitted.program is None
        or any(table.columns[name].sql_type == "DOUBLE" for name in fitted.program.inputs),
        dates=_written_dates(table, fitted.program),
        gaps=[] if drop_missing else [column.name for column in _columns(table, fitted.program) if column.missing],
        steps=_steps(table, fitted.program, target),
        texts=_few_texts(table, fitted.program),
    )


def _columns(table: tables.Table, program: Program | None) -> list[Column]:
    """The columns that a rule uses."""
    return [] if program is None else [table.columns[name] for name in program.inputs]


def _steps(table: tables.Table, program: Program | None, target: str) -> dict[str, Fraction]:
    """What all numbers of a column are multiples of, where that is known, for those that a rule uses or predicts."""
    columns = _columns(table, program)
    if program is not None and not program.expression.is_boolean:
        columns = [*columns, table.column(target)]
    return {column.name: column.step for column in columns if column.step is not None}


def _few_texts(table: tables.Table, program: Program | None) -> dict[str, list[str]]:
    """All texts of the columns that a rule uses, where there are few."""
    columns = [column.name for column in _columns(table, program) if column.kind is Kind.TEXT]
    found = {name: table.texts(name, MOST_TEXTS) for name in columns}
    return {name: texts for name, texts in found.items() if texts}


def _written_dates(table: tables.Table, program: Program | None) -> dict[str, str]:
    """How the dates that a rule uses are written, where that is not as 2024-12-31."""
    return {column.name: column.written for column in _columns(table, program) if column.written is not None}


def apply(
    path: Path, table: Any, *, drop_missing: bool = False, on_message: Callable[[str], None] = lambda _: None
) -> Iterator[pd.DataFrame]:
    """The predictions of a saved rule or model for the rows of a table, in parts: a column with the target's name.

    Texts that the rule was learned without are predicted as any other; ``on_message`` is called once for each column.
    """
    rule = load_saved(path)
    known = {name: set(texts) for name, texts in rule.texts.items()} if isinstance(rule, SavedRule) else {}
    if isinstance(table, str | Path):
        check_name(table)
    opened = tables.read(table, rows=1, dates=rule.dates if isinstance(rule, SavedRule) else None)
    check_columns(opened, rule.kinds)
    for rows in opened.parts(list(rule.kinds), exact=True):
        complete = rows.dropna() if drop_missing else rows
        for name in list(known):
            if new := sorted(set(complete[name].dropna()) - known[name]):
                del known[name]
                on_message(f"column '{name}' has '{new[0]}', which the table of the rule did not have")
        yield pd.DataFrame({rule.target: rule.predict(complete)}, index=complete.index)


@dataclass(frozen=True)
class Emitted:
    """A saved rule in another language."""

    text: str
    program: Program
    codes: Sequence[tuple[str, str]]
    """What the program returns for each class, and the class; empty if it returns the target itself."""
    dates: Mapping[str, str]
    """How the dates of its columns are written in the table that it was learned from, if not as 2024-12-31."""


def emit(
    path: Path, language: str, *, dialect: str | None = None, table: str | None = None, missing: bool = False
) -> Emitted:
    """Write a saved rule in another language, or as a check that its target is what it gives.

    Args:
        path: What ``nsr learn --save`` wrote.
        language: A key of ``nsr.program.emit.TARGETS``.
        dialect: The database, for SQL.
        table: The name of the table, for SQL: a saved rule does not hold it.
        missing: Whether cells of the columns may be missing: neither does it hold that.
    """
    check_language(language, dialect)
    if table is not None and "table" not in options_of(language):
        raise InputError(f"the name of a table is for SQL, not for {language}")
    if table is None and needs_table(language):
        raise InputError(f"{language} needs the name of the table, which {path} does not hold: add --table NAME")
    rule = load_saved(path)
    if not isinstance(rule, SavedRule):
        raise InputError(f"{path} holds a trained model and no rule: nothing can be written in another language")
    text = emit_rule(
        rule.program,
        language,
        column=rule.target,
        classes=rule.classes,
        dialect=dialect,
        table=table,
        missing=missing,
        dates=rule.dates,
        steps=rule.steps,
    )
    return Emitted(text, rule.program, class_codes(rule.program, rule.classes), rule.dates)


def check(
    rule: Path,
    against: str,
    *,
    over: str = "auto",
    low: Fraction | None = None,
    high: Fraction | None = None,
    time_limit: float = 10.0,
) -> Equivalence:
    """Prove that a saved rule is the same as another one, or find a row where they differ.

    Rows may have missing cells in the columns that had some in the table of the rule. Two that are the same for those
    rows are compared on rows with other missing cells too; ``where_missing`` has such a row if they differ there.
    Likewise, columns have the texts that they had in the table, if the rule knows these, and the ones that either side
    names; ``other_texts`` has a row with another text if they differ there.

    Args:
        rule: A file with a saved rule.
        against: A file with another one, or a formula such as ``price <= limit``, which means what it says: it is not
            brought into the canonical form first, which may differ at missing cells.
        over: What the columns hold: ``reals``, ``integers``, ``steps`` for the steps of the table, such as 1 and 0.1,
            or ``auto`` for reals, then for steps or integers.
        low: The least number in a column; by default there is none.
        high: The largest.
        time_limit: Seconds for each proof.
    """
    saved = _load_rule(rule)
    other = _other(saved, against)
    if over == "steps" and not set(saved.steps) & set(saved.kinds):
        raise InputError(f"{rule} does not hold the steps of its columns: use --over integers or --over reals")
    right, more, texts = (other, (), {}) if isinstance(other, AsWritten) else (other.program, other.gaps, other.texts)
    proof = partial(
        compare,
        saved.program,
        right,
        low=low,
        high=high,
        timeout=time_limit,
        steps=saved.steps,
        texts={name: {*saved.texts.get(name, ()), *texts.get(name, ())} for name in (*saved.texts, *texts)},
    )
    gaps = {*saved.gaps, *more}
    found = proof(over=over, missing=gaps)
    if found and (further := proof(over=found.over, missing=True)).equal is not True:
        found = replace(found, where_missing=_with_classes(further, saved.classes))
    if found and found.known_texts:
        further = proof(over=found.over, missing=gaps, unseen=True)
        other_texts = None if further else _with_classes(further, saved.classes)
        found = replace(found, known_texts=not further, other_texts=other_texts)
    return _with_classes(found, saved.classes)


def _with_classes(found: Equivalence, classes: tuple[Any, ...] | None) -> Equivalence:
    """A verdict with classes in the place of their positions."""
    if found.answers is None or classes is None:
        return found
    labels: dict[object, object] = dict(enumerate(classes))  # a formula gives False or True, which are 0 and 1
    one, two = (labels.get(answer, answer) for answer in found.answers)
    return replace(found, answers=(one, two))


def _load_rule(path: Path) -> SavedRule:
    saved = load_saved(path)
    if not isinstance(saved, SavedRule):
        raise InputError(f"{path} holds a trained model: only rules can be compared")
    return saved


def _other(rule: SavedRule, against: str) -> AsWritten | SavedRule:
    if not against.endswith(".json") and not os.access(against, os.F_OK):
        typed = parse(against, rule.program.names or None, rule.program.expression.kinds, plain=True)
        _check_type(rule, typed, against)
        return AsWritten.of(typed)
    other = _load_rule(Path(against))
    if other.classes != rule.classes:
        one, two = (", ".join(map(str, saved.classes or ["numbers"])) for saved in (rule, other))
        raise InputError(f"the two rules must predict the same classes, got {one} and {two}")
    return other


def _check_type(rule: SavedRule, typed: Expression, against: str) -> None:
    """Raise an InputError for a formula against a rule that gives numbers, and the other way round."""
    if typed.is_boolean == rule.program.expression.is_boolean:
        return
    if typed.is_boolean and rule.classes is None:
        wanted = "numbers: write a number such as where(a > 20, 1, b)"
    elif typed.is_boolean:
        named = [f"{position} for {shortened(str(label))}" for position, label in enumerate(rule.classes or ())]
        which = ", ".join(named[:5]) + (", ..." if len(named) > 5 else "")
        wanted = f"{len(named)} classes: write their positions ({which}), as in where(a > 20, 1, 0)"
    else:
        wanted = f"{' or '.join(map(str, rule.classes or ('false', 'true')))}: write a formula such as a > 20"
    what = "a formula" if typed.is_boolean else "a number"
    raise InputError(f"{shortened(repr(against))} is {what}, but the rule predicts {wanted}")


def _input_messages(table: tables.Table, sample: Prepared) -> Iterator[str]:
    """The size of the input, and the rows and columns that are not used."""
    rows = "" if table.complete else f" of a sample of {len(sample.rows):,} rows"
    count, name = tables.plural(len(sample.rows.columns), "column"), Path(table.name).name
    yield f"{name}: {tables.plural(table.rows, 'row')}; learning {sample.target.name!r} from {count}{rows}"
    yield from sample.messages()
