"""Blocks of pages from the records of benchmarks: see ``tools/measured.py``, which writes them."""

import csv
import json
import lzma
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from learn_report import markdown

from nsr.paper.cells import wilson
from nsr.paper.numbers import share_interval

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
    "store.pages": "headers of the pages of stores",
    "store.rows": "rows of stores",
    "results": "exported results",
    "report": "pages of exported results",
    "idx": "files of MNIST",
    "command": "command lines",
}
METHODS = {"fork": "forked, so that kills meet work", "spawn": "as the command starts them"}
COMMANDS = {"reproduce redundancy": "reproduce redundancy --profile smoke --seeds 1"}

FAULTS = {
    "kill-worker": "`kill -9` of a worker",
    "kill-nanny": "`kill -9` of a worker with what watches it, as when a machine is lost",
    "kill-scheduler": "`kill -9` of the scheduler",
    "kill-parent": "`kill -9` of the command, which is then started again",
    "network": "SIGSTOP of a worker, so that nobody hears of it",
    "hang": "a block that does not come to an end",
    "lifetime": "Dask workers that leave after 20 s",
    "scancel": "`scancel` of a job of Slurm",
    "slurm-lifetime": "jobs of Slurm whose workers leave before a walltime of a minute",
    "slurm-walltime": "jobs that Slurm itself ends after a minute",
}
EXECUTORS = {
    "local": "`local`",
    "dask": "`dask`, which starts a scheduler and two processes",
    "dask-external": "`dask` with a `dask scheduler` and two `dask worker` that were there before",
    "slurm": "`slurm`, two jobs of a Slurm of one node",
}


def lines(folder: Path, file: str) -> list[dict[str, Any]]:
    """The records of a benchmark."""
    return [json.loads(line) for line in (folder / file).read_text(encoding="utf-8").splitlines()]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    every = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in every)


def not_yet(command: str) -> str:
    """In the place of figures whose record is not there."""
    return paragraph(f"Not measured yet: `python benchmarks/{command}` does it.")


def paragraph(text: str) -> str:
    """Text, wrapped."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def attack(folder: Path) -> str:
    """What each loader did with damaged and hostile inputs, in all runs together."""
    records, sums = lines(folder, "attack.jsonl"), dict[str, Counter[str]]()
    for record in records:
        for loader, counts in record["counts"].items():
            sums.setdefault(loader, Counter()).update(counts)
    rows = []
    for loader, total in sums.items():
        bad = [f"{count} {what}" for what, count in total.items() if what not in ("loaded", "refused")]
        figures = [f"{value:,}" for value in (total.total(), total["loaded"], total["refused"])]
        rows.append([LOADERS.get(loader, loader), *figures, ", ".join(bad) or "0"])
    found = table(["loader", "inputs", "loaded", "refused", "traceback, hang or memory"], rows)
    runs = [
        f"seed {r['seed']}, {r['inputs']:,} inputs" + (f" of {r['planned']:,}" if r["inputs"] < r["planned"] else "")
        for r in records
    ]
    return found + "\n" + paragraph(f"{sum(r['inputs'] for r in records):,} inputs in all: {'; '.join(runs)}.")


def kills(folder: Path) -> str:
    """What was left of the records of a sweep that was killed: the runs of each way to start processes together."""
    headings = ["processes", "kills", "starts", "records", "lost", "doubled", "changed"]
    found, rows = lines(folder, "kills.jsonl"), []
    for method in dict.fromkeys(r["method"] for r in found):
        runs = [r for r in found if r["method"] == method]
        sums = (f"{sum(r[name] for r in runs):,}" for name in ("total_kills", *headings[2:]))
        rows.append([METHODS[method], *sums, f"{max(r['longest_orphan'] for r in runs):.1f} s"])
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
            FAULTS[r["fault"]],
            str(r["times"]),
            str(r.get("lost", "not counted")),
            "the same" if r["same"] and not r["code"] else "**differ**",
        ]
        for r in lines(folder, "cluster_faults.jsonl")
    ]
    return table(["fault", "what it is", "times", "losses reported", "records"], rows)


def executors(folder: Path) -> str:
    """Whether executors store the same records."""
    if not (folder / "same_records.jsonl").exists():
        return not_yet("same_records.py")
    found = lines(folder, "same_records.jsonl")
    rows = [
        [
            EXECUTORS[r["executor"]],
            ", ".join(f"{count} {name}" for name, count in r["of"].items()),
            "the reference" if r["executor"] == "local" else "the same bytes" if r["same"] else "**differ**",
        ]
        for r in found
    ]
    head = paragraph(f"Profile `{found[0]['profile']}`, both recipes (`python benchmarks/same_records.py`):")
    return head + "\n" + table(["executor", "records", "compared"], rows)


def sweeps(folder: Path) -> str:
    """How many blocks a parent can handle, and what it needs for a million."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for record in lines(folder, "sweep_simulation.jsonl"):
        parts.setdefault(record["part"], []).append(record)
    rows = []
    for r in parts["commits"]:
        many = f"{r['seeds']:,} seed{'s' * (r['seeds'] > 1)}" + (f", {r['version']}" if "version" in r else "")
        rows.append([f"the parent alone, blocks of {many}", *_rates(r, "per_second", "per_cpu_second"), "-"])
    for r in parts.get("dask", ()):
        names = ("per_second", "per_cpu_second_of_parent", "per_cpu_second_of_scheduler")
        rows.append([f"through Dask: {r['what']}", *_rates(r, *names)])
    headings = ["a second", "of wall time", "of CPU of the parent", "of CPU of the scheduler"]
    others = []
    for r in parts["sleeping"]:
        what = f"1,000 workers that sleep {r['block_seconds']:g} s over a block, losses of an hour (5 %) in a minute"
        lost = f"{r['workers_lost']} workers lost, {'every record once' if r['exact'] else '**records differ**'}"
        others.append([what, f"{r['blocks']:,} blocks in {r['seconds']:.0f} s instead of {r['ideal']:.0f} s, {lost}"])
    for r in parts["memory"]:
        what = f"{r['items']:,} planned items" if r["items"] else f"{r['stored']:,} records in the store"
        others.append(
            [f"a command with {what}, torch included", f"{r['plan_seconds']:.0f} s, at most {r['megabytes']} MB"]
        )
    return table(headings, rows) + "\n" + table(["what", "figure"], others)


