"""What every store must do: keep what was given, refuse what it cannot read, lose nothing that was there."""

import json
import os
import random
import shutil
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from nsr.errors import FailedError, InputError
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record
from nsr.paper.summaries import summarise, summarise_groups
from nsr.paper.sweep import store as store_module
from nsr.paper.sweep.damage import COLUMNS, checksum
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.store import FILE, SCHEMA, Store, started

EXPERIMENT = EXPERIMENTS["comparisons"]
SMOKE = EXPERIMENT.profiles["smoke"]
ITEMS = plan(EXPERIMENT, SMOKE, ("paper", "exact"), range(3))


def block(item: Item, accuracy: float = 1.0) -> list[Record]:
    return [
        Record(
            "comparisons",
            EXPERIMENT.revision,
            item.cell,
            item.recipe,
            "smoke",
            seed,
            {"train": accuracy, "epochs": 50.0},
            0.1,
            2**20,
            "{}",
        )
        for seed in item.seeds
    ]


def add_all(store: Store, items: list[Item]) -> None:
    for item in items:
        store.add(item, block(item))


def filled(folder: Path, items=ITEMS) -> Store:
    store = Store(folder)
    add_all(store, items)
    return store


def test_what_is_added_comes_back(tmp_path):
    store = filled(tmp_path)
    expected = [record for item in ITEMS for record in block(item)]
    assert store.records(EXPERIMENT) == expected
    store.close()
    assert Store(tmp_path).records(EXPERIMENT) == expected
    assert len(store_done(tmp_path)) == len(expected) == 12 * 2 * 3


def store_done(folder: Path) -> set[str]:
    return Store(folder).done(EXPERIMENT)


def test_the_first_result_of_a_seed_stays(tmp_path):
    store = filled(tmp_path, ITEMS[:1])
    store.add(ITEMS[0], block(ITEMS[0], accuracy=0.5))
    assert {record.metrics["train"] for record in store.records(EXPERIMENT)} == {1.0}


@pytest.mark.parametrize(
    "metrics",
    [
        {"train": 0.1, "epochs": 50.0},
        {"100 %": 1e-300, '"quoted" %s': -0.0, "größer\n": 1e22, "10^2": 1 / 3},
        {"train": 1, "read": True},
        {"large": 1e308, "larger": 1.7e308},
        {},
    ],
)
def test_metrics_are_stored_as_json_writes_them(tmp_path, metrics):
    store = Store(tmp_path)
    first, second, third = block(ITEMS[0])
    store.add(ITEMS[0], [first, replace(second, metrics=metrics), third])
    texts = [text for (text,) in store._connection.execute("SELECT metrics FROM results ORDER BY seed")]
    assert texts == [json.dumps(each) for each in (first.metrics, metrics, third.metrics)]
    assert store.verify() == (3, [])
    store.close()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_metrics_that_are_not_finite_are_refused_and_nothing_is_stored(tmp_path, value):
    store = Store(tmp_path)
    first, *rest = block(ITEMS[0])
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        store.add(ITEMS[0], [*rest, replace(first, metrics={"train": value, "epochs": 1.0})])
    assert store.done(EXPERIMENT) == set()
    store.close()


def test_reservations_do_not_wait_for_the_disk_and_results_do(tmp_path):
    store = Store(tmp_path)
    normal, full = 1, 2
    with store.reserving():
        assert store.claim(ITEMS[0])
        assert store._pragma("synchronous") == normal
    assert store._pragma("synchronous") == full

    def release_and_fail() -> None:
        with store.reserving():
            store.release(ITEMS[0])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        release_and_fail()
    assert store._pragma("synchronous") == full
    assert store._connection.execute("SELECT count(*) FROM claims").fetchone() == (1,)
    store.close()


def test_it_has_an_item_once_every_seed_has_a_result(tmp_path):
    store, item = filled(tmp_path, ITEMS[:1]), ITEMS[0]
    assert store.has(item)
    assert store.has(replace(item, seeds=item.seeds[:1], data=tmp_path))
    assert not store.has(replace(item, seeds=(*item.seeds, 99)))
    assert not store.has(replace(item, revision=item.revision + 1))
    assert not store.has(ITEMS[1])


