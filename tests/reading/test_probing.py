"""Without data a register is asked at the steps that lambda resolves, where its bits may change."""

import pytest
import torch

from nsr.reading.probing import FURTHEST, ROWS, probing_rows
from tests.reading.samples import written


def in_steps(numbers: torch.Tensor, scale: float) -> bool:
    steps = numbers * scale
    return bool((steps - steps.round()).abs().max() < 1e-6)


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_without_constants_rows_are_integers_over_lambda(scale):
    rows = probing_rows(written(3, (0, ">", 1, 0.0), scale=scale)) * scale
    assert rows.shape == (ROWS, 3)
    assert torch.equal(rows, rows.round())
    assert (rows.min(), rows.max()) == (-10, 9)


@torch.no_grad()
@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_every_pair_of_operands_is_asked_at_its_constant_and_whole_steps_from_it(scale):
    register = written(2, (0, ">", 1, 2.25), (1, ">", 2, 0.75), constants=True, scale=scale)
    rows = probing_rows(register)[:ROWS]
    assert in_steps(rows[:, 1] - 0.75, scale)
    assert in_steps(rows[:, 0] - rows[:, 1] - 2.25, scale)


@torch.no_grad()
def test_a_far_constant_is_reached_and_a_very_far_one_only_to_a_limit():
    rows = probing_rows(written(1, (0, ">=", 1, 300.5), constants=True))
    assert (rows[:, 0] == 300.5).any()
    assert (rows[:, 0] == 299.5).any()
    assert rows.max() >= 311
    far = probing_rows(written(1, (0, ">=", 1, 1e6), constants=True))
    assert len(far) == ROWS + 2 * FURTHEST + 1
    assert far.abs().max() == FURTHEST
