import math

import numpy as np
import pandas as pd
import pytest
import torch

from nsr.data import Rows


def test_rows_weigh_the_same_and_sum_to_one():
    rows = Rows.of(torch.zeros(4, 2), torch.zeros(4))
    assert rows.weight.tolist() == [0.25] * 4
    assert len(rows) == 4


def test_another_dtype():
    rows = Rows.of(torch.zeros(4, 2), torch.zeros(4)).to(torch.float16)
    assert rows.x.dtype == rows.y.dtype == rows.weight.dtype == torch.float16


def test_the_smallest_gap_of_unequal_numbers_of_a_row():
    x = torch.tensor([[0.0, 5.0, 5.0], [1.0, 3.5, 9.0]])
    rows = Rows.of(x, torch.zeros(2))
    assert rows.smallest_gap() == 2.5
    assert rows.times(0.1).smallest_gap() == pytest.approx(0.25)
    with pytest.raises(
        ValueError, match="^the numbers within each row are all equal, so there is no gap to set the scale by$"
    ):
        Rows.of(torch.ones(2, 2), torch.zeros(2)).smallest_gap()


def test_targets_for_each_member():
    rows = Rows.of(torch.zeros(4, 2), torch.zeros(4))
    assert rows.with_targets(torch.ones(3, 4)).y.shape == (3, 4)
    with pytest.raises(ValueError, match=r"^y must be \(members, 4\), got \(4,\)$"):
        rows.with_targets(torch.ones(4))


@pytest.mark.parametrize(
    ("x", "y", "text"),
    [
        (torch.zeros(3), torch.zeros(3), "x must be (rows, inputs) and y (rows,), got (3,) and (3,)"),
        (torch.zeros(3, 2), torch.zeros(2), "x must be (rows, inputs) and y (rows,), got (3, 2) and (2,)"),
        (torch.zeros(0, 2), torch.zeros(0), "x must have at least one row, got none"),
        (
            torch.tensor([[0.0, 1.0], [math.nan, 1.0], [0.0, 1.0]]),
            torch.tensor([0.0, 1.0, math.inf]),
            "x and y must be finite: 2 of 3 rows hold NaN or infinity, the first is row 1",
        ),
    ],
)
def test_rows_that_cannot_be_learned_from_are_refused(x, y, text):
    with pytest.raises(ValueError) as error:
        Rows.of(x, y)
    assert str(error.value) == text


# Data as people have it

X, Y = [[1, 2], [4, 3], [5, 5]], [0, 1, 0]


@pytest.mark.parametrize(
    "data",
    [
        (X, Y),
        (np.array(X), np.array(Y)),
        (np.array(X, dtype=">i2"), np.array(Y, dtype=bool)),
        (np.array(X, dtype=np.uint64), tuple(Y)),
        (np.array(X, dtype=object), np.array(Y, dtype=np.longdouble)),
        (torch.tensor(X), torch.tensor(Y)),
        (pd.DataFrame(X, columns=["a", "b"]), pd.Series(Y)),
        (pd.DataFrame(X, columns=["a", "b"], dtype="Int64"), pd.Series(Y, dtype="boolean")),
        Rows.of(torch.tensor(X), torch.tensor(Y)),
    ],
    ids=["lists", "arrays", "big-endian", "uint64", "objects", "tensors", "frame", "nullable", "rows"],
)
def test_rows_come_from_whatever_holds_numbers(data):
    rows = Rows.from_data(data)
    assert (rows.x.tolist(), rows.y.tolist(), rows.x.dtype) == (X, Y, torch.int64)
    assert rows.weight.tolist() == [1 / 3] * 3


def test_rows_are_a_copy_of_an_array_that_may_be_read_only():
    x = np.array(X, dtype=float)[::-1]
    x.flags.writeable = False
    assert Rows.of(x, Y).x.tolist() == x.tolist()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (X, "data must be Rows or a pair (x, y), got a list of 3"),
        (torch.tensor(X), "data must be Rows or a pair (x, y), got a Tensor of shape (3, 2)"),
        ((X, Y, Y), "data must be Rows or a pair (x, y), got a tuple of 3"),
        (None, "data must be Rows or a pair (x, y), got a NoneType"),
        (([[1, 2], [3]], [0, 1]), "x must have the same number of values in each row"),
        ((X, ["no", "yes", "no"]), "y must hold numbers that fit int64 or float64, got an array of dtype <U3"),
        (([[2**70, 1]], [0]), "x must hold numbers that fit int64 or float64, got an array of dtype object"),
        (([[2**63, 1]], [0]), "x must hold numbers that fit int64 or float64, got an array of dtype object"),
        (([[2**63, 2**63]], [0]), "x must hold real numbers, and integers that fit int64, got torch.uint64"),
        (([[1j, 1]], [0]), "x must hold real numbers, and integers that fit int64, got torch.complex128"),
        (([[None, 1]], [0]), "x and y must be finite: 1 of 1 rows hold NaN or infinity, the first is row 0"),
    ],
)
def test_other_data_is_refused_with_the_name_of_the_argument(data, text):
    with pytest.raises(ValueError) as error:
        Rows.from_data(data)
    assert str(error.value) == text
