import dataclasses

import numpy as np
import pytest
import torch

from nsr.data import Graph
from nsr.paper.experiments import shortest_paths
from nsr.paper.experiments.shortest_paths import (
    AXES,
    EXPERIMENT,
    SITUATIONS,
    PathsCell,
    error,
    run_cell,
    scipy_distances,
)


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
    errors = ["error 3^2 nodes", "error 3^12 weights", "error 3^2 nodes and weights"]
    soft = [f"soft {name}" for name in [*errors, "exact"]]
    assert set(metrics) == {*errors, *soft, "exact", "read", "read without labels", "train", "epochs"}
    assert metrics["exact"] == metrics["read"] == 1
    assert metrics["soft exact"] < 1
    assert all(metrics[f"soft {name}"] > 0 for name in errors)
    assert all(value == 0 for name, value in metrics.items() if name.startswith("error"))


def test_the_truth_is_not_the_program_that_is_tested(monkeypatch):
    def random(graph, source):
        return np.random.default_rng(source).random(graph.nodes)

    monkeypatch.setattr("nsr.program.paths._shortest", random)
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], epochs=400)
    (metrics,) = run_cell(PathsCell("nsr"), recipe, [1])
    assert metrics["read"] == 1
    assert metrics["exact"] == 0
    assert all(metrics[error(axis, power)] > 0.1 for axis, powers in shortest_paths.AXES.items() for power in powers)


def test_the_truth_and_the_error_of_a_graph_by_hand():
    graph = Graph.of([(0, 1, 4), (1, 0, 4), (0, 2, 20), (2, 0, 20), (1, 2, 6), (2, 1, 6)])
    assert shortest_paths.scipy_distances(graph).tolist() == [0, 4, 10]


def test_an_error_is_divided_by_the_largest_possible_weight(monkeypatch):
    monkeypatch.setattr(shortest_paths, "_soft", lambda _, graphs, __: [scipy_distances(g) + 5 for g in graphs])
    module = shortest_paths._paths(PathsCell("nsr"), torch.Generator().manual_seed(0))
    metrics = shortest_paths._measured(module, None, 0, both=False)
    assert metrics[error("nodes", 2)] == pytest.approx(5 / shortest_paths.LARGEST)
    largest = np.random.default_rng((0, 2, 12)).integers(3**12, 3**13, shortest_paths.TESTED)
    assert metrics[error("weights", 12)] == pytest.approx(np.mean(5 / largest))


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
