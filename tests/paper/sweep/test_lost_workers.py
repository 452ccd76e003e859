"""What a sweep does when its executor loses workers, with executors that lose them on purpose."""

import gc
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from queue import Empty
from types import SimpleNamespace

import pytest

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, identities
from nsr.paper.sweep import run as run_module
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.run import MAX_CRASHES, Observer, SchedulerLostError, Sweep
from nsr.paper.sweep.store import Store
from nsr.paper.sweep.worker import LostWorkerError, MismatchError, run_item

EXPERIMENT = EXPERIMENTS["comparisons"]
CELLS = EXPERIMENT.cells[6:8]
ITEMS = plan(EXPERIMENT, EXPERIMENT.profiles["smoke"], ("paper",), range(2), keep=lambda cell: cell in CELLS)


@pytest.fixture(autouse=True)
def _without_training(monkeypatch):
    run_cell = lambda cell, recipe, seeds, data: [{"train": 1.0, "epochs": 50.0} for _ in seeds]  # noqa: E731
    monkeypatch.setitem(EXPERIMENTS, "comparisons", replace(EXPERIMENT, run=run_cell))


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


@pytest.mark.parametrize("error", [LostWorkerError("node7 is gone", blamed=True), KilledWorker("node7 is gone")])
def test_an_item_that_loses_three_workers_is_a_record_and_the_rest_goes_on(tmp_path, error):
    executor = Faulty(lambda item, _: error if item == ITEMS[0] else None)
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
    sweep = run(tmp_path, executor)
    assert stored(sweep) == 4
    assert set(sweep.crashes.values()) == {0}


def test_what_has_lost_its_worker_is_not_reserved_until_it_runs_again(tmp_path):
    claims: list[int] = []

    class Counted(Observer):
        def tick(self):
            claims.append(claimed(tmp_path))

    run(tmp_path, Faulty(lambda _, tries: LostWorkerError("lost", blamed=True) if tries == 1 else None), Counted())
    assert claims == [0, 0]


def claimed(folder: Path) -> int:
    with closing(Store(folder)) as store:
        return store._connection.execute("SELECT count(*) FROM claims").fetchone()[0]


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


def test_an_executor_that_is_full_costs_no_transaction(tmp_path):
    statements: list[str] = []
    sweep = Sweep(Store(tmp_path), lambda: Faulty(lambda *_: None), 1, Observer())
    sweep.queue.extend(ITEMS)
    sweep.store._connection.set_trace_callback(statements.append)
    assert sweep._choose(1, {Future(): ITEMS[0]}) == []
    assert statements == []
    assert sweep._choose(2, {Future(): ITEMS[0]}) == ITEMS[:1]
    assert statements != []


def test_what_others_have_stored_is_reported_as_finished(tmp_path, monkeypatch):
    finished = []

    class Heard(Observer):
        def finished(self, item, records):
            finished.append((item, len(records)))

    run(tmp_path, Faulty(lambda *_: None))
    monkeypatch.setattr(run_module, "time", SimpleNamespace(sleep=lambda _: None))
    monkeypatch.setattr(Sweep, "_finished", lambda *_: [])
    run(tmp_path, Faulty(lambda *_: None), Heard())
    assert finished == [(item, 0) for item in ITEMS]


# Executors that break, as a pool of processes does when one of them is killed.

FOUR = plan(
    EXPERIMENT,
    EXPERIMENT.profiles["smoke"],
    ("paper",),
    range(1),
    keep=lambda cell: cell in EXPERIMENT.cells[6:10],
)


class Pool(Executor):
    """Breaks when the first of four items runs: then all that it has and gets is lost."""

    def __init__(self, fate: Callable[[Item], BaseException | None] = lambda _: None) -> None:
        self.fate = fate
        self.items: list[int] = []
        self.broken = False
        self.ended: list[dict] = []

    def submit(self, function, /, versions, run, item):
        self.items.append(FOUR.index(item))
        future: Future = Future()
        self.broken |= item == FOUR[0]
        error = BrokenExecutor("a process was killed") if self.broken else self.fate(item)
        if error is None:
            future.set_result(function(versions, run, item))
        else:
            future.set_exception(error)
        return future

    def shutdown(self, **options):
        self.ended.append(options)


class Arrived:
    """A queue that keeps how long it would have waited."""

    def __init__(self, waits: list[float]) -> None:
        self.waits, self.futures = waits, list[Future]()

    def put(self, future: Future) -> None:
        self.futures.append(future)

    def get(self, *, timeout: float) -> Future:
        self.waits.append(timeout)
        return self.get_nowait()

    def get_nowait(self) -> Future:
        if not self.futures:
            raise Empty
        return self.futures.pop(0)


class Impatient(Observer):
    """Keeps what has finished, and ends a sweep that does not."""

    def __init__(self) -> None:
        self.ticks = 0
        self.items: list[tuple[int, int]] = []

    def finished(self, item, records):
        self.items.append((FOUR.index(item), len(records)))

    def tick(self):
        self.ticks += 1
        assert self.ticks < 12, "it does not end"


