from fractions import Fraction

import numpy as np
import torch

from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns


def test_differences_that_int64_cannot_hold_do_not_wrap():
    rows = Columns(torch.tensor([[2**62, -(2**62)], [1, 2], [-(2**62), 2**62]]), ("a", "b"))
    assert rows.signs(Atom.difference("a", "b")).tolist() == [1, -1, -1]


def test_constants_between_integers_have_rows_on_either_side_only():
    rows = Columns(torch.tensor([[1], [2], [3]]), ("a",))
    assert rows.signs(Atom.difference("a", constant=Fraction(5, 2))).tolist() == [-1, -1, 1]
    assert rows.signs(Atom.difference("a", constant=Fraction(2))).tolist() == [-1, 0, 1]
    assert rows.distances(Atom.difference("a", constant=Fraction(5, 2))).tolist() == [-1.5, -0.5, 0.5]


def test_cases_that_no_row_shows_are_named():
    columns = Columns(torch.tensor([[1, 2], [2, 1]]), ("a", "b"))
    assert columns.cases_not_covered(Atom.difference("a", "b")) == ["a == b"]
    assert columns.cases_not_covered(Atom.difference("a", constant=Fraction(1))) == ["a < 1"]


def test_tolerances_are_zero_for_integers_and_grow_with_the_numbers():
    integers = Columns(torch.tensor([[3, 4]]), ("a", "b"))
    assert integers.tolerance(np.array([7.0])).tolist() == [0.0]
    assert integers.tolerance(np.array([7.5]))[0] > 0
    small, large = (Columns(torch.tensor([[size, 1.0]]), ("a", "b")).tolerance(np.array([size])) for size in (1.0, 1e6))
    assert 0 < small < large
