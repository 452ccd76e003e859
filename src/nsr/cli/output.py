"""What all commands share: exit codes, results to standard output, messages to standard error."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

DONE, FAILED, WRONG, NO_RULE, INTERRUPTED = 0, 1, 2, 3, 130
DIFFERENT, UNDECIDED = 1, 3
"""Of ``nsr check``, which otherwise exits as the other commands do."""


class OutputError(Exception):
    """Standard output cannot be written to."""


@contextmanager
def writing_output() -> Iterator[None]:
    """Around writes to standard output: a failed write raises OutputError, unless the reader has gone."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write the output: {error.strerror or error}") from None


def without_controls(text: str) -> str:
    """Text that is safe on a terminal: only lines and tabs are left of what is not printable, the rest is escaped."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else letter.encode("unicode_escape").decode()
        for letter in text
    )


def print_output(text: str, end: str = "\n") -> None:
    """Print what the command was asked for to standard output. On a terminal, texts of a table cannot control it."""
    text = without_controls(text) if sys.stdout.isatty() else text
    with writing_output():
        try:
            print(text, end=end)  # noqa: T201
        except UnicodeEncodeError:  # half of a surrogate pair, or a terminal without Unicode
            encoding = sys.stdout.encoding
            print(text.encode(encoding, "backslashreplace").decode(encoding), end=end)  # noqa: T201


def print_report(text: str) -> None:
    """Print what the command found out about a file. Texts of the file are escaped wherever it is printed to."""
    print_output(without_controls(text))


def print_code(text: str) -> None:
    """Print code. A terminal gets control characters as escapes, which may change the code, so there is a message."""
    print_output(text)
    if sys.stdout.isatty() and without_controls(text) != text:
        print_message("the code has control characters, shown here as escapes: write it to a file to use it")


def flush() -> None:
    """Write what is still buffered."""
    with writing_output():
        print(end="", flush=True)  # noqa: T201


def discard_output() -> None:
    """Drop what standard output still holds, which Python would otherwise try to write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_message(text: str) -> None:
    """Print a line for the user to standard error."""
    print(f"nsr: {without_controls(text)}", file=sys.stderr)  # noqa: T201
