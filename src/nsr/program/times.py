"""Dates, times and durations as numbers of microseconds, and as text."""

import re
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from nsr.program.expressions import Compare, Constant, Expression, Linear, Variable
from nsr.program.kinds import Kind

EPOCH = datetime(1970, 1, 1)
UNITS = {"day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "microsecond": 1}
"""Microseconds of each unit."""
WORDS = {word: size for unit, size in {**UNITS, "week": 7 * UNITS["day"]}.items() for word in (unit, f"{unit}s")}
POINTS = (Kind.DATE, Kind.TIMESTAMP)
TEMPORAL = (*POINTS, Kind.DURATION)
ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?(?![\w.])")
"""A date, or a date and a time."""


def microseconds(value: date | timedelta) -> int:
    """A date, a time or a duration as a number. A time with a zone is converted to UTC."""
    if not isinstance(value, timedelta):
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        value = (value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value) - EPOCH
    return (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds


def parse_point(text: str) -> int | None:
    """The number for a date or time such as ``2024-01-31`` or ``2024-01-31T12:30:00``; None if there is no such day."""
    try:
        return microseconds(datetime.fromisoformat(text))
    except ValueError:
        return None


def point(value: Fraction | int) -> datetime | None:
    """The date and time for a number; None if it is not one that Python knows."""
    if Fraction(value).denominator != 1:
        return None
    try:
        return EPOCH + timedelta(microseconds=int(value))
    except OverflowError:
        return None


def point_text(value: Fraction | int) -> str | None:
    """A date, or a date and a time, such as ``2024-01-31`` or ``2024-01-31T12:30:00``."""
    found = point(value)
    if found is None:
        return None
    return found.date().isoformat() if found.time() == EPOCH.time() else found.isoformat()


def unit_of(value: Fraction | int) -> tuple[str, int] | None:
    """The largest unit of which a duration is a multiple, and how many; None if it has fractions of a microsecond."""
    if Fraction(value).denominator != 1:
        return None
    return next((unit, int(value) // size) for unit, size in UNITS.items() if int(value) % size == 0)


def duration_text(value: Fraction | int) -> str | None:
    """A duration that is not negative, such as ``30 days`` or ``1 hour``."""
    found = unit_of(value)
    return None if found is None else f"{found[1]} {found[0]}{'' if found[1] == 1 else 's'}"


def is_temporal(comparison: Compare) -> bool:
    """Whether columns of dates, times or durations are compared."""
    return any(isinstance(node, Variable) and node.kind in TEMPORAL for node in comparison.walk())


def constant_is_point(comparison: Compare) -> bool | None:
    """Whether the constant on the right is a point in time (True) or a duration (False); None if neither is clear."""
    left, right = (_points(side) for side in comparison.children)
    if left is None or right is None:
        return None
    if left == right:
        return False
    return True if {left, right} == {Fraction(0), Fraction(1)} else None


def _points(side: Expression) -> Fraction | None:
    """The total weight of points in time in a sum of columns; None for anything else."""
    match side:
        case Constant():
            return Fraction(0)
        case Variable(_, kind):
            return Fraction(kind in POINTS)
        case Linear(terms):
            if all(isinstance(atom, Variable) for _, atom in terms):
                return sum((c * (_points(atom) or 0) for c, atom in terms), Fraction(0))
    return None
