"""What all commands share: exit codes, results on standard output, and a word on standard error."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

DONE, FAILED, WRONG, NO_RULE, INTERRUPTED = 0, 1, 2, 3, 130


class OutputError(Exception):
    """Standard output cannot be written to."""


@contextmanager
def output() -> Iterator[None]:
    """Around what writes to standard output: where that fails, but for a reader that has gone, an OutputError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise OutputError(f"cannot write the output: {problem.strerror or problem}") from None


def say(text: str, end: str = "\n") -> None:
    """What was asked for, to standard output."""
    with output():
        print(text, end=end)  # noqa: T201


def flush() -> None:
    """Write what is still held back."""
    with output():
        print(end="", flush=True)  # noqa: T201


def hush() -> None:
    """Let what standard output still holds vanish, or Python would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(text: str) -> None:
    """A word for the person at the terminal; what is meant for machines goes to standard output alone."""
    print(f"nsr: {text}", file=sys.stderr)  # noqa: T201
