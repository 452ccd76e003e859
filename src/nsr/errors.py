"""Refusals of what a user typed: one sentence that says what is wrong and what would be right."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """The command or its input is wrong. Its text is for the user; the command exits with 2."""


def one_of(what: str, name: str, known: Iterable[str]) -> str:
    """``name`` when it is known, else an InputError that lists what is and suggests the nearest."""
    known = list(known)
    if name in known:
        return name
    near = [each for each in known if sorted(each) == sorted(name)]  # =< for <=
    near += difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(f"unknown {what} {name!r}: choose from {', '.join(known)}{hint}")


def at_least(least: int, what: str, value: int) -> int:
    """``value`` when it is large enough, else an InputError."""
    if value < least:
        raise InputError(f"{what} must be at least {least}, got {value}")
    return value


@contextmanager
def needs_extra(name: str) -> Iterator[None]:
    """Around imports that an extra brings: a missing module becomes an InputError that names the extra."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise InputError(
            f"this needs {missing.name}: pip install 'neural-status-registers[{name}]' brings it"
        ) from missing
