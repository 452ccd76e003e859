import numpy as np

from nsr.learn.candidates import candidate_sums
from nsr.learn.steps import steps_along_one_sum
from nsr.reading.screen import Screen
from tests.learn.samples import integers, labelled


def steps(x, classes, n_classes):
    rows = labelled(x, classes, n_classes)
    return steps_along_one_sum(Screen(rows, candidate_sums(rows)))


def test_grades_are_cut_where_they_change():
    x = integers(900, 3, low=0, high=101)
    borders = [10, 30, 50, 55, 60, 80, 93]
    found = steps(x, np.digitize(x[:, 1], borders), 8)
    assert {atom.weights for atom in found} == {(("b", 1),)}
    assert all(border - 1 < atom.constant < border for atom, border in zip(found, borders, strict=True))


def test_steps_along_a_difference():
    x = integers(900, 3, low=0, high=101)
    found = steps(x, np.digitize(x[:, 0] - x[:, 2], [-20, 5, 40]), 4)
    assert {atom.weights for atom in found} == {(("a", 1), ("c", -1))}
    assert len(found) == 3


def test_classes_that_follow_nothing_have_no_steps():
    assert steps(integers(300, 3), np.random.default_rng(0).integers(0, 3, 300), 3) is None


def test_one_step_is_no_staircase():
    x = integers(300, 3)
    assert steps(x, x[:, 0] > 4, 2) is None
