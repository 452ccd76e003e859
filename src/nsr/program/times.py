"""Dates, times and durations as numbers of microseconds, and as text."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from nsr.program.expressions import MIRRORED, Compare, Constant, Expression, Linear, Variable
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


@dataclass(frozen=True)
class Moment:
    """A side of a comparison: a point in time or none, plus durations."""

    point: Variable | int | None
    """A column of dates or times, or a number of microseconds since 1970."""
    durations: tuple[tuple[Fraction, Variable | None], ...]
    """Positive coefficients of columns; None stands for a microsecond. Columns of numbers count microseconds, too."""

    @property
    def columns(self) -> list[Variable]:
        """The columns of durations and of numbers."""
        return [column for _, column in self.durations if column is not None]


@dataclass(frozen=True)
class Moments:
    """A comparison of two points in time, or of two durations."""

    operator: str
    left: Moment
    right: Moment

    @property
    def sides(self) -> tuple[Moment, Moment]:
        """Both sides."""
        return self.left, self.right

    @property
    def of_points(self) -> bool:
        """Whether points in time are compared, rather than durations."""
        return self.left.point is not None

    @property
    def of_days(self) -> bool:
        """Whether there are only dates, and durations of so many days that the tree states."""
        return all(_is_day(side.point) for side in self.sides) and all(
            column is None and weight % UNITS["day"] == 0 for side in self.sides for weight, column in side.durations
        )

    @property
    def has_times(self) -> bool:
        """Whether a point is not a date: a column of times, or a constant with a time of day."""
        return self.of_points and not all(_is_day(side.point) for side in self.sides)

    @property
    def has_numbers(self) -> bool:
        """Whether columns of numbers count days or other units."""
        return any(column.kind == Kind.NUMBER for side in self.sides for column in side.columns)


def duration_unit(weight: Fraction) -> tuple[str, Fraction]:
    """The largest unit of which a duration is a multiple, and how many; microseconds if there is none."""
    units = ((unit, weight / size) for unit, size in UNITS.items() if (weight / size).denominator == 1)
    return next(units, ("microsecond", weight))


def _is_day(value: Variable | int | None) -> bool:
    if isinstance(value, Variable):
        return value.kind == Kind.DATE
    return value is not None and value % UNITS["day"] == 0


def as_moments(comparison: Compare) -> Moments | None:
    """A comparison of sums of columns as one of points in time or of durations, positive ones; None if it is neither.

    Durations stand on the right if they can: ``paid > invoiced + 30 days``, not ``paid - 30 days > invoiced``.
    """
    parts = _difference(comparison)
    ends = None if parts is None else _ends(parts)
    if parts is None or ends is None:
        return None
    if any(weight.denominator > 1 for column, weight in parts.items() if _exact(column)):
        return None
    left = Moment(ends[0], tuple((weight, column) for column, weight in parts.items() if weight > 0))
    right = Moment(ends[1], tuple((-weight, column) for column, weight in parts.items() if weight < 0))
    if (left.durations and not right.durations and ends[0] is not None) or isinstance(left.point, int):
        return Moments(MIRRORED[comparison.operator], right, left)
    return Moments(comparison.operator, left, right)


def _exact(column: Variable | None) -> bool:
    """Whether there must not be a fraction of it."""
    return column is None or column.kind == Kind.DURATION


def _ends(parts: dict[Variable | None, Fraction]) -> tuple[Variable | int | None, Variable | int | None] | None:
    """Take the points in time on the left and on the right out of a difference; None if there are too many."""
    points = {column: weight for column, weight in parts.items() if column is not None and column.kind in POINTS}
    ahead, behind = ([column for column, weight in points.items() if weight == sign] for sign in (1, -1))
    if max(len(ahead), len(behind)) > 1 or len(ahead) + len(behind) < len(points):
        return None
    for column in points:
        del parts[column]
    if len(points) != 1:
        return (ahead[0], behind[0]) if points else (None, None)
    constant = parts.pop(None, Fraction(0))  # the other point
    value = -constant if ahead else constant
    if point(value) is None:
        return None
    return (ahead[0], int(value)) if ahead else (int(value), behind[0])


def _difference(comparison: Compare) -> dict[Variable | None, Fraction] | None:
    """The coefficients of the left side minus the right side; None if these are not sums of columns."""
    found: dict[Variable | None, Fraction] = {}
    for side, sign in zip(comparison.children, (1, -1), strict=True):
        parts = side.parts() if isinstance(side, Linear) else ((Fraction(1), side),)
        for weight, atom in parts:
            if isinstance(atom, Constant):
                weight, atom = weight * atom.value, None
            if atom is not None and not isinstance(atom, Variable):
                return None
            found[atom] = found.get(atom, Fraction(0)) + sign * weight
    return {column: weight for column, weight in found.items() if weight}
