"""Progress of one command on standard error: bars on a terminal, a line every few seconds elsewhere."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LEAST = 1.0
"""Fewer seconds left than this are not worth a guess."""


@contextmanager
def stages(quiet: bool, limits: Mapping[str, float] | None = None) -> Iterator[Callable[[str, float], None]]:
    """A callback that shows the fraction done of each stage, such as reading and learning.

    Args:
        quiet: Show nothing.
        limits: The most seconds that a stage may take, by its name.
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield (lambda *_: None) if quiet else StageLines(console, limits=limits)
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
    """Prints a line at most every ``every`` seconds, for logs: the stage, the fraction done, the time left.

    A stage begins when the one before it ends. Where it has a limit, no more time is left than that allows.
    """

    def __init__(self, console: Console, every: float = 5.0, limits: Mapping[str, float] | None = None) -> None:
        self.console, self.every, self.limits = console, every, limits or {}
        self.stage, self.began, self.last, self.heard = "", 0.0, time.monotonic(), time.monotonic()

    def __call__(self, stage: str, done: float) -> None:
        """Print a line, unless the last one is too recent."""
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.began = stage, self.heard
        self.heard = now
        if now - self.last < self.every or not 0 < done < 1:
            return
        self.last = now
        taken = now - self.began
        left = min(taken * (1 - done) / done, max(0.0, self.limits.get(stage, math.inf) - taken))
        about = f", about {left:.0f} s left" if left >= LEAST else ""
        self.console.print(f"nsr: {stage}: {done:.0%}{about}", highlight=False, soft_wrap=True)
