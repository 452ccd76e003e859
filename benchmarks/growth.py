"""How the seconds of a fit grow with the rows and the columns of a table: records as JSON lines, and a chart.

Rules are those of the battery, with irrelevant columns added. Each fit runs in a process of its own, on one thread, one
after the other; sizes of which a smaller one took longer than the time limit are left out.

    python benchmarks/growth.py --json runs/growth.jsonl --chart runs/growth.svg
"""

import argparse
import json
import multiprocessing
import signal
import time
import warnings
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from contenders import CONTENDERS
from learn import start_process
from read_back import read_back
from rule_lines import LINES
from rule_tables import rule_table

ROWS = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
COLUMNS = (5, 10, 30, 100, 300)
USUAL_ROWS, USUAL_COLUMNS = 1_000, 15
USUAL_LINES = ("greater", "both", "sum", "choice", "max-4")
SEED = 4
AXES = {"rows": f"rows of {USUAL_COLUMNS} columns", "columns": f"columns of {USUAL_ROWS:,} rows"}


@dataclass(frozen=True)
class Size:
    """A table to fit, and whether its rows or its columns are varied."""

    axis: str
    line: str
    contender: str
    rows: int
    columns: int


def sizes(lines: list[str], contender: str, rows: list[int], columns: list[int]) -> list[Size]:
    """All tables, from small to large along each axis. A table with fewer columns than its rule needs is left out."""
    needed = {line: len(rule_table(line, _rng(line)).plan.columns) for line in lines}
    along_rows = [Size("rows", line, contender, count, USUAL_COLUMNS) for line in lines for count in rows]
    along_columns = [
        Size("columns", line, contender, USUAL_ROWS, count)
        for line in lines
        for count in columns
        if count > needed[line]
    ]
    return along_rows + along_columns


def _rng(line: str, *size: int) -> np.random.Generator:
    return np.random.default_rng([SEED, zlib.crc32(line.encode()), *size])


def measure(size: Size, time_limit: int) -> dict[str, Any]:
    """One fit."""
    import pandas as pd
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGALRM, _too_long)
    rng = _rng(size.line, size.rows, size.columns)
    table = rule_table(size.line, _rng(size.line)).resized(rng, size.rows, size.columns)
    model, frame = CONTENDERS[size.contender].make(table.kind), pd.DataFrame(dict(table.columns))
    record = {**asdict(size), "seconds": None, "cpu_seconds": None, "read_back": None, "error": None}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        began, cpu_began = time.perf_counter(), time.process_time()
        try:
            signal.alarm(time_limit)
            model.fit(frame, table.y)
            record["seconds"] = round(time.perf_counter() - began, 3)
            record["cpu_seconds"] = round(time.process_time() - cpu_began, 3)
            signal.alarm(0)
            if CONTENDERS[size.contender].has_rules:
                program = model.program_
                record["read_back"] = (
                    program is not None and read_back(program, model.evidence_.not_covered, table, [table.far(rng)]).ok
                )
        except Exception as error:
            record["error"] = f"{type(error).__name__}: {error}"[:300]
        finally:
            signal.alarm(0)
    return record


def _too_long(*_: Any) -> None:
    raise TimeoutError("the time limit of a fit")


def measure_all(todo: list[Size], file: Path | None, time_limit: int) -> list[dict[str, Any]]:
    """The records of all sizes; those in the file are not measured again."""
    lines = file.read_text().splitlines() if file and file.exists() else []
    done = {tuple(record[name] for name in asdict(todo[0])): record for record in map(json.loads, lines)}
    records, stopped = [], set()
    context = multiprocessing.get_context("spawn")
    for size in todo:
        record = done.get(tuple(asdict(size).values()))
        if record is None and (size.axis, size.line) not in stopped:
            with ProcessPoolExecutor(1, mp_context=context, initializer=start_process) as pool:
                record = pool.submit(measure, size, time_limit).result()
            if file:
                with file.open("a") as out:
                    out.write(json.dumps(record) + "\n")
        if record is None:
            continue
        if (record["error"] or "").startswith("TimeoutError"):
            stopped.add((size.axis, size.line))
        records.append(record)
        shown = record["error"] or f"{record['seconds']:.1f} s, read back: {record['read_back']}"
        print(f"{size.line:12} {size.rows:>7,} rows {size.columns:>4} columns: {shown}", flush=True)
    return records


def chart(records: list[dict[str, Any]]) -> Any:
    """Seconds against rows and against columns, side by side, on logarithmic axes."""
    import altair as alt
    import pandas as pd

    titles = {name: line.title for name, line in LINES.items()}
    rows = [{**record, "rule": titles[record["line"]]} for record in records if record["seconds"] is not None]
    panels = []
    for axis, title in AXES.items():
        data = pd.DataFrame([row for row in rows if row["axis"] == axis])
        if len(data):
            panels.append(
                alt.Chart(data)
                .mark_line(point=True)
                .encode(
                    x=alt.X(f"{axis}:Q", scale=alt.Scale(type="log"), title=title),
                    y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds of a fit"),
                    color=alt.Color("rule:N", title="rule", sort=list(titles.values())),
                )
                .properties(width=320, height=260)
            )
    return alt.hconcat(*panels)


def main() -> None:
    """Measure, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", nargs="+", choices=LINES, default=USUAL_LINES, metavar="LINE")
    parser.add_argument("--contender", choices=CONTENDERS, default="nsr")
    parser.add_argument("--rows", nargs="*", type=int, default=ROWS)
    parser.add_argument("--columns", nargs="*", type=int, default=COLUMNS)
    parser.add_argument("--time-limit", type=int, default=900, metavar="SECONDS", help="for each fit (default 900)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="append records there, and do what is missing")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw an SVG or PNG")
    chosen = parser.parse_args()
    for file in (chosen.json, chosen.chart):
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
    todo = sizes(list(chosen.lines), chosen.contender, list(chosen.rows), list(chosen.columns))
    records = measure_all(todo, chosen.json, chosen.time_limit)
    if chosen.chart:
        chart(records).save(chosen.chart)


if __name__ == "__main__":
    main()
