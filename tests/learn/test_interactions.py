import numpy as np

from nsr.learn.candidates import candidate_sums
from nsr.learn.interactions import interactions
from nsr.reading.screen import Screen
from tests.learn.samples import integers, labelled


def pairs(x, classes, n_classes=2):
    rows = labelled(x, classes, n_classes)
    return interactions(Screen(rows, candidate_sums(rows)))


def test_the_two_comparisons_of_an_xor_come_first():
    x = integers(800, 5)
    (first, second), *_ = pairs(x, (x[:, 0] > x[:, 1]) ^ (x[:, 2] > x[:, 3]))
    assert {first.columns, second.columns} == {("a", "b"), ("c", "d")}


def test_three_classes():
    x = integers(900, 4)
    same = (x[:, 0] > 0) == (x[:, 1] > 0)
    (first, second), *_ = pairs(x, np.where(same, 0, np.where(x[:, 2] > 0, 1, 2)), 3)
    assert {first.columns, second.columns} == {("a",), ("b",)}


def test_random_labels_have_none():
    assert pairs(integers(500, 3), np.random.default_rng(0).integers(0, 2, 500)) == []
