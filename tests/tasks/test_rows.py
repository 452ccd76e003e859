import math

import pytest
import torch

from nsr.tasks import Rows


def test_rows_weigh_the_same_and_sum_to_one():
    rows = Rows.of(torch.zeros(4, 2), torch.zeros(4))
    assert rows.weight.tolist() == [0.25] * 4
    assert len(rows) == 4


def test_another_dtype():
    rows = Rows.of(torch.zeros(4, 2), torch.zeros(4)).to(torch.float16)
    assert rows.x.dtype == rows.y.dtype == rows.weight.dtype == torch.float16


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
