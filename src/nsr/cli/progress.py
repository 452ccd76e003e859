"""How far a run is: a bar with the time left on a terminal, a plain line every few seconds elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record
from nsr.paper.sweep.run import Observer


class Bars(Observer):
    """One bar for each experiment: blocks done, training epochs of all models per second, time left."""

    def __init__(self, console: Console) -> None:
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[blocks]} {task.fields[speed]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self.tally: dict[str, list[int]] = {}
        self.tasks: dict[str, TaskID] = {}
        self.began = time.monotonic()

    def planned(self, items: list[Item]) -> None:
        """Draw an empty bar for each experiment."""
        for item in items:
            self.tally.setdefault(item.experiment, [0, 0, 0])[1] += 1
        for name, (_, blocks, _) in self.tally.items():
            work = sum(_work(item) for item in items if item.experiment == name)
            self.tasks[name] = self.progress.add_task(name, total=work, blocks=f"0/{blocks}", speed="")
        self.progress.start()

    def finished(self, item: Item, records: list[Record]) -> None:
        """Advance the bar of the item's experiment."""
        tally = self.tally[item.experiment]
        tally[0] += 1
        tally[2] += model_epochs(records)
        speed = f"{tally[2] / (time.monotonic() - self.began):,.0f} model epochs/s"
        self.progress.update(
            self.tasks[item.experiment], advance=_work(item), blocks=f"{tally[0]}/{tally[1]}", speed=speed
        )

    def close(self) -> None:
        """Leave the bars as they are."""
        self.progress.stop()


class Lines(Observer):
    """A line at most every ``every`` seconds, for logs."""

    def __init__(self, console: Console, every: float = 5.0) -> None:
        self.console, self.every = console, every
        self.began = self.last = time.monotonic()
        self.total = self.done = 0.0
        self.blocks = self.blocks_done = self.epochs = 0

    def planned(self, items: list[Item]) -> None:
        """Say how much there is."""
        self.total, self.blocks = sum(map(_work, items)), len(items)
        if items:
            self._say(f"{self.blocks} blocks to run")

    def finished(self, item: Item, records: list[Record]) -> None:
        """Count it; the last one is always told."""
        self.done += _work(item)
        self.blocks_done += 1
        self.epochs += model_epochs(records)
        if self.blocks_done == self.blocks:
            self.last = float("-inf")
        self.tick()

    def tick(self) -> None:
        """Say how far it is, unless a line was written just now."""
        now = time.monotonic()
        if now - self.last < self.every:
            return
        self.last, elapsed = now, now - self.began
        text = f"{self.blocks_done} of {self.blocks} blocks, {elapsed:.0f} s"
        if self.done:
            left = elapsed * (self.total - self.done) / self.done
            text += f", about {left:.0f} s left, {self.epochs / elapsed:,.0f} model epochs/s"
        self._say(text)

    def _say(self, text: str) -> None:
        self.console.print(f"nsr: {text}", highlight=False, soft_wrap=True)


def choose(quiet: bool) -> Observer:
    """What suits standard error: bars on a terminal, lines elsewhere, nothing when quiet."""
    if quiet:
        return Observer()
    console = Console(stderr=True)
    return Bars(console) if console.is_terminal else Lines(console)


@contextmanager
def share(quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """Show what is being done, and which share of it is: bars on a terminal, elsewhere a line every few seconds."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield (lambda *_: None) if quiet else Shares(console)
        return
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left")
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: float) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=1.0)
            progress.update(tasks[what], completed=done)

        yield show


class Shares:
    """A line at most every ``every`` seconds, for logs: what is being done, how far it is, the time left."""

    def __init__(self, console: Console, every: float = 5.0) -> None:
        self.console, self.every = console, every
        self.what, self.began, self.last = "", 0.0, time.monotonic()

    def __call__(self, what: str, done: float) -> None:
        """Say how far it is, unless a line was written just now."""
        now = time.monotonic()
        if what != self.what:
            self.what, self.began = what, now
        if now - self.last < self.every or not 0 < done < 1:
            return
        self.last = now
        left = (now - self.began) * (1 - done) / done
        self.console.print(f"nsr: {what}: {done:.0%}, about {left:.0f} s left", highlight=False, soft_wrap=True)


def model_epochs(records: list[Record]) -> int:
    """Epochs that the models of some records were trained for."""
    return sum(int(record.metrics.get("epochs", 0)) for record in records)


def _work(item: Item) -> float:
    return len(item.seeds) * item.recipe.epochs * EXPERIMENTS[item.experiment].cost
