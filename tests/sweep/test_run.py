from concurrent.futures import ThreadPoolExecutor

import pytest

from nsr.experiments import EXPERIMENTS
from nsr.experiments.spec import PROFILES
from nsr.sweep import executors
from nsr.sweep.plan import plan
from nsr.sweep.run import run, run_item

EXPERIMENT = EXPERIMENTS["comparisons"]


def items(block: int = 100):
    return plan(EXPERIMENT, PROFILES["smoke"], EXPERIMENT.cells[6:8], ("paper",), range(3), block=block)


def numbers(records):
    return sorted((repr(r.cell), r.seed, tuple(r.metrics.items())) for r in records)


def test_an_item_gives_a_record_for_each_seed():
    records = run_item(items()[0])
    assert [record.seed for record in records] == [0, 1, 2]
    assert all(record.seconds > 0 and record.revision == EXPERIMENT.revision for record in records)


def test_spawned_processes_and_threads_and_block_sizes_give_the_same_numbers():
    here = [record for item in items() for record in run_item(item)]
    spawned = [record for _, block in run(items(block=2), executors.local(2)) for record in block]
    threads = [record for _, block in run(items(block=1), ThreadPoolExecutor(1)) for record in block]
    assert numbers(here) == numbers(spawned) == numbers(threads)


def test_an_item_that_fails_is_not_swallowed(monkeypatch):
    def fails(*_):
        raise RuntimeError("out of paper")

    monkeypatch.setattr("nsr.sweep.run.run_item", fails)
    with pytest.raises(RuntimeError, match="out of paper"):
        list(run(items(), ThreadPoolExecutor(1)))
