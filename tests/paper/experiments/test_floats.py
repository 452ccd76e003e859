import dataclasses

import pytest

from nsr import EXACT, PAPER
from nsr.data import COMPARISONS
from nsr.paper.experiments.floats import EXPERIMENT, FloatCell, run_cell


def test_the_grid_is_that_of_the_figures_and_the_row_beyond():
    assert len(EXPERIMENT.cells) == 49
    assert {cell.delta for cell in EXPERIMENT.cells} == {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3}
    assert {cell.delta for cell in EXPERIMENT.beyond} == {10.0**power for power in range(-6, 7)}
    sizes = [len(EXPERIMENT.cells_of("paper", profile)) for profile in EXPERIMENT.profiles.values()]
    assert sizes == [1, 9, 49]


@pytest.mark.parametrize("delta", [1e-6, 0.1, 1e6])
def test_lambda_from_the_data_learns_all_six_at_any_delta(delta):
    for metrics in run_cell(FloatCell(delta, "auto"), EXACT, range(2)):
        assert {metrics[comparison] for comparison in COMPARISONS} == {1.0}


@pytest.mark.outer
def test_equality_needs_a_lambda_of_one_over_delta():
    (metrics,) = run_cell(FloatCell(0.01, 1.0), EXACT, [0])
    assert metrics[">"] == 1
    assert metrics["="] < 0.6


def test_a_seed_has_the_same_record_in_any_block():
    recipe = dataclasses.replace(PAPER, epochs=40)
    cell = FloatCell(0.1, 10.0)
    together = run_cell(cell, recipe, range(4))
    assert run_cell(cell, recipe, [3, 1]) == [together[3], together[1]]
