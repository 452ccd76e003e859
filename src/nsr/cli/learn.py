"""The commands about a table and its rule: learn, apply, emit, check."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from nsr.cli.output import DIFFERENT, DONE, INTERRUPTED, NO_RULE, UNDECIDED, print_code, print_message, print_output

if TYPE_CHECKING:
    from nsr.learn.result import Learned
    from nsr.program.program import Program


def learn(
    table: Path,
    *,
    target: Annotated[Sequence[str], Parameter(negative="")],
    columns: Annotated[Sequence[str], Parameter(negative="", consume_multiple=True, show_default=False)] = (),
    kind: str = "auto",
    errors: float = 0.1,
    restarts: int = 128,
    time_limit: float = 120.0,
    seed: int = 0,
    drop_missing: Annotated[bool, Parameter(negative="")] = False,
    group: str | None = None,
    emit: str | None = None,
    dialect: str | None = None,
    save: Path | None = None,
    html: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Find the exact rule that determines one column of a table from the others.

    Parameters
    ----------
    table
        A CSV, TSV, Parquet or JSON lines file, also with .gz; a pattern such as '2024-*.csv'; or file.db::table of
        SQLite or DuckDB.
    target
        Column to predict. Given several times, one rule for each; no target is learned from another.
    columns
        Columns to learn from, as in --columns a b or --columns a --columns b. Default: all.
    kind
        What the target is: class, number, or auto to decide from its values.
    errors
        Largest fraction of rows that may contradict the rule, if they look random.
    restarts
        How many networks to train where single columns and differences of two give no rule.
    time_limit
        Seconds for the search; after that, the best rule so far is verified, or there is none.
    seed
        Random seed.
    drop_missing
        Skip rows with missing values in the columns to learn from.
    group
        Column, such as a customer, whose equal values are rows to hold out together. It is not learned from.
    emit
        Print the rule in this language instead: python, pandas, polars, sql, c, sympy, latex, smtlib or json; or as a
        check that the target follows it: check-sql, check-constraint, dbt or pandera.
    dialect
        The database, for SQL: duckdb, sqlite, postgres, mysql, bigquery, snowflake, spark, tsql or redshift.
    save
        Save the rule to this file, or the model if there is no rule, for nsr apply. With several targets, the name of
        each is put before the ending: rule.json becomes rule.late.json.
    html
        Write an HTML page about the result to this file, or to several as --save does.
    quiet
        Suppress progress and input messages.
    """
    finished = 0
    code = DONE
    try:
        from nsr.cli import progress
        from nsr.errors import needs_extra
        from nsr.files import check_writable

        with needs_extra("learn"):
            from nsr.learn import commands
        if html is not None:
            with needs_extra("reproduce"):
                import nsr.learn.page  # noqa: F401
        targets = list(dict.fromkeys(target))
        outputs = {name: [_path_for(path, name, len(targets) > 1) for path in (save, html)] for name in targets}
        if emit is not None:
            commands.check_language(emit, dialect)
        check_writable(*(path for paths in outputs.values() for path in paths if path is not None), keep=table)
        for name, (save_to, html_to) in outputs.items():
            with progress.stages(quiet, {"learning": time_limit}) as on_progress:
                learned = commands.learn(
                    table,
                    name,
                    columns=columns,
                    kind=kind,
                    errors=errors,
                    restarts=restarts,
                    time_limit=time_limit,
                    seed=seed,
                    drop_missing=drop_missing,
                    without=[other for other in targets if other != name],
                    group=group,
                    on_message=(lambda _: None) if quiet else print_message,
                    on_progress=on_progress,
                )
            if len(targets) > 1 and emit is None:
                print_output(f"{_printable(name)}:")
            _print_result(learned, emit, dialect, saving=save_to is not None)
            _write_files(learned, name, save_to, html_to)
            code = code if learned.program is not None else NO_RULE
            finished += 1
    except KeyboardInterrupt:
        print_message("interrupted" if finished else "interrupted; nothing was learned")
        return INTERRUPTED
    return code


def _printable(name: str) -> str:
    """The name of a column, safe to print."""
    from nsr.learn.result import printable

    return printable(name)


def _path_for(path: Path | None, target: str, several: bool) -> Path | None:
    """The file for one of several targets: rule.late.json."""
    if path is None or not several:
        return path
    name = "".join(letter if letter.isalnum() else "_" for letter in target)[:60]
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


def _write_files(learned: "Learned", target: str, save: Path | None, html: Path | None) -> None:
    from nsr.learn.saved import to_saved

    if save is not None and learned.program is None and not learned.model_can_be_saved:
        print_message(
            "nothing was saved: there is no rule, and models of texts, dates or missing values cannot be saved"
        )
    elif save is not None:
        known: dict[str, Any] = {"gaps": learned.gaps, "steps": learned.steps, "texts": learned.texts}
        to_saved(learned.estimator, target, learned.program, learned.dates, **known).save(save)
        what = "model" if learned.program is None else "rule"
        print_message(f"saved the {what}; to use it: nsr apply {save} TABLE")
    if html is not None:
        from nsr.learn.page import write_page

        write_page(html, learned)
        print_message(f"wrote {html}")


