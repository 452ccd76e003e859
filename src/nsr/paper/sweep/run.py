"""Run items on an executor, store each finished block at once, and survive workers that die."""

import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record
from nsr.paper.sweep.environment import environment, peak_memory
from nsr.paper.sweep.store import Store

MAX_CRASHES = 3
"""An item fails when it has crashed this many workers."""


class Observer:
    """Receives the progress of a sweep. This one ignores it."""

    def planned(self, items: list[Item]) -> None:
        """Called once, with everything that will run."""

    def finished(self, item: Item, records: list[Record]) -> None:
        """Called after each item; without records when it failed or when another process ran it."""

    def tick(self) -> None:
        """Called about once a second."""

    def close(self) -> None:
        """Called at the end, also after an error."""


def run_item(item: Item) -> list[Record]:
    """Train and measure one block of seeds: what a worker does."""
    began = time.perf_counter()
    measured = EXPERIMENTS[item.experiment].run(item.cell, item.recipe, item.seeds, item.data)
    seconds = (time.perf_counter() - began) / len(item.seeds)
    return [
        Record(
            item.experiment,
            item.revision,
            item.cell,
            item.recipe,
            item.profile,
            seed,
            metrics,
            seconds,
            peak_memory(),
            environment(),
        )
        for seed, metrics in zip(item.seeds, measured, strict=True)
    ]


@dataclass
class Sweep:
    """The state of one run: items that wait, and items that are suspected of crashing workers."""

    store: Store
    make_executor: Callable[[], Executor]
    """Called again when a crash has broken the last executor."""
    workers: int
    """Number of items that run at once."""
    observer: Observer
    queue: deque[Item] = field(default_factory=deque)
    suspects: set[Item] = field(default_factory=set)
    crashes: Counter[Item] = field(default_factory=Counter)
    failed: list[Item] = field(default_factory=list)

    def run(self, items: Iterable[Item]) -> list[Item]:
        """Run all items; returns those that failed, each of which is recorded in the store."""
        self.queue.extend(items)
        if not self.queue:
            return []
        self.observer.planned(list(self.queue))
        running: dict[Future[list[Record]], Item] = {}
        executor = self.make_executor()
        try:
            while self.queue or running:
                intact = self._submit(executor, running)
                if not running:
                    time.sleep(0.5)  # everything that is left runs in another process
                finished, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                crashed = [running[future] for future in finished if isinstance(future.exception(), BrokenExecutor)]
                for future in finished:
                    item = running.pop(future)
                    if item not in crashed:
                        self._store_result(item, future)
                if crashed or not intact:
                    self._requeue([*crashed, *running.values()])
                    running.clear()
                    shut_down(executor)
                    executor = self.make_executor()
                self.observer.tick()
        finally:
            shut_down(executor)
            for item in running.values():
                self.store.release(item)
            self.observer.close()
        return self.failed

    def _submit(self, executor: Executor, running: dict[Future[list[Record]], Item]) -> bool:
        """Fill the executor; False if it is broken. Suspects run alone, so that a crash has one cause."""
        limit = 1 if self.suspects else self.workers
        for _ in range(len(self.queue)):
            if len(running) >= limit or self.suspects.intersection(running.values()):
                break
            item = self.queue.popleft()
            if self.store.has(item):  # another process ran it meanwhile
                self.observer.finished(item, [])
            elif not self.store.claim(item):
                self.queue.append(item)  # another process is running it: check again later
            else:
                try:
                    running[executor.submit(run_item, item)] = item
                except BrokenExecutor:
                    self.queue.appendleft(item)
                    return False
        return True

    def _store_result(self, item: Item, future: Future[list[Record]]) -> None:
        self.suspects.discard(item)
        error = future.exception()
        if error is None:
            self.store.add(item, future.result())
            self.observer.finished(item, future.result())
        else:
            self._store_failure(item, "".join(traceback.format_exception(error)))

    def _store_failure(self, item: Item, reason: str) -> None:
        self.store.fail(item, reason)
        self.failed.append(item)
        self.observer.finished(item, [])

    def _requeue(self, items: list[Item]) -> None:
        """After a crash: an item that ran alone caused it; otherwise all are suspects and run again one by one."""
        for item in items:
            self.store.release(item)
        if len(items) == 1:
            self.crashes[items[0]] += 1
        for item in reversed(items):
            if self.crashes[item] >= MAX_CRASHES:
                self.suspects.discard(item)
                self._store_failure(item, f"killed {MAX_CRASHES} workers (out of memory, or killed from outside)\n")
            else:
                self.suspects.add(item)
                self.queue.appendleft(item)


def shut_down(executor: Executor) -> None:
    """Cancel what is queued and end the workers now: what they were running is run again next time."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()
