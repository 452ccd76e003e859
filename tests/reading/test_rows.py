import numpy as np
import pytest
import torch

from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows


def test_equal_rows_are_merged_and_their_weights_added():
    rows = LabelledRows(
        Columns(torch.tensor([[2.0], [1.0], [2.0], [5.0]]), ("a",)), np.array([1, 0, 1, 1]), np.array([1.0, 2, 3, 0]), 2
    )
    some = rows.distinct()
    assert some.columns.x.tolist() == [[1.0], [2.0]]
    assert some.weight.tolist() == pytest.approx([2 / 3, 4 / 3])  # together as many as there are distinct rows
    assert some.classes.tolist() == [0, 1]
