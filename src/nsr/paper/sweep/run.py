"""Run items on an executor, keep each finished block at once, outlive workers that die."""

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

LIVES = 3
"""An item is given up when it has killed so many workers."""


class Observer:
    """Is notified of the progress of a sweep. This one does nothing."""

    def planned(self, items: list[Item]) -> None:
        """Called once, with everything that will run."""

    def finished(self, item: Item, records: list[Record]) -> None:
        """Called after each item; without records when it failed or when another process ran it."""

    def tick(self) -> None:
        """Called about once a second."""

    def close(self) -> None:
        """Called at the end, also after an error."""


def run_item(item: Item) -> list[Record]:
    """One block of seeds, trained and measured: what a worker does."""
    experiment = EXPERIMENTS[item.experiment]
    began = time.perf_counter()
    measured = experiment.run(item.cell, item.recipe, item.seeds, item.data)
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
    """The state of one run: what waits, what is under way, and who is suspected of killing workers."""

    store: Store
    start: Callable[[], Executor]
    """Makes an executor; called again when a dead worker has broken the last one."""
    width: int
    """How many items are under way at once."""
    observer: Observer
    queue: deque[Item] = field(default_factory=deque)
    suspects: set[Item] = field(default_factory=set)
    deaths: Counter[Item] = field(default_factory=Counter)
    failed: list[Item] = field(default_factory=list)

    def run(self, items: Iterable[Item]) -> list[Item]:
        """Run all items; the ones that failed come back, each of them a record in the store."""
        self.queue.extend(items)
        self.observer.planned(list(self.queue))
        under_way: dict[Future[list[Record]], Item] = {}
        executor = self.start()
        try:
            while self.queue or under_way:
                alive = self._submit(executor, under_way)
                if not under_way:
                    time.sleep(0.5)  # all that is left is under way in another process
                finished, _ = wait(under_way, timeout=1, return_when=FIRST_COMPLETED)
                broken = [under_way[future] for future in finished if isinstance(future.exception(), BrokenExecutor)]
                for future in finished:
                    item = under_way.pop(future)
                    if item not in broken:
                        self._keep(item, future)
                if broken or not alive:
                    self._bury([*broken, *under_way.values()])
                    under_way.clear()
                    stop(executor)
                    executor = self.start()
                self.observer.tick()
        finally:
            stop(executor)
            for item in under_way.values():
                self.store.release(item)
            self.observer.close()
        return self.failed

    def _submit(self, executor: Executor, under_way: dict[Future[list[Record]], Item]) -> bool:
        """Fill the executor, and say whether it is alive. Suspects run alone, so that a death has one culprit."""
        width = 1 if self.suspects else self.width
        for _ in range(len(self.queue)):
            if len(under_way) >= width or self.suspects.intersection(under_way.values()):
                break
            item = self.queue.popleft()
            if self.store.has(item):  # another process ran it meanwhile
                self.observer.finished(item, [])
            elif not self.store.claim(item):
                self.queue.append(item)  # another process is at it: look again later
            else:
                try:
                    under_way[executor.submit(run_item, item)] = item
                except BrokenExecutor:
                    self.queue.appendleft(item)
                    return False
        return True

    def _keep(self, item: Item, future: Future[list[Record]]) -> None:
        self.suspects.discard(item)
        problem = future.exception()
        if problem is None:
            self.store.add(item, future.result())
            self.observer.finished(item, future.result())
        else:
            self._give_up(item, "".join(traceback.format_exception(problem)))

    def _bury(self, items: list[Item]) -> None:
        """A worker died: whoever was alone did it, otherwise all are suspects and run again one by one."""
        for item in items:
            self.store.release(item)
        if len(items) == 1:
            self.deaths[items[0]] += 1
        for item in reversed(items):
            if self.deaths[item] >= LIVES:
                self.suspects.discard(item)
                self._give_up(item, f"killed {LIVES} workers (out of memory, or killed from outside)\n")
            else:
                self.suspects.add(item)
                self.queue.appendleft(item)

    def _give_up(self, item: Item, reason: str) -> None:
        self.store.fail(item, reason)
        self.failed.append(item)
        self.observer.finished(item, [])


def stop(executor: Executor) -> None:
    """Drop what is queued and end the workers now: what they were at is run again next time."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()
