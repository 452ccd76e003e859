"""Everything that reads a file or a text of the user: good inputs for it, hostile ones, and how it is loaded."""

import functools
import gzip
import io
import json
import random
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import attack_outputs

ROOT = Path(__file__).parent.parent
Load = Callable[[Path, bytes], Any]
"""Loads an input; the folder is empty."""


@dataclass(frozen=True)
class Loader:
    """A way into the program."""

    name: str
    inputs: int
    """How many inputs an attack has."""
    make_samples: Callable[[], Sequence[bytes]]
    load: Load
    hostile: Sequence[bytes] = ()
    """Inputs written by hand."""
    tokens: Sequence[bytes] = ()
    """Words of its language, to be inserted anywhere."""
    change: Callable[[Sequence[bytes], random.Random], bytes] | None = None
    """Makes an input of the samples; by default any bytes are changed."""

    @cached_property
    def samples(self) -> Sequence[bytes]:
        """Good inputs."""
        return self.make_samples()


FORMULAS = (
    "price <= 0.9 * limit and not stock = 0",
    "where(x1 > x2, x5 + 4, x4 - x3)",
    "at least 2 of (a > b, c = 3, d != -1/2)",
    "country in ('AT', 'DE') and ordered >= 2024-01-31 or shipped - ordered > 30 days",
    "`a column` is missing or median(a, b, c) > min(a, max(b, 2)) ** 2",
    "clip(a, 0, 10) * b + abs(c - d) / 7 - 1e-3",
    'where("a b" = 0, 1, where(a * b < 12.5, 2, 3))',
)
WORDS_OF_FORMULAS = (
    *(b"where(", b" and ", b" or ", b"not ", b"**", b"(" * 90, b")" * 90, b"/0", b" in (", b" is missing", b"'", b"`"),
    *(
        b"2024-02-30",
        b"9999999 days",
        b"at least 99 of (",
        b"median(",
        b"clip(",
        b"abs(",
        b"1e400",
        b"1e-401",
        b"- " * 99,
    ),
    *(b" + a" * 900, b"** 99", b"** -1", b" != ", b"\xed\xb2\x80", "größe".encode(), b'""', b"\t", b"0x1f", b"1_000"),
)


def _load_formula(_folder: Path, content: bytes) -> None:
    from nsr.errors import InputError
    from nsr.program import Program
    from nsr.program.parser import parse

    expression = parse(content.decode("utf-8", "surrogateescape"))
    try:
        again = parse(str(expression), kinds=expression.kinds)
    except InputError as error:
        if "at most" in str(error):  # longer than what may be typed
            return
        raise AssertionError(f"its own text cannot be read: {error}") from error
    assert Program(again).expression == Program(expression).expression, "its own text means something else"


def _formulas_as_json() -> list[bytes]:
    from nsr.program import Program
    from nsr.program.parser import parse

    return [Program(parse(text)).emit("json").encode() for text in FORMULAS]


def _load_program(_folder: Path, content: bytes) -> None:
    from nsr.program import load

    program = load(content)
    assert load(program.emit("json")) == program
    str(program)


def _saved_files() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "tests/learn/saved_files").glob("*.json"))]


def _load_saved(folder: Path, content: bytes) -> None:
    import pandas as pd

    from nsr.errors import InputError
    from nsr.learn.saved import load_saved
    from nsr.program.kinds import Kind

    (folder / "rule.json").write_bytes(content)
    saved = load_saved(folder / "rule.json")
    if all(kind is Kind.NUMBER for kind in saved.kinds.values()) and len(saved.kinds) < 1000:
        rows = pd.DataFrame({name: [0.0, 1.0, -3.5] for name in saved.kinds}, index=range(3))
        saved.predict(rows)
    saved.save(folder / "again.json")
    try:
        load_saved(folder / "again.json")
    except InputError as error:
        raise AssertionError("what was loaded and saved cannot be loaded") from error