def _rates(record: Mapping[str, Any], *names: str) -> list[str]:
    return [f"{record[name]:,.0f}" for name in names]


def dask_overhead(folder: Path) -> str:
    """What Dask costs beside local processes."""
    if not (folder / "dask_overhead.jsonl").exists():
        return not_yet("dask_overhead.py")
    record = lines(folder, "dask_overhead.jsonl")[-1]
    local, dask, over = record["local"], record["dask"], record["overhead"]
    return paragraph(
        f"""{6 * record["seeds"]:,} models of the comparisons, {record["rounds"]} runs of each in turns, processes from
        their start to their end (`python benchmarks/dask_overhead.py`): Dask took {over["cpu"]:+.1%} CPU
        ({dask["cpu"]:.0f} s beside {local["cpu"]:.0f} s) and {over["wall"]:+.1%} wall time ({dask["wall"]:.0f} s beside
        {local["wall"]:.0f} s). Until the first block was stored it took {dask["first"]:.1f} s beside
        {local["first"]:.1f} s, after the last {dask["after"]:.1f} s beside {local["after"]:.1f} s; the parent used
        {dask["cpu_parent"]:.1f} s of CPU beside {local["cpu_parent"]:.1f} s."""
    )


def ten_thousand_seeds(folder: Path) -> str:
    """The comparisons with many seeds, from every record."""
    if not (folder / "comparisons_10000.csv.xz").exists():
        return not_yet("many_seeds.py")
    with lzma.open(folder / "comparisons_10000.csv.xz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    run = json.loads((folder / "comparisons_10000.json").read_text(encoding="utf-8"))
    accuracies = [name for name in rows[0] if name == "train" or name.startswith("10^")]
    wrong = [row for row in rows if any(float(row[name]) != 1 for name in accuracies)]
    right, total = len(rows) - len(wrong), len(rows)
    low, high = wilson(right, total)
    seeds = len({row["seed"] for row in rows})
    read = sum(float(row["read"]) == 1 for row in rows)
    but = "".join(f"; not `{row['comparison']}` with seed {row['seed']}" for row in wrong[:10])
    return paragraph(
        f"""{seeds:,} seeds of each of the six comparisons, recipe `exact`, on two Dask workers: {right:,} of
        {total:,} networks are right everywhere, from the training pairs to 10^15 (95 % interval of the share
        {low:.5f} to {high:.5f}){but}, and {read:,} read as the comparison they learned. It took
        {sum(each["cpu_seconds"] for each in run["runs"]) / 60:.0f} minutes of CPU
        (`python benchmarks/many_seeds.py`, `results/comparisons_10000.csv.xz`)."""
    )


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
    """The mutation score: of a first sample, before and after tests were added for it, and of two fresh ones."""
    records = lines(folder, "mutants.jsonl")
    samples = {name: [r for r in records if r["sample"] == name] for name in ("first", "fresh", "second")}
    columns = {"first sample": ("first", "at_first"), "the same, with the tests it led to": ("first", "outcome")}
    if samples["fresh"]:
        columns |= {"fresh sample": ("fresh", "at_first"), "with its tests": ("fresh", "outcome")}
    if samples["second"]:
        columns |= {"second fresh sample": ("second", "at_first"), "with its tests too": ("second", "outcome")}
    rows = []
    for part in (*dict.fromkeys(record["part"] for record in records), None):
        row = [part or "**all**"]
        for sample, outcome in columns.values():
            counted = [r for r in samples[sample] if part in (None, r["part"]) and not r["equivalent"]]
            row.append(_noticed(counted, outcome) if counted else "-")
        rows.append(row)
    drawn = " and ".join(f"{len(of)} with seed {of[0]['seed']}" for of in samples.values() if of)
    same, late = sum(bool(r["equivalent"]) for r in records), sum(r["by"] == "time ran out" for r in records)
    waiting = sum(_survives(r) and r.get("run_again") is False for r in records)
    note = f"""Mutants drawn: {drawn}, about as many of each part. {same} are judged equivalent and are not counted;
        {late} are noticed because tests do not end. In brackets Wilson's 95 % interval."""
    note += f" {waiting} that survived at first have not been run again and count as not noticed." if waiting else ""
    return table(["noticed", *columns], rows) + "\n" + paragraph(note)


def _noticed(records: Sequence[Mapping[str, Any]], outcome: str) -> str:
    killed = sum(record[outcome] == "killed" for record in records)
    return f"{killed} of {len(records)} ({share_interval(*wilson(killed, len(records)))})"


def _survives(record: Mapping[str, Any]) -> bool:
    return record["outcome"] != "killed" and not record["equivalent"]


BLOCKS: Mapping[str, Callable[[Path], str]] = {
    "attack": attack,
    "kills": kills,
    "store": store,
    "faults": faults,
    "executors": executors,
    "sweeps": sweeps,
    "dask overhead": dask_overhead,
    "ten thousand seeds": ten_thousand_seeds,
    "tables": tables,
    "profiles": profiles,
    "battery tables": battery_tables,
    "mutants": mutants,
}
