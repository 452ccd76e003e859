"""Progress of a sweep on standard error: a bar for each experiment on a terminal, plain lines elsewhere."""

import math
import time
from collections import Counter, defaultdict
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record
from nsr.paper.sweep.plan import seconds_per_seed
from nsr.paper.sweep.run import Observer


def make_observer(quiet: bool) -> Observer:
    """Bars on a terminal, lines elsewhere, nothing when quiet."""
    if quiet:
        return Observer()
    console = Console(stderr=True)
    return Bars(console) if console.is_terminal else Lines(console)


Kind = tuple[str, float]
"""An experiment, and how many seconds a seed takes by estimate: items that have both in common last about as long."""


class Pace:
    """The time left, from the seconds that finished items of each kind took, and from the workers of now.

    Estimates of kinds without a finished item are corrected by the square root of the factor by which the others were
    off: halfway, because those of the first kinds say little of the rest.
    """

    def __init__(self) -> None:
        self.workers = 0
        self.blocks, self.seeds = Counter[Kind](), Counter[Kind]()
        """What is left."""
        self.measured, self.seconds = Counter[Kind](), defaultdict[Kind, float](float)
        """Seeds with records, and what these took."""
        self.since = time.monotonic()
        """When the last item finished."""

    def planned(self, items: list[Item]) -> None:
        """Add items that will run."""
        for item in items:
            self.blocks[_kind(item)] += 1
            self.seeds[_kind(item)] += len(item.seeds)

    def finished(self, item: Item, records: list[Record]) -> None:
        """Count an item, and what it took if it has records."""
        kind = _kind(item)
        self.since = time.monotonic()
        self.blocks[kind] -= 1
        self.seeds[kind] -= len(item.seeds)
        self.measured[kind] += len(records)
        self.seconds[kind] += sum(record.seconds for record in records)

    def left(self, experiment: str | None = None) -> float | None:
        """Seconds left for one experiment, by default for all; None if that cannot be known yet."""
        estimated = sum(seeds * each for (_, each), seeds in self.measured.items())
        if not estimated or not self.workers:
            return None
        factor = math.sqrt(sum(self.seconds.values()) / estimated)
        total, blocks = 0.0, 0
        for kind, seeds in self.seeds.items():
            if experiment in (None, kind[0]):
                measured = self.measured[kind]
                total += seeds * (self.seconds[kind] / measured if measured else kind[1] * factor)
                blocks += self.blocks[kind]
        seconds = total / max(1, min(blocks, self.workers))
        return seconds - min(time.monotonic() - self.since, seconds / 2)  # not to 0 while an item takes longer


class Bars(Observer):
    """One bar for each experiment: blocks done, training epochs of all models per second, time left."""

    def __init__(self, console: Console) -> None:
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[blocks]} {task.fields[speed]}"),
            TimeElapsedColumn(),
            TextColumn("left {task.fields[left]}"),
            console=console,
        )
        self.blocks: dict[str, int] = {}
        self.blocks_done: dict[str, int] = {}
        self.epochs: dict[str, int] = {}
        self.tasks: dict[str, TaskID] = {}
        self.began = time.monotonic()
        self.pace = Pace()

    def workers(self, count: int) -> None:
        """Allow for their number in the time left."""
        self.pace.workers = count

    def planned(self, items: list[Item]) -> None:
        """Draw an empty bar for each experiment."""
        self.pace.planned(items)
        for name in dict.fromkeys(item.experiment for item in items):
            planned = [item for item in items if item.experiment == name]
            self.blocks[name], self.blocks_done[name], self.epochs[name] = len(planned), 0, 0
            self.tasks[name] = self.progress.add_task(
                name, total=sum(map(_work, planned)), blocks=f"0/{len(planned)}", speed="", left="-:--:--"
            )
        self.progress.start()

    def finished(self, item: Item, records: list[Record]) -> None:
        """Advance the bar of the item's experiment."""
        name = item.experiment
        self.pace.finished(item, records)
        self.blocks_done[name] += 1
        self.epochs[name] += _model_epochs(records)
        self.progress.update(
            self.tasks[name],
            advance=_work(item),
            blocks=f"{self.blocks_done[name]}/{self.blocks[name]}",
            speed=f"{self.epochs[name] / (time.monotonic() - self.began):,.0f} model epochs/s",
        )
        self._show_time_left()

    def _show_time_left(self) -> None:
        """Of each bar, with all workers."""
        for name, task in self.tasks.items():
            left = self.pace.left(name)
            if left is not None:
                self.progress.update(task, left=timedelta(seconds=round(left)))

    def close(self) -> None:
        """Leave the bars as they are."""
        self.progress.stop()


class Lines(Observer):
    """Prints a line at most every ``every`` seconds, for logs."""

    def __init__(self, console: Console, every: float = 5.0) -> None:
        self.console, self.every = console, every
        self.began = self.last = time.monotonic()
        self.blocks = self.blocks_done = self.epochs = 0
        self.pace = Pace()

    def workers(self, count: int) -> None:
        """Allow for their number in the time left."""
        self.pace.workers = count

    def planned(self, items: list[Item]) -> None:
        """Print the number of blocks."""
        self.blocks = len(items)
        self.pace.planned(items)
        if items:
            self._print(f"{self.blocks} block{'' if self.blocks == 1 else 's'} to run")

    def finished(self, item: Item, records: list[Record]) -> None:
        """Count the item; after the last one a line is always printed."""
        self.pace.finished(item, records)
        self.blocks_done += 1
        self.epochs += _model_epochs(records)
        if self.blocks_done == self.blocks:
            self.last = float("-inf")
        self.tick()

    def tick(self) -> None:
        """Print a line, unless the last one is too recent."""
        now = time.monotonic()
        if now - self.last < self.every:
            return
        self.last, elapsed = now, now - self.began
        workers = f"{self.pace.workers} worker{'' if self.pace.workers == 1 else 's'}"
        text = f"{self.blocks_done} of {self.blocks} blocks, {elapsed:.0f} s, {workers}"
        left = self.pace.left()
        if left is not None:
            text += f", about {left:.0f} s left, {self.epochs / elapsed:,.0f} model epochs/s"
        self._print(text)

    def _print(self, text: str) -> None:
        self.console.print(f"nsr: {text}", highlight=False, soft_wrap=True)


def _model_epochs(records: list[Record]) -> int:
    """Epochs that the models of these records were trained for."""
    return sum(int(record.metrics.get("epochs", 0)) for record in records)


def _kind(item: Item) -> Kind:
    return item.experiment, seconds_per_seed(EXPERIMENTS[item.experiment], item.cell, item.recipe)


def _work(item: Item) -> float:
    return len(item.seeds) * _kind(item)[1]
