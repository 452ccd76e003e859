"""Kill a sweep a thousand times, and compare what it stored in the end with a run that was left alone.

Rounds: each begins with an empty folder and starts the same sweep, twice at once now and then, and kills (SIGKILL) a
worker, a parent or all of them at random moments, until the sweep is done in spite of it. Processes are forked from one
in which torch has been imported but has not run, so that most kills meet work and not start-up; with ``--spawn`` they
are those of the command line.

    python benchmarks/kills.py --kills 1000 --json runs/kills.jsonl
"""

import argparse
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nsr.paper.commands import reproduce
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.sweep.environment import environment
from nsr.paper.sweep.executors import local
from nsr.paper.sweep.store import Store

EXPERIMENT = EXPERIMENTS["comparisons"]
CELLS = {"model": ["nsr"]}
WORKERS = 2
WAIT = 0.5
"""The most seconds between two kills."""
ENDING = 30
"""Seconds after which workers of a killed parent, or a sweep that makes no progress, count as hanging."""


@dataclass
class Figures:
    """What happened."""

    kills: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    starts: int = 0
    records: int = 0
    lost: int = 0
    doubled: int = 0
    changed: int = 0
    damaged: int = 0
    failures_left: int = 0
    hanging: int = 0
    longest_orphan: float = 0.0
    """The most seconds that workers have outlived a killed parent."""


def start(folder: Path, seeds: int, spawn: bool) -> int:
    """The process of a sweep."""
    if spawn:
        code = "import kills, sys; kills.sweep(sys.argv[1], int(sys.argv[2]), 'spawn')"
        command = [sys.executable, "-c", code, str(folder), str(seeds)]
        return subprocess.Popen(command, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL).pid
    process = os.fork()
    if process == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            sweep(folder, seeds, "fork")
        finally:
            os._exit(3)
    return process


def sweep(folder: str | Path, seeds: int, method: str) -> None:
    """Run what is missing and exit: 0, or 1 if blocks failed."""
    executor = partial(local, method=method)
    request = {"profile": "smoke", "seeds": seeds, "only": CELLS, "block": 1, "workers": WORKERS}
    result = reproduce(["comparisons"], **request, out=Path(folder), make_executor=executor)
    os._exit(1 if result.failed else 0)


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    try:
        return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    except OSError:
        return []


def is_running(process: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill(process: int) -> None:
    """End a process now."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def disturb(parent: int, rng: random.Random, figures: Figures) -> None:
    """Kill a worker, the parent, or all of them; one that has ended cannot be killed and is not counted."""
    if not is_running(parent):
        return
    workers = [worker for worker in children(parent) if is_running(worker)]
    what = rng.choice(("worker", "worker", "parent", "all")) if workers else "parent"
    figures.kills[what] += 1
    if what == "worker":
        kill(rng.choice(workers))
        return
    kill(parent)
    if what == "all":
        for worker in workers:
            kill(worker)
    began = time.monotonic()
    while any(map(is_running, workers)) and time.monotonic() - began < ENDING:
        time.sleep(0.01)
    if what == "parent":
        figures.longest_orphan = max(figures.longest_orphan, time.monotonic() - began)
    figures.hanging += any(map(is_running, workers))


def exit_code(process: int) -> int | None:
    """How a process has ended; None while it runs."""
    ended, status = os.waitpid(process, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def play_round(folder: Path, seeds: int, rng: random.Random, figures: Figures, most: int, spawn: bool) -> None:
    """Disturb a sweep until it is done, or until there were enough kills, after which it is left alone."""
    running: list[int] = []
    done = False
    wait = 16 * WAIT if spawn else WAIT
    while not done or running:
        if not running:
            running = [start(folder, seeds, spawn) for _ in range(rng.choice((1, 1, 1, 2)))]
            figures.starts += len(running)
        leave_alone = done or figures.kills.total() >= most
        time.sleep(0.05 if leave_alone else rng.uniform(0, wait))
        if not leave_alone:
            disturb(rng.choice(running), rng, figures)
        for process in list(running):
            if (code := exit_code(process)) is not None:
                running.remove(process)
                done = done or code == 0
                if code not in (0, 1, -signal.SIGKILL):
                    raise RuntimeError(f"the sweep ended with {code}")


def content(folder: Path) -> dict[tuple[str, str, int], Any]:
    """The metrics by cell, recipe and seed."""
    with closing(Store(folder)) as store:
        return {(repr(r.cell), r.recipe.name, r.seed): dict(r.metrics) for r in store.records(EXPERIMENT)}


def compare(folder: Path, expected: dict[tuple[str, str, int], Any], figures: Figures) -> None:
    """Count what is lost, doubled or changed."""
    with closing(Store(folder)) as store:
        count, damaged = store.verify()
        figures.failures_left += len(store.failures())
    found = content(folder)
    figures.records += count
    figures.damaged += len(damaged)
    figures.doubled += count - len(found)
    figures.lost += len(expected.keys() - found.keys())
    figures.changed += sum(found[key] != expected.get(key) for key in found)


def import_early(folder: Path) -> None:
    """Import what torch imports late, so that forked processes do not spend their time on it."""
    code = (
        "import json, sys; from nsr.paper.sweep.run import run_item; from nsr.paper.sweep.plan import plan;"
        "from nsr.paper.experiments import EXPERIMENTS; e = EXPERIMENTS['comparisons'];"
        "[run_item(i) for i in plan(e, e.profiles['smoke'], ('paper', 'exact'), [0])[11::12]];"
        "print(json.dumps(list(sys.modules)))"
    )
    names = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=True, text=True)
    for name in json.loads(names.stdout):
        if name.startswith(("torch", "numpy", "sympy", "mpmath", "nsr")):
            try:
                importlib.import_module(name)
            except ImportError:
                continue


def main() -> None:
    """Print the figures; exit with 1 if anything was lost, doubled, changed or damaged, or did not end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=10, help="seeds of each cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--spawn", action="store_true")
    parser.add_argument("--json", type=Path, help="append the figures as a line")
    options = parser.parse_args()
    rng, figures, began = random.Random(options.seed), Figures(), time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        import_early(folder)
        undisturbed = start(folder / "undisturbed", options.seeds, options.spawn)
        if os.waitstatus_to_exitcode(os.waitpid(undisturbed, 0)[1]) != 0:
            raise RuntimeError("the undisturbed sweep failed")
        expected = content(folder / "undisturbed")
        while figures.kills.total() < options.kills:
            place = folder / str(figures.rounds)
            play_round(place, options.seeds, rng, figures, options.kills, options.spawn)
            compare(place, expected, figures)
            figures.rounds += 1
            print(f"{figures.kills.total()} kills, {figures.rounds} rounds", file=sys.stderr)
    record = {
        **asdict(figures),
        "kills": dict(figures.kills),
        "total_kills": figures.kills.total(),
        "longest_orphan": round(figures.longest_orphan, 2),
        "method": "spawn" if options.spawn else "fork",
        "seed": options.seed,
        "minutes": round((time.monotonic() - began) / 60, 1),
        "environment": json.loads(environment()),
    }
    print(json.dumps(record, indent=1))
    if options.json:
        with options.json.open("a") as file:
            file.write(json.dumps(record) + "\n")
    bad = ("lost", "doubled", "changed", "damaged", "failures_left", "hanging")
    sys.exit(1 if any(record[name] for name in bad) else 0)


if __name__ == "__main__":
    main()
