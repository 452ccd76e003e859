import dataclasses

import numpy as np
import pytest

from nsr.paper.experiments import shortest_paths
from nsr.paper.experiments.shortest_paths import AXES, EXPERIMENT, SITUATIONS, PathsCell, error, run_cell


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few small graphs, a few points, and no compiler, which takes longer than these runs."""
    monkeypatch.setattr("nsr.training.has_compiler", lambda: False)
    monkeypatch.setattr(shortest_paths, "NODES", 4)
    monkeypatch.setattr(shortest_paths, "SITUATIONS", 250)
    monkeypatch.setattr(shortest_paths, "TESTED", 2)
    monkeypatch.setattr(
        shortest_paths,
        "AXES",
        {"nodes": [2], "weights": [12], "nodes and weights": [2]},
    )


def test_the_grid():
    assert EXPERIMENT.cells == (PathsCell("mlp"), PathsCell("nsr"))
    assert EXPERIMENT.beyond == (PathsCell("nsr", "learned"),)
    assert SITUATIONS == 1_000
    assert AXES["nodes"][-1] == 5


def test_recipe_exact_reads_as_bellman_ford_and_is_right_on_every_graph():
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], epochs=400)
    (metrics,) = run_cell(PathsCell("nsr"), recipe, [1])
    assert list(metrics) == [
        "error 3^2 nodes",
        "error 3^12 weights",
        "error 3^2 nodes and weights",
        "exact",
        "read",
        "epochs",
    ]
    assert metrics["exact"] == metrics["read"] == 1
    assert all(value == 0 for name, value in metrics.items() if name.startswith("error"))


def test_a_soft_model_has_an_error_for_each_point():
    recipe = dataclasses.replace(EXPERIMENT.recipes["paper"], epochs=20)
    (metrics,) = run_cell(PathsCell("mlp"), recipe, [0])
    assert metrics["exact"] == metrics["read"] == 0
    assert all(np.isfinite(metrics[name]) and metrics[name] > 0 for name in (error("nodes", 2), error("weights", 12)))


def test_a_seed_has_the_same_record_in_any_block():
    recipe = dataclasses.replace(EXPERIMENT.recipes["paper"], epochs=10)
    cell = PathsCell("nsr", "learned")
    together = run_cell(cell, recipe, range(3))
    assert run_cell(cell, recipe, [2]) == [together[2]]
