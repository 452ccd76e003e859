"""How far one parent goes: a thousand workers that come and go, by a real sweep over items that sleep, and on paper.

1 commits: how many blocks a second the parent chooses, receives and stores, with workers that answer at once.
2 dask: the same through a scheduler and workers in processes of their own, and beside it what Dask alone does with
  functions that do nothing.
3 sleeping: a real sweep, a real store and 1,000 workers that sleep, 5 % of which are lost in an hour.
4 memory: of the parent, with a million items planned, and with a million records stored already.
5 paper: a model of larger clusters from these figures, beside a simulation event by event.

Rates are also given for each second of CPU, which other work on the machine changes less.

    python benchmarks/sweep_simulation.py --json results/sweep_simulation.jsonl
    python benchmarks/sweep_simulation.py --only commits --before OTHER/src      # another version of nsr, in turns
"""

import argparse
import heapq
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record
from nsr.paper.sweep import run
from nsr.paper.sweep.environment import environment, peak_memory
from nsr.paper.sweep.plan import LONGEST, plan
from nsr.paper.sweep.run import Observer, Sweep
from nsr.paper.sweep.store import Store
from nsr.paper.sweep.worker import LostWorkerError

EXPERIMENT = EXPERIMENTS["comparisons"]
QUICK = EXPERIMENT.profiles["quick"]
METRICS = {
    "train": 1.0,
    **{f"10^{power}": 1.0 for power in range(2, 16)},
    "read": 1.0,
    "1000 digits": 1.0,
    "epochs": 500.0,
}
"""As many as a record of the comparisons has."""
WORKERS, LOST_PER_HOUR = 1000, 0.05


def items(blocks: int, seeds: int) -> list[Item]:
    """Blocks of one cell."""
    cell = EXPERIMENT.cells[6]
    return plan(EXPERIMENT, QUICK, ("exact",), range(blocks * seeds), block=seeds, keep=lambda each: each == cell)


def answer(item: Item) -> list[Record]:
    """Records as an item gives them, without training anything."""
    common = item.experiment, item.revision, item.cell, item.recipe, item.profile
    return [Record(*common, seed, dict(METRICS), 0.01, 10**8, environment()) for seed in item.seeds]


def nothing(_: int) -> None:
    """What Dask alone is measured with."""


class AtOnce(Executor):
    """Answers as soon as it is asked, from another thread."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.asked: list[tuple[Future[Any], Item]] = []
        self.more = threading.Condition()
        self.closed = False
        threading.Thread(target=self._answer, daemon=True).start()

    def capacity(self) -> tuple[int, int]:
        """Two items for each worker, as on Dask."""
        return 2 * self.workers, self.workers

    def submit(self, _: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Take an item."""
        future: Future[Any] = Future()
        with self.more:
            self.asked.append((future, arguments[-1]))
            self.more.notify()
        return future

    def _answer(self) -> None:
        while not self.closed:
            with self.more:
                self.more.wait_for(lambda: self.asked or self.closed, timeout=1)
                asked, self.asked = self.asked, []
            for future, item in asked:
                future.set_result(answer(item))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """End the thread."""
        self.closed = True


class Sleeping(AtOnce):
    """Workers that sleep over their items, each for about ``seconds``; some are lost and come back a minute later.

    Args:
        workers: How many.
        seconds: That an item takes on average.
        lost_per_second: Probability that a worker is lost within a second.
    """

    def __init__(self, workers: int, seconds: float, lost_per_second: float) -> None:
        self.seconds, self.lost_per_second, self.losses = seconds, lost_per_second, 0
        self.rng = random.Random(0)
        super().__init__(workers)

    def _answer(self) -> None:
        due: list[tuple[float, int, Future[Any], Item, bool]] = []
        free, number, waiting = self.workers, 0, list[tuple[Future[Any], Item]]()
        away: list[float] = []
        while not self.closed:
            now = time.monotonic()
            with self.more:
                waiting += self.asked
                self.asked = []
            while away and away[0] <= now:
                heapq.heappop(away)
                free += 1
            while waiting and free:
                future, item = waiting.pop(0)
                lasts, lost = self.rng.uniform(0.5, 1.5) * self.seconds, self._time_of_loss()
                heapq.heappush(due, (now + min(lasts, lost), number, future, item, lost < lasts))
                number, free = number + 1, free - 1
            while due and due[0][0] <= now:
                _, _, future, item, lost = heapq.heappop(due)
                if lost:
                    self.losses += 1
                    heapq.heappush(away, now + 60)
                    future.set_exception(LostWorkerError("lost", blamed=True))
                else:
                    free += 1
                    future.set_result(answer(item))
            time.sleep(0.002)

    def _time_of_loss(self) -> float:
        return self.rng.expovariate(self.lost_per_second) if self.lost_per_second else math.inf