def _rows(count: int = 60) -> list[dict[str, Any]]:
    rng = random.Random(1)
    return [
        {
            "id": number,
            "price": round(rng.uniform(0, 100), 2),
            "stock": rng.choice([0, 1, 2, 500, None]),
            "country": rng.choice(["AT", "DE", "größer", "", None]),
            "ordered": f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            "at": f"2024-01-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:15:00",
            "is new": rng.choice([True, False]),
        }
        for number in range(count)
    ]


def _delimited(separator: str) -> bytes:
    import pandas as pd

    return pd.DataFrame(_rows()).to_csv(index=False, sep=separator).encode()


def _csv() -> list[bytes]:
    orders = (ROOT / "examples/orders.csv").read_bytes()
    export = (ROOT / "examples/export.csv").read_bytes()
    kept = [b"\n".join(content.split(b"\n")[:80]) for content in (orders, export)]
    return [_delimited(","), _delimited(";"), *kept]


def _json() -> list[bytes]:
    rows = _rows(30)
    return ["".join(json.dumps(row) + "\n" for row in rows).encode(), json.dumps(rows).encode()]


def _parquet() -> list[bytes]:
    import pandas as pd

    made = []
    for table in (pd.DataFrame(_rows()), pd.DataFrame(_rows(5)).astype({"ordered": "datetime64[ns]"})):
        file = io.BytesIO()
        table.to_parquet(file, index=False)
        made.append(file.getvalue())
    return made


def _database() -> list[bytes]:
    import pandas as pd

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "t.db"
        with closing(sqlite3.connect(path)) as connection:
            pd.DataFrame(_rows()).to_sql("t", connection, index=False)
        return [path.read_bytes()]


def _load_table(suffix: str, folder: Path, content: bytes) -> None:
    from nsr.learn import tables

    path = folder / f"t{suffix}"
    path.write_bytes(content)
    table = tables.read(path, rows=40)
    table.check(list(table.columns)[:5])
    for part in table.parts():
        len(part)


WORDS_OF_TABLES = (
    *(b",", b";", b"\t", b"|", b"\r\n", b'""', b'"\n', b"1e400", b"0x10", b"1,5", b"1.000,50", b"31.12.2024", b"TRUE"),
    *(b"2024-02-30", b"24:00:00", b"NULL", b"n/a", b"=1+1", b",x" * 3000, b"\n" * 500, b"id,id", b"#", b"--", b"$1"),
)
DEEP = b'{"a":' * 3000 + b"1" + b"}" * 3000


def _store() -> list[bytes]:
    from nsr.paper.experiments import EXPERIMENTS
    from nsr.paper.records import Record
    from nsr.paper.sweep.plan import plan
    from nsr.paper.sweep.store import FILE, Store

    experiment = EXPERIMENTS["comparisons"]
    items = plan(experiment, experiment.profiles["smoke"], ("paper", "exact"), range(3))[::8]
    with tempfile.TemporaryDirectory() as name:
        with closing(Store(Path(name))) as store:
            for item in items:
                store.add(
                    item,
                    [
                        Record(
                            item.experiment, item.revision, item.cell, item.recipe, "smoke", seed, metrics, 0.1, 1, "{}"
                        )
                        for seed in item.seeds
                        for metrics in [{"train": 1.0, "10^2": seed / 3, "epochs": 50.0}]
                    ],
                )
            store.fail(items[0], "Traceback: x")
            store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        made = [(Path(name) / FILE).read_bytes()]
    return [*made, (ROOT / "tests/paper/sweep/assets/schema1.sqlite").read_bytes()]