def test_it_is_in_wal_mode_and_waits_for_the_disk(tmp_path):
    store = Store(tmp_path)
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_it_waits_for_the_disk_also_where_that_is_not_the_default_of_sqlite(tmp_path, monkeypatch):
    connect = sqlite3.connect

    def careless(*arguments, **options) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    monkeypatch.setattr(sqlite3, "connect", careless)
    assert Store(tmp_path)._pragma("synchronous") == 2  # FULL


def test_its_pages_are_larger_than_those_of_sqlite_and_another_writer_is_waited_for_a_minute(tmp_path):
    store = Store(tmp_path)
    assert (store._pragma("page_size"), store._pragma("busy_timeout")) == (4 * 4096, 60_000)


def test_folders_are_made(tmp_path):
    assert len(filled(tmp_path / "a" / "b", ITEMS[:1]).records(EXPERIMENT)) == 3


def test_a_store_that_is_closed_leaves_no_log(tmp_path):
    store = filled(tmp_path, ITEMS[:1])
    assert (tmp_path / f"{FILE}-wal").exists()
    store.close()
    assert not (tmp_path / f"{FILE}-wal").exists()


def test_a_block_is_kept_whole_or_not_at_all(tmp_path):
    store = filled(tmp_path, ITEMS[:1])
    bad = block(ITEMS[1])
    bad[-1] = Record(**{**vars(bad[-1]), "metrics": {"train": float("nan")}})
    with pytest.raises(ValueError, match="JSON"):
        store.add(ITEMS[1], bad)
    assert len(store.records(EXPERIMENT)) == 3


def test_results_of_an_old_recipe_or_revision_are_not_mixed_in(tmp_path):
    store = Store(tmp_path)
    first, second, third = block(ITEMS[0])
    old = [replace(first, revision=0), replace(second, recipe=replace(second.recipe, learning_rate=0.5)), third]
    store.add(ITEMS[0], old)
    assert {record.seed for record in store.records(EXPERIMENT)} == {2}


def test_failures_are_kept_counted_and_forgotten_after_success(tmp_path):
    store = Store(tmp_path)
    store.fail(ITEMS[0], "first")
    store.fail(ITEMS[0], "second")
    (failure,) = store.failures()
    assert (failure.item, failure.traceback, failure.attempts) == (ITEMS[0].key, "second", 2)
    store.add(ITEMS[0], block(ITEMS[0]))
    assert store.failures() == []


def test_an_item_is_claimed_by_one_living_process(tmp_path):
    mine, other = Store(tmp_path), Store(tmp_path)
    assert mine.claim(ITEMS[0])
    assert other.claim(ITEMS[0])  # the same process: its own claim
    parent = os.getppid()
    other._connection.execute("UPDATE claims SET process = ?, started = ?", (parent, started(parent)))
    assert not mine.claim(ITEMS[0])
    other._connection.execute("UPDATE claims SET started = 'long ago'")  # the number was reused: that one is dead
    assert mine.claim(ITEMS[0])
    mine.release(ITEMS[0])
    assert mine._connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    assert started(2**22 + 1) == ""


@pytest.mark.parametrize("end", ["add", "fail"])
def test_what_has_ended_is_no_longer_claimed(tmp_path, end):
    store = Store(tmp_path)
    assert store.claim(ITEMS[0])
    assert store.claim(ITEMS[1])
    if end == "add":
        store.add(ITEMS[0], block(ITEMS[0]))
    else:
        store.fail(ITEMS[0], "")
    assert store._connection.execute("SELECT item FROM claims").fetchall() == [(ITEMS[1].key,)]


@pytest.mark.parametrize(("state", "expected"), [("S", "22"), ("R", "22"), ("Z", ""), ("X", "")])
def test_when_a_process_started_is_the_22nd_field_unless_it_has_ended(monkeypatch, state, expected):
    """Of /proc/PID/stat; the second one is a name in brackets, which may have brackets."""
    stat = " ".join(["7", "(a) b)", state, *map(str, range(4, 53))])
    monkeypatch.setattr(Path, "read_text", lambda _: stat)
    assert started(7) == expected


