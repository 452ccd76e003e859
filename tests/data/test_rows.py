import math

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
        ValueError, match="^every row holds one number only, so there is no gap to take the scale from$"
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
    with pytest.raises(ValueError) as refusal:
        Rows.of(x, y)
    assert str(refusal.value) == text
