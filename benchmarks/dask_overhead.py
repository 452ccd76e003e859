"""What Dask costs on one machine: the same sweep with local processes and with Dask workers, in turns.

Each run is a process of its own from its start to its end, so imports, the start of the workers and their end count.
Wall time and the CPU time of all processes are measured, and where they go: until the first block is stored, between
the first and the last, after the last; in the parent, in the workers inside of items, in the workers outside of them.

    python benchmarks/dask_overhead.py --json results/dask_overhead.jsonl       # two quiet cores, about 12 minutes
    python benchmarks/dask_overhead.py --seeds 400 --rounds 1
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import fmean
from typing import Any

SWEEP = """
import time
began = time.perf_counter()
import json, resource, sys
from pathlib import Path
from nsr.paper.commands import reproduce
from nsr.paper.sweep.choice import choose_executor
from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.run import Observer

class Times(Observer):
    first, last, inside = 0.0, 0.0, 0.0
    def finished(self, item, records):
        self.last = time.perf_counter() - began
        self.first = self.first or self.last
        self.inside += sum(record.seconds for record in records)

def cpu(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime

if __name__ == "__main__":
    times = Times()
    executor = choose_executor(ClusterConfig(executor=sys.argv[1]))
    result = reproduce(**json.loads(sys.argv[3]), workers=2, out=Path(sys.argv[2]), make_executor=executor,
                       observer=times)
    assert not result.failed
    took = time.perf_counter() - began
    print(json.dumps({"first": times.first, "between": times.last - times.first, "after": took - times.last,
                      "inside": times.inside, "cpu_parent": cpu(resource.RUSAGE_SELF),
                      "cpu_workers": cpu(resource.RUSAGE_CHILDREN)}))
"""
WORK = {"names": ["comparisons"], "profile": "paper", "recipe": "exact", "only": {"model": ["nsr"]}}
NAMES = ("local", "dask")


def run(name: str, seeds: int) -> dict[str, float]:
    """One sweep in a process of its own: its wall time and where it went."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", SWEEP, name, folder, json.dumps({**WORK, "seeds": seeds})]
        began = time.perf_counter()
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    parts = json.loads(done.stdout.splitlines()[-1])
    return {"wall": wall, "cpu": parts["cpu_parent"] + parts["cpu_workers"], **parts}


def main() -> None:
    """Print each run, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4000, help="of each of six comparisons, in blocks of 100")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path, help="append a line")
    options = parser.parse_args()
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in NAMES}
    for number in range(options.rounds):
        for name in NAMES if number % 2 == 0 else NAMES[::-1]:
            runs[name].append(run(name, options.seeds))
            shown = " ".join(f"{key}={value:.1f}" for key, value in runs[name][-1].items())
            print(f"{name:5} load={os.getloadavg()[0]:.1f} {shown}", flush=True)
    means = {name: {key: round(fmean(each[key] for each in runs[name]), 2) for key in runs[name][0]} for name in NAMES}
    ratios = {key: round(means["dask"][key] / means["local"][key] - 1, 4) for key in ("wall", "cpu", "between")}
    for key, value in ratios.items():
        print(f"overhead of dask, {key}: {value:+.1%}")
    if options.json:
        record: dict[str, Any] = {"seeds": options.seeds, "rounds": options.rounds, **means, "overhead": ratios}
        with options.json.open("a") as file:
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
