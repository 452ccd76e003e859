"""Blocks of pages from the records of benchmarks: see ``tools/measured.py``, which writes them."""

import json
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from learn_report import markdown

from nsr.paper.cells import wilson

LOADERS = {
    "formula": "formulas",
    "program": "programs as JSON",
    "saved": "saved rules and models",
    "csv": "CSV",
    "csv.gz": "CSV in gzip",
    "json": "JSON lines",
    "parquet": "Parquet",
    "database": "tables of SQLite",
    "store": "stores",
    "results": "exported results",
    "report": "pages of exported results",
    "idx": "files of MNIST",
    "command": "command lines",
}
METHODS = {"fork": "forked, so that kills meet work", "spawn": "as the command starts them"}
COMMANDS = {"reproduce redundancy": "reproduce redundancy --profile smoke --seeds 1"}


def lines(folder: Path, file: str) -> list[dict[str, Any]]:
    """The records of a benchmark."""
    return [json.loads(line) for line in (folder / file).read_text(encoding="utf-8").splitlines()]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    every = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in every)


def paragraph(text: str) -> str:
    """Text, wrapped."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def attack(folder: Path) -> str:
    """What each loader did with damaged and hostile inputs."""
    rows, total = [], 0
    for record in lines(folder, "attack.jsonl"):
        total += record["inputs"]
        for loader, counts in record["counts"].items():
            good = {"loaded": 0, "refused": 0} | counts
            bad = [f"{count} {what}" for what, count in counts.items() if what not in ("loaded", "refused")]
            figures = [f"{value:,}" for value in (sum(counts.values()), good["loaded"], good["refused"])]
            rows.append([LOADERS[loader], *figures, ", ".join(bad) or "0"])
    found = table(["loader", "inputs", "loaded", "refused", "traceback, hang or memory"], rows)
    return found + "\n" + paragraph(f"{total:,} inputs in all.")


def kills(folder: Path) -> str:
    """What was left of the records of a sweep that was killed."""
    headings = ["processes", "kills", "starts", "records", "lost", "doubled", "changed"]
    rows = [
        [
            METHODS[r["method"]],
            *(f"{r[name]:,}" for name in ("total_kills", *headings[2:])),
            f"{r['longest_orphan']:.1f} s",
        ]
        for r in lines(folder, "kills.jsonl")
    ]
    return table([*headings, "longest life of a worker without its parent"], rows)


def store(folder: Path) -> str:
    """What commands cost with many records."""
    parts = []
    for record in lines(folder, "store.jsonl"):
        measured = {name: value for name, value in record.items() if isinstance(value, dict) and "cpu" in value}
        del measured["environment"]  # which has the name of the CPU
        rows = [
            [f"`nsr {COMMANDS.get(name, name)}`", f"{each['cpu']:.1f}", f"{each['megabytes']:,} MB"]
            for name, each in measured.items()
        ]
        size = f"{record['records']:,} records, {record['file_megabytes'] / 1000:.1f} GB"
        kind = (
            "all metrics differ"
            if record["distinct"]
            else "the cells and metrics of the paper's experiments in their shares"
        )
        parts.append(paragraph(f"{size}, {kind}:") + "\n" + table(["command", "seconds of CPU", "memory"], rows))
    return "\n".join(parts)


def faults(folder: Path) -> str:
    """Whether faults of a cluster changed a record."""
    rows = [
        [
            f"`{r['fault']}`",
            str(r["times"]),
            str(r["restarts"]),
            f"{r['seconds']:.0f}",
            "same" if r["same"] else "**differ**",
        ]
        for r in lines(folder, "cluster_faults.jsonl")
    ]
    return table(["fault", "times", "restarts of the scheduler", "seconds", "records"], rows)


def sweeps(folder: Path) -> str:
    """How many blocks a parent can handle, and what it needs for a million."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for record in lines(folder, "sweep_simulation.jsonl"):
        parts.setdefault(record["part"], []).append(record)

    def rates(part: str) -> str:
        return ", ".join(f"{r['per_second']:,.0f} of {r['seeds']:,} seed{'s' * (r['seeds'] > 1)}" for r in parts[part])

    rows = [
        ["blocks a second that the parent chooses, receives and stores, workers that answer at once", rates("commits")],
        [f"the same through Dask, scheduler and {parts['dask'][0]['workers']} workers in the parent", rates("dask")],
    ]
    for r in parts["sleeping"]:
        what = f"1,000 workers that sleep {r['block_seconds']:g} s over a block, losses of an hour (5 %) in a minute"
        lost = f"{r['workers_lost']} workers lost, {'every record once' if r['exact'] else '**records differ**'}"
        rows.append([what, f"{r['blocks']:,} blocks in {r['seconds']:.0f} s instead of {r['ideal']:.0f} s, {lost}"])
    for r in parts["memory"]:
        what = f"{r['items']:,} planned items" if r["items"] else f"{r['stored']:,} records in the store"
        rows.append(
            [f"a command with {what}, torch included", f"{r['plan_seconds']:.0f} s, at most {r['megabytes']} MB"]
        )
    for r in parts["overhead"]:
        local, dask = min(r["local"]), min(r["dask"])
        what = f"the comparisons, {r['seeds']} seeds, local processes and Dask, the better of {len(r['local'])} runs"
        rows.append([what, f"{local:.1f} s and {dask:.1f} s"])
    slowest = parts["dask"][0]["per_second"]
    limit = paragraph(
        f"""Dask in one process is what breaks first: at {slowest:.0f} blocks a second, 1,000 workers need blocks of at
        least {ceil(1_000 / slowest)} s, and 10,000 workers blocks of {ceil(10_000 / slowest)} s."""
    )
    return table(["what", "figure"], rows) + "\n" + limit


