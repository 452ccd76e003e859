import dataclasses

import pytest

from nsr.paper.experiments.piecewise import EXPERIMENT, POWERS, TABLE_2, PiecewiseCell, run_cell


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """A compiler takes longer than these small runs."""
    monkeypatch.setattr("nsr.training.has_compiler", lambda: False)


def test_the_grid_is_table_2():
    assert set(TABLE_2) == set(EXPERIMENT.cells)
    assert all(len(row) == 13 for row in TABLE_2.values())
    assert TABLE_2[PiecewiseCell("nsr", "f")]["3^13"] == 0.36
    assert TABLE_2[PiecewiseCell("mlp", "f")]["3^8"] == 0.55
    assert TABLE_2[PiecewiseCell("mlp", "abs")]["3^4"] == 0.57


@pytest.mark.parametrize(("function", "epochs"), [("abs", 800), ("f", 2_000)])
def test_recipe_exact_is_right_at_every_magnitude_and_reads_as_the_function(function, epochs):
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], epochs=epochs)
    for metrics in run_cell(PiecewiseCell("nsr", function), recipe, [0]):
        measured = ["train", *(f"3^{power}" for power in POWERS)]
        soft = [f"soft {name}" for name in measured]
        assert list(metrics) == [*measured, *soft, "read", "read without labels", "epochs"]
        assert all(metrics[name] == 1 for name in [*measured, "read"])
        assert metrics["soft 3^33"] < 1  # what the program is right on, the model it was read from is not


def test_a_gate_that_cannot_be_read_stays_soft():
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], epochs=300)
    (metrics,) = run_cell(PiecewiseCell("mlp", "abs"), recipe, [0])
    assert metrics["read"] == metrics["read without labels"] == 0
    assert not any(name.startswith("soft") for name in metrics)
    assert metrics["3^33"] == 0


def test_a_seed_has_the_same_record_in_any_block():
    recipe = dataclasses.replace(EXPERIMENT.recipes["paper"], epochs=30)
    cell = PiecewiseCell("nsr", "f")
    together = run_cell(cell, recipe, range(3))
    assert run_cell(cell, recipe, [2]) == [together[2]]
