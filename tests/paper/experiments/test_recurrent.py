import dataclasses

import numpy as np
import pytest
import torch

from nsr.data import LOOPS, lists_around, random_lists
from nsr.paper.experiments import recurrent
from nsr.paper.experiments.recurrent import EXPERIMENT, LENGTHS, POWERS, READ, RecurrentCell, run_cell, square


@pytest.fixture
def small(monkeypatch):
    """The corners of the maps, no compiler, and no list of 100,000: each takes longer than these small runs."""
    monkeypatch.setattr("nsr.training.has_compiler", lambda: False)
    monkeypatch.setattr(recurrent, "LENGTHS", (5, 50))
    monkeypatch.setattr(recurrent, "POWERS", (1, 13))
    monkeypatch.setattr(recurrent, "_right_when_long", recurrent._right_when_large)


def run(cell: RecurrentCell, name: str, epochs: int, seeds=(0,)):
    return run_cell(cell, dataclasses.replace(EXPERIMENT.recipes[name], epochs=epochs), list(seeds))


def test_the_grid_is_two_gates_and_two_loops_at_ten_lengths_and_thirteen_magnitudes():
    assert [(cell.model, cell.loop) for cell in EXPERIMENT.cells] == [
        *(("mlp", "minimum"), ("mlp", "count"), ("nsr", "minimum"), ("nsr", "count"))
    ]
    assert (list(LENGTHS), list(POWERS)) == ([5, 10, 15, 20, 25, 30, 35, 40, 45, 50], list(range(1, 14)))
    assert square(50, 13) == "50 x 3^13"
    assert square(50, 13, absolute=True) == "50 x 3^13 within 0.1"
    assert (EXPERIMENT.recipes["paper"].loss, EXPERIMENT.recipes["exact"].loss) == ("mae", "mse")
    assert EXPERIMENT.published == {}


@pytest.mark.parametrize("loop", LOOPS)
def test_the_loops_that_count_as_read_are_right(loop):
    generator = np.random.default_rng(0)
    for rows in (random_lists(loop, generator), lists_around(loop, generator, length=20, power=30)):
        for program in READ[loop]:
            assert torch.equal(program(rows.x).double(), rows.y)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("loop", "seed"), [("minimum", 1), ("count", 0)])  # quick ones: 80 epochs are enough
def test_recipe_exact_is_right_at_every_length_and_magnitude_and_reads_as_the_loop(loop, seed):
    (metrics,) = run(RecurrentCell("nsr", loop), "exact", 80, [seed])
    squares = [square(n, k, absolute=absolute) for n in (5, 50) for k in (1, 13) for absolute in (False, True)]
    measured, flags = (
        ["train", "train within 0.1", *squares],
        ["read", "read without labels", "100,000 elements", "100 digits"],
    )
    assert list(metrics) == [*measured, *(f"soft {name}" for name in measured), *flags, "epochs"]
    assert all(metrics[name] == 1 for name in [*measured, "read", "100,000 elements", "100 digits"])
    assert metrics["soft train"] < 1  # after so few epochs


@pytest.mark.usefixtures("small")
def test_a_gate_that_cannot_be_read_stays_soft_and_only_the_second_map_sees_it_at_large_numbers():
    (metrics,) = run(RecurrentCell("mlp", "minimum"), "exact", 20)
    assert metrics["read"] == metrics["100,000 elements"] == metrics["100 digits"] == metrics["train"] == 0
    assert metrics[square(50, 13)] == 1
    assert metrics[square(50, 13, absolute=True)] == metrics[square(50, 1)] == 0


@pytest.mark.usefixtures("small")
def test_a_count_of_zero_is_right_within_a_tenth(monkeypatch):
    cell = RecurrentCell("nsr", "count")
    (strict,) = run(cell, "paper", 1)
    monkeypatch.setattr(recurrent, "ABSOLUTE", 1e9)
    (loose,) = run(cell, "paper", 1)
    zeros = (random_lists("count", np.random.default_rng((0, 0))).y == 0).double().mean().item()
    assert strict["train"] == 0
    assert loose["train"] == pytest.approx(zeros)


@pytest.mark.usefixtures("small")
def test_a_seed_has_the_same_record_in_any_block():
    cell = RecurrentCell("nsr", "count")
    together = run(cell, "exact", 40, range(3))
    assert run(cell, "exact", 40, [2]) == [together[2]]
    assert 0 < together[2]["train"] < 1