def timed_sweep(make: Callable[[], Executor], todo: Sequence[Item], workers: int) -> tuple[float, float, int]:
    """Seconds of a sweep, seconds of CPU of this process, and how many records it stored."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("NSR_SIMULATION")) as name, closing(Store(Path(name))) as store:
        sweep = Sweep(store, make, workers, Observer())
        began, before = time.perf_counter(), time.process_time()
        if sweep.run(todo):
            raise RuntimeError("items have failed")
        seconds, cpu = time.perf_counter() - began, time.process_time() - before
        stored = store._connection.execute("SELECT count(*) FROM results").fetchone()[0]
    return seconds, cpu, int(stored)


def commits(seconds: float) -> Iterator[dict[str, Any]]:
    """Blocks a second that the parent can commit, by the seeds of a block."""
    for seeds in (1, 10, 100):
        blocks = max(200, int(seconds * 4000 / (5 + seeds)))
        took, cpu, stored = timed_sweep(lambda: AtOnce(WORKERS), items(blocks, seeds), WORKERS)
        yield {
            "seeds": seeds,
            "blocks": blocks,
            "per_second": round(blocks / took, 1),
            "per_cpu_second": round(blocks / cpu, 1),
            "exact": stored == blocks * seeds,
        }


def compared(before: Path, seconds: float, rounds: int = 3) -> Iterator[dict[str, Any]]:
    """The same for another version of nsr and for this one, in turns, each in a process of its own."""
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    sources = {"before": before.resolve(), "now": Path(__file__).resolve().parents[1] / "src"}
    for _ in range(rounds):
        for version, source in sources.items():
            environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
            with tempfile.TemporaryDirectory() as name:
                file = Path(name) / "figures.jsonl"
                words = ["--only", "commits", "--seconds", str(seconds), "--json", str(file)]
                command = [sys.executable, __file__, *words]
                subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
                for figures in map(json.loads, file.read_text().splitlines()):
                    runs.setdefault((version, figures["seeds"]), []).append(figures)
    for (version, seeds), found in runs.items():
        rates = {name: median(each[name] for each in found) for name in ("per_second", "per_cpu_second")}
        yield {"version": version, "seeds": seeds, **rates, "exact": all(each["exact"] for each in found)}


def cpu_of(process: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def through_dask(blocks: int) -> Iterator[dict[str, Any]]:
    """Blocks a second through a scheduler and two workers in processes of their own, and functions that do nothing."""
    from cluster_faults import Loopback
    from distributed import Client, as_completed

    from nsr.paper.sweep.cluster_config import ClusterConfig
    from nsr.paper.sweep.dask import DaskExecutor, _silence

    _silence()
    original, run.run_item = run.run_item, answer
    with tempfile.TemporaryDirectory() as name, Loopback(Path(name)) as there:
        address = f"tcp://127.0.0.1:{there.port}"
        executors: dict[Any, DaskExecutor] = {}

        def measure(what: str, count: int, act: Callable[[Any], None]) -> dict[str, Any]:
            client = Client(address, timeout=60, set_as_default=False)
            client.wait_for_workers(2, timeout=120)
            executors[client] = DaskExecutor(client, ClusterConfig(silence=600), print)
            while executors[client].capacity()[1] < 2:
                time.sleep(0.1)
            executors[client].submit(answer, items(1, 1)[0]).result()
            before = time.perf_counter(), time.process_time(), cpu_of(there.scheduler.pid)
            act(client)
            after = time.perf_counter(), time.process_time(), cpu_of(there.scheduler.pid)
            took, parent, scheduler = (round(count / (b - a), 1) for a, b in zip(before, after, strict=True))
            executors.pop(client).shutdown()
            rates = {"per_second": took, "per_cpu_second_of_parent": parent, "per_cpu_second_of_scheduler": scheduler}
            return {"what": what, "tasks": count, **rates}

        def sweep_of(seeds: int) -> Callable[[Any], None]:
            def act(client: Any) -> None:
                executor = executors[client]
                _, _, stored = timed_sweep(lambda: executor, items(blocks, seeds), 2)
                if stored != blocks * seeds:
                    raise RuntimeError(f"{stored} records instead of {blocks * seeds}")

            return act

        def one_by_one(client: Any) -> None:
            first = [client.submit(nothing, number, pure=False) for number in range(4)]
            waiting = as_completed(first, loop=client.loop)
            left = iter(range(4, blocks))
            for _ in waiting:
                if (number := next(left, None)) is not None:
                    waiting.add(client.submit(nothing, number, pure=False))

        def all_at_once(client: Any) -> None:
            client.gather(client.map(nothing, range(blocks), pure=False))

        try:
            yield measure("nothing, at most 4 at once", blocks, one_by_one)
            yield measure("nothing, all at once", blocks, all_at_once)
            for seeds in (1, 10, 100):
                yield measure(f"blocks of {seeds} seed{'s' * (seeds > 1)}, stored", blocks, sweep_of(seeds))
        finally:
            run.run_item = original


def sleeping(seconds: float, blocks: int) -> dict[str, Any]:
    """A real sweep over 1,000 sleeping workers. An hour of losses is packed into a minute."""
    pools: list[Sleeping] = []

    def make() -> Executor:
        pools.append(Sleeping(WORKERS, seconds, 60 * LOST_PER_HOUR / 3600))
        return pools[-1]

    took, _, stored = timed_sweep(make, items(blocks, 1), WORKERS)
    ideal = blocks * seconds / WORKERS
    return {
        "block_seconds": seconds,
        "blocks": blocks,
        "seconds": round(took, 2),
        "ideal": round(ideal, 2),
        "workers_lost": sum(pool.losses for pool in pools),
        "per_second": round(blocks / took, 1),
        "exact": stored == blocks,
    }


MEMORY = """
import sys, tempfile, time
from pathlib import Path
sys.path.insert(0, {folder!r})
import sweep_simulation as simulation
simulation.print_memory({million}, {stored}, {seeds})
"""


def memory(million: int, *, stored: bool, seeds: int = 1) -> dict[str, Any]:
    """The most memory of a parent that plans a million items, in a process of its own."""
    script = MEMORY.format(folder=str(Path(__file__).parent), million=million, stored=stored, seeds=seeds)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def print_memory(count: int, stored: bool, seeds: int) -> None:
    """Plan items, begin to run them, and print the most memory that it took."""
    before = peak_memory()
    cells = EXPERIMENT.cells[6:12]
    with tempfile.TemporaryDirectory() as name, closing(Store(Path(name))) as store:
        each = count * seeds // len(cells)
        if stored:
            fill(store, items(count // 100, 100))
        began = time.perf_counter()
        numbers = range(count if stored else each)
        kept = cells[:1] if stored else cells
        todo = plan(EXPERIMENT, QUICK, ("exact",), numbers, done=store.lookup(), block=seeds, keep=lambda c: c in kept)
        took = time.perf_counter() - began
        planned = len(todo)
        sweep = Sweep(store, lambda: AtOnce(WORKERS), WORKERS, Observer())
        if todo:
            running: run.Running = {}
            sweep.queue.extend(todo)
            sweep._submit(AtOnce(WORKERS), running)
        result = {"items": planned, "seeds": seeds, "stored": count if stored else 0, "plan_seconds": round(took, 1)}
        print(json.dumps({**result, "megabytes": round(peak_memory() / 1e6), "at_start": round(before / 1e6)}))


def fill(store: Store, todo: Sequence[Item]) -> None:
    """Store the answers of items."""
    for start in range(0, len(todo), 100):
        with store.together():
            for item in todo[start : start + 100]:
                store.add(item, answer(item))


def efficiency(block: float, lost_per_hour: float, workers: int, per_second: float, away: float = 60.0) -> float:
    """The share of the workers' time that is not lost, on paper.

    A block of B seconds is lost with its worker at the rate r, after which it starts again: it takes (exp(rB) - 1) / r
    seconds on average. A lost worker is away for a while. The parent commits at most ``per_second`` blocks.
    """
    rate = lost_per_hour / 3600
    useful = block * rate / math.expm1(rate * block)
    present = 1 / (1 + rate * away)
    return min(useful * present, per_second * block / workers)


def simulate(block: float, lost_per_hour: float, workers: int, per_second: float, hours: float = 8.0) -> float:
    """The same, event by event, in time that is only counted."""
    rng, rate, end = random.Random(1), lost_per_hour / 3600, hours * 3600
    events = [(0.0, number, 0.0) for number in range(workers)]  # a worker comes, or is done with so many seconds
    parent, useful = 0.0, 0.0
    while events and events[0][0] < end:
        now, number, done = heapq.heappop(events)
        if done:
            parent = max(parent, now) + 1 / per_second  # the parent commits one after the other
            useful += done
            now = max(now, parent)
        lasts, lost = block * rng.uniform(0.5, 1.5), rng.expovariate(rate)
        heapq.heappush(events, (now + lost + 60, number, 0.0) if lost < lasts else (now + lasts, number, lasts))
    return useful / (workers * end)


def on_paper(per_second: float) -> Iterator[dict[str, Any]]:
    """Clusters of three sizes, with blocks from a second to the longest."""
    for workers in (1000, 10_000):
        for block in (1.0, 10.0, 60.0, LONGEST):
            if workers * 8 * 3600 / block <= 3e7:
                event = simulate(block, LOST_PER_HOUR, workers, per_second, hours=8 if block >= 60 else 0.25)
            else:
                event = None
            paper = efficiency(block, LOST_PER_HOUR, workers, per_second)
            yield {
                "workers": workers,
                "block_seconds": block,
                "paper": round(paper, 4),
                "events": None if event is None else round(event, 4),
            }


PARTS = ("commits", "dask", "sleeping", "memory", "paper")


def main() -> None:
    """Print the figures of each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seconds", type=float, default=10.0, help="about how long each measurement of a rate takes")
    parser.add_argument("--items", type=int, default=1_000_000, help="of which the memory is measured")
    parser.add_argument("--before", type=Path, help="sources of another version of nsr, to compare commits with")
    parser.add_argument("--per-second", type=float, help="commits a second of the model, by default as measured")
    parser.add_argument("--json", type=Path, help="append a line for each figure")
    options = parser.parse_args()
    measured = options.per_second

    def show(part: str, figures: dict[str, Any]) -> None:
        print(f"{part:9}", " ".join(f"{name}={value}" for name, value in figures.items()), flush=True)
        if options.json:
            with options.json.open("a") as file:
                file.write(json.dumps({"part": part, **figures}) + "\n")

    if "commits" in options.only:
        for figures in compared(options.before, options.seconds) if options.before else commits(options.seconds):
            show("commits", figures)
            measured = measured or figures["per_second"]
    if "dask" in options.only:
        for figures in through_dask(int(options.seconds * 50)):
            show("dask", figures)
    if "sleeping" in options.only:
        for seconds in (10.0, 2.0):
            show("sleeping", sleeping(seconds, int(4 * options.seconds * WORKERS / seconds)))
    if "memory" in options.only:
        show("memory", memory(options.items, stored=False))
        show("memory", memory(options.items, stored=True))
    if "paper" in options.only:
        for figures in on_paper(measured or 300.0):
            show("paper", figures)


if __name__ == "__main__":
    main()
