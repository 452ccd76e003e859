"""Numbers are rounded as a reader expects, and never to a perfect result or to none."""

import pytest

from nsr.paper.cells import wilson
from nsr.paper.numbers import interval, number, rounded, share_interval


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.000"),
        (0.9996, "0.999"),  # not every row of every seed
        (0.9984, "0.998"),
        (0.5, "0.500"),
        (0.4998, "0.500"),
        (0.2207, "0.221"),
        (0.6605, "0.661"),  # half up, although the float is a little below
        (-0.0125, "-0.013"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (0.0004, "4.0e-04"),  # not 0.000
        (2.5e-8, "2.5e-08"),
        (1234.5, "1.23e+03"),
        (1.0004, "1.000"),
    ],
)
def test_a_number_is_rounded_half_up(value, text):
    assert number(value) == text


def test_two_digits_of_a_share_are_1_only_where_it_is():
    assert [rounded(value, 2) for value in (1.0, 0.999, 0.476, 0.0)] == ["1.00", "0.99", "0.48", "0.00"]


def test_intervals_are_rounded_outward():
    assert interval(0.12345, 0.67801) == "0.123 to 0.679"
    assert interval(-0.0121, 0.2) == "-0.013 to 0.200"
    assert interval(*wilson(400, 400)) == "0.990 to 1.000"
    assert interval(*wilson(0, 400)) == "0.000 to 0.010"
    assert interval(1.2e-9, 5e-4) == "1.2e-09 to 5.0e-04"
    assert share_interval(*wilson(15, 148)) == "0.06 to 0.17"  # 0.0624 to 0.1605
    assert share_interval(*wilson(400, 400)) == "0.99 to 1.00"
