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


def test_the_grid_of_a_sum_is_that_of_the_numbers_the_columns_hold():
    x = torch.tensor([[0.5, 0.25, 3.0], [2.0, 0.75, 6.0], [1.5, 1.0, 9.0]], dtype=torch.float64)
    columns = Columns(x, ["halves", "quarters", "threes"])
    assert columns.step((("halves", 1),)) == Fraction(1, 10)
    assert columns.grid((("halves", 1),)) == Fraction(1, 2)
    assert columns.grid((("halves", 1), ("quarters", -1))) == Fraction(1, 4)
    assert columns.grid((("threes", 2),)) == 6
    assert Columns(torch.tensor([[0.1], [1 / 3]]).double(), ["floats"]).grid((("floats", 1),)) is None
