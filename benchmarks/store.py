"""A store of a million records: how long its commands take, and how much memory.

The records are those in ``results/`` in their shares, drawn again for further seeds: cells, recipes and revisions are
today's. ``--distinct`` gives each record metrics of its own, which is the worst case.

    python benchmarks/store.py --records 1000000 --json runs/store.jsonl
"""

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nsr.paper import archive
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record
from nsr.paper.spec import Experiment, canonical_json
from nsr.paper.sweep.damage import COLUMNS, checksum
from nsr.paper.sweep.environment import environment
from nsr.paper.sweep.store import FILE, Store

RESULTS = Path(__file__).parent.parent / "results"
FINISHED = "2026-01-01T00:00:00+00:00"
COMMANDS = {
    "results": ["results"],
    "results --json": ["results", "--json"],
    "results --verify": ["results", "--verify"],
    "reproduce redundancy": ["reproduce", "redundancy", "--profile", "smoke", "--seeds", "1", "--json", "--quiet"],
}


def templates(experiment: Experiment[Any], path: Path) -> Iterator[list[Record]]:
    """The records of each cell and recipe in a committed file, as if today's version had written them."""
    kinds = {field.name: field.type for field in fields(experiment.cells[0])}
    other = {*archive.FIRST, *kinds, "seed", *archive.LAST}
    names = {metric.name for metric in experiment.metrics}
    groups: dict[tuple[Any, ...], list[Record]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["recipe"] not in experiment.recipes or row["profile"] not in experiment.profiles:
                continue
            recipe = experiment.profiles[row["profile"]].shorten(experiment.recipes[row["recipe"]])
            cell = experiment.cell({name: archive._value(row[name], kind) for name, kind in kinds.items()})
            metrics = {name: float(row[name]) for name in row if name not in other and name in names and row[name]}
            metrics |= {name: 1.0 for name in names if name not in row}  # measured since the file was written
            record = Record(
                *(experiment.name, experiment.revision, cell, recipe, row["profile"], 0, metrics),
                *(float(row["seconds"]), int(row["memory"]), environment()),
            )
            groups.setdefault((cell, recipe.name, row["profile"]), []).append(record)
    yield from groups.values()


def rows(group: list[Record], count: int, distinct: bool) -> Iterator[tuple[Any, ...]]:
    """Rows of the table for so many seeds."""
    first = group[0]
    start = first.identity.removesuffix("0}")
    cell, recipe = canonical_json(asdict(first.cell)), canonical_json(asdict(first.recipe))
    texts = [json.dumps(dict(record.metrics)) for record in group]
    last = list(first.metrics)[-1]
    for seed in range(count):
        record, metrics = group[seed % len(group)], texts[seed % len(group)]
        if distinct:
            metrics = json.dumps({**record.metrics, last: seed + 0.5})
        head = f"{start}{seed}}}", first.experiment, cell, recipe, first.profile, metrics, record.environment, FINISHED
        row = (*head, first.revision, seed, record.memory, record.seconds)
        encoded = [each.encode() if isinstance(each, str) else each for each in row]
        yield (*row, checksum(encoded))


def build(folder: Path, records: int, distinct: bool) -> int:
    """Fill a store, without waiting for the disk; returns how many records it has."""
    groups = [
        group
        for name, experiment in EXPERIMENTS.items()
        if (RESULTS / f"{name}.csv").exists()
        for group in templates(experiment, RESULTS / f"{name}.csv")
    ]
    share = records / sum(map(len, groups))
    insert = f"INSERT INTO results ({', '.join(COLUMNS)}, checksum) VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"
    with closing(Store(folder)) as store:
        connection = store._connection
        connection.execute("PRAGMA synchronous = OFF")
        for group in groups:
            connection.execute("BEGIN")
            connection.executemany(insert, rows(group, round(share * len(group)), distinct))
            connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((count,),) = connection.execute("SELECT count(*) FROM results")
    return int(count)


def measure(words: list[str]) -> dict[str, float]:
    """Seconds, seconds of CPU and megabytes of a command."""
    code = (
        "import json, resource, subprocess, sys, time; began = time.perf_counter();"
        "code = subprocess.run([sys.executable, '-m', 'nsr', *sys.argv[1:]], stdout=subprocess.DEVNULL).returncode;"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(json.dumps([code, time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss]))"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, check=True)
    exit_code, seconds, cpu, memory = json.loads(done.stdout)
    if exit_code:
        raise RuntimeError(f"nsr {' '.join(words)} ended with {exit_code}")
    unit = 1 if sys.platform == "darwin" else 1024
    return {"seconds": round(seconds, 1), "cpu": round(cpu, 1), "megabytes": round(memory * unit / 1e6)}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--json", type=Path, help="append the figures as a line")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        count = build(folder, options.records, options.distinct)
        record: dict[str, Any] = {
            "records": count,
            "distinct": options.distinct,
            "file_megabytes": round((folder / FILE).stat().st_size / 1e6),
            "build_seconds": round(time.perf_counter() - began, 1),
            "build_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6),
        }
        print(json.dumps(record))
        for label, words in COMMANDS.items():
            record[label] = measure([*words, "--out", str(folder)])
            print(f"{label:28} {record[label]}", flush=True)
    record["environment"] = json.loads(environment())
    if options.json:
        with options.json.open("a") as file:
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
