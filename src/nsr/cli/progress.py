"""Progress of one command on standard error: bars on a terminal, a line every few seconds elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """A callback that shows the fraction done of each stage, such as reading and learning."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield (lambda *_: None) if quiet else StageLines(console)
        return
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left")
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: float) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=1.0)
            progress.update(tasks[stage], completed=done)

        yield show


class StageLines:
    """Prints a line at most every ``every`` seconds, for logs: the stage, the fraction done, the time left."""

    def __init__(self, console: Console, every: float = 5.0) -> None:
        self.console, self.every = console, every
        self.stage, self.began, self.last = "", 0.0, time.monotonic()

    def __call__(self, stage: str, done: float) -> None:
        """Print a line, unless the last one is too recent."""
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.began = stage, now
        if now - self.last < self.every or not 0 < done < 1:
            return
        self.last = now
        left = (now - self.began) * (1 - done) / done
        self.console.print(f"nsr: {stage}: {done:.0%}, about {left:.0f} s left", highlight=False, soft_wrap=True)
