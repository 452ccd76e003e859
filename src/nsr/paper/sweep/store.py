"""Where results are kept: one SQLite file, one transaction for each finished block."""

import contextlib
import functools
import json
import math
import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nsr.errors import FailedError, InputError
from nsr.files import reject_nul
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record, identities
from nsr.paper.spec import Experiment, canonical_json
from nsr.paper.summaries import Group
from nsr.paper.sweep.damage import (
    COLUMNS,
    START,
    TEXTS,
    Damaged,
    NotMetricsError,
    Row,
    checksum,
    decoded,
    label,
    read_metrics,
    salvage,
    scan,
)
from nsr.paper.sweep.migrations import add_checksums, add_recipe_fields, has_checksums

FILE = "nsr.sqlite"
SCHEMA = 3
APPLICATION = 0x4E535231  # "NSR1": other programs' databases have another number
PAGE = 16384
"""Bytes of a page: a block of 100 records takes fewer of them than of the usual 4096, and less time."""

TABLES = """
CREATE TABLE results (
    identity TEXT PRIMARY KEY, experiment TEXT NOT NULL, revision INTEGER NOT NULL, cell TEXT NOT NULL,
    recipe TEXT NOT NULL, profile TEXT NOT NULL, seed INTEGER NOT NULL, metrics TEXT NOT NULL,
    seconds REAL NOT NULL, memory INTEGER NOT NULL, environment TEXT NOT NULL, finished TEXT NOT NULL, checksum BLOB
) STRICT;
CREATE INDEX results_by_experiment ON results (experiment, revision);
CREATE TABLE failures (
    item TEXT PRIMARY KEY, traceback TEXT NOT NULL, attempts INTEGER NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE claims (
    item TEXT PRIMARY KEY, host TEXT NOT NULL, process INTEGER NOT NULL, started TEXT NOT NULL
) STRICT;
"""


@dataclass(frozen=True)
class Failure:
    """An item that failed, its last traceback, and the number of attempts."""

    item: str
    traceback: str
    attempts: int