def tables(folder: Path) -> str:
    """What it costs to read and verify large tables."""
    found = lines(folder, "tables.jsonl")
    csv = max((r for r in found if r["format"] == "csv" and "duckdb" in r["reader"]), key=lambda r: r["cpu_seconds"])
    parquet = next(r for r in found if r["format"] == "parquet")
    return paragraph(
        f"""Beyond the search, {csv["rows"]:,} rows of CSV take {csv["cpu_seconds"]:.1f} s of CPU, to read and to
        verify; a rule is verified on {parquet["rows"]:,} rows of Parquet in {parquet["cpu_seconds"]:.1f} s of CPU and
        {parquet["megabytes_at_most"]:,} MB (`benchmarks/tables.py`, `results/tables.jsonl`)."""
    )


def profiles(folder: Path) -> str:
    """Statements of ``nsr profile`` beside denial constraints."""
    found = [r for r in lines(folder, "profile.jsonl") if r["constraints"] is not None]
    constraints, exact, stated, listed = (
        sum(r[name] for r in found)
        for name in ("constraints", "constraints_exact", "constraints_exact_found", "lines_all")
    )
    more = [r for r in found if 10 * r["lines_all"] > r["constraints"]]
    but = " and ".join(f"{r['table']}: {r['lines_all']} lines beside {r['constraints']} constraints" for r in more)
    tenth = f"at most a tenth of the constraints{', but for ' + but if but else ''}"
    return paragraph(
        f"""On the {len(found)} tables that FastADC could do within a minute, it gave {constraints:,} denial
        constraints. They say {exact} orders of two columns that hold exactly; {stated} of them are stated by
        `nsr profile --all`, or follow from what it states, in {listed} lines. Table by table that is {tenth}."""
    )


def battery_tables(folder: Path) -> str:
    """The tables of ``benchmarks/learn.py``."""
    return markdown(lines(folder, "learn.jsonl")) + "\n"


def mutants(folder: Path) -> str:
    """The mutation score."""
    records = lines(folder, "mutants.jsonl")
    parts = dict.fromkeys(record["part"] for record in records)
    samples = dict.fromkeys(record["sample"] for record in records)
    rows = []
    for part in (*parts, None):
        row = [part or "**all**"]
        for sample in samples:
            counted = [r for r in records if r["sample"] == sample and part in (None, r["part"])]
            same = sum(bool(r.get("equivalent")) for r in counted)
            killed, total = sum(r["outcome"] == "killed" for r in counted), len(counted) - same
            low, high = wilson(killed, total)
            row += [f"{killed} of {total} ({low:.2f} to {high:.2f})", str(same)]
        rows.append(row)
    headings = [text for sample in samples for text in (f"killed, {sample}", "equivalent")]
    times = Counter(r["by"] for r in records)["time ran out"]
    note = f"{times} of these were noticed because tests did not end in time." if times else ""
    return table(["part", *headings], rows) + ("\n" + paragraph(note) if note else "")


BLOCKS: Mapping[str, Callable[[Path], str]] = {
    "attack": attack,
    "kills": kills,
    "store": store,
    "faults": faults,
    "sweeps": sweeps,
    "tables": tables,
    "profiles": profiles,
    "battery tables": battery_tables,
}
