"""Compare what four executors store: the same command gives the same records, byte for byte.

``local`` is the reference; ``dask`` starts a scheduler and two processes by itself, ``dask-external`` uses a ``dask
scheduler`` and two ``dask worker`` that were started before, ``slurm`` submits two jobs to a Slurm of one node on
loopback. What is compared is everything but how long a record took, its memory and when it was finished.

    python benchmarks/same_records.py --json results/same_records.jsonl      # exits with 1 if a byte differs
    python benchmarks/same_records.py --profile smoke --only dask
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cluster_faults as faults
from loopback_slurm import Slurm, why_not

EXPERIMENTS = ("comparisons", "piecewise", "recurrent")
EXECUTORS = ("dask", "dask-external", "slurm")
LIMIT = 1800.0


@contextmanager
def place(name: str, folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The options that send the command to an executor, and its environment, while the executor is there."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    if name == "dask-external":
        with faults.Loopback(folder) as there:
            yield ["--executor", "dask", "--scheduler", f"tcp://127.0.0.1:{there.port}"], there.environment
    elif name == "slurm":
        with Slurm(folder / "slurm") as slurm:
            config = faults.slurm_config(folder, silence=60)
            yield ["--cluster", str(config)], {**slurm.environment, "OMP_NUM_THREADS": "1"}
    else:
        yield ["--executor", name], environment


def run(name: str, words: Sequence[str], folder: Path) -> tuple[list[tuple], dict[str, Any]]:
    """The records of the command on an executor, and what it took."""
    out = folder / "runs"
    with place(name, folder) as (options, environment):
        command = [sys.executable, "-m", "nsr", "reproduce", *words, *options, "--workers", "2", "--out", str(out)]
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*command, "--json", "--quiet"], env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-3000:]}")
    found = faults.records(out)
    about = {
        "executor": name,
        "records": len(found),
        "of": dict(sorted(Counter(row[1] for row in found).items())),
        "sha256": hashlib.sha256(json.dumps(found).encode()).hexdigest(),
        "seconds": round(time.monotonic() - began, 1),
    }
    if name in ("local", "dask"):  # the processes of the others are not children of the command
        used = sum(getattr(after, each) - getattr(before, each) for each in ("ru_utime", "ru_stime"))
        about["cpu_seconds"] = round(used, 1)
    return found, about


def main() -> None:
    """Print a line for each executor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=EXECUTORS, default=EXECUTORS)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--experiments", nargs="+", default=EXPERIMENTS)
    parser.add_argument("--folder", type=Path, help="keep the stores here; what is in them is not run again")
    parser.add_argument("--json", type=Path, help="write a line for each executor")
    options = parser.parse_args()
    words = [*options.experiments, "--profile", options.profile]
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder, expected = options.folder or Path(temporary), list[tuple]()
        for executor in ("local", *options.only):
            if executor == "slurm" and (reason := why_not()):
                print(f"{executor:14} left out: {reason}", flush=True)
                continue
            found, about = run(executor, words, folder / executor)
            expected = expected or found
            results.append({"profile": options.profile, **about, "same": found == expected})
            verdict = "same records" if found == expected else "DIFFERENT"
            print(f"{executor:14} {len(found):5} records in {about['seconds']:7.1f} s  {verdict}", flush=True)
    if options.json:
        options.json.write_text("".join(json.dumps(each) + "\n" for each in results))
    sys.exit(0 if all(each["same"] for each in results) else 1)


if __name__ == "__main__":
    main()