class Store:
    """Results of all experiments in one folder. Any number of processes may use it at the same time.

    A store in a folder that may not be written can be read; one of an older schema is brought up to date in memory.
    """

    def __init__(self, folder: Path) -> None:
        reject_nul(folder)
        self.path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create the folder {folder}: {error.strerror}") from None
        self._connect()

    def _connect(self) -> None:
        with self._explained(_UNUSABLE):
            self.read_only = self.path.exists() and not _is_writable(self.path)
            self._connection = self._connected()
            self._connection.text_factory = _decode
            self._open()
        self._file = _file_number(self.path)
        self._checked = START
        """The number of the last record that is known to be intact."""

    def _connected(self) -> sqlite3.Connection:
        if not self.read_only:
            return sqlite3.connect(self.path, timeout=60, isolation_level=None)
        wal = self.path.with_name(f"{FILE}-wal")
        mode = "mode=ro" if wal.exists() and wal.stat().st_size else "immutable=1"  # without a log nobody writes to it
        connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None)
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        if schema >= SCHEMA:
            return connection
        with contextlib.closing(connection):
            copied = sqlite3.connect(":memory:", isolation_level=None)
            connection.backup(copied)
        return copied

    def _open(self) -> None:
        connection = self._connection
        # In this order: another process creates tables and marks together, so tables that are seen have their marks.
        empty, application, schema = self._is_empty(), self._pragma("application_id"), self._pragma("user_version")
        if not empty and application != APPLICATION:
            raise InputError(f"{self.path} is a database of another program; choose another folder with --out")
        if schema > SCHEMA:
            raise InputError(
                f"{self.path} was written by a newer nsr (its schema is {schema}, this one reads {SCHEMA}); update nsr"
            )
        if not self.read_only:
            connection.execute(f"PRAGMA page_size = {PAGE}")  # of a new file
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        if schema < SCHEMA:
            with self._transaction():
                # Another process may have made or migrated the tables since the check above.
                if self._is_empty():
                    for statement in filter(str.strip, TABLES.split(";")):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA application_id = {APPLICATION}")
                elif (present := self._pragma("user_version")) < SCHEMA and not has_checksums(connection):
                    if present < 2:
                        add_recipe_fields(connection)
                    add_checksums(connection)
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
        if self.read_only:
            connection.execute("PRAGMA query_only = ON")  # also for a copy, which would be lost

    def _is_empty(self) -> bool:
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return bool(tables == 0)

    def _pragma(self, name: str) -> int:
        (value,) = self._connection.execute(f"PRAGMA {name}").fetchone()
        return int(value)

    @contextlib.contextmanager
    def _explained(self, damaged: str = "") -> Iterator[None]:
        """Turn SQLite errors into a sentence that names the file and says what to do, also if it is damaged."""
        advice = {**_ADVICE, "CORRUPT": damaged or f"; it is damaged: {self._repairing}"}
        try:
            yield
        except UnicodeDecodeError as error:  # SQLite's message quotes what is damaged
            raise InputError(f"cannot use the results in {self.path}{advice['CORRUPT']}") from error
        except sqlite3.Error as error:
            raise InputError(f"cannot use the results in {self.path}: {error}{advice.get(_kind(error), '')}") from error

    @property
    def _repairing(self) -> str:
        return f"nsr results --repair --out {self.path.parent} keeps the records that can be read; the others run again"

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if self._connection.in_transaction:  # inside ``together``
            yield self._connection
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """One transaction around several calls, which costs one wait for the disk instead of one for each."""
        with self._explained(), self._transaction():
            yield

    @contextlib.contextmanager
    def reserving(self) -> Iterator[None]:
        """One transaction around several calls of ``claim`` and ``release``, without a wait for the disk.

        A power cut may undo it, and ends the process that holds the reservations. Results that are stored later wait
        for the disk with all that came before them.
        """
        with self._explained():
            self._connection.execute("PRAGMA synchronous = NORMAL")
            try:
                with self._transaction():
                    yield
            finally:
                self._connection.execute("PRAGMA synchronous = FULL")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def done(self, experiment: Experiment[Any]) -> set[str]:
        """Identities of the results of an experiment."""
        self._check()
        with self._explained():
            query = "SELECT identity FROM results WHERE experiment = ?"
            return {identity for (identity,) in self._connection.execute(query, (experiment.name,))}

    def lookup(self) -> Container[str]:
        """The identities of all results, looked up one by one: a million of them would take a gigabyte of memory."""
        self._check()
        return _Lookup(self)

    def _check(self) -> None:
        """Raise an InputError if records are damaged, or pages of the file, which may be those of an index.

        Records that were intact before are not checked again.
        """
        if self._checked == START:
            self._check_pages()
        last = self._checked
        for last, _ in self._intact(self._checked):  # noqa: B007
            pass
        self._checked = last

    def _check_pages(self) -> None:
        if (fault := self._fault()) is not None:
            raise InputError(f"{self.path} is damaged ({fault}): {self._repairing}")

    def _fault(self) -> str | None:
        """What is wrong with the pages of the file: it may hide records, or an index may not name them."""
        connection = self._connection
        with self._explained():
            try:
                self._indexed(START)
                connection.execute("SELECT item FROM failures UNION SELECT item FROM claims").close()
                (fault,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            except sqlite3.Error as error:
                if _kind(error) != "CORRUPT":
                    raise
                return str(error)
            except UnicodeDecodeError:  # as in ``_explained``
                return "a name is not UTF-8"
        return None if fault == "ok" else str(fault).splitlines()[-1]

    def _indexed(self, after: float) -> list[int]:
        """How many records from a number on each index names."""
        query = "SELECT count(*) FROM results INDEXED BY {} WHERE rowid > ?"
        return [self._connection.execute(query.format(name), (after,)).fetchone()[0] for name in _INDEXES]

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Around several queries: they see the same records, whatever other processes write meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):  # an error has ended it
                self._connection.execute("COMMIT")

    def _intact(self, after: float = START, *, metrics: bool = True) -> Iterator[tuple[int, Row]]:
        """The numbers and rows of all records from a number on; if any are damaged or hidden, an InputError at the end.

        A damaged page may hide records or show others twice: the table is compared with what its indexes name.
        ``metrics`` as in ``scan``.
        """
        first, damaged_count, count, last, in_order = None, 0, 0, after, True
        with self._explained(), self._snapshot():
            indexed = self._indexed(after)
            for number, row, damaged in scan(self._connection, after, metrics=metrics):
                in_order &= number > last
                count, last = count + 1, number
                if damaged is None:
                    yield number, row
                else:
                    first, damaged_count = first or damaged, damaged_count + 1
        if first is not None:
            raise self._damaged(damaged_count, first)
        if not in_order or {*indexed} != {count}:
            named = " and ".join(map(str, dict.fromkeys(indexed)))
            counted = f"{count} records can be read, and {named} are in its indexes"
            raise InputError(f"{self.path} is damaged: {counted}: {self._repairing}")

    def _damaged(self, count: int, first: Damaged) -> InputError:
        counted = f"{count} records are" if count > 1 else "a record is"
        return InputError(
            f"{counted} damaged in {self.path}, first {first}; nsr results --verify --out {self.path.parent} "
            "lists them, and --repair drops them so that they run again"
        )

    def verify(self) -> tuple[int, list[Damaged]]:
        """How many results there are, and the damaged ones among them."""
        self._check_pages()
        count, found = 0, list[Damaged]()
        with self._explained():
            for count, (_, _, damaged) in enumerate(scan(self._connection), start=1):  # noqa: B007
                found += [] if damaged is None else [damaged]
        return count, found

    def repair(self, on_message: Callable[[str], None] = lambda _: None) -> list[Damaged]:
        """Drop the damaged results, so that they run again; returns them. A file with damaged pages is written anew."""
        fault = self._fault()
        if fault is not None and not self.read_only:
            return self._rebuild(fault, on_message)
        _, found = self.verify()
        with self._explained(), self._transaction() as connection:
            for damaged in found:
                connection.execute("DELETE FROM results WHERE rowid = ?", (damaged.row,))
        return found

    def _rebuild(self, fault: str, on_message: Callable[[str], None]) -> list[Damaged]:
        """Replace the file by a new one with what can be read of it, and keep the old one beside it."""
        old, kept = self._connection, self.path.with_name(f"{FILE}.damaged")
        with (
            self._explained(_UNUSABLE),
            tempfile.TemporaryDirectory(prefix=".nsr-", dir=self.path.parent) as name,
        ):
            old.execute("PRAGMA journal_mode = DELETE")  # the log goes into the file; refused while others use it
            old.execute("BEGIN EXCLUSIVE")
            with contextlib.closing(Store(Path(name))) as fresh:
                count, found = _copy(old, fresh._connection)
            shutil.copymode(self.path, fresh.path)
            kept.unlink(missing_ok=True)
            kept.hardlink_to(self.path)
            fresh.path.replace(self.path)
            old.close()
        self._connect()
        on_message(f"{self.path} was damaged ({fault}): wrote the {count:,} records that can be read to a new file")
        on_message(f"the damaged file is kept as {kept}")
        return found

    def has(self, item: Item) -> bool:
        """Whether every seed of an item has its result."""
        with self._explained():
            return all(map(self._has, item.each_identity()))

    def _has(self, identity: str) -> bool:
        query = "SELECT 1 FROM results WHERE identity = ?"
        return self._connection.execute(query, (identity,)).fetchone() is not None

    def add(self, item: Item, records: Iterable[Record]) -> None:
        """Store a finished block, all of it or nothing. Results that are there already stay as they are."""
        rows, key = list(_rows(list(records))), item.key
        with self._explained(), self._transaction() as connection:
            connection.executemany(_INSERT, rows)
            connection.execute("DELETE FROM failures WHERE item = ?", (key,))
            connection.execute("DELETE FROM claims WHERE item = ?", (key,))
        self.check_present()

    def check_present(self) -> None:
        """Raise a FailedError if the file was deleted or replaced: SQLite would go on writing to no name."""
        if self._file is None or _file_number(self.path) != self._file:
            raise FailedError(
                f"the results are lost: {self.path} was deleted or replaced during the run; run the same command again"
            )

    def records(self, experiment: Experiment[Any]) -> list[Record]:
        """The current results of an experiment; see ``Record.is_current``."""
        self._check()
        query = f"SELECT {', '.join(COLUMNS)} FROM results WHERE experiment = ? AND revision = ? ORDER BY rowid"
        found = []
        with self._explained():
            for row in self._connection.execute(query, (experiment.name, experiment.revision)):
                record = _record(experiment, *row)
                if record.is_current(experiment) and record.identity == row[0]:
                    found.append(record)
        return found

    def groups(self) -> dict[str, list[Group[Any]]]:
        """The current results by experiment, and by cell, recipe and profile, in one pass."""
        groups: dict[str, dict[Any, Group[Any]]] = {}
        kinds: dict[Row, Group[Any] | None] = {}
        for number, row in self._intact(metrics=False):
            _, name, cell, recipe, profile, metrics, environment, _, revision, seed, memory, seconds = row
            kind = name, revision, cell, recipe, profile, environment  # few, so that most rows are not read further
            try:
                if kind not in kinds:
                    kinds[kind] = _group(row, groups)
                if (group := kinds[kind]) is not None:
                    group.add(seed, metrics, seconds, memory)
            except NotMetricsError as error:
                raise self._damaged(1, Damaged(number, label(row), str(error))) from error
        return {name: list(made.values()) for name, made in groups.items()}

    def fail(self, item: Item, traceback: str) -> None:
        """Store a failure. The next run tries the item again."""
        with self._explained(), self._transaction() as connection:
            connection.execute(
                "INSERT INTO failures VALUES (?, ?, 1, ?) ON CONFLICT (item) DO UPDATE SET "
                "traceback = excluded.traceback, attempts = attempts + 1, at = excluded.at",
                (item.key, traceback, datetime.now(UTC).isoformat(timespec="seconds")),
            )
            connection.execute("DELETE FROM claims WHERE item = ?", (item.key,))

    def failures(self) -> list[Failure]:
        """What failed and has not succeeded since."""
        with self._explained():
            rows = self._connection.execute("SELECT item, traceback, attempts FROM failures ORDER BY rowid").fetchall()
        return [Failure(*row) for row in rows]

    def claim(self, item: Item) -> bool:
        """Reserve an item for this process; False if a living process has reserved it."""
        key, mine = item.key, _claimant(os.getpid())
        with self._explained(), self._transaction() as connection:
            row = connection.execute("SELECT host, process, started FROM claims WHERE item = ?", (key,)).fetchone()
            if row and row != mine and _alive(*row):
                return False
            connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", (key, *mine))
        return True

    def release(self, item: Item) -> None:
        """Give up the reservation of an item."""
        with self._explained(), self._transaction() as connection:
            connection.execute("DELETE FROM claims WHERE item = ?", (item.key,))


