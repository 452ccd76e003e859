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
    again = torch.randint(-10, 10, (2_000, 3), generator=torch.Generator().manual_seed(0))
    assert torch.equal(rows, again.double())  # the same rows for every register


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


@torch.no_grad()
@pytest.mark.parametrize(("scale", "reach"), [(1.0, 16), (2.0, 19), (0.5, 14)])
def test_each_pair_is_swept_twelve_steps_beyond_its_constant(scale, reach):
    register = written(2, (0, ">", 1, -3.1), redundancy=1, constants=True, scale=scale)
    rows = probing_rows(register)
    swept = rows[2_000:, 0] - rows[2_000:, 1]
    assert len(swept) == 2 * reach + 1
    assert (swept[1:] - swept[:-1]).tolist() == pytest.approx([1 / scale] * 2 * reach, abs=1e-5)
    assert in_steps(swept + 3.1, scale)
    assert 0 <= swept[0] + reach / scale < 1 / scale


@torch.no_grad()
def test_a_unit_that_selects_nothing_makes_the_sweep_as_long_as_one_of_a_hundredth():
    register = written(2, (0, ">", 1, 3.1), redundancy=2, constants=True)
    register.v1[:, 1] = register.v2[:, 1] = 0
    assert len(probing_rows(register)) == 2_000 + 2 * 1_204 + 1


@torch.no_grad()
def test_units_without_influence_are_not_asked_about():
    register = written(3, (0, ">", 1, 0.5), (2, ">", 3, 7.0), redundancy=2, constants=True)
    register.w_sign[1] = register.w_zero[1] = 0
    register.w_sign[0], register.w_zero[0] = 0.5, 0.25  # little influence is some
    rows = probing_rows(register)
    assert len(rows) == 2_000 + 2 * 13 + 1  # one pair, thirteen steps to either side
    assert not in_steps(rows[:, 0], 1.0)
    assert in_steps(rows[:, 2], 1.0)


@torch.no_grad()
@pytest.mark.parametrize(("other", "phase"), [(7.5, 0.0), (7.2501, 0.25)])
def test_constants_at_different_places_within_a_step_are_asked_about_at_whole_steps(other, phase):
    register = written(2, (0, ">", 1, 2.25), (0, "<", 1, other), redundancy=2, constants=True, scale=2.0)
    rows = probing_rows(register)
    assert in_steps(rows[:, 0] - rows[:, 1] - phase, 2.0)
    assert (rows[2_000:, 0] - rows[2_000:, 1]).min().item() == pytest.approx(phase - 27 / 2)


@torch.no_grad()
def test_at_most_two_thousand_steps_are_asked_about():
    assert len(probing_rows(written(1, (0, ">=", 1, -1e6), constants=True))) == 2_000 + 2 * 2_000 + 1


@torch.no_grad()
def test_the_phase_of_an_operand_is_that_of_the_operand_it_is_compared_with_and_its_constant():
    register = written(4, (0, ">", 1, 2.25), (1, ">", 2, 0.5), (2, ">", 3, 3.125), redundancy=3, constants=True)
    rows = probing_rows(register)[:2_000]
    for first, phase in ((2, 0.125), (1, 0.625), (0, 0.875)):
        assert rows[:, first].min() == -10 + phase
        assert in_steps(rows[:, first] - phase, 1.0)