def _print_result(learned: "Learned", emit: str | None, dialect: str | None, *, saving: bool) -> None:
    """Print the rule, or its code, to standard output; without a rule, the reason to standard error."""
    from nsr.learn.emission import nan_note

    program = learned.program
    if program is None:
        hint = "\n--save FILE keeps the trained model, no rule" if learned.model_can_be_saved and not saving else ""
        print_message(learned.summary() + hint)
    elif emit is None:
        print_output(learned.summary())
    else:
        print_message(learned.summary())
        written = learned.emit(emit, dialect)
        _print_legend(program, learned.class_codes, emit, learned.dates)
        if learned.has_floats and (note := nan_note(emit, dialect)) is not None:
            print_message(note)
        print_code(written.rstrip("\n"))


def _print_legend(
    program: "Program", class_codes: Sequence[tuple[str, str]], language: str, dates: Mapping[str, str]
) -> None:
    """Print what the code returns for each class, which columns have other names in SymPy, and which must be dates."""
    from nsr.learn.emission import needs_dates

    meanings = [[f"{code} means {_printable(label)}" for code, label in class_codes]]
    if language == "sympy":
        from nsr.program.emit.sympy import symbol_names

        names = symbol_names(program).items()
        meanings.append([f"{name} means {_printable(column)}" for column, name in names if name != column])
    for each in filter(None, meanings):
        print_message(f"in the code, {', '.join(each)}")
    if needs_dates(language):
        for name, written in dates.items():
            print_message(f"the code needs dates in column '{_printable(name)}', not texts as in the table ({written})")


def apply(
    rule: Path,
    table: Path,
    *,
    drop_missing: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print the predictions of a saved rule or model for each row of a table, as CSV.

    Parameters
    ----------
    rule
        A file written by nsr learn --save.
    table
        A table with the columns that the rule needs, as for nsr learn.
    drop_missing
        Skip rows with missing values, and print the row number in the first column. Rows are numbered as in a
        spreadsheet, where the header is row 1; in a Parquet file, the first row is row 1.
    """
    from nsr.errors import needs_extra

    with needs_extra("learn"):
        from nsr.learn import commands

    for number, part in enumerate(commands.apply(rule, table, drop_missing=drop_missing, on_message=print_message)):
        label = "row" if drop_missing else None
        print_output(part.to_csv(header=number == 0, index=drop_missing, index_label=label), end="")
    return DONE


def emit(
    rule: Path,
    *,
    to: str,
    out: Path | None = None,
    dialect: str | None = None,
    table: str | None = None,
    missing: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print a saved rule in another language, or as a check that the target follows it.

    Parameters
    ----------
    rule
        A file written by nsr learn --save.
    to
        The language: python, pandas, polars, sql, c, sympy, latex, smtlib or json; or for a check: check-sql,
        check-constraint, dbt or pandera.
    out
        Write to this file instead of standard output.
    dialect
        The database, for SQL: duckdb, sqlite, postgres, mysql, bigquery, snowflake, spark, tsql or redshift.
    table
        The name of the table, for SQL; check-sql and dbt need it.
    missing
        Write for columns with missing values, also where the rule itself does not mention them.
    """
    from nsr.errors import needs_extra
    from nsr.files import check_writable, write

    with needs_extra("learn"):
        from nsr.learn import commands

    if out is not None:
        check_writable(out, keep=rule)
    written = commands.emit(rule, to, dialect=dialect, table=table, missing=missing)
    _print_legend(written.program, written.codes, to, written.dates)
    text = written.text.rstrip("\n")
    if out is None:
        print_code(text)
    else:
        write(out, f"{text}\n")
        print_message(f"wrote {out}")
    return DONE


def _short_fraction(option: str, text: str | None) -> Fraction | None:
    """A number without a large exponent, which would take forever."""
    from nsr.errors import InputError

    if text is None:
        return None
    try:
        if re.fullmatch(r"[+-]?[0-9./]{1,100}([eE][+-]?[0-9]{1,3})?", text):
            return Fraction(text)
    except (ValueError, ZeroDivisionError):
        pass
    raise InputError(f"{option} must be a number such as -5, 1/2 or 1e6, got {text[:50]!r}")


def check(
    rule: Path,
    *,
    against: str,
    over: str = "auto",
    low: str | None = None,
    high: str | None = None,
    time_limit: float = 10.0,
) -> int:
    """Prove that a saved rule is the same as another one, or print a row where they differ.

    Columns that had missing cells in the table of the rule may have them in a row; a formula means what it says there.
    Exits with 0 if they are the same, 1 if they differ, 3 if neither was found in time.

    Parameters
    ----------
    rule
        A file written by nsr learn --save.
    against
        Another such file, or a formula such as 'price <= limit and not stock = 0'.
    over
        What the columns hold: reals; integers; steps, which is what the table of the rule had, such as integers and
        multiples of 0.1; or auto for reals and then steps or integers.
    low
        The least number in a column. Default: none.
    high
        The largest number in a column. Default: none.
    time_limit
        Seconds for each proof.
    """
    from nsr.errors import needs_extra

    with needs_extra("learn"):
        from nsr.learn import commands
        from nsr.learn.result import printable

    least, largest = _short_fraction("--low", low), _short_fraction("--high", high)
    found = commands.check(rule, against, over=over, low=least, high=largest, time_limit=time_limit)
    print_output(printable(str(found)))
    return DONE if found else DIFFERENT if found.equal is False else UNDECIDED