_INSERT = f"INSERT OR IGNORE INTO results ({', '.join(COLUMNS)}, checksum) VALUES ({','.join('?' * 13)})"


_INDEXES = ("sqlite_autoindex_results_1", "results_by_experiment")


def _copy(old: sqlite3.Connection, new: sqlite3.Connection) -> tuple[int, list[Damaged]]:
    """Copy the intact records and the failures; returns how many records there are, and the damaged ones."""
    found: dict[int, Damaged] = {}

    def rows() -> Iterator[Row]:
        for number, row, damaged in salvage(old):
            if damaged is None:
                yield (*decoded(row), checksum(row))
            else:
                found[number] = damaged

    new.execute("BEGIN")
    new.executemany(_INSERT, rows())
    with contextlib.suppress(sqlite3.Error):  # they say why something failed, and are not worth more
        failures = old.execute("SELECT item, traceback, attempts, at FROM failures ORDER BY rowid")
        new.executemany("INSERT OR IGNORE INTO failures VALUES (?, ?, ?, ?)", failures)
    (count,) = new.execute("SELECT count(*) FROM results").fetchone()
    new.execute("COMMIT")
    return count, list(found.values())


class _Lookup(Container[str]):
    def __init__(self, store: Store) -> None:
        self.store = store

    def __contains__(self, identity: object) -> bool:
        with self.store._explained():
            return self.store._has(str(identity))


