"""Dates, times and durations: as numbers, as text, and comparisons of them as moments."""

from datetime import date, datetime, timedelta, timezone
from fractions import Fraction

import pytest

from nsr.program import Compare, Constant, Kind, Linear, Order, Variable, Where
from nsr.program.times import (
    Moment,
    Moments,
    as_moments,
    constant_is_point,
    duration_text,
    duration_unit,
    is_temporal,
    microseconds,
    parse_point,
    point,
    point_text,
    unit_of,
)

SECOND = 10**6
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND
HALF = Fraction(1, 2)
d, e = Variable("d", Kind.DATE), Variable("e", Kind.DATE)
t = Variable("t", Kind.TIMESTAMP)
u, v = Variable("u", Kind.DURATION), Variable("v", Kind.DURATION)
n = Variable("n")


# Numbers and text


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (date(1970, 1, 1), 0),
        (date(1970, 1, 3), 2 * DAY),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999), -1),
        (datetime(1970, 1, 2, 0, 0, 1, 5), DAY + SECOND + 5),
        (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 0),
        (timedelta(days=-1, microseconds=3), 3 - DAY),
        (timedelta(hours=1), HOUR),
    ],
)
def test_microseconds(value, number):
    assert microseconds(value) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1970-01-02", DAY),
        ("1970-01-01T00:01", MINUTE),
        ("1970-01-01 00:00:00.000001", 1),
        ("2023-02-29", None),
        ("soon", None),
    ],
)
def test_points_are_read(text, number):
    assert parse_point(text) == number


@pytest.mark.parametrize(
    ("number", "found", "text"),
    [
        (DAY, datetime(1970, 1, 2), "1970-01-02"),
        (Fraction(DAY + 1), datetime(1970, 1, 2, 0, 0, 0, 1), "1970-01-02T00:00:00.000001"),
        (12 * HOUR - DAY, datetime(1969, 12, 31, 12), "1969-12-31T12:00:00"),
        (HALF, None, None),
        (10**30, None, None),
    ],
)
def test_points_are_written(number, found, text):
    assert point(number) == found
    assert point_text(number) == text


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (0, ("day", 0), "0 days"),
        (DAY, ("day", 1), "1 day"),
        (14 * DAY, ("day", 14), "14 days"),
        (36 * HOUR, ("hour", 36), "36 hours"),
        (HOUR, ("hour", 1), "1 hour"),
        (90 * MINUTE, ("minute", 90), "90 minutes"),
        (90 * SECOND, ("second", 90), "90 seconds"),
        (SECOND + 1, ("microsecond", SECOND + 1), "1000001 microseconds"),
        (Fraction(DAY, 7), None, None),
    ],
)
def test_durations_are_written_in_the_largest_unit(number, unit, text):
    assert unit_of(number) == unit
    assert duration_text(number) == text


@pytest.mark.parametrize(
    ("weight", "unit"),
    [
        (Fraction(2 * DAY), ("day", 2)),
        (Fraction(DAY, 2), ("hour", 12)),
        (Fraction(MINUTE), ("minute", 1)),
        (Fraction(SECOND, 4), ("microsecond", SECOND // 4)),
        (HALF, ("microsecond", HALF)),
    ],
)
def test_the_unit_of_a_weight(weight, unit):
    assert duration_unit(weight) == unit


# Comparisons


@pytest.mark.parametrize(
    ("comparison", "temporal", "is_point"),
    [
        (n > 3, False, False),
        (d > e, True, False),
        (d > DAY, True, True),
        (Compare("<", DAY, d), True, True),
        (d - e > DAY, True, False),
        (u > v, True, False),
        (Compare("<", d, t + u - DAY), True, False),
        (d + e > DAY, True, None),
        (2 * d > e, True, None),
        (Compare("<", e, 2 * d), True, None),
        (-d > DAY, True, None),
        (Order(1, d, e) > DAY, True, None),
        (d > Where(n > 0, d, e), True, None),
        (d + Order(1, u, v) > DAY, True, None),
    ],
)
def test_whether_a_constant_is_a_point_or_a_duration(comparison, temporal, is_point):
    assert is_temporal(comparison) is temporal
    assert constant_is_point(comparison) is is_point


def moment(at=None, **durations):
    """A point and coefficients of columns; ``more`` stands for microseconds."""
    columns = {"u": u, "v": v, "n": n, "more": None}
    return Moment(at, tuple((Fraction(weight), columns[name]) for name, weight in durations.items()))


@pytest.mark.parametrize(
    ("comparison", "moments"),
    [
        (d > e, Moments(">", moment(d), moment(e))),
        (d > e + 30 * DAY, Moments(">", moment(d), moment(e, more=30 * DAY))),
        (d - 30 * DAY > e, Moments(">", moment(d), moment(e, more=30 * DAY))),
        (d + 30 * DAY <= e, Moments(">=", moment(e), moment(d, more=30 * DAY))),
        (d + u > e + v, Moments(">", moment(d, u=1), moment(e, v=1))),
        (d > DAY, Moments(">", moment(d), moment(DAY))),
        (Compare(">", 3 * DAY, d), Moments("<", moment(d), moment(3 * DAY))),
        (d + u > DAY, Moments("<", moment(DAY), moment(d, u=1))),
        (d > d + u, Moments(">", moment(), moment(u=1))),
        (u > 0, Moments(">", moment(u=1), moment())),
        (u > v + DAY, Moments(">", moment(u=1), moment(v=1, more=DAY))),
        (u + v > v, Moments(">", moment(u=1), moment())),
        (Compare(">", 3 * u, Linear([(2, Constant(DAY))])), Moments(">", moment(u=3), moment(more=2 * DAY))),
        (Compare("=", d, e + n * Fraction(1, 3)), Moments("=", moment(d), moment(e, n=Fraction(1, 3)))),
        (u * HALF > v, None),
        (u > HALF, None),
        (2 * d > e, None),
        (d + e > t, None),
        (t > d + e, None),
        (d > HALF, None),
        (d > 10**30, None),
        (Order(1, d, e) > t, None),
    ],
)
def test_comparisons_as_moments(comparison, moments):
    assert as_moments(comparison) == moments


@pytest.mark.parametrize(
    ("comparison", "of_points", "of_days", "has_times", "has_numbers"),
    [
        (d > e + 30 * DAY, True, True, False, False),
        (d > e + HOUR, True, False, False, False),
        (d > 3 * DAY, True, True, False, False),
        (d > 3 * DAY + HOUR, True, False, True, False),
        (t > d, True, False, True, False),
        (d > e + u, True, False, False, False),
        (d > e + n * DAY, True, False, False, True),
        (u > DAY, False, False, False, False),
        (u > n * DAY, False, False, False, True),
    ],
)
def test_what_is_compared(comparison, of_points, of_days, has_times, has_numbers):
    moments = as_moments(comparison)
    assert (moments.of_points, moments.of_days) == (of_points, of_days)
    assert (moments.has_times, moments.has_numbers) == (has_times, has_numbers)


def test_the_columns_of_a_moment_are_those_of_its_durations():
    assert moment(e, u=1, more=DAY, n=2).columns == [u, n]
    assert Moments(">", moment(d), moment(e)).sides == (moment(d), moment(e))