@pytest.mark.parametrize(
    ("host", "since", "found", "alive"),
    [("here", "5", "5", True), ("here", "5", "6", False), ("here", "", "", False), ("there", "5", "5", False)],
)
def test_who_holds_a_claim_is_alive_if_it_is_the_same_process_of_this_machine(monkeypatch, host, since, found, alive):
    monkeypatch.setattr(store_module.socket, "gethostname", lambda: "here")
    monkeypatch.setattr(store_module, "started", lambda _: found)
    assert store_module._alive(host, 7, since) is alive


def test_two_writers_at_once_double_nothing(tmp_path):
    def write() -> None:
        filled(tmp_path).close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = Store(tmp_path).records(EXPERIMENT)
    assert len(records) == len({(r.cell, r.recipe, r.seed) for r in records}) == 72


# What it cannot use is an error of one sentence, and the file stays as it was


def error_text(folder: Path) -> str:
    before = (folder / FILE).read_bytes() if (folder / FILE).is_file() else None
    with pytest.raises(InputError) as raised:
        Store(folder).records(EXPERIMENT)
    if before is not None:
        assert (folder / FILE).read_bytes() == before
    text = str(raised.value)
    assert "\n" not in text
    return text


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / FILE).write_text("seed,accuracy\n" * 1000)
    assert error_text(tmp_path).endswith(
        "it is not a database of nsr: move it away or choose another folder with --out"
    )


@pytest.mark.parametrize("kept", [0.3, 0.7])
def test_a_truncated_database(tmp_path, kept):
    filled(tmp_path).close()
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data[: int(len(data) * kept)])
    assert "is damaged: move it away" in error_text(tmp_path)


def test_a_database_of_another_program(tmp_path):
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("CREATE TABLE recipes (flour REAL)")
    connection.close()
    assert (
        error_text(tmp_path) == f"{tmp_path / FILE} is a database of another program; choose another folder with --out"
    )


def test_new_stores_have_schema_3_and_another_number_needs_a_migration_from_it(tmp_path):
    assert Store(tmp_path)._connection.execute("PRAGMA user_version").fetchone() == (3,)


def test_a_newer_schema(tmp_path):
    store = filled(tmp_path, ITEMS[:1])
    store._connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    store.close()
    assert error_text(tmp_path).endswith(
        f"was written by a newer nsr (its schema is {SCHEMA + 1}, this one reads {SCHEMA}); update nsr"
    )


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    assert (
        error_text(tmp_path / "file" / "runs")
        == f"cannot create the folder {tmp_path / 'file' / 'runs'}: Not a directory"
    )


def test_a_database_that_may_not_be_written(tmp_path):
    store = filled(tmp_path, ITEMS[:1])
    store._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(InputError, match="readonly database; make the folder writable or choose another with --out"):
        store.add(ITEMS[1], block(ITEMS[1]))
    store.close()
    assert len(Store(tmp_path).records(EXPERIMENT)) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    assert "make the folder writable" in error_text(tmp_path)
    tmp_path.chmod(0o700)


@pytest.mark.parametrize("schema", [1, SCHEMA])
def test_a_store_that_may_not_be_written_can_be_read(tmp_path, monkeypatch, schema):
    """As root may write everywhere, the check is replaced; SQLite itself then refuses to write."""
    if schema == 1:
        shutil.copy(Path(__file__).parent / "assets" / "schema1.sqlite", tmp_path / FILE)
    else:
        filled(tmp_path, ITEMS[:1]).close()
    content = (tmp_path / FILE).read_bytes()
    monkeypatch.setattr(store_module, "_is_writable", lambda _: False)
    store = Store(tmp_path)
    assert store.verify() == ((20, []) if schema == 1 else (3, []))
    assert len(store.groups().get("comparisons", ())) == (0 if schema == 1 else 1)
    with pytest.raises(InputError, match="readonly database; make the folder writable"):
        store.add(ITEMS[1], block(ITEMS[1]))
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert (tmp_path / FILE).read_bytes() == content


def test_a_store_that_may_not_be_written_shows_what_others_write_to_it(tmp_path, monkeypatch):
    writer = filled(tmp_path, ITEMS[:1])  # whose records are in the log
    monkeypatch.setattr(store_module, "_is_writable", lambda _: False)
    reader = Store(tmp_path)
    assert reader.read_only
    assert len(reader.records(EXPERIMENT)) == 3
    writer.add(ITEMS[1], block(ITEMS[1]))
    assert len(reader.records(EXPERIMENT)) == 6
    reader.close()
    writer.close()


