from fractions import Fraction

import numpy as np
import pytest

from nsr.learn.precision import VersionSpace, multiples, precision, simpler_sums
from nsr.learn.rules import Reader
from nsr.reading.atoms import Atom
from tests.learn.samples import integers, labelled


def test_the_range_of_a_constant_is_between_the_rows_next_to_it():
    x = np.array([[1.0], [2.0], [4.0], [7.0]])
    space = VersionSpace(x, np.array([-1, -1, 1, 1]))
    space.fix(0, 1.0)
    low, high = ((2 - x.mean()) / x.std(), (4 - x.mean()) / x.std())
    assert space.range(1) == pytest.approx((low, high), abs=1e-6)


def test_the_range_of_a_weight_is_between_the_steepest_rows_on_both_sides():
    # b < w a for rows of side 1, and b > w a for those of side -1: w is between 2 and 3
    x = np.array([[1.0, 2.0], [2.0, 4.0], [1.0, 3.0], [2.0, 6.0]])
    space = VersionSpace(x, np.array([1, 1, -1, -1]), through_zero=True)
    space.fix(1, -1.0)
    unit = space.spread[0] / space.spread[1]
    low, high = space.range(0)
    assert (low / unit, high / unit) == pytest.approx((2, 3), abs=1e-6)


def test_there_is_no_range_where_no_border_is_left():
    space = VersionSpace(np.array([[1.0], [2.0], [3.0]]), np.array([1, -1, 1]))
    space.fix(0, 1.0)
    assert space.range(1) is None


def test_numbers_of_a_true_rule_are_simpler_than_their_ranges():
    x = integers(800, 3, low=0, high=60)
    rows = labelled(x, 2 * x[:, 0] + 3 * x[:, 1] > x[:, 2] + 100)
    reader = Reader(rows)
    rule = reader.read([Atom((("a", 2), ("b", 3), ("c", -1)), Fraction(100))])
    assert precision(reader, rule, 0).total > 3
    assert rule.wrong == 0


def test_simpler_weights_are_found_from_weights_that_are_only_near():
    x = integers(800, 3, low=0, high=60)
    reader = Reader(labelled(x, x[:, 0] + x[:, 1] > x[:, 2]))
    near = Atom((("a", 101), ("b", 100), ("c", -99)))
    assert (("a", 1), ("b", 1), ("c", -1)) in simpler_sums(reader, [near], 0)


@pytest.mark.parametrize("wrong", [0.0, 0.05])
def test_a_multiple_is_read_from_the_ratios_of_two_columns_also_where_labels_are_wrong(wrong):
    rng = np.random.default_rng(3)
    x = rng.integers(1, 500, (900, 2))
    y = (4 * x[:, 0] > 5 * x[:, 1]) ^ (rng.random(900) < wrong)
    reader = Reader(labelled(x, y))
    assert (("a", 4), ("b", -5)) in multiples(reader, [Atom((("a", 1), ("b", -1)), Fraction(20))], 0)


def test_multiples_are_of_positive_numbers():
    x = integers(300, 2, low=-50, high=50)
    assert multiples(Reader(labelled(x, 4 * x[:, 0] > 5 * x[:, 1])), [Atom((("a", 1), ("b", -1)))], 0) == []
