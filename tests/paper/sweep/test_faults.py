"""Kill a sweep again and again at random moments: in the end it has the records of a run that was left alone."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.sweep.store import FILE, Store

EXPERIMENT = EXPERIMENTS["comparisons"]
KILLS = int(os.environ.get("NSR_KILLS", "2"))
"""How often a sweep is killed; make faults does it 20 times."""
SEEDS = 8 if KILLS > 6 else 4
"""Of each cell: work enough to be killed so often."""
SWEEP = """
import sys
from pathlib import Path
from nsr.paper.commands import reproduce

if __name__ == "__main__":
    result = reproduce(["comparisons"], profile="smoke", recipe="both", seeds=int(sys.argv[2]), only={"model": ["nsr"]},
                       block=1, workers=int(sys.argv[3]), out=Path(sys.argv[1]))
    sys.exit(1 if result.failed else 0)
"""


def start(folder: Path, seeds: int, workers: int) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", SWEEP, str(folder), str(seeds), str(workers)], start_new_session=True
    )


def count(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute("SELECT count(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0
    finally:
        if "connection" in locals():
            connection.close()


def numbers(folder: Path) -> list[tuple]:
    store = Store(folder)
    try:
        records = store.records(EXPERIMENT)
        return sorted((repr(r.cell), r.recipe.name, r.seed, tuple(r.metrics.items())) for r in records)
    finally:
        store.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> list[tuple]:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert start(folder, seeds=SEEDS, workers=1).wait() == 0
    return numbers(folder)


@pytest.mark.outer
def test_killed_many_times_it_has_the_same_records(tmp_path, undisturbed):
    """kill -9 of the whole process group: now during start-up, now in the middle of the work."""
    rng = random.Random(0)
    for kills in range(KILLS):
        process = start(tmp_path, seeds=SEEDS, workers=1)
        before, began = count(tmp_path), time.monotonic()
        if kills % 3:  # wait until it has done something, so that the test comes to an end
            while count(tmp_path) == before and process.poll() is None and time.monotonic() - began < 60:
                time.sleep(0.02)
            time.sleep(rng.uniform(0, 0.12))
        else:
            time.sleep(rng.uniform(0, 2))
        assert process.poll() is None, f"it was done before it was killed {KILLS} times"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert 0 < count(tmp_path) < len(undisturbed) == 6 * 2 * SEEDS
    assert start(tmp_path, seeds=SEEDS, workers=1).wait() == 0
    assert numbers(tmp_path) == undisturbed


def workers_of(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == parent:
                command = (entry / "cmdline").read_text()
                found += [int(entry.name)] if "spawn_main" in command else []
        except OSError:
            continue
    return found


@pytest.mark.outer
@pytest.mark.skipif(not Path("/proc").exists(), reason="finds workers through /proc")
def test_single_workers_killed_at_random_cost_nothing(tmp_path, undisturbed):
    rng = random.Random(1)
    process = start(tmp_path, seeds=SEEDS, workers=2)
    kills = 0
    while process.poll() is None:
        before = count(tmp_path)
        if kills < 3 and before >= 8 * kills and (workers := workers_of(process.pid)) and before:
            time.sleep(rng.uniform(0, 0.2))
            os.kill(rng.choice(workers), signal.SIGKILL)
            kills += 1
            deadline = time.monotonic() + 60
            while count(tmp_path) == before and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
        time.sleep(0.05)
    assert process.returncode == 0
    assert kills == 3
    assert numbers(tmp_path) == undisturbed


@pytest.mark.outer
def test_two_sweeps_at_once_double_nothing(tmp_path, undisturbed):
    both = [start(tmp_path, seeds=SEEDS, workers=1) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert numbers(tmp_path) == undisturbed
