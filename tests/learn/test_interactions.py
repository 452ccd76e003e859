import numpy as np

from nsr.learn.candidates import candidate_sums
from nsr.learn.interactions import Interactions
from nsr.reading.screen import Screen
from tests.learn.samples import integers, labelled


def interactions(x, classes, n_classes=2):
    rows = labelled(x, classes, n_classes)
    return Interactions(Screen(rows, candidate_sums(rows)))


def pairs(x, classes, n_classes=2):
    return interactions(x, classes, n_classes).pairs()


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


def test_four_comparisons_of_a_count_are_found_together_where_no_pair_stands_out():
    x, rng = integers(300, 20), np.random.default_rng(0)
    columns = [f"x{at:02}" for at in range(20)]
    bits = np.array([x[:, at] > x[:, at + 1] for at in (0, 2, 4, 6)])
    classes = (bits.sum(0) == 2) ^ (rng.random(300) < 0.05)
    rows = labelled(x, classes, names=columns)
    found = Interactions(Screen(rows, candidate_sums(rows)))
    wanted = {("x00", "x01"), ("x02", "x03"), ("x04", "x05"), ("x06", "x07")}
    assert wanted <= {atom.columns for atom in found.groups()[0]}
    assert not all({atom.columns for atom in pair} <= wanted for pair in found.pairs()[:4])


def test_random_labels_have_no_groups():
    assert interactions(integers(500, 6), np.random.default_rng(0).integers(0, 2, 500)).groups() == []
