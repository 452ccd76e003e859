import numpy as np
import pytest
import torch

from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows, split_groups, times_log


def test_equal_rows_are_merged_and_their_weights_added():
    rows = LabelledRows(
        Columns(torch.tensor([[2.0], [1.0], [2.0], [5.0]]), ("a",)), np.array([1, 0, 1, 1]), np.array([1.0, 2, 3, 0]), 2
    )
    some = rows.distinct()
    assert some.columns.x.tolist() == [[1.0], [2.0]]
    assert some.weight.tolist() == pytest.approx([2 / 3, 4 / 3])  # together as many as there are distinct rows
    assert some.classes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("shares", "sizes"), [((0.5, 0.25), [2, 4, 2]), ((1.0,), [0, 8]), ((0.3,), [5, 3]), ((0.5, 0.5), [0, 4, 4])]
)
def test_parts_have_their_shares_of_the_rows(shares, sizes):
    parts = split_groups(np.arange(8), np.random.default_rng(0), shares)
    assert np.bincount(parts).tolist() == sizes


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_a_group_are_in_one_part_and_a_part_ends_where_it_is_large_enough(seed):
    groups = np.repeat([3, 1, 2, 0], [1, 2, 3, 4])
    parts = split_groups(groups, np.random.default_rng(seed), [0.5])
    assert all(len(set(parts[groups == group].tolist())) == 1 for group in range(4))
    inside = [int((groups == group).sum()) for group in set(groups[parts == 1].tolist())]
    assert 5 <= sum(inside) < 5 + max(inside)


def test_x_log_x_is_zero_at_zero_and_negative_below_one():
    assert times_log(np.array([0, 0.5, 1, np.e])).tolist() == pytest.approx([0, -0.5 * np.log(2), 0, np.e])
