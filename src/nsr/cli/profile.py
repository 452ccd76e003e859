"""The command about a table without a target: profile."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nsr.cli.output import DONE, print_code, print_message, print_output


def profile(
    table: Path,
    *,
    least: float = 0.99,
    time_limit: float = 60.0,
    seed: int = 0,
    all: Annotated[bool, Parameter(negative="")] = False,
    emit: str | None = None,
    dialect: str | None = None,
    json: Path | None = None,
    html: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Find what always holds between the columns of a table, ranked by how surprising it is.

    Parameters
    ----------
    table
        A CSV, TSV, JSON lines or Parquet file, or file.db::table.
    least
        The smallest share of rows on which a statement must hold.
    time_limit
        Seconds for the search, without reading the table.
    seed
        Random seed.
    all
        Show all statements, not only the 20 most surprising.
    emit
        Print the statements in this language instead: checks for queries that return the rows that break them, or
        sql, check-constraint, dbt, pandera, python, json and others.
    dialect
        The database for SQL: duckdb, sqlite, postgres, mysql, bigquery, snowflake, spark, tsql or redshift.
    json
        Write the statements with their counts to this file.
    html
        Write an HTML page to this file.
    quiet
        Suppress progress and input messages.
    """
    from nsr.cli import progress
    from nsr.errors import between, needs_extra
    from nsr.files import check_name, check_writable, write

    with needs_extra("learn"):
        from nsr.learn import profile as profiles
        from nsr.learn.profile import report
    if html is not None:
        with needs_extra("reproduce"):
            from nsr.learn.profile.page import write_page

    if emit is not None:
        report.check_target(emit)
    between("seed", seed, 0, 2**32 - 1)
    check_name(table)
    check_writable(*(path for path in (json, html) if path is not None), keep=table)
    with progress.stages(quiet) as on_progress:
        found = profiles.profile(str(table), least=least, time_limit=time_limit, seed=seed, on_progress=on_progress)
    if not quiet:
        for note in found.notes:
            print_message(report.printable(note))
    if emit is None:
        print_output(report.text(found, everything=all))
    else:
        written, messages = report.emit(found, emit, dialect=dialect, everything=all)
        for message in messages:
            print_message(message)
        print_code(written)
    if json is not None:
        write(json, report.to_json(found, everything=all))
        print_message(f"wrote {json}")
    if html is not None:
        write_page(html, found, everything=all)
        print_message(f"wrote {html}")
    return DONE