_ADVICE = {
    "FULL": "; make room on the disk and run the same command again; finished blocks are kept",
    "READONLY": "; make the folder writable or choose another with --out",
    "CANTOPEN": "; make the folder writable or choose another with --out",
    "NOTADB": "; it is not a database of nsr: move it away or choose another folder with --out",
    "BUSY": "; another program has locked it: try again",
}

_UNUSABLE = "; it is damaged: move it away (sqlite3 FILE .recover may save its content) or choose another --out"
"""Advice where the file cannot even be opened."""


def _kind(error: sqlite3.Error) -> str:
    """What an error of SQLite is about: a key of ``_ADVICE``, or CORRUPT."""
    kind = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_").partition("_")[0]
    return "CORRUPT" if kind in ("", "ERROR") else kind  # a cell of a type that its column cannot have; no such table


def _is_writable(path: Path) -> bool:
    """Whether a database can be written: SQLite makes files beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


def _decode(text: bytes) -> str:
    """Damaged text becomes other text, which its checksum reports."""
    return text.decode(errors="replace")


def _file_number(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one of the same name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _rows(records: Sequence[Record]) -> Iterator[Row]:
    """The rows of records with their checksums. Those of a block share most of their texts, which are encoded once."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    shared: dict[tuple[int, ...], _Shared] = {}
    for record, identity, metrics in zip(records, identities(records), _texts_of_metrics(records), strict=True):
        parts = record.experiment, record.cell, record.recipe, record.profile, record.environment
        key = tuple(map(id, parts))
        if key not in shared:
            cell, recipe = (canonical_json(asdict(part)) for part in (record.cell, record.recipe))
            shared[key] = _Shared((record.experiment, cell, recipe, record.profile), (record.environment, now))
        same = shared[key]
        numbers = record.revision, record.seed, record.memory, float(record.seconds)
        encoded = identity.encode(), *same.before_bytes, metrics.encode(), *same.after_bytes
        yield (identity, *same.before, metrics, *same.after, *numbers, checksum((*encoded, *numbers)))


