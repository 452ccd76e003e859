"""Errors in the user's input: one sentence that says what is wrong and what would be right."""

import difflib
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Real


class InputError(ValueError):
    """A wrong command or wrong input. The text is written for the user; the command exits with code 2."""


class FailedError(Exception):
    """A failure that no other input would avoid. The text is written for the user; the command exits with code 1."""


def one_of(what: str, name: str, known: Iterable[str]) -> str:
    """``name`` if it is known, else an InputError that lists the known names and suggests the nearest."""
    known = list(known)
    if name in known:
        return name
    near = [candidate for candidate in known if sorted(candidate) == sorted(name)]  # =< for <=
    near += difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(f"unknown {what} {shortened(repr(name))}: choose from {shortened(', '.join(known), 500)}{hint}")


def shortened(text: str, most: int = 200) -> str:
    """Text to quote in a sentence: not more than its beginning."""
    return text if len(text) <= most else f"{text[:most]}..."


def at_least(least: int, what: str, value: int) -> int:
    """``value`` if it is large enough, else an InputError."""
    if value < least:
        raise InputError(f"{what} must be at least {least}, got {quoted(value)}")
    return value


def between(what: str, value: int, least: int, most: int) -> int:
    """``value`` if it lies in a range, else an InputError."""
    if not least <= value <= most:
        raise InputError(f"{what} must be from {least:,} to {most:,}, got {quoted(value)}")
    return value


def quoted(value: int) -> str:
    """A number as text, or its size if it has many digits."""
    if not isinstance(value, int) or abs(value) < 10**30:
        return str(value)
    return f"about {'-' if value < 0 else ''}10^{math.log10(abs(value)):.0f}"


def reject_masked(name: str, values: object) -> None:
    """Raise an InputError for a masked array or a list with masked cells: other libraries ignore the mask."""
    listed = isinstance(values, list | tuple) and "MaskedConstant" in {type(value).__name__ for value in values}
    mask = getattr(values, "mask", None)
    if listed or (type(values).__module__.startswith("numpy.ma") and getattr(mask, "any", lambda: False)()):
        raise InputError(f"{name} has masked cells: leave these rows out, or fill them")


def check_error_rate(errors: float) -> None:
    """Require a fraction of wrong rows that leaves the majority right."""
    if not (isinstance(errors, Real) and 0 <= errors < 0.5):
        raise InputError(f"errors must be at least 0 and less than 0.5, got {errors!r}")


@contextmanager
def needs_extra(name: str) -> Iterator[None]:
    """Wrap imports of optional packages: a missing one becomes an InputError that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise InputError(
            f"this needs {missing.name}: install it with pip install 'neural-status-registers[{name}]'"
        ) from missing
