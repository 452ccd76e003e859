import numpy as np
import pytest

from nsr.learn.ratios import best_multiples
from nsr.reading.atoms import Atom
from tests.learn.samples import integers, labelled


def positive(rows=600, columns=3, seed=0, step=1):
    return integers(rows, columns, seed, low=1, high=500) * step


def wrong_labels(y, share, seed=1):
    return y ^ (np.random.default_rng(seed).random(len(y)) < share)


@pytest.mark.parametrize("wrong", [0.0, 0.05])
@pytest.mark.parametrize("step", [1, 10_000])
@pytest.mark.parametrize(("left", "right"), [(2, 3), (10, 11), (20, 17)])
def test_the_factor_is_among_those_of_the_best_pair(left, right, step, wrong):
    x = positive(step=step)
    rows = labelled(x, wrong_labels(left * x[:, 0] > right * x[:, 2], wrong))
    (best,) = best_multiples(rows, [("a", "b"), ("a", "c"), ("b", "c")])
    assert (("a", left), ("c", -right)) in best.sums
    assert best.left < 0.4 * len(rows)


def test_multiples_are_sought_within_the_cases_of_other_comparisons():
    x = positive(900)
    rows = labelled(x, (x[:, 2] > 250) ^ (2 * x[:, 0] > 3 * x[:, 1]))
    wanted = (("a", 2), ("b", -3))
    without, given = best_multiples(rows, [("a", "b")]), best_multiples(rows, [("a", "b")], [Atom((("c", 1),), 250)])
    assert wanted not in [sums for each in without for sums in each.sums]
    assert wanted in given[0].sums
    assert given[0].left == 0


def test_the_best_ones_come_first():
    x = positive()
    rows = labelled(x, 2 * x[:, 0] > 3 * x[:, 1])
    found = best_multiples(rows, [("b", "c"), ("a", "c"), ("a", "b")], count=2)
    assert found[0].atom.columns == ("a", "b")
    assert found[0].left < found[1].left


def test_a_few_rows_without_a_positive_number_are_left_out():
    x = positive()
    x[:20, 1] = -x[:20, 1]
    rows = labelled(x, 2 * x[:, 0] > 3 * x[:, 1])
    assert (("a", 2), ("b", -3)) in best_multiples(rows, [("a", "b")])[0].sums


def test_multiples_are_of_positive_numbers():
    x = integers(300, 2, low=-50, high=50)
    assert best_multiples(labelled(x, 4 * x[:, 0] > 5 * x[:, 1]), [("a", "b")]) == []


def test_a_split_at_an_end_of_the_rows_has_no_factor():
    x = positive()
    assert best_multiples(labelled(x, np.zeros(len(x))), [("a", "b")]) == []


@pytest.mark.parametrize("low", [1_990, 100])
def test_a_column_that_hardly_varies_is_compared_with_no_multiple(low):
    """``80*a > year`` would only say that a is above 25; beside another one that hardly varies, a factor may matter."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(1, 51, 600), rng.integers(low, low + 30, 600), rng.integers(low, low + 30, 600)])
    rows = labelled(x, x[:, 0] > 25)
    assert bool(best_multiples(rows, [("a", "b")])) == (low == 100)
    assert best_multiples(labelled(x, x[:, 1] > x[:, 2]), [("b", "c")])
