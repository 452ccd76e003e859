"""A store of schema 1, written before recipes had all of their fields, is as good as a new one."""

import dataclasses
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from nsr.paper.experiments import EXPERIMENTS as CURRENT
from nsr.paper.experiments.digits import DigitsRecipe
from nsr.paper.records import Record
from nsr.paper.sweep import migrations
from nsr.paper.sweep import store as store_module
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.store import FILE, SCHEMA, Store
from nsr.training import EXACT

ASSET = Path(__file__).parent / "assets" / "schema1.sqlite"
"""Profile smoke, one seed, both recipes, every cell with model nsr or without a model; and four failures."""
NAMES = ("piecewise", "redundancy", "recurrent", "shortest_paths", "digits")
OLD_DIGITS = DigitsRecipe.based_on(
    EXACT,
    epochs=20,
    learning_rate=4e-3,
    patience=0,
    scale=3.0,
    comparator_rate=2.5,
    one_cycle=True,
    balanced=True,
)
EXPERIMENTS = {
    name: dataclasses.replace(
        CURRENT[name],
        revision=2 if name == "digits" else 1,
        recipes={
            recipe.name: dataclasses.replace(recipe, **({} if name == "digits" else {"baseline_factor": 1}))
            for recipe in CURRENT[name].recipes.values()
        }
        | ({"exact": OLD_DIGITS} if name == "digits" else {}),
    )
    for name in NAMES
}
"""The experiments as they were when the store was written."""


@pytest.fixture
def folder(tmp_path) -> Path:
    shutil.copy(ASSET, tmp_path / FILE)
    return tmp_path


def content(folder: Path) -> tuple[int, list[tuple], list[tuple]]:
    """Schema, results and failures, read without the store."""
    connection = sqlite3.connect(folder / FILE)
    try:
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        tables = (connection.execute(f"SELECT * FROM {name} ORDER BY rowid") for name in ("results", "failures"))
        return (schema, *(table.fetchall() for table in tables))
    finally:
        connection.close()


def missing(store: Store) -> list:
    items = []
    for name in NAMES:
        experiment = EXPERIMENTS[name]
        items += plan(
            experiment,
            experiment.profiles["smoke"],
            ("paper", "exact"),
            range(1),
            done=store.done(experiment),
            keep=lambda cell: getattr(cell, "model", "nsr") == "nsr",
        )
    return items


def test_nothing_is_missing_and_every_record_is_read(folder):
    schema, results, _ = content(folder)
    assert (schema, len(results)) == (1, 20)
    store = Store(folder)
    assert missing(store) == []
    records = [record for name in NAMES for record in store.records(EXPERIMENTS[name])]
    store.close()
    assert len(records) == 20
    assert {record.identity for record in records} == {row[0] for row in content(folder)[1]}
    metrics = {str(record.metrics) for record in records}
    connection = sqlite3.connect(ASSET)
    assert metrics == {str(json.loads(text)) for (text,) in connection.execute("SELECT metrics FROM results")}
    connection.close()


def test_without_migration_the_results_of_recipe_exact_would_be_missing(folder):
    connection = sqlite3.connect(folder / FILE)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    store = Store(folder)
    assert {item.recipe.name for item in missing(store)} == {"exact"}
    assert len(missing(store)) == 12
    store.close()


def test_only_what_names_the_recipe_changes_and_only_once(folder):
    _, before, _ = content(folder)
    Store(folder).close()
    schema, once, failures = content(folder)
    assert schema == SCHEMA
    assert [(*row[1:4], *row[5:12]) for row in once] == [(*row[1:4], *row[5:]) for row in before]
    changed = [old != new[:12] for old, new in zip(before, once, strict=True)]
    assert changed == ['"name":"exact"' in row[0] for row in before]
    Store(folder).close()
    assert content(folder) == (schema, once, failures)


def test_failures_are_forgotten_when_their_items_succeed(folder):
    store = Store(folder)
    failures = store.failures()
    assert len(failures) == 4
    for name, recipe in (("piecewise", "paper"), ("shortest_paths", "exact"), ("digits", "exact")):
        experiment = EXPERIMENTS[name]
        item = plan(experiment, experiment.profiles["quick"], [recipe], [0])[0]
        assert item.key in {failure.item for failure in failures}
        store.add(item, [])
    assert [failure.traceback for failure in store.failures()] == ["RuntimeError: comparisons\n"]
    store.close()


def test_failures_of_what_is_no_more_stay_as_they_are(folder):
    connection = sqlite3.connect(folder / FILE)
    keys = [
        '{"experiment":"gone","recipe":{"name":"exact"},"cell":{},"profile":"smoke","seeds":[0]}',
        '{"experiment":"digits","recipe":{"name":"exact"},"cell":{"gone":1},"profile":"smoke","seeds":[0]}',
    ]
    with connection:
        connection.executemany("INSERT INTO failures VALUES (?, '', 1, '')", [(key,) for key in keys])
    connection.close()
    store = Store(folder)
    assert set(keys) < {failure.item for failure in store.failures()}
    store.close()


