"""A scheduler and workers in processes of their own, on loopback: the same records, whatever is killed.

``benchmarks/cluster_faults.py`` has the machinery, and does the same more often.
"""

import os
import subprocess
import sys

import pytest

pytest.importorskip("distributed", reason="needs the extra cluster")

import cluster_faults as faults
import dask

from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.dask import make_dask

pytestmark = [
    pytest.mark.outer,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds workers through /proc"),
]
SMALL = {
    "names": ["comparisons", "piecewise", "recurrent"],
    "profile": "smoke",
    "recipe": "exact",
    "seeds": 3,
    "only": {"model": ["nsr"]},
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> list[tuple]:
    return faults.undisturbed(tmp_path_factory.mktemp("undisturbed"))


def test_the_command_has_the_same_records_on_dask_as_without_it(tmp_path):
    """With a scheduler and workers that the command starts, and with those that somebody else has started."""
    expected = faults.undisturbed(tmp_path / "local", SMALL)
    assert len(expected) == 3 * (6 + 2 + 2)
    words = ["reproduce", *SMALL["names"], "--profile", "smoke", "--recipe", "exact", "--model", "nsr", "--seeds", "3"]
    with faults.Loopback(tmp_path / "there") as there:
        address = ["--scheduler", f"tcp://127.0.0.1:{there.port}"]
        for name, options in {"started": ["--workers", "2"], "external": address}.items():
            out = tmp_path / name
            command = [sys.executable, "-m", "nsr", *words, "--executor", "dask", *options, "--out", str(out), "--json"]
            done = subprocess.run(
                command, env=there.environment, capture_output=True, text=True, timeout=120, check=False
            )
            assert done.returncode == 0, done.stderr
            assert "dashboard: " in done.stderr
            assert faults.records(out) == expected


def test_workers_that_are_started_here_do_little_beside_their_items():
    executor = make_dask(ClusterConfig(executor="dask"), lambda _: None)(1)
    try:
        assert executor.submit(dask.config.get, "distributed.worker.profile.enabled").result(60) is False
        assert executor.submit(os.getenv, "MALLOC_TRIM_THRESHOLD_").result(60) is None
    finally:
        executor.shutdown()


@pytest.mark.parametrize(
    ("fault", "times"), [("kill-worker", 2), ("kill-scheduler", 1), ("kill-parent", 2), ("network", 1), ("hang", 1)]
)
def test_what_is_killed_stopped_or_hangs_costs_no_record(tmp_path, expected, fault, times):
    result = faults.try_fault(fault, expected, tmp_path, times=times)
    assert (result.code, result.same, result.times) == (0, True, times), (tmp_path / fault / "log.txt").read_text()


def test_workers_whose_lifetime_ends_cost_no_record(tmp_path, expected):
    """dask-jobqueue 122: they leave below the walltime, over and over, and others come."""
    result = faults.try_fault("lifetime", expected, tmp_path)
    assert (result.code, result.same) == (0, True), (tmp_path / "lifetime" / "log.txt").read_text()
    assert result.times >= 2


def test_an_item_that_kills_its_workers_is_given_up_after_three_and_the_rest_goes_on(tmp_path):
    """distributed 2694, and 5234: those that waited behind it are not blamed."""
    script = tmp_path / "deadly.py"
    script.write_text(DEADLY)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "runs")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1 failed: killed 3 workers (out of memory, or killed from outside)",
        "5 stored",
    ]


DEADLY = """
import os, signal, sys
from pathlib import Path
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.sweep import run
from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.dask import make_dask
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.store import Store
from nsr.paper.sweep.worker import run_item

EXPERIMENT = EXPERIMENTS["comparisons"]
SMOKE = EXPERIMENT.profiles["smoke"]
ITEMS = plan(EXPERIMENT, SMOKE, ("exact",), range(6), block=1, keep=lambda cell: cell.model == "nsr")[:6]

def deadly(item):
    if item.seeds[0] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_item(item)

if __name__ == "__main__":
    run.run_item = deadly
    make = make_dask(ClusterConfig(executor="dask"), lambda _: None)
    store = Store(Path(sys.argv[1]))
    failed = run.Sweep(store, lambda: make(2), 2, run.Observer()).run(ITEMS)
    print(len(failed), "failed:", store.failures()[0].traceback.splitlines()[0])
    print(len(store.records(EXPERIMENT)), "stored")
"""