@pytest.mark.parametrize(
    ("file", "folder", "expected"),
    [
        (os.W_OK, os.W_OK | os.X_OK, True),
        (os.R_OK, os.W_OK | os.X_OK, False),
        (os.W_OK, os.R_OK | os.X_OK, False),
        (os.W_OK, os.W_OK, False),
    ],
)
def test_a_store_may_be_written_if_its_file_and_its_folder_may(tmp_path, monkeypatch, file, folder, expected):
    allowed = {tmp_path / FILE: file, tmp_path: folder}
    monkeypatch.setattr(os, "access", lambda path, mode: allowed[path] & mode == mode)
    assert store_module._is_writable(tmp_path / FILE) is expected


def test_a_full_disk_loses_nothing_that_was_there(tmp_path):
    store = filled(tmp_path, ITEMS[:2])
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite then says what it says of a full disk
    with pytest.raises(InputError, match="database or disk is full; make room on the disk and run the same command"):
        add_all(store, ITEMS[2:])
    there = len(store.records(EXPERIMENT))
    assert there >= 6
    assert there % 3 == 0
    store._connection.execute("PRAGMA max_page_count = 1000000")
    filled(tmp_path)
    assert len(store.records(EXPERIMENT)) == 72


def test_a_folder_deleted_during_a_run_is_an_error(tmp_path):
    store = filled(tmp_path / "runs", ITEMS[:1])
    store.check_present()
    shutil.rmtree(tmp_path / "runs")
    with pytest.raises(
        FailedError, match="^the results are lost: .*nsr.sqlite was deleted or replaced during the run; "
    ):
        store.add(ITEMS[1], block(ITEMS[1]))
    filled(tmp_path / "runs", ITEMS[:1]).close()
    with pytest.raises(FailedError):
        store.check_present()
    store.close()


DAMAGE = (
    "metrics = 'nojson'",
    """metrics = '{"a": NaN}'""",
    "metrics = replace(metrics, '1.0', '0.9')",
    "metrics = cast(x'ff' AS TEXT)",
    f"metrics = '{{\"train\": 1{'0' * 400}}}'",
    "metrics = replace(metrics, 'train', 'trayn')",
    "finished = cast(x'80' AS TEXT)",
    "cell = '[]'",
    "recipe = '{}'",
    "seed = 7",
    "experiment = 'comparisonz'",
    "seconds = 9e999",
    "environment = '3'",
    "identity = 'x'",
    "checksum = NULL",
)


@pytest.mark.parametrize("by", ["with a checksum", "without a checksum"])
@pytest.mark.parametrize("change", DAMAGE)
def test_a_damaged_record_is_named_and_dropped_by_a_repair(tmp_path, change, by):
    store = filled(tmp_path, ITEMS[:2])
    assert store.verify() == (6, [])
    store._connection.execute(f"UPDATE results SET {change} WHERE rowid = 2")
    if by == "without a checksum":
        store._connection.execute("UPDATE results SET checksum = NULL WHERE rowid = 2")
    for read in (store.records, store.done):
        with pytest.raises(InputError, match=r"^a record is damaged in .*, first record 2 .*; nsr results --verify"):
            read(EXPERIMENT)
    count, (damaged,) = store.verify()
    assert (count, damaged.row) == (6, 2)
    assert store.repair() == [damaged]
    assert store.verify() == (5, [])
    assert len(store.records(EXPERIMENT)) == len(store.done(EXPERIMENT)) == 5
    store.add(ITEMS[0], block(ITEMS[0]))
    assert len(store.records(EXPERIMENT)) == 6
    store.close()


def test_the_first_record_is_checked_and_all_are_counted(tmp_path):
    store = Store(tmp_path)
    assert store.verify() == (0, [])
    add_all(store, ITEMS[:1])
    store._connection.execute("UPDATE results SET memory = 1 WHERE rowid IN (1, 3)")
    for read in (store.lookup, store.groups, lambda: store.done(EXPERIMENT)):
        with pytest.raises(InputError, match=r"^2 records are damaged in .*, first record 1 .*; nsr results --verify"):
            read()
    count, damaged = store.verify()
    assert (count, [each.row for each in damaged]) == (3, [1, 3])
    store.close()


