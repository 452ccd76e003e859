"""Run items on an executor, store each finished block at once, and survive workers that die.

The parent alone writes the store. Workers return values; a block that arrives twice is stored once.
"""

import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from nsr.errors import FailedError
from nsr.paper.records import Item, Record
from nsr.paper.sweep.store import Store
from nsr.paper.sweep.worker import LostWorkerError, MismatchError, run_checked, run_item, versions

MAX_CRASHES = 3
"""An item fails when it has crashed this many workers."""
LOST = frozenset({"KilledWorker", "WorkerLost", "ManagerLost"})
"""How dask and parsl call the error of an item whose worker is lost."""

Running = dict[Future[list[Record]], Item]


class SchedulerLostError(BrokenExecutor):
    """An executor lost all of its workers at once. No item is the cause."""


class NoWorkersError(FailedError):
    """An executor has no workers and gets none, for a reason that is in the text. The sweep ends with it."""


class Observer:
    """Receives the progress of a sweep. This one ignores it."""

    def planned(self, items: list[Item]) -> None:
        """Called once, with everything that will run."""

    def finished(self, item: Item, records: list[Record]) -> None:
        """Called after each item; without records when it failed or when another process ran it."""

    def workers(self, count: int) -> None:
        """Called again and again with the number of workers."""

    def tick(self) -> None:
        """Called about once a second."""

    def close(self) -> None:
        """Called at the end, also after an error."""


@dataclass
class Sweep:
    """The state of one run: items that wait, and items that are suspected of crashing workers."""

    store: Store
    make_executor: Callable[[], Executor]
    """Called again when a crash has broken the last executor."""
    workers: int
    """Number of items that run at once, unless the executor has a ``capacity`` of its own, which may change."""
    observer: Observer
    queue: deque[Item] = field(default_factory=deque)
    suspects: set[Item] = field(default_factory=set)
    crashes: Counter[Item] = field(default_factory=Counter)
    failed: list[Item] = field(default_factory=list)
    _arrived: SimpleQueue[Future[list[Record]]] = field(default_factory=SimpleQueue)

    def run(self, items: Iterable[Item]) -> list[Item]:
        """Run all items; returns those that failed, each of which is recorded in the store."""
        self.queue.extend(items)
        if not self.queue:
            return []
        self.observer.planned(list(self.queue))
        running: Running = {}
        executor = self.make_executor()
        try:
            while self.queue or running:
                intact = self._submit(executor, running)
                if not running:
                    time.sleep(0.5)  # everything that is left runs in another process, or no worker is there
                finished = self._finished(running)
                broken = {type(error) for f in finished if isinstance(error := _error(f), BrokenExecutor)}
                self._handle(finished, running)
                if broken or not intact:
                    blameless = bool(broken) and all(issubclass(kind, SchedulerLostError) for kind in broken)
                    self._requeue(list(running.values()), blameless)
                    running.clear()
                    shut_down(executor)
                    executor = self.make_executor()
                self.observer.tick()
        finally:
            shut_down(executor)
            with self.store.reserving():
                for item in running.values():
                    self.store.release(item)
            self.observer.close()
        return self.failed

    def _capacity(self, executor: Executor) -> int:
        """How many items may be with the executor."""
        capacity = getattr(executor, "capacity", None)
        items, workers = capacity() if capacity is not None else (self.workers, self.workers)
        self.observer.workers(workers)
        return int(items)

    def _submit(self, executor: Executor, running: Running) -> bool:
        """Fill the executor; False if it is broken. Suspects run alone, so that a crash has one cause."""
        chosen = self._choose(1 if self.suspects else self._capacity(executor), running)
        for number, item in enumerate(chosen):
            try:
                future = executor.submit(run_checked, versions(), run_item, item)
            except BrokenExecutor:
                with self.store.reserving():
                    for left in chosen[number:]:
                        self.store.release(left)
                self.queue.extendleft(reversed(chosen[number:]))
                return False
            running[future] = item
            future.add_done_callback(self._arrived.put)
        return True

    def _choose(self, limit: int, running: Running) -> list[Item]:
        """The next items, reserved for this process."""
        chosen, present = list[Item](), list[Item]()
        if len(running) >= limit or self.suspects.intersection(running.values()):
            return chosen
        with self.store.reserving():
            for _ in range(len(self.queue)):
                if len(running) + len(chosen) >= limit:
                    break
                item = self.queue.popleft()
                if self.store.has(item):  # another process ran it meanwhile
                    present.append(item)
                elif self.store.claim(item):
                    chosen.append(item)
                else:
                    self.queue.append(item)  # another process is running it: check again later
        for item in present:
            self.observer.finished(item, [])
        return chosen

    def _finished(self, running: Running) -> list[Future[list[Record]]]:
        """The futures that have arrived, after at most a second; those of an executor that was replaced are ignored."""
        arrived = []
        try:
            arrived.append(self._arrived.get(timeout=1))
            while True:
                arrived.append(self._arrived.get_nowait())
        except Empty:
            return [future for future in arrived if future in running]

    def _handle(self, finished: list[Future[list[Record]]], running: Running) -> None:
        """Store what has arrived, all of it in one transaction, and run again what was lost."""
        results = [future for future in finished if _error(future) is None]
        with self.store.together():
            for future in results:
                self.store.add(running[future], future.result())
        for future in results:
            item = running.pop(future)
            self.suspects.discard(item)
            self.observer.finished(item, future.result())
        for future in finished:
            error = _error(future)
            if error is not None and not isinstance(error, BrokenExecutor):
                self._handle_error(running.pop(future), error)

    def _handle_error(self, item: Item, error: BaseException) -> None:
        self.suspects.discard(item)
        if isinstance(error, MismatchError | NoWorkersError):
            self.store.release(item)
            raise error
        if isinstance(error, LostWorkerError) or type(error).__name__ in LOST:
            self.store.release(item)
            self.crashes[item] += getattr(error, "blamed", True)
            if self.crashes[item] >= MAX_CRASHES:
                self._give_up(item, str(error))
            else:
                self.queue.append(item)  # last, so that workers lost for one reason do not all count against one item
        else:
            self._store_failure(item, "".join(traceback.format_exception(error)))

    def _give_up(self, item: Item, reason: str) -> None:
        self.suspects.discard(item)
        text = f"killed {MAX_CRASHES} workers (out of memory, or killed from outside)\n"
        self._store_failure(item, f"{text}{reason}\n" if reason else text)

    def _store_failure(self, item: Item, reason: str) -> None:
        self.store.fail(item, reason)
        self.failed.append(item)
        self.observer.finished(item, [])

    def _requeue(self, items: list[Item], blameless: bool) -> None:
        """After a crash: an item that ran alone caused it; otherwise all are suspects and run again one by one."""
        with self.store.reserving():
            for item in items:
                self.store.release(item)
        if blameless:
            self.queue.extendleft(reversed(items))
            return
        if len(items) == 1:
            self.crashes[items[0]] += 1
        for item in reversed(items):
            if self.crashes[item] >= MAX_CRASHES:
                self._give_up(item, "")
            else:
                self.suspects.add(item)
                self.queue.appendleft(item)


def _error(future: Future[list[Record]]) -> BaseException | None:
    """What a finished future raises; one that was cancelled has lost its worker."""
    if future.cancelled():
        return LostWorkerError("the executor cancelled the item", blamed=False)
    return future.exception()


def shut_down(executor: Executor) -> None:
    """Cancel what is queued and end the workers now: what they were running is run again next time."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()