def test_an_error_in_the_middle_changes_nothing(folder, monkeypatch):
    before, calls = content(folder), []

    def fails(*arguments):
        calls.append(arguments)
        if len(calls) > 20:
            raise RuntimeError("in the middle")
        return complete(*arguments)

    complete = migrations.complete_recipe
    monkeypatch.setattr(migrations, "complete_recipe", fails)
    with pytest.raises(RuntimeError, match="in the middle"):
        Store(folder)
    assert content(folder) == before
    monkeypatch.undo()
    store = Store(folder)
    assert missing(store) == []
    store.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from nsr.paper.sweep import migrations, store

complete, calls = migrations.complete_recipe, []

def kills(*arguments):
    calls.append(arguments)
    if len(calls) > 20:
        os.kill(os.getpid(), signal.SIGKILL)
    return complete(*arguments)

migrations.complete_recipe = kills
store.Store(Path(sys.argv[1]))
"""


def test_a_kill_in_the_middle_changes_nothing(folder):
    before = content(folder)
    assert subprocess.run([sys.executable, "-c", KILLED, str(folder)]).returncode == -signal.SIGKILL
    assert content(folder) == before
    store = Store(folder)
    assert missing(store) == []
    store.close()


def test_any_number_may_open_it_at_once_and_one_migrates_it(folder, monkeypatch):
    found: list[int] = []
    migrated: list[int] = []
    barrier = threading.Barrier(6)

    def slowly(connection: sqlite3.Connection) -> None:
        migrated.append(1)
        time.sleep(0.3)  # so that the others have seen schema 1 and wait
        migrations.add_recipe_fields(connection)

    monkeypatch.setattr(store_module, "add_recipe_fields", slowly)

    def open_it() -> None:
        barrier.wait()
        store = Store(folder)
        found.append(sum(len(store.records(EXPERIMENTS[name])) for name in NAMES) - len(missing(store)))
        store.close()

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [20] * 6
    assert migrated == [1]


def test_damaged_rows_of_schema_1_are_reported_and_the_others_are_kept(folder):
    connection = sqlite3.connect(folder / FILE)
    with connection:
        connection.execute("UPDATE results SET identity = '{' WHERE rowid = 3")
        connection.execute("UPDATE results SET recipe = '[]' WHERE rowid = 5")
        connection.execute("""UPDATE results SET identity = '{"recipe": 3}' WHERE rowid = 7""")
        connection.execute("INSERT INTO failures VALUES ('nojson', '', 1, '')")
    connection.close()
    store = Store(folder)
    assert [damaged.row for damaged in store.verify()[1]] == [3, 5, 7]
    assert len(store.repair()) == 3
    assert store.verify() == (17, [])
    assert len(missing(store)) == 3  # those after a damaged row were completed as well
    store.close()


OLD_CHECKSUMS = "CREATE TABLE checksums (result TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT"


def old_checksum(text: str) -> str:
    return sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]


@pytest.mark.parametrize("number", [2, 1, 0, -5])
def test_a_damaged_number_of_the_schema_does_not_migrate_what_is_up_to_date(tmp_path, number):
    item = plan(CURRENT["comparisons"], CURRENT["comparisons"].profiles["smoke"], ("exact",), range(2))[0]
    with closing(Store(tmp_path)) as store:
        store.add(item, [record_of(item, seed) for seed in item.seeds])
        store._connection.execute(f"PRAGMA user_version = {number}")
    with closing(Store(tmp_path)) as store:
        assert store.verify() == (2, [])
        assert len(store.records(CURRENT["comparisons"])) == 2
        assert store._pragma("user_version") == SCHEMA


def record_of(item, seed: int) -> Record:
    return Record(item.experiment, item.revision, item.cell, item.recipe, "smoke", seed, {"train": 1.0}, 0.1, 1, "{}")


def test_checksums_in_a_table_of_their_own_move_beside_the_records(folder):
    """As the first version with checksums stored them: of the text of a tuple, by that of the identity."""
    Store(folder).close()
    connection = sqlite3.connect(folder / FILE)
    with connection:
        connection.execute("ALTER TABLE results DROP COLUMN checksum")
        connection.execute(OLD_CHECKSUMS)
        for row in connection.execute("SELECT * FROM results WHERE rowid > 3").fetchall():
            entry = old_checksum(row[0]), old_checksum(repr(row))
            connection.execute("INSERT INTO checksums VALUES (?, ?)", entry)
        connection.execute("UPDATE results SET seconds = seconds + 1 WHERE rowid = 5")
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    store = Store(folder)
    count, (damaged,) = store.verify()
    assert (count, damaged.row, damaged.reason) == (20, 5, "its checksum is wrong")
    present = store._connection.execute("SELECT count(*) FROM results WHERE length(checksum) = 16").fetchone()
    assert present == (19,)  # also the one that had none
    assert not store._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checksums'").fetchone()
    store.close()
