"""What a sweep does when its executor loses workers, with executors that lose them on purpose."""

import gc
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, identities
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.run import MAX_CRASHES, Observer, SchedulerLostError, Sweep
from nsr.paper.sweep.store import Store
from nsr.paper.sweep.worker import LostWorkerError, MismatchError, run_item

EXPERIMENT = EXPERIMENTS["comparisons"]
CELLS = EXPERIMENT.cells[6:8]
ITEMS = plan(EXPERIMENT, EXPERIMENT.profiles["smoke"], ("paper",), range(2), keep=lambda cell: cell in CELLS)


class Faulty(Executor):
    """Runs an item, or fails it in the way that ``fate`` says."""

    def __init__(self, fate: Callable[[Item, int], BaseException | None]) -> None:
        self.fate = fate
        self.tries: Counter[Item] = Counter()
        self.futures: list[Future] = []

    def submit(self, function, /, versions, run, item):
        self.tries[item] += 1
        future: Future = Future()
        self.futures.append(future)
        error = self.fate(item, self.tries[item])
        if error is None:
            future.set_result(function(versions, run, item))
        elif isinstance(error, KeyError):
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_exception(error)
        return future


def run(folder: Path, executor: Executor, observer: Observer | None = None) -> Sweep:
    sweep = Sweep(Store(folder), lambda: executor, 2, observer or Observer())
    sweep.run(ITEMS)
    return sweep


def stored(sweep: Sweep) -> int:
    return len(sweep.store.records(EXPERIMENT))


class KilledWorker(Exception):  # noqa: N818  as Dask calls it
    pass


@pytest.mark.parametrize("error", [LostWorkerError("lost", blamed=True), KilledWorker("lost")])
def test_a_lost_worker_is_a_retry(tmp_path, error):
    """distributed 2694: when Slurm kills workers, Dask raises KilledWorker. The item is not the one to fail."""
    executor = Faulty(lambda item, tries: error if item == ITEMS[0] and tries < MAX_CRASHES else None)
    sweep = run(tmp_path, executor)
    assert executor.tries == {ITEMS[0]: MAX_CRASHES, ITEMS[1]: 1}
    assert (sweep.failed, stored(sweep)) == ([], 4)


def test_an_item_that_loses_three_workers_is_a_record_and_the_rest_goes_on(tmp_path):
    executor = Faulty(lambda item, _: LostWorkerError("node7 is gone", blamed=True) if item == ITEMS[0] else None)
    sweep = run(tmp_path, executor)
    assert executor.tries[ITEMS[0]] == MAX_CRASHES
    (failure,) = sweep.store.failures()
    assert failure.traceback == "killed 3 workers (out of memory, or killed from outside)\nnode7 is gone\n"
    assert stored(sweep) == 2


def test_preemption_is_no_failure_however_often(tmp_path):
    """submitit 1770: a job that is preempted is not a job that failed."""
    executor = Faulty(lambda item, tries: LostWorkerError("preempted", blamed=False) if tries < 20 else None)
    sweep = run(tmp_path, executor)
    assert (sweep.failed, stored(sweep)) == ([], 4)
    assert set(sweep.crashes.values()) == {0}


def test_cancelled_by_the_executor_is_lost_and_not_failed(tmp_path):
    executor = Faulty(lambda item, tries: KeyError() if tries == 1 else None)
    assert stored(run(tmp_path, executor)) == 4


def test_a_lost_scheduler_makes_nobody_a_suspect(tmp_path):
    """Dask 5234: what was queued when the scheduler died had no part in it."""
    made = []

    def make_executor() -> Executor:
        made.append(Faulty(lambda *_: SchedulerLostError("gone") if len(made) < 6 else None))
        return made[-1]

    sweep = Sweep(Store(tmp_path), make_executor, 2, Observer())
    assert sweep.run(ITEMS) == []
    assert (len(made), sweep.suspects, sweep.crashes) == (6, set(), {})
    assert stored(sweep) == 4


def test_an_error_of_the_item_itself_is_a_record_at_once(tmp_path):
    executor = Faulty(lambda item, _: ZeroDivisionError("by zero") if item == ITEMS[0] else None)
    sweep = run(tmp_path, executor)
    assert (executor.tries[ITEMS[0]], sweep.failed) == (1, [ITEMS[0]])
    assert "ZeroDivisionError: by zero" in sweep.store.failures()[0].traceback


