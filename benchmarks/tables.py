"""Reading tables: the reader before DuckDB beside the present one, ``nsr learn`` without its search on the same file,
and a rule verified on 100 million rows of Parquet.

Each measurement runs in a process of its own. Figures are printed and appended as JSON lines.

    python benchmarks/tables.py --json results/tables.jsonl
"""

import argparse
import csv
import json
import multiprocessing
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from nsr.learn import commands, fitting, tables

CSV_ROWS = 1_000_000
PARQUET_ROWS = 100_000_000
CONDITION = "a >= b"


def read_with_csv_module(path: Path) -> int:
    """The reading loop that DuckDB replaced, shortened: parse the cells of each column, and again to verify the rule.

    The reader itself also counted kinds and drew the sample, so this is less work than it did.
    """
    wrong = 0
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file, strict=True)
        names = next(reader)
        for _ in range(2):  # once for the kinds of the columns, once to verify the rule
            while part := list(islice(reader, 50_000 // len(names))):
                columns = dict(zip(names, (list(cells) for cells in zip(*part, strict=True)), strict=True))
                for cells in columns.values():
                    set(map(type, cells))
                    for number in (int, float):
                        try:
                            cells[:] = list(map(number, cells))
                            break
                        except ValueError:
                            continue
                wrong += sum(not a >= b for a, b in zip(columns["a"], columns["b"], strict=True))
            file.seek(0)
            next(reader)
    return wrong // 2


def read_with_duckdb(path: Path) -> int:
    """Read the table as ``nsr learn`` does, and count the rows of the complete table that break the rule."""
    return tables.read(path).count(f"NOT ({CONDITION})")


def learn_beyond_the_search(path: Path) -> int:
    """``nsr learn`` without its search: read, prepare, and verify the rule that was found on every row."""
    began = time.process_time()
    learned = commands.learn(path, "ok", columns=list("abcdefgh"))
    assert learned.rule == "True if a > b and g < h, else False", learned.summary()
    print(f"    in all {time.process_time() - began:.1f} s of CPU, of which the search {SEARCH_SECONDS[0]:.1f} s")
    return learned.verified.wrong


SEARCH_SECONDS = [0.0]
"""CPU seconds of the search, which ``measured`` does not count."""


def timed_search(*arguments: Any, **options: Any) -> Any:
    """The search, with its CPU time noted."""
    began = time.process_time()
    found = SEARCH(*arguments, **options)
    SEARCH_SECONDS[0] += time.process_time() - began
    return found


SEARCH, fitting.choose_and_fit = fitting.choose_and_fit, timed_search


def write_csv(path: Path) -> None:
    """Eleven columns: six of integers, two of decimals, a text, a date, and what follows from four of them."""
    columns = [f"(hash(i, {seed}) % 100000)::INTEGER AS {name}" for seed, name in enumerate("abcdef")]
    columns += [f"((hash(i, {seed}) % 100000) / 100)::DECIMAL(8, 2) AS {name}" for seed, name in ((7, "g"), (8, "h"))]
    columns += [
        "['red', 'green', 'blue'][(1 + hash(i, 9) % 3)::INTEGER] AS colour",
        "DATE '2020-01-01' + (i % 999)::INTEGER AS day",
        "a > b AND g < h AS ok",
    ]
    duckdb.execute(f"COPY (SELECT {', '.join(columns)} FROM range({CSV_ROWS}) t(i)) TO '{path}' (HEADER)")


def write_parquet(path: Path) -> None:
    """Four columns of integers, of which b exceeds a in 1,000 rows."""
    b = "(hash(i) % 1000000)::BIGINT"
    columns = f"{b} + i % 7 - (i % 100000 = 0)::BIGINT * 9 AS a, {b} AS b, i AS c, i % 1000 AS d"
    query = f"SELECT {columns} FROM range({PARQUET_ROWS}) t(i)"
    with duckdb.connect(config={"memory_limit": "1GB", "threads": 2}) as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def measured(count: Callable[[Path], int], path: Path) -> dict[str, float]:
    """Run in this process: the rows that break the rule, seconds, CPU seconds and the peak of memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu = time.perf_counter(), time.process_time()
    wrong = count(path)
    return {
        "wrong": wrong,
        "seconds": round(time.perf_counter() - start, 2),
        "cpu_seconds": round(time.process_time() - cpu - SEARCH_SECONDS[0], 2),
        "megabytes_before": round(before / 1000),
        "megabytes_at_most": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
    }


def alone(count: Callable[[Path], int], path: Path) -> dict[str, float]:
    """The measurement in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measured, count, path).result()


def main() -> None:
    """Measure, print and append."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="file to append the records to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < 10 * 2**30:
            raise SystemExit(f"{folder} needs 10 GB of free space")
        table, large = Path(folder, "table.csv"), Path(folder, "large.parquet")
        write_csv(table)
        write_parquet(large)
        runs = [
            ("csv", "csv module", CSV_ROWS, read_with_csv_module, table),
            ("csv", "duckdb", CSV_ROWS, read_with_duckdb, table),
            ("csv", "duckdb, nsr learn without its search", CSV_ROWS, learn_beyond_the_search, table),
            ("parquet", "duckdb", PARQUET_ROWS, read_with_duckdb, large),
        ]
        for format_, reader, rows, count, path in runs:
            size = round(path.stat().st_size / 1e6)
            record = {"format": format_, "reader": reader, "rows": rows, "megabytes": size, **alone(count, path)}
            print(json.dumps(record), flush=True)
            if options.json:
                with options.json.open("a") as file:
                    file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