@pytest.mark.parametrize(
    "metrics",
    ["[1]", "3", "[" * 100_000, '{"a": NaN}', '{"a": "x"}', f'{{"a": 1{"0" * 400}}}', f'{{"a": {"9" * 5000}}}'],
)
@pytest.mark.parametrize("number", [1, 2])
def test_metrics_that_are_no_numbers_are_damage_also_with_the_right_checksum(tmp_path, metrics, number):
    """Whoever writes a hostile file can compute it."""
    with closing(filled(tmp_path, ITEMS[:1])) as store:
        read = f"SELECT {', '.join(COLUMNS)} FROM results WHERE rowid = {number}"
        row = list(store._connection.execute(read).fetchone())
        row[COLUMNS.index("metrics")] = metrics
        right = checksum([each.encode() if isinstance(each, str) else each for each in row])
        change = "UPDATE results SET metrics = ?, checksum = ? WHERE rowid = ?"
        store._connection.execute(change, (metrics, right, number))
        for read in (store.groups, store.lookup, lambda: store.records(EXPERIMENT)):
            with pytest.raises(InputError, match=rf"^a record is damaged in .*, first record {number} .* not numbers"):
                read()
        (damaged,) = store.repair()
        assert damaged.row == number
        assert len(store.records(EXPERIMENT)) == 2


UNKNOWN = """
UPDATE results SET cell = replace(cell, '}', ',"new":1}'), identity = replace(identity, '},"exp', ',"new":1},"exp')
WHERE rowid = 2
"""


def test_a_record_with_unknown_fields_is_listed_and_dropped(tmp_path):
    store = filled(tmp_path, ITEMS[:1])
    store._connection.execute("UPDATE results SET checksum = NULL WHERE rowid = 2")
    store._connection.execute(UNKNOWN)
    (damaged,) = store.verify()[1]
    assert damaged.reason == "its cell or its recipe has other fields than those of comparisons"
    with pytest.raises(InputError, match="damaged"):
        store.groups()
    assert store.repair() == [damaged]
    assert len(store.records(EXPERIMENT)) == 2
    store.close()


def test_records_are_grouped_with_the_current_ones_only(tmp_path):
    store = Store(tmp_path)
    assert store.groups() == {}
    first, second, third = block(ITEMS[0])
    old = [replace(first, revision=0), replace(second, recipe=replace(second.recipe, learning_rate=0.5))]
    store.add(ITEMS[0], [*old, third])
    add_all(store, ITEMS[1:])
    groups = store.groups()["comparisons"]
    assert len(groups) == 24
    summaries = summarise_groups(EXPERIMENT, groups)
    expected = summarise(EXPERIMENT, store.records(EXPERIMENT))
    assert [summary.as_json() for summary in summaries] == [summary.as_json() for summary in expected]
    assert [dict(summary.values) for summary in summaries] == [dict(summary.values) for summary in expected]
    assert [summary.environments for summary in summaries] == [summary.environments for summary in expected]
    store.close()


def test_records_of_an_experiment_that_is_no_more_are_in_no_group(tmp_path):
    store = filled(tmp_path, ITEMS[:1])
    gone = [replace(record, experiment="gone") for record in block(ITEMS[1])]
    store.add(replace(ITEMS[1], experiment="gone"), gone)
    assert store.verify() == (6, [])
    ((name, (group,)),) = store.groups().items()
    assert (name, list(group.summary(EXPERIMENT).values["train"])) == ("comparisons", [1.0] * 3)
    store.close()


def test_records_that_measured_something_else_are_one_sentence(tmp_path):
    store = filled(tmp_path, ITEMS[:1])
    other = [replace(record, seed=7, metrics={"train": 1.0}) for record in block(ITEMS[0])[:1]]
    store.add(ITEMS[0], other)
    with pytest.raises(InputError, match=r"^results of ComparisonCell.* only some have 'epochs'$"):
        store.groups()
    store.close()


def test_a_vacuum_damages_nothing(tmp_path):
    store = filled(tmp_path, ITEMS[:2])
    store._connection.execute("DELETE FROM results WHERE rowid = 2")
    store._connection.execute("VACUUM")
    assert store.verify() == (5, [])
    store.close()


