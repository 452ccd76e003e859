from fractions import Fraction
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsr.reading.rounding import number_nats, rounding_tolerance, simplest

NUMBERS = st.fractions(-(10**6), 10**6, max_denominator=10**4)


@pytest.mark.parametrize(
    ("low", "high", "near", "found"),
    [
        (4, 5, 4.9931, 5),
        (4, 5, 4.1, 4),
        (-3, 7, 6.2, 0),
        (37.47, 37.52, 37.4931, 37.5),
        (4730, 5210, 4800, 5000),
        (-5210, -4730, -4800, -5000),
        (0.0995, 0.1004, 0.1, 0.1),
        (12.33, 12.34, 12.338, 12.34),
        (99, 101, 99.2, 100),
        (37.4, 37.5, 37.45, 37.5),
        (37.5, 37.6, 37.55, 37.5),
        (37.2, 37.3, 37.25, 37.2),
        (7, 7, 7, 7),
        (0.125, 0.125, 0.125, 0.125),
    ],
)
def test_the_number_a_person_would_have_written(low, high, near, found):
    low, high, near, found = (Fraction(str(value)) for value in (low, high, near, found))
    assert simplest(low, high, near) == found


@given(NUMBERS, NUMBERS, NUMBERS)
def test_it_lies_where_it_may(one, other, near):
    low, high = sorted((one, other))
    if low < high:
        assert low <= simplest(low, high, min(max(near, low), high)) <= high


def test_twenty_decimal_places_are_tried():
    near = Fraction(1, 3)
    assert simplest(Fraction(7, 10**20), Fraction(7, 10**20), near) == Fraction(7, 10**20)
    assert simplest(Fraction(7, 10**21), Fraction(7, 10**21), near) == near


@pytest.mark.parametrize(
    ("number", "nats"),
    [
        ("0", 0.0),
        ("1", log(2)),  # the sign alone
        ("-1", log(2)),
        ("7", log(2) + 1.3 * log(7)),
        ("5000", log(2) + 1.3 * log(5) + 0.7 * 3),
        ("37.3", log(2) + 1.3 * log(373) + 0.7),
        ("1/2", log(2) + 1.3 * log(2) + 1.4),  # cheaper than 0.5
        ("-2/3", log(2) + 1.3 * log(2 * 3) + 1.4),
        ("1e-12", log(2) + 0.7 * 12),
        ("1e-13", log(2) + 1.3 * log(10**13) + 1.4),  # too many places for a decimal
        ("1e-15", log(2) + 1.3 * log(10**15) + 1.4),
        (f"1/{10**15 + 1}", log(2) + 40),  # the dearest
    ],
)
def test_a_number_costs_its_digits_and_their_place_as_a_decimal_or_as_a_fraction(number, nats):
    assert number_nats(Fraction(number)) == pytest.approx(nats, rel=1e-12)


def test_sixteen_roundings_of_half_a_unit_are_allowed():
    assert rounding_tolerance(3.0, 0.5) == 24.0
