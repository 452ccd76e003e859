import dataclasses

import pytest

from nsr import EXACT, PAPER
from nsr.paper.experiments.comparisons import EXPERIMENT, TABLE_1, ComparisonCell, run_cell


def test_the_grid_is_table_1():
    assert len(EXPERIMENT.cells) == 12
    assert set(TABLE_1) == set(EXPERIMENT.cells)
    assert all(len(row) == 13 for row in TABLE_1.values())
    assert TABLE_1[ComparisonCell("nsr", "=")]["10^13"] == 0.93
    assert TABLE_1[ComparisonCell("mlp", "<=")]["10^4"] == 0.68
    assert TABLE_1[ComparisonCell("mlp", ">")]["10^13"] == 0.48


@pytest.mark.parametrize("comparison", [">", "<=", "="])
def test_recipe_exact_is_right_at_every_magnitude(comparison):
    for metrics in run_cell(ComparisonCell("nsr", comparison), EXACT, range(3)):
        names = [
            "train",
            *(f"10^{power}" for power in range(2, 16)),
            "read",
            "read without labels",
            "1000 digits",
            "epochs",
        ]
        assert list(metrics) == names
        assert all(metrics[name] == 1 for name in metrics if name != "epochs")


@pytest.mark.outer
@pytest.mark.usefixtures("unchecked")
def test_the_mlp_fits_and_does_not_extrapolate():
    (metrics,) = run_cell(ComparisonCell("mlp", ">"), EXACT, [0])
    assert metrics["train"] == 1
    assert metrics["10^6"] < 0.6
    assert metrics["read"] == metrics["1000 digits"] == 0


def test_a_seed_has_the_same_record_in_any_block():
    recipe = dataclasses.replace(PAPER, epochs=60)
    cell = ComparisonCell("nsr", "!=")
    together = run_cell(cell, recipe, range(6))
    assert run_cell(cell, recipe, [4]) == [together[4]]
    assert run_cell(cell, recipe, [5, 2]) == [together[5], together[2]]