def _changed_header(samples: Sequence[bytes], rng: random.Random) -> bytes:
    """A store with one or two flipped bits in the header of a page, which hold the number of its cells and more."""
    changed = bytearray(samples[0])
    size = int.from_bytes(changed[16:18], "big")
    for _ in range(rng.choice((1, 1, 1, 2))):
        page = rng.randrange(len(changed) // size)
        start = page * size + (100 if page == 0 else 0)
        place = start + rng.choice(
            (*range(12), *[4] * 12, *range(12, 40))
        )  # 4: how many cells; after 11: where they are
        if page == 0 and rng.random() < 0.3:
            place = rng.randrange(100)  # of the file
        changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


_NUMBERS = (-(2**63), -5, -1, 0, 2**31, 2**63 - 1)
_METRICS = (
    *("1" + "0" * 400, "9" * 5000, "-1" + "0" * 309, "1e999", "NaN", "true", "null", '"x"', "[1]", "[" * 50_000),
    *("{}", '{"train": 1' + "0" * 400 + "}", '{"train": 1' + "0" * 5000 + "}", '{"epochs": -Infinity}'),
)


def _changed_rows(samples: Sequence[bytes], rng: random.Random) -> bytes:
    """A store with other numbers of its rows, huge integers, no checksums, other types or another schema."""
    content = bytearray(samples[0])
    content[18:20] = b"\1\1"  # a store in memory has no log
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(bytes(content))
        (count,) = connection.execute("SELECT count(*) FROM results").fetchone()
        for _ in range(rng.choice((1, 1, 2, 4))):
            row = rng.randint(1, count)
            change, value = rng.choice(
                (
                    ("rowid = ?", rng.choice(_NUMBERS)),
                    ("metrics = ?, checksum = NULL", rng.choice(_METRICS)),
                    ("metrics = ?, checksum = NULL", f'{{"train": {rng.choice(_METRICS)}}}'),
                    (f"{rng.choice(('seed', 'memory', 'revision'))} = ?, checksum = NULL", rng.choice(_NUMBERS)),
                    (f"{rng.choice(('cell', 'recipe', 'environment'))} = ?, checksum = NULL", rng.choice(_METRICS)),
                    ("seconds = ?, checksum = NULL", rng.choice((1e999, -1e999, -1.0))),
                    ("checksum = ?", rng.choice((b"", b"x" * 10**6, None))),
                    (f"identity = {rng.choice(('?', 'identity || ?'))}", rng.choice(("x", "\x1b[31m", "9" * 5000))),
                )
            )
            try:
                connection.execute(f"UPDATE results SET {change} WHERE rowid = {row}", (value,))
            except sqlite3.IntegrityError:  # that number is another row's
                continue
        if rng.random() < 0.1:
            connection.execute(f"PRAGMA user_version = {rng.choice((-5, 0, 1, 2, 4, 2**31 - 1))}")
        return connection.serialize()


@functools.cache
def _good_groups() -> list[str]:
    """What a reader may see in stores that are made of the samples: their summaries."""
    return [text for content in LOADERS["store"].samples for text in _of_sample(content, _summaries)]


@functools.cache
def _good_records() -> list[Any]:
    """All records of these stores."""
    return [record for content in LOADERS["store"].samples for record in _of_sample(content, _records)]


def _of_sample(content: bytes, read: Callable[[Any], list[Any]]) -> list[Any]:
    from nsr.paper.sweep.store import FILE, Store

    with tempfile.TemporaryDirectory() as name:
        (Path(name) / FILE).write_bytes(content)
        with closing(Store(Path(name))) as store:
            return read(store)


def _summaries(store: Any) -> list[str]:
    from nsr.paper.experiments import EXPERIMENTS
    from nsr.paper.summaries import summarise_groups

    return [
        json.dumps(summary.as_json())
        for name, made in store.groups().items()
        for summary in summarise_groups(EXPERIMENTS[name], made)
    ]


def _records(store: Any) -> list[Any]:
    from nsr.paper.experiments import EXPERIMENTS

    return [record for experiment in EXPERIMENTS.values() for record in store.records(experiment)]


def _load_store(folder: Path, content: bytes) -> None:
    """Every way of reading, one after the other, as each must notice damage by itself; and a repair."""
    from nsr.errors import InputError
    from nsr.paper.sweep.store import FILE, SCHEMA, Store

    (folder / FILE).write_bytes(content)
    refused = None
    has_checksums = content[60:64] == SCHEMA.to_bytes(4, "big")  # in older schemas nothing else is known of a record
    with closing(Store(folder)) as store:
        for read, good in ((_summaries, _good_groups), (_records, _good_records)):
            try:
                found = read(store)
            except InputError as error:
                refused = error
            else:
                assert not has_checksums or all(each in good() for each in found), "something else is read, in silence"
        for ask in (store.failures, store.lookup, store.verify):
            try:
                ask()
            except InputError as error:
                refused = error
        store.repair()
        assert store.verify()[1] == []
        kept = _records(store)
        assert not has_checksums or all(record in _good_records() for record in kept)
        _summaries(store)
    if refused is not None:
        raise refused


def _results() -> list[bytes]:
    """A table and the index in one input: the first line says where the table ends."""
    index = (ROOT / "results/index.json").read_bytes()
    made = []
    for name in ("comparisons", "floats", "redundancy", "shortest_paths"):
        lines = (ROOT / f"results/{name}.csv").read_bytes().split(b"\n")
        table = b"\n".join([lines[0], *lines[1:40]]) + b"\n"
        made.append(name.encode() + b"\n" + table + b"\0\0INDEX\0\0" + index)
    return made


def _load_results(folder: Path, content: bytes) -> None:
    from nsr.paper import archive
    from nsr.paper.experiments import EXPERIMENTS
    from nsr.paper.summaries import summarise

    _write_results(folder, content)
    for name, records in archive.read(folder).items():
        for summary in summarise(EXPERIMENTS[name], records):
            json.dumps(summary.as_json())


def _load_report(folder: Path, content: bytes) -> None:
    from nsr.paper.commands import report

    _write_results(folder, content)
    report(exported=folder, html=folder / "page.html")


def _write_results(folder: Path, content: bytes) -> None:
    from nsr.paper.experiments import EXPERIMENTS

    head, _, rest = content.partition(b"\n")
    table, _, index = rest.partition(b"\0\0INDEX\0\0")
    name = head.decode("ascii", "replace")
    (folder / f"{name if name in EXPERIMENTS else 'comparisons'}.csv").write_bytes(table)
    (folder / "index.json").write_bytes(index)


def _idx() -> list[bytes]:
    images = bytes([0, 0, 8, 3, 0, 0, 0, 5, 0, 0, 0, 28, 0, 0, 0, 28]) + bytes(range(256)) * 15 + bytes(80)
    labels = bytes([0, 0, 8, 1, 0, 0, 0, 5, 1, 2, 3, 4, 5])
    return [images, labels, gzip.compress(images, mtime=0), gzip.compress(labels, mtime=0)]


def _load_idx(folder: Path, content: bytes) -> None:
    from nsr.data.idx import parsed, read_idx, unpacked
    from nsr.errors import InputError

    (folder / "images").write_bytes(content)
    for dimensions in (1, 3):
        try:
            read_idx(folder / "images", dimensions=dimensions, sha256=sha256(content).hexdigest())
        except InputError:
            continue
    try:
        parsed(unpacked(content), dimensions=3)
    except ValueError as error:
        raise InputError(str(error)) from None


COMMANDS = (
    "check\nrule.json\n--against\na > b and c = 1\n--over\nintegers\n--low\n-5\n--high\n5\n--time-limit\n1",
    "apply\nrule.json\nt.csv\n--drop-missing",
    "results\ncomparisons\n--out\nruns\n--json",
    "results\n--failures\n--out\nruns",
    "results\n--verify\n--out\nstore",
    "report\n--from\nresults\n--html\npage.html",
    "learn\nnone.csv\n--target\na\n--errors\n0.1\n--seed\n3\n--time-limit\n5\n--save\nrule2.json\n--emit\nsql\n--dialect\nduckdb",
    "profile\nnone.csv\n--seed\n1\n--html\np.html",
    "reproduce\nnothing\n--seeds\n2\n--workers\n1\n--profile\nsmoke\n--out\nruns",
    "list",
    "emit\nrule.json\n--to\ncheck-sql\n--dialect\npostgres\n--table\norders\n--missing\n--out\nrule.sql",
    "emit\nrule.json\n--to\npython\n--out\nrule.json",
    "play\n--out\npage.html",
    "profile\nsmall.csv\n--least\n0.9\n--time-limit\n0.2\n--emit\nchecks\n--dialect\nduckdb\n--json\np.json\n--all",
    "reproduce\nnothing\n--executor\ndask\n--scheduler\ntcp://127.0.0.1:1\n--workers\n1\n--cores\n2\n--memory\n2GB",
    "reproduce\nnothing\n--executor\nslurm\n--queue\nq\n--account\na\n--walltime\n04:00:00\n--directive=--exclude=n7",
    "reproduce\nnothing\n--cluster\nother.toml\n--executor\nconcurrent.futures:ThreadPoolExecutor",
)


def _load_command(folder: Path, content: bytes) -> None:
    """Words, one per line. Commands that would train get a table that does not exist."""
    import os

    from nsr.cli import main
    from nsr.errors import InputError

    words = [os.fsdecode(word) for word in content.split(b"\n")]
    if "\0" in content.decode("latin-1"):
        raise InputError("no shell can pass a NUL")
    if words[0] == "reproduce" and words[1:2] != ["nothing"]:
        words.insert(1, "nothing")  # an unknown experiment: nothing is trained
    (folder / "rule.json").write_bytes(LOADERS["saved"].samples[-1])
    (folder / "t.csv").write_bytes(LOADERS["csv"].samples[0])
    small = [b"%d,%d\n" % (number * 7 % 23, number * 7 % 23 + 1) for number in range(40)]
    (folder / "small.csv").write_bytes(b"a,b\n" + b"".join(small))
    (folder / "other.toml").write_bytes(LOADERS["cluster"].samples[0])
    before = Path.cwd()
    os.chdir(folder)
    try:
        main(words)
    except SystemExit as ended:
        if ended.code not in (0, 1, 2, 3):
            raise AssertionError(f"exit code {ended.code}") from None
        if ended.code:
            raise InputError("refused") from None
    finally:
        os.chdir(before)


LOADERS = {
    loader.name: loader
    for loader in (
        Loader("formula", 9000, lambda: [text.encode() for text in FORMULAS], _load_formula, tokens=WORDS_OF_FORMULAS),
        Loader("program", 9000, _formulas_as_json, _load_program, hostile=[DEEP]),
        Loader("saved", 5000, _saved_files, _load_saved, hostile=[DEEP]),
        Loader("csv", 1500, _csv, functools.partial(_load_table, ".csv"), tokens=WORDS_OF_TABLES),
        Loader(
            "csv.gz",
            500,
            lambda: [gzip.compress(content, mtime=0) for content in _csv()],
            functools.partial(_load_table, ".csv.gz"),
            hostile=[gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000, mtime=0)],
            tokens=WORDS_OF_TABLES,
        ),
        Loader("json", 1000, _json, functools.partial(_load_table, ".jsonl"), hostile=[DEEP], tokens=WORDS_OF_TABLES),
        Loader("parquet", 1200, _parquet, functools.partial(_load_table, ".parquet")),
        Loader("database", 500, _database, functools.partial(_load_table, ".db")),
        Loader("store", 3000, _store, _load_store),
        Loader("store.pages", 2000, _store, _load_store, change=_changed_header),
        Loader("store.rows", 1000, _store, _load_store, change=_changed_rows),
        Loader("results", 2500, _results, _load_results, tokens=WORDS_OF_TABLES),
        Loader("report", 60, _results, _load_report, tokens=WORDS_OF_TABLES),
        Loader(
            "idx",
            3000,
            _idx,
            _load_idx,
            hostile=[gzip.compress(bytes(200_000_000), 9, mtime=0), b"\0\0\x08\x03" + b"\xff" * 12],
        ),
        Loader("emit", 2000, attack_outputs.rules, attack_outputs.load_rule),
        Loader("profile", 300, attack_outputs.tables, attack_outputs.load_profile, tokens=WORDS_OF_TABLES),
        Loader(
            "cluster",
            2000,
            attack_outputs.clusters,
            attack_outputs.load_cluster,
            hostile=attack_outputs.HOSTILE_CLUSTERS,
            tokens=attack_outputs.WORDS_OF_CLUSTERS,
        ),
        Loader("command", 1000, lambda: [text.encode() for text in COMMANDS], _load_command, tokens=WORDS_OF_FORMULAS),
    )
}