def test_flipped_bits_are_one_sentence_or_change_nothing(tmp_path):
    store = filled(tmp_path / "whole", ITEMS[:12])
    records = store.records(EXPERIMENT)
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    data = (tmp_path / "whole" / FILE).read_bytes()
    rng = random.Random(0)
    found = Counter()
    for _ in range(200):
        changed = bytearray(data)
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        shutil.rmtree(tmp_path / "flipped", ignore_errors=True)
        (tmp_path / "flipped").mkdir()
        (tmp_path / "flipped" / FILE).write_bytes(changed)
        try:
            with closing(Store(tmp_path / "flipped")) as store:
                store.verify()
                kept = store.records(EXPERIMENT)
        except InputError:
            found["reported"] += 1
        else:
            assert all(record in records for record in kept)
            found["the same" if kept == records else "fewer"] += 1
    assert found["reported"] > 10
    assert found["fewer"] == 0


HEADERS = [(page, byte, bit) for page in range(11) for byte in range(12) for bit in (0, 3, 7)]
"""Of the pages of b-trees: kind, first free block, number of cells, start of the content, fragments, last child."""


def test_flipped_bits_in_headers_of_pages_hide_no_record_and_are_repaired(tmp_path):
    """A number of cells that is too small hid the last records of a page, while the index still named them."""
    store = filled(tmp_path / "whole")
    records = store.records(EXPERIMENT)
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    data = (tmp_path / "whole" / FILE).read_bytes()
    assert len(data) == 11 * store_module.PAGE
    found, reasons = Counter(), []
    for page, byte, bit in random.Random(0).sample(HEADERS, 30):
        changed = bytearray(data)
        changed[page * store_module.PAGE + (100 if page == 0 else 0) + byte] ^= 1 << bit
        folder = tmp_path / f"{page} {byte} {bit}"
        folder.mkdir()
        (folder / FILE).write_bytes(changed)
        try:
            with closing(Store(folder)) as store:
                for read in (store.groups, store.lookup, lambda store=store: store.records(EXPERIMENT)):
                    found[read_or_reported(read)] += 1
                store.repair()
                assert store.verify()[1] == []
                kept = store.records(EXPERIMENT)
                add_all(store, ITEMS)
                again = store.records(EXPERIMENT)
        except InputError as error:
            reasons.append(str(error))
        else:
            assert all(record in records for record in kept)
            assert sorted(again, key=repr) == sorted(records, key=repr)
            found["repaired"] += 1
    assert all("it is damaged: move it away" in reason for reason in reasons)
    assert set(found) == {"read", "reported", "repaired"}
    assert min(found["read"], found["reported"], found["repaired"]) > 5
    assert len(reasons) < 5


def read_or_reported(read) -> str:
    try:
        read()
    except InputError as error:
        return "reported" if str(error).count("--repair") == 1 else str(error)
    return "read"


def with_fewer_cells(folder: Path) -> list[Record]:
    """A store with a page of records whose header names fewer cells than there are; returns all records."""
    store = filled(folder)
    records = store.records(EXPERIMENT)
    store.fail(ITEMS[0], "Traceback: x")
    pages = "SELECT pageno, ncell FROM dbstat WHERE name = 'results' AND pagetype = 'leaf'"
    page, cells = store._connection.execute(f"{pages} ORDER BY pageno").fetchone()
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    with (folder / FILE).open("r+b") as file:
        file.seek((page - 1) * store_module.PAGE + 3)
        file.write((cells - 2).to_bytes(2, "big"))
    return records


def test_hidden_records_are_one_sentence_wherever_a_store_is_read(tmp_path):
    records = with_fewer_cells(tmp_path)
    with closing(Store(tmp_path)) as store:
        advice = f"nsr results --repair --out {tmp_path} keeps the records that can be read; the others run again$"
        count = len(records)
        counted = f"{count - 2} records can be read, and {count} are in its indexes"
        with pytest.raises(InputError, match=f"^{store.path} is damaged: {counted}: {advice}"):
            store.groups()
        for read in (store.lookup, store.verify, lambda: store.done(EXPERIMENT), lambda: store.records(EXPERIMENT)):
            with pytest.raises(InputError, match=rf"^{store.path} is damaged \(.*\): {advice}"):
                read()