def sweep_of_four(folder: Path, make: Callable[[int], Executor]) -> tuple[Sweep, list[Executor], Impatient]:
    """Two at once, on executors that are made with their number. Nothing is reserved when one is made."""
    made: list[Executor] = []
    observer = Impatient()

    def make_executor() -> Executor:
        assert claimed(folder) == 0
        made.append(make(len(made)))
        return made[-1]

    sweep = Sweep(Store(folder), make_executor, 2, observer)
    sweep._arrived = Arrived([])
    sweep.run(FOUR)
    assert claimed(folder) == 0
    assert [each.ended for each in made] == [[{"wait": False, "cancel_futures": True}]] * len(made)
    return sweep, made, observer


def lost_once() -> Callable[[Item], BaseException | None]:
    errors = [LostWorkerError("lost", blamed=False)]
    return lambda item: errors.pop() if item == FOUR[1] and errors else None


@pytest.mark.parametrize(
    ("make_fate", "submitted", "finished"),
    [
        (lambda: lambda _: None, [1, 2, 3], [(0, 0), (1, 1), (2, 1), (3, 1)]),
        (lost_once, [1, 2, 3, 1], [(0, 0), (2, 1), (3, 1), (1, 1)]),
        (
            lambda: lambda item: ZeroDivisionError() if item == FOUR[1] else None,
            [1, 2, 3],
            [(0, 0), (1, 0), (2, 1), (3, 1)],
        ),
    ],
)
def test_suspects_run_alone_until_one_has_broken_three_executors(tmp_path, make_fate, submitted, finished):
    """The other one, whatever becomes of it, is no suspect afterwards, and the rest runs two at a time."""
    fate = make_fate()
    sweep, made, observer = sweep_of_four(tmp_path, lambda _: Pool(fate))
    assert [pool.items for pool in made] == [[0, 1], [0], [0], [0], submitted]
    assert observer.items == finished
    assert observer.ticks == (7 if submitted == [1, 2, 3, 1] else 6)
    assert (sweep.crashes[FOUR[0]], sweep.crashes[FOUR[1]], sweep.suspects) == (3, 0, set())
    assert sweep.failed[0] == FOUR[0]
    failure = sweep.store.failures()[0]
    assert failure.item == FOUR[0].key
    assert failure.traceback == "killed 3 workers (out of memory, or killed from outside)\n"


class Refusing(Faulty):
    """Takes this many items."""

    def __init__(self, items: int) -> None:
        super().__init__(lambda *_: None)
        self.left, self.items, self.ended = items, list[int](), list[dict]()

    def submit(self, function, /, versions, run, item):
        self.items.append(FOUR.index(item))
        self.left -= 1
        if self.left < 0:
            raise BrokenExecutor("broken while it was idle")
        return super().submit(function, versions, run, item)

    def shutdown(self, **options):
        self.ended.append(options)


@pytest.mark.parametrize(
    ("taken", "expected"),
    [(0, [[0], [0, 1, 2, 3]]), (1, [[0, 1], [1, 2, 3]]), (3, [[0, 1, 2, 3], [3]])],
)
def test_an_executor_that_refuses_items_is_replaced_and_they_keep_their_order(tmp_path, taken, expected):
    sweep, made, observer = sweep_of_four(tmp_path, lambda number: Refusing(9 if number else taken))
    assert [pool.items for pool in made] == expected
    assert (sweep.failed, sweep.suspects, sum(sweep.crashes.values())) == ([], set(), 0)
    assert sorted(observer.items) == [(0, 1), (1, 1), (2, 1), (3, 1)]


def test_what_was_running_when_an_executor_refuses_items_is_a_suspect(tmp_path):
    class Stuck(Refusing):
        def submit(self, function, /, versions, run, item):
            super().submit(function, versions, run, item)
            return Future()

    sweep, made, observer = sweep_of_four(tmp_path, lambda number: Refusing(9) if number else Stuck(1))
    assert [pool.items for pool in made] == [[0, 1], [0, 1, 2, 3]]
    assert sweep.crashes[FOUR[0]] == 1
    assert observer.items == [(0, 1), (1, 1), (2, 1), (3, 1)]
    assert observer.ticks == 4  # refused, then alone, then two, then one


def test_waiting_ends_after_a_second_or_when_something_arrives(tmp_path, monkeypatch):
    """So that progress is shown, and what others have reserved is looked for, with nothing running."""
    waits: list[float] = []
    sweep = Sweep(Store(tmp_path), lambda: Faulty(lambda *_: None), 2, Observer())
    claim = sweep.store.claim

    monkeypatch.setattr(run_module, "time", SimpleNamespace(sleep=waits.append))
    monkeypatch.setattr(sweep.store, "claim", lambda item: len(waits) >= 2 and claim(item))
    sweep._arrived = Arrived(waits)
    assert sweep.run(ITEMS) == []
    assert len(waits) == 3  # once with nothing running, and once for the results
    assert sum(waits[:2]) <= 1.5
    assert waits[2] <= 1
    assert min(waits) > 0
