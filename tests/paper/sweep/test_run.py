"""A sweep keeps going: failures are records, dead workers are replaced, and an item may crash three of them."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item
from nsr.paper.sweep import executors, run
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.run import Observer, Sweep, run_item
from nsr.paper.sweep.store import Store

EXPERIMENT = EXPERIMENTS["comparisons"]
SMOKE = EXPERIMENT.profiles["smoke"]


def items(block: int = 100, cells: slice = slice(6, 8)) -> list[Item]:
    chosen = EXPERIMENT.cells[cells]
    return plan(EXPERIMENT, SMOKE, ("paper",), range(3), block=block, keep=lambda cell: cell in chosen)


def sweep(folder: Path, make_executor: Callable[[], Executor], workers: int = 2) -> Sweep:
    return Sweep(Store(folder), make_executor, workers, Observer())


def numbers(folder: Path) -> list[tuple]:
    records = Store(folder).records(EXPERIMENT)
    return sorted((repr(r.cell), r.recipe.name, r.seed, tuple(r.metrics.items())) for r in records)


def test_an_item_gives_a_record_for_each_seed_with_what_it_took():
    began = time.perf_counter()
    records = run_item(items()[0])
    elapsed = time.perf_counter() - began
    assert [record.seed for record in records] == [0, 1, 2]
    assert sum(record.seconds for record in records) <= elapsed
    for record in records:
        assert record.seconds > 0
        assert record.memory > 2**20
        assert '"torch":' in record.environment


def test_the_data_folder_of_an_item_reaches_the_experiment(tmp_path, monkeypatch):
    folders = []

    def run_cell(cell, recipe, seeds, data):
        folders.append(data)
        return [{} for _ in seeds]

    monkeypatch.setitem(EXPERIMENTS, "comparisons", replace(EXPERIMENT, run=run_cell))
    item = plan(EXPERIMENT, SMOKE, ("paper",), range(2), data=tmp_path)[0]
    run_item(item)
    run_item(replace(item, data=None))
    assert folders == [tmp_path, None]


class Heard(Observer):
    """Keeps the names of its calls."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def planned(self, items: list[Item]) -> None:
        self.calls.append(len(items))

    def finished(self, item: Item, records: list[object]) -> None:
        self.calls.append((len(item.seeds), len(records)))

    def close(self) -> None:
        self.calls.append("close")


def test_an_observer_hears_of_the_plan_of_every_item_and_of_the_end(tmp_path, monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "comparisons", replace(EXPERIMENT, run=lambda c, r, seeds, d: [{} for _ in seeds]))
    planned, heard = items(), Heard()
    assert Sweep(Store(tmp_path), lambda: ThreadPoolExecutor(1), 1, heard).run(planned) == []
    assert heard.calls == [len(planned), *[(3, 3)] * len(planned), "close"]


def test_workers_that_are_at_an_item_are_ended_and_not_waited_for():
    executor = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
    executor.submit(time.sleep, 60)
    [process] = executor._processes.values()
    began = time.monotonic()
    run.shut_down(executor)
    assert time.monotonic() - began < 30
    assert process.exitcode == -signal.SIGTERM


@pytest.mark.outer
def test_block_sizes_and_workers_change_no_number(tmp_path):
    sweep(tmp_path / "a", lambda: ThreadPoolExecutor(1), 1).run(items())
    sweep(tmp_path / "b", lambda: executors.local(2), 2).run(items(block=2))
    sweep(tmp_path / "c", lambda: ThreadPoolExecutor(1), 1).run(items(block=1))
    assert len(numbers(tmp_path / "a")) == 6
    assert numbers(tmp_path / "a") == numbers(tmp_path / "b") == numbers(tmp_path / "c")


def test_a_failure_is_a_record_and_the_rest_goes_on(tmp_path, monkeypatch):
    culprit = items()[0]

    def sometimes(item: Item):
        if item == culprit:
            raise RuntimeError("out of paper")
        return run_item(item)

    monkeypatch.setattr(run, "run_item", sometimes)
    this = sweep(tmp_path, lambda: ThreadPoolExecutor(2))
    assert this.run(items()) == [culprit]
    (failure,) = this.store.failures()
    assert failure.item == culprit.key
    assert "RuntimeError: out of paper" in failure.traceback
    assert len(this.store.records(EXPERIMENT)) == 3
    monkeypatch.undo()
    assert sweep(tmp_path, lambda: ThreadPoolExecutor(2)).run([culprit]) == []
    assert this.store.failures() == []


def test_what_another_process_finished_meanwhile_is_not_run_again(tmp_path, monkeypatch):
    sweep(tmp_path, lambda: ThreadPoolExecutor(1)).run(items())
    monkeypatch.setattr(run, "run_item", lambda _: pytest.fail("ran again"))
    assert sweep(tmp_path, lambda: ThreadPoolExecutor(1)).run(items()) == []


def test_what_another_process_is_at_is_waited_for(tmp_path):
    this = sweep(tmp_path, lambda: ThreadPoolExecutor(1))
    denied = []
    claim = this.store.claim

    def later(item: Item) -> bool:
        if len(denied) < 2:
            denied.append(item)
            return False
        return claim(item)

    this.store.claim = later
    this.run(items())
    assert len(numbers(tmp_path)) == 6


# Functions that a worker process runs must be found by name.

CELLS = {"deadly": EXPERIMENT.cells[6], "harmless": EXPERIMENT.cells[7]}


def deadly(item: Item):
    if item.cell == CELLS["deadly"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_item(item)


def deadly_twice(item: Item):
    marks = Path(os.environ["NSR_TEST_MARKS"])
    if item.cell == CELLS["deadly"] and len(list(marks.iterdir())) < 2:
        (marks / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_item(item)


def forked() -> Executor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver"))


@pytest.mark.outer
def test_an_item_that_kills_three_workers_is_given_up_and_the_others_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "run_item", deadly)
    this = sweep(tmp_path, forked)
    (failed,) = this.run(items())
    assert failed.cell == CELLS["deadly"]
    assert this.crashes == {failed: 3}
    (failure,) = this.store.failures()
    assert failure.traceback == "killed 3 workers (out of memory, or killed from outside)\n"
    assert {record.cell for record in this.store.records(EXPERIMENT)} == {CELLS["harmless"]}


@pytest.mark.outer
def test_an_item_that_kills_two_workers_still_gets_there(tmp_path, monkeypatch):
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setenv("NSR_TEST_MARKS", str(marks))
    monkeypatch.setattr(run, "run_item", deadly_twice)
    this = sweep(tmp_path / "runs", lambda: executors.local(2))  # spawned, so that the marks are in its environment
    assert this.run(items()) == []
    assert len(list(marks.iterdir())) == 2
    assert len(this.store.records(EXPERIMENT)) == 6


@pytest.mark.outer
def test_an_executor_that_breaks_when_idle_is_replaced(tmp_path):
    made = []

    def make_executor() -> Executor:
        made.append(forked())
        if len(made) == 1:
            with pytest.raises(Exception, match="terminated abruptly"):
                made[0].submit(os._exit, 1).result()
        return made[-1]

    assert sweep(tmp_path, make_executor).run(items()) == []
    assert len(made) == 2
