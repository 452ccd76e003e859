"""Train the six comparisons with many more seeds than the paper, on two Dask workers, and keep every record.

The same command as a user would type it, then one compressed table: ``results/comparisons_10000.csv.xz`` has the
columns of ``results/comparisons.csv`` but for the seconds and the memory of each record, and
``results/comparisons_10000.json`` says how long the run took, and on what. Seeds that are not right everywhere are
listed. If it is interrupted, the same command continues it.

    python benchmarks/many_seeds.py                        # 10,000 seeds: about 12 minutes of CPU
    python benchmarks/many_seeds.py --seeds 200 --results runs
"""

import argparse
import csv
import io
import json
import lzma
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from cluster_faults import count

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.comparisons import MAGNITUDES
from nsr.paper.records import Record
from nsr.paper.sweep.store import Store

EXPERIMENT = EXPERIMENTS["comparisons"]
WORDS = ("reproduce", "comparisons", "--profile", "paper", "--recipe", "exact", "--model", "nsr")
ACCURACIES = ("train", *MAGNITUDES)
ROOT = Path(__file__).resolve().parents[1]
LOG = "many_seeds.jsonl"
"""Beside the store: a line for each run."""


def run(seeds: int, executor: str, out: Path) -> list[dict[str, Any]]:
    """Run what is missing; returns what it took, and what the runs before it took that were interrupted."""
    words = [*WORDS, "--seeds", str(seeds), "--executor", executor, "--workers", "2", "--out", str(out)]
    began, before, stored = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN), count(out)
    command = [sys.executable, "-m", "nsr", *words, "--json", "--quiet"]
    try:
        subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL, check=True)
    finally:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = sum(getattr(after, each) - getattr(before, each) for each in ("ru_utime", "ru_stime"))
        about = {
            "command": " ".join(["nsr", *words[:-2]]),
            "records": count(out) - stored,
            "wall_seconds": round(time.monotonic() - began, 1),
            "cpu_seconds": round(used, 1),
        }
        with (out / LOG).open("a") as file:
            file.write(json.dumps(about) + "\n")
    lines = map(json.loads, (out / LOG).read_text().splitlines())
    return [line for line in lines if line["records"] and line["command"] == about["command"]]


def table(records: Sequence[Record]) -> str:
    """The records as CSV, in the order of the comparisons and seeds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    metrics = [metric.name for metric in EXPERIMENT.metrics]
    writer.writerow(["revision", "profile", "recipe", "model", "comparison", "seed", *metrics])
    order = {cell: number for number, cell in enumerate(EXPERIMENT.cells)}
    for record in sorted(records, key=lambda record: (order[record.cell], record.seed)):
        about = [record.revision, record.profile, record.recipe.name, record.cell.model, record.cell.comparison]
        writer.writerow([*about, record.seed, *(record.metrics[name] for name in metrics)])
    return text.getvalue()


def main() -> None:
    """Run, write the table, and list the exceptions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--executor", default="dask")
    parser.add_argument("--out", type=Path, default=Path("runs/many_seeds"), help="folder of the store")
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="where the table goes")
    options = parser.parse_args()
    runs = run(options.seeds, options.executor, options.out)
    with closing(Store(options.out)) as store:
        records = [
            record
            for record in store.records(EXPERIMENT)
            if (record.profile, record.recipe.name, record.cell.model) == ("paper", "exact", "nsr")
            and record.seed < options.seeds
        ]
        failures = store.failures()
    wrong = [r for r in records if any(r.metrics[name] != 1 for name in (*ACCURACIES, "read", "1000 digits"))]
    for record in wrong:
        print(f"{record.cell.comparison} seed {record.seed}: {dict(record.metrics)}")
    right = sum(all(record.metrics[name] == 1 for name in ACCURACIES) for record in records)
    about = {
        "runs": runs,
        "seeds": options.seeds,
        "records": len(records),
        "right everywhere": right,
        "failures": len(failures),
        "core_seconds": round(sum(record.seconds for record in records), 1),
        "environments": [json.loads(text) for text in sorted({record.environment for record in records})],
    }
    file = options.results / f"comparisons_{options.seeds}.csv.xz"
    file.write_bytes(lzma.compress(table(records).encode(), preset=9 | lzma.PRESET_EXTREME))
    file.with_name(f"comparisons_{options.seeds}.json").write_text(json.dumps(about, indent=1) + "\n")
    print(f"{right} of {len(records)} right everywhere; {file} has {file.stat().st_size:,} bytes")
    print(json.dumps(runs))


if __name__ == "__main__":
    main()
