from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsr.reading.rounding import simplest

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