class _Shared:
    """The texts that records have in common: those before the metrics and those after them, also as bytes."""

    def __init__(self, before: tuple[str, ...], after: tuple[str, ...]) -> None:
        self.before, self.after = before, after
        self.before_bytes, self.after_bytes = (tuple(map(str.encode, texts)) for texts in (before, after))


def _texts_of_metrics(records: Sequence[Record]) -> Iterator[str]:
    """The JSON of the metrics of each record. Those of a block have the same names, which are encoded once."""
    templates: dict[tuple[str, ...], str] = {}
    for record in records:
        names, values = tuple(record.metrics), tuple(record.metrics.values())
        if {*map(type, values)} == {float} and math.isfinite(sum(values)):
            if names not in templates:
                pairs = (json.dumps(name).replace("%", "%%") + ": %r" for name in names)
                templates[names] = "{" + ", ".join(pairs) + "}"
            yield templates[names] % values
        else:
            yield json.dumps(dict(record.metrics), allow_nan=False)


def _record(experiment: Experiment[Any], *columns: Any) -> Record:
    """A record of the experiment's present revision from the columns of its row."""
    content = dict(zip(COLUMNS, columns, strict=True))
    return Record(
        experiment.name,
        content["revision"],
        experiment.cell(json.loads(content["cell"])),
        experiment.recipe(json.loads(content["recipe"])),
        content["profile"],
        content["seed"],
        read_metrics(content["metrics"]),
        content["seconds"],
        content["memory"],
        content["environment"],
    )


def _group(row: Row, groups: dict[str, dict[Any, Group[Any]]]) -> Group[Any] | None:
    """The group that a row belongs to, made if needed; None if the row is not current."""
    columns = [value.decode() if isinstance(value, bytes) else value for value in row]
    experiment = EXPERIMENTS.get(columns[1])
    if experiment is None or columns[len(TEXTS)] != experiment.revision:
        return None
    record = _record(experiment, *columns)
    if not record.is_current(experiment) or record.identity != columns[0]:
        return None
    key = record.cell, record.recipe.name, record.profile
    group = groups.setdefault(experiment.name, {}).setdefault(key, Group(*key, read=read_metrics))
    group.environments.add(record.environment)
    return group


@functools.cache
def _claimant(process: int) -> tuple[str, int, str]:
    """What a reservation of this process says."""
    return socket.gethostname(), process, started(process)


def started(process: int) -> str:
    """When a process of this machine started, "" if it has ended. A process number alone may be reused."""
    try:
        state, *_, since = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[:20]
    except OSError:
        return ""
    return "" if state in "ZX" else since  # ended, but not yet reaped by its parent


def _alive(host: str, process: int, since: str) -> bool:
    """Whether a process of this machine is still running.

    Processes of other machines count as ended: it is better to run an item twice than never.
    """
    return host == socket.gethostname() and since != "" and started(process) == since
