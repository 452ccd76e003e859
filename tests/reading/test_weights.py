import math
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsr.reading.rounding import number_nats
from nsr.reading.weights import (
    integer_weights,
    ratio_nats,
    rounded_weights,
    simple_ratios,
    simplest_ratio,
    weights_nats,
)

ratios = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


@pytest.mark.parametrize(
    ("low", "high", "simplest"),
    [
        ("1.095", "1.105", "1.1"),
        ("0.9", "1.2", "1"),
        ("0.33", "0.34", "1/3"),
        ("0.908", "0.9095", "10/11"),  # the inverse of 1.1
        ("-2.1", "-1.9", "-2"),
        ("0.0399", "0.0401", "0.04"),
    ],
)
def test_the_simplest_ratio_of_a_range(low, high, simplest):
    assert simplest_ratio(Fraction(low), Fraction(high)) == Fraction(simplest)


def test_of_several_equally_simple_inverses_the_nearest_to_the_middle_is_an_option():
    # The inverses lie between 2.4 and 8.6; that of the middle is 3.75.
    assert Fraction(1, 4) in simple_ratios(Fraction(10, 86), Fraction(10, 24))


@pytest.mark.parametrize(
    ("low", "high", "fractions"),
    [
        ("1.4", "1.7", ["3/2"]),  # and no 5/3
        ("1.4", "1.5", ["3/2"]),  # an end counts
        ("0.41666", "0.41667", ["5/12"]),
        ("0.46153", "0.46154", []),  # 6/13 is no simple fraction
    ],
)
def test_the_fraction_of_the_smallest_denominator_up_to_twelve_is_an_option(low, high, fractions):
    assert simple_ratios(Fraction(low), Fraction(high))[2:] == [Fraction(fraction) for fraction in fractions]


def test_a_ratio_costs_the_same_either_way_round():
    assert ratio_nats(Fraction(10, 11)) == ratio_nats(Fraction(11, 10)) == number_nats(Fraction(11, 10))


@given(ratios, ratios)
def test_the_simplest_ratio_is_in_its_range_and_no_dearer_than_its_ends(one, other):
    low, high = sorted((one, other))
    found = simplest_ratio(low, high)
    assert low <= found <= high
    assert simplest_ratio(-high, -low) == -found
    assert ratio_nats(found) <= min(ratio_nats(low), ratio_nats(high)) + 1e-9 or low < found < high


@given(st.lists(ratios.flatmap(lambda ratio: st.sampled_from([ratio, -ratio])), min_size=1, max_size=5))
def test_integer_weights_keep_the_ratios(values):
    names = [f"n{at}" for at in range(len(values))]
    weights = integer_weights(names, values)
    assert [name for name, _ in weights] == names
    assert weights[0][1] > 0
    assert math.gcd(*(weight for _, weight in weights)) == 1
    assert all(
        Fraction(weight, weights[0][1]) == value / values[0] for (_, weight), value in zip(weights, values, strict=True)
    )


def test_integer_weights_are_in_the_order_of_names_without_zeros():
    assert integer_weights(["c", "a", "b"], [Fraction(-1), Fraction(1, 2), Fraction(0)]) == (("a", 1), ("c", -2))
    with pytest.raises(ValueError, match="shorter"):
        integer_weights(["a", "b"], [Fraction(1)])


def test_weights_are_rounded_as_far_as_the_tolerance_allows():
    real = np.array([2.001, 3.0, -0.999])
    assert rounded_weights("abc", real, 0.02) == (("a", 2), ("b", 3), ("c", -1))
    assert rounded_weights("ab", np.array([1.0, np.nan]), 0.1) is None
    assert rounded_weights("ab", np.array([0.0, 0.0]), 0.1) is None
    assert rounded_weights("ab", np.array([4.07, 3.7]), 0.001) == (("a", 11), ("b", 10))
    assert rounded_weights("ab", np.array([1.0, 0.123456789]), 0.0) == (("a", 10**9), ("b", 123456789))
    assert rounded_weights("ab", np.array([1.0, 154320987 / 1.25e9]), 0.0) is None
    assert rounded_weights("ab", np.array([1.0, 2e-9]), 0.0) == (("a", 5 * 10**8), ("b", 1))
    assert rounded_weights("ab", np.array([1.0, 1e-9]), 0.0) is None


def test_more_columns_and_odder_weights_cost_more():
    plain = weights_nats((("a", 1), ("b", -1)), 5)
    assert plain < weights_nats((("a", 10), ("b", -11)), 5) < weights_nats((("a", 137), ("b", -211)), 5)
    assert plain < weights_nats((("a", 1), ("b", -1), ("c", 1)), 5)
    assert plain < weights_nats((("a", 1), ("b", -1)), 50)


@pytest.mark.parametrize(
    ("weights", "n_columns", "nats"),
    [
        ([1], 1, log(2)),  # at least two columns to choose from
        ([1], 2, log(2)),
        ([5], 7, log(7)),
        ([1, -1], 5, log(5 * 5 / 2) + log(2)),
        ([2, 3], 5, log(5 * 5 / 2) + log(2) + 1.3 * log(6) + 1.4),
        ([1, 1, 1], 5, log(5**3 / 6) + 2 + 2 * log(2)),
        ([1, 1, 1, 1], 5, log(5**4 / 24) + 2 * 2 + 3 * log(2)),
    ],
)
def test_a_sum_costs_its_columns_and_the_ratios_to_one_of_its_weights(weights, n_columns, nats):
    assert weights_nats(tuple(zip("abcd", weights, strict=False)), n_columns) == pytest.approx(nats)
