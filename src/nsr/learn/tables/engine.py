"""DuckDB with bounded memory and without a network: running queries with progress, and its errors in our words."""

import contextlib
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any

from nsr.errors import InputError, needs_extra
from nsr.learn.tables.text import plural

with needs_extra("learn"):
    import duckdb

MEMORY = "1200MB"
THREADS = 2
LONGEST_LINE = 2_000_000
"""Bytes that a line of a CSV file may have; a longer one is damage, and would not fit into memory."""
POLL = 0.2
"""Seconds between two looks at the progress of a query."""

Progress = Callable[[float], None]


class Engine:
    """A DuckDB in memory, with a temporary folder that disappears with it."""

    def __init__(self, name: str) -> None:
        self.name = name
        """The table, as messages call it."""
        self.folder = Path(tempfile.mkdtemp(prefix="nsr-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.connection = duckdb.connect(
            ":memory:",
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "memory_limit": MEMORY,
                "temp_directory": str(self.folder / "spilled"),
                "threads": str(THREADS),
            },
        )
        self.connection.execute("SET GLOBAL TimeZone = 'UTC'")
        with contextlib.suppress(duckdb.InvalidInputException):  # in a notebook it needs ipywidgets: then no progress
            self.connection.execute("SET enable_progress_bar = true")
            self.connection.execute("SET enable_progress_bar_print = false")

    def rows(self, sql: str, on_progress: Progress | None = None) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        found: list[tuple[Any, ...]] = self._run(lambda: self.connection.execute(sql).fetchall(), on_progress)
        return found

    def frame(self, sql: str, on_progress: Progress | None = None) -> Any:
        """The rows of a query as a data frame."""
        return self._run(lambda: self.connection.execute(sql).df(), on_progress)

    def keep(self, name: str, sql: str) -> int:
        """Keep the rows of a query in memory under a name, and return their number."""
        rows = self._run(lambda: self.connection.sql(sql).to_arrow_table(), None)
        self.connection.register(name, rows)
        return int(rows.num_rows)

    def execute(self, sql: str) -> None:
        """Run a statement."""
        self._run(lambda: self.connection.execute(sql), None)

    def _run(self, query: Callable[[], Any], on_progress: Progress | None) -> Any:
        try:
            return query() if on_progress is None else self._with_progress(query, on_progress)
        except (duckdb.Error, OverflowError) as problem:
            raise InputError(explain(self.name, str(problem))) from None
        except UnicodeDecodeError:  # DuckDB hands on some bytes as they are
            raise InputError(f"{self.name} has bytes that are not UTF-8: save it as UTF-8") from None

    def _with_progress(self, query: Callable[[], Any], on_progress: Progress) -> Any:
        with ThreadPoolExecutor(1) as pool:
            future: Future[Any] = pool.submit(query)
            try:
                while True:
                    try:
                        result = future.result(POLL)
                        break
                    except NotYet:
                        if future.done():
                            raise
                        on_progress(max(0.0, self.connection.query_progress()) / 100)
            except KeyboardInterrupt:
                self.connection.interrupt()
                raise
        on_progress(1.0)
        return result


def between(on_progress: Progress, low: float, high: float) -> Progress:
    """The progress callback of one step, from ``low`` to ``high`` of all steps."""
    return lambda done: on_progress(low + done * (high - low))


def explain(name: str, problem: str) -> str:
    """One sentence for an error of DuckDB while it read the named table."""
    line = re.search(r"CSV Error on Line: (\d+)", problem)
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", problem)
    if line and cells:
        found = plural(int(cells[2]), "cell")
        return (
            f"row {line[1]} of {name} has {found}, but the header has {cells[1]}: "
            f"every row needs one cell per column, and cells that contain a separator need quotes"
        )
    place = f"line {line[1]}" if line else "a line"
    for sign, sentence in (
        ("unterminated quote", f"{name} cannot be parsed at {place} (a quote is not closed): check the quotes there"),
        ("Parallel CSV Reader", f"{name} has a line of more than {LONGEST_LINE:,} bytes: it is damaged"),
        (
            "Maximum line size",
            f"{name} has a line of more than {LONGEST_LINE:,} bytes ({place}): "
            f"it is damaged, or a quote is not closed there",
        ),
        ("utf-8", f"{name} is not encoded in UTF-8 ({place}): save it as UTF-8 ('CSV UTF-8' in Excel)"),
        ("Invalid unicode", f"{name} is not encoded in UTF-8: save it as UTF-8"),
        ("invalid state", f"{name} cannot be parsed: check its quotes, and that all lines end in the same way"),
        ("GZIP", f"{name} cannot be decompressed: it is truncated or not a gzip file"),
        ("gzip", f"{name} cannot be decompressed: it is truncated or not a gzip file"),
        ("maximum_object_size", f"{name} has an object of more than 16 MB: write one object per line"),
        ("Out of Memory", f"{name} does not fit in {MEMORY} of memory: give fewer columns or shorter cells"),
        ("Permission denied", f"{name} cannot be read: permission denied"),
    ):
        if sign.casefold() in problem.casefold():
            return sentence
    if json := re.search(r"Malformed JSON.* in (line|record/value) (\d+): (.*?)\.? *(\n|$)", problem):
        number = int(json[2]) - 1  # DuckDB counts one too many
        return f"{name} is not valid JSON at line {number} ({json[3]}): write one object per line"
    if "parquet" in problem.casefold() or "footer" in problem.casefold() or "thrift" in problem.casefold():
        return f"{name} is truncated or not a Parquet file: write it again ({reason(problem)})"
    return f"{name} cannot be read: {reason(problem)}"


def reason(problem: str) -> str:
    """The first line of an error of DuckDB, without its kind and without paths."""
    first = problem.splitlines()[0] if problem else "unknown reason"
    first = re.sub(r"^[A-Za-z ]+ Error: ", "", first)
    first = re.sub(r"(in |of )?(file )?['\"]?/[^'\"]*['\"]? ?", "", first)
    return first.strip(" .:")[:100] or "damaged"
