"""Progress of a sweep on standard error: a bar for each experiment on a terminal, plain lines elsewhere."""

import time
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


class Pace:
    """Work for each second of a worker, so that the time left follows workers that come and go."""

    def __init__(self) -> None:
        self.count: int | None = None
        """Workers at present; None if their number does not change."""
        self.worker_seconds = 0.0
        self.since = time.monotonic()

    def workers(self, count: int) -> None:
        """From now on there are this many."""
        self._advance()
        self.count = count

    def left(self, done: float, total: float) -> float | None:
        """Seconds left with the workers of now; None if that cannot be known yet."""
        self._advance()
        workers = 1 if self.count is None else self.count
        return self.worker_seconds * (total - done) / done / workers if done and workers else None

    def _advance(self) -> None:
        now = time.monotonic()
        self.worker_seconds += (now - self.since) * (1 if self.count is None else self.count)
        self.since = now


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
        self.pace.workers(count)

    def planned(self, items: list[Item]) -> None:
        """Draw an empty bar for each experiment."""
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
        """Of each bar, at the pace of all."""
        tasks = self.progress.tasks
        done = sum(task.completed for task in tasks)
        for task in tasks:
            left = self.pace.left(done, done + (task.total or 0) - task.completed)
            if left is not None:
                self.progress.update(task.id, left=timedelta(seconds=round(left)))

    def close(self) -> None:
        """Leave the bars as they are."""
        self.progress.stop()


class Lines(Observer):
    """Prints a line at most every ``every`` seconds, for logs."""

    def __init__(self, console: Console, every: float = 5.0) -> None:
        self.console, self.every = console, every
        self.began = self.last = time.monotonic()
        self.work = self.work_done = 0.0
        self.blocks = self.blocks_done = self.epochs = 0
        self.pace = Pace()

    def workers(self, count: int) -> None:
        """Allow for their number in the time left."""
        self.pace.workers(count)

    def planned(self, items: list[Item]) -> None:
        """Print the number of blocks."""
        self.work, self.blocks = sum(map(_work, items)), len(items)
        if items:
            self._print(f"{self.blocks} block{'' if self.blocks == 1 else 's'} to run")

    def finished(self, item: Item, records: list[Record]) -> None:
        """Count the item; after the last one a line is always printed."""
        self.work_done += _work(item)
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
        text = f"{self.blocks_done} of {self.blocks} blocks, {elapsed:.0f} s"
        if self.pace.count is not None:
            text += f", {self.pace.count} worker{'' if self.pace.count == 1 else 's'}"
        left = self.pace.left(self.work_done, self.work)
        if left is not None:
            text += f", about {left:.0f} s left, {self.epochs / elapsed:,.0f} model epochs/s"
        self._print(text)

    def _print(self, text: str) -> None:
        self.console.print(f"nsr: {text}", highlight=False, soft_wrap=True)


def _model_epochs(records: list[Record]) -> int:
    """Epochs that the models of these records were trained for."""
    return sum(int(record.metrics.get("epochs", 0)) for record in records)


def _work(item: Item) -> float:
    return len(item.seeds) * seconds_per_seed(EXPERIMENTS[item.experiment], item.cell, item.recipe)