def test_a_repair_writes_a_damaged_file_anew_and_keeps_it(tmp_path):
    records = with_fewer_cells(tmp_path)
    damaged = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).chmod(0o640)
    messages = []
    with closing(Store(tmp_path)) as store:
        store._connection.execute("UPDATE results SET memory = 1 WHERE rowid = 1")
        (dropped,) = store.repair(messages.append)
        assert (dropped.row, dropped.reason) == (1, "its checksum is wrong")
        kept = store.records(EXPERIMENT)
        assert kept == [record for record in records[1:] if record in kept]
        assert len(kept) == len(records) - 3
        assert [failure.traceback for failure in store.failures()] == ["Traceback: x"]
        add_all(store, ITEMS)
        store.check_present()
        assert sorted(store.records(EXPERIMENT), key=repr) == sorted(records, key=repr)
        assert store.repair() == []
    first, second = messages
    assert first.startswith(f"{tmp_path / FILE} was damaged (")
    assert first.endswith(f"): wrote the {len(kept)} records that can be read to a new file")
    assert second == f"the damaged file is kept as {tmp_path / FILE}.damaged"
    assert {path.name for path in tmp_path.iterdir()} == {FILE, f"{FILE}.damaged"}
    assert len((tmp_path / f"{FILE}.damaged").read_bytes()) == len(damaged)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o640


def test_a_file_that_others_use_is_not_written_anew(tmp_path):
    with_fewer_cells(tmp_path)
    with closing(Store(tmp_path)) as store, closing(Store(tmp_path)) as other:
        other.failures()
        with pytest.raises(InputError, match="locked; another program has locked it: try again$"):
            store.repair()
    assert {path.name for path in tmp_path.iterdir()} == {FILE}


@pytest.mark.parametrize("name", ["TABLE failures", "TABLE claims", "INDEX results_by_experiment"])
def test_a_table_or_an_index_that_is_missing_is_made_by_a_repair(tmp_path, name):
    with closing(filled(tmp_path, ITEMS[:1])) as store:
        store._connection.execute(f"DROP {name}")
        with pytest.raises(InputError, match="is damaged .*--repair"):
            store.verify()
        assert store.repair() == []
        assert store.verify() == (3, [])
        assert store.failures() == []


def test_records_on_both_sides_of_a_page_that_cannot_be_read_are_kept(tmp_path):
    store = filled(tmp_path)
    records = store.records(EXPERIMENT)
    pages = "SELECT pageno FROM dbstat WHERE name = 'results' AND pagetype = 'leaf' ORDER BY pageno"
    _, (page,), *_ = store._connection.execute(pages)
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    with (tmp_path / FILE).open("r+b") as file:
        file.seek((page - 1) * store_module.PAGE)
        file.write(b"\xff" * store_module.PAGE)
    with closing(Store(tmp_path)) as store:
        assert store.repair() == []
        kept = store.records(EXPERIMENT)
    assert records[0] in kept
    assert records[-1] in kept
    assert len(records) / 2 < len(kept) < len(records)


@pytest.mark.parametrize("number", [-(2**63), -5, 0, 2**63 - 1])
def test_records_with_any_number_are_read(tmp_path, number):
    """Those from 0 down were not read, but counted as done."""
    with closing(filled(tmp_path, ITEMS[:1])) as store:
        records = store.records(EXPERIMENT)
        store._connection.execute("UPDATE results SET rowid = ? WHERE rowid = 2", (number,))
        store._checked = store_module.START
        assert store.verify() == (3, [])
        assert sorted(store.records(EXPERIMENT), key=repr) == sorted(records, key=repr)
        ((group,),) = store.groups().values()
        assert len(group.summary(EXPERIMENT).values["train"]) == 3
        store._connection.execute("UPDATE results SET memory = 1")
        assert len(store.repair()) == 3
        assert store.verify() == (0, [])


def test_an_error_of_sqlite_without_a_name_is_damage(tmp_path):
    """As of a cell whose type its column cannot have."""
    with (
        closing(Store(tmp_path)) as store,
        pytest.raises(
            InputError, match=r"^cannot use .*: cannot store BLOB value .*; it is damaged: nsr results --rep"
        ),
        store._explained(),
    ):
        raise sqlite3.IntegrityError("cannot store BLOB value in INTEGER column results.seed")
