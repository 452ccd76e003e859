"""What all commands share: exit codes, and a word on standard error."""

import sys

DONE, FAILED, WRONG, NO_RULE, INTERRUPTED = 0, 1, 2, 3, 130


def tell(text: str) -> None:
    """A word for the person at the terminal; what is meant for machines goes to standard output alone."""
    print(f"nsr: {text}", file=sys.stderr)  # noqa: T201