def test_a_worker_with_other_versions_ends_the_run_and_leaves_nothing_reserved(tmp_path):
    executor = Faulty(lambda *_: MismatchError("the worker has torch 1.0 instead of 2.0"))
    with pytest.raises(MismatchError, match=r"^the worker has torch 1\.0 instead of 2\.0$"):
        run(tmp_path, executor)
    assert Store(tmp_path)._connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    assert stored(run(tmp_path, Faulty(lambda *_: None))) == 4


def test_a_block_that_arrives_twice_is_stored_once(tmp_path):
    """Dask 7870 and snakemake 253: the same block may run twice; the first arrival counts."""
    sweep = run(tmp_path, Faulty(lambda *_: None))
    before = sweep.store._connection.execute("SELECT * FROM results").fetchall()
    for item in ITEMS:
        sweep.store.add(item, run_item(item))
    assert sweep.store._connection.execute("SELECT * FROM results").fetchall() == before


def test_a_run_that_is_continued_submits_only_what_is_missing(tmp_path):
    """snakemake 253: after a crash of the parent, jobs that had finished were submitted once more."""
    first = Faulty(lambda item, _: None if item == ITEMS[0] else MismatchError("the parent ends here"))
    with pytest.raises(MismatchError):
        run(tmp_path, first)
    second, store = Faulty(lambda *_: None), Store(tmp_path)
    smoke = EXPERIMENT.profiles["smoke"]
    todo = plan(EXPERIMENT, smoke, ("paper",), range(2), keep=lambda cell: cell in CELLS, done=store.lookup())
    sweep = Sweep(store, lambda: second, 2, Observer())
    assert sweep.run(todo) == []
    assert (second.tries, stored(sweep)) == ({ITEMS[1]: 1}, 4)


def test_what_another_parent_stores_meanwhile_is_not_submitted(tmp_path):
    """snakemake 253, with a parent that was believed dead."""
    other = Store(tmp_path)

    def fate(item: Item, _: int) -> None:
        if item == ITEMS[0]:
            other.add(ITEMS[1], run_item(ITEMS[1]))

    executor = Faulty(fate)
    sweep = Sweep(Store(tmp_path), lambda: executor, 1, Observer())
    assert sweep.run(ITEMS) == []
    assert (executor.tries, stored(sweep)) == ({ITEMS[0]: 1}, 4)


def test_what_is_committed_is_not_kept_in_memory(tmp_path):
    seen = []

    class Weak(Observer):
        def finished(self, _, records):
            seen.append(weakref.ref(records[0]))

    executor = Faulty(lambda *_: None)
    run(tmp_path, executor, Weak())
    executor.futures.clear()
    gc.collect()
    assert [reference() for reference in seen] == [None, None]


def test_calls_together_are_one_transaction_all_of_it_or_nothing(tmp_path):
    store = Store(tmp_path)

    def add_and_fail() -> None:
        with store.together():
            store.add(ITEMS[0], run_item(ITEMS[0]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        add_and_fail()
    assert not store.has(ITEMS[0])
    with store.together():
        store.add(ITEMS[0], run_item(ITEMS[0]))
    assert Store(tmp_path).has(ITEMS[0])


def test_results_are_looked_up_one_by_one(tmp_path):
    store = Store(tmp_path)
    store.add(ITEMS[0], run_item(ITEMS[0]))
    found = store.lookup()
    assert all(name in found for name in ITEMS[0].identities)
    assert not any(name in found for name in ITEMS[1].identities)


def test_the_identities_of_a_block_are_those_of_its_records():
    records = [record for item in ITEMS for record in run_item(item)]
    named = [name for item in ITEMS for name in item.identities]
    assert list(identities(records)) == [record.identity for record in records] == named


def test_blocks_that_arrive_together_are_committed_together(tmp_path):
    statements: list[str] = []
    sweep = Sweep(Store(tmp_path), lambda: Faulty(lambda *_: None), 2, Observer())
    sweep.store._connection.set_trace_callback(statements.append)
    sweep.run(ITEMS)
    inserts = [index for index, text in enumerate(statements) if text.startswith("INSERT OR IGNORE INTO results")]
    assert len(inserts) == 4
    assert "COMMIT" not in statements[inserts[0] : inserts[-1]]


def test_the_number_of_items_at_once_follows_the_executor(tmp_path):
    class Growing(Faulty):
        def capacity(self):
            return min(2, 1 + len(self.futures)), len(self.futures)

    counts = []

    class Counted(Observer):
        def workers(self, count):
            counts.append(count)

    run(tmp_path, Growing(lambda *_: None), Counted())
    assert counts[:2] == [0, 1]
