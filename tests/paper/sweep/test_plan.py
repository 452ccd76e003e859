from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from nsr.errors import InputError
from nsr.paper import archive
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item
from nsr.paper.sweep.plan import BLOCK, LONGEST, plan, seconds_per_seed

EXPERIMENT = EXPERIMENTS["comparisons"]
QUICK, SMOKE = (EXPERIMENT.profiles[name] for name in ("quick", "smoke"))


@cache
def committed():
    return archive.read(Path(__file__).parents[3] / "results")


def seeds_of(items):
    return [(item.cell, item.recipe.name, seed) for item in items for seed in item.seeds]


def test_every_cell_recipe_and_seed_once_in_blocks():
    items = plan(EXPERIMENT, QUICK, ("paper", "exact"), range(25), block=10)
    assert len(items) == len({item.key for item in items}) == 12 * 2 * 3
    assert len(seeds_of(items)) == len(set(seeds_of(items))) == 12 * 2 * 25
    assert max(len(item.seeds) for item in items) == 10


def test_a_profile_shortens_the_recipe_of_its_items():
    assert {item.recipe.epochs for item in plan(EXPERIMENT, SMOKE, ("paper",), range(2))} == {SMOKE.epochs}


def test_only_what_is_missing_is_planned():
    cell, recipe = EXPERIMENT.cells[0], EXPERIMENT.recipes["paper"]
    done = Item("comparisons", EXPERIMENT.revision, cell, recipe, "quick", (0, 1, 3)).identities
    first, *others = plan(EXPERIMENT, QUICK, ("paper",), range(5), done=done)
    assert (first.cell, first.seeds) == (cell, (2, 4))
    assert all(item.seeds == range(5) for item in others)


def test_cells_can_be_chosen_and_those_beyond_the_paper_are_for_recipe_exact():
    items = plan(EXPERIMENT, QUICK, ("exact",), range(1), keep=lambda cell: cell.model == "nsr")
    assert {item.cell.model for item in items} == {"nsr"}
    floats = EXPERIMENTS["floats"]
    paper, exact = (plan(floats, floats.profiles["paper"], (name,), range(1)) for name in ("paper", "exact"))
    assert (len(paper), len(exact)) == (49, 49 + 13)


def test_a_block_lasts_at_most_ten_minutes_by_estimate():
    for experiment in EXPERIMENTS.values():
        for item in plan(experiment, experiment.profiles["paper"], experiment.recipes, range(200)):
            estimate = len(item.seeds) * seconds_per_seed(experiment, item.cell, item.recipe)
            assert estimate <= LONGEST or len(item.seeds) == 1
            assert len(item.seeds) <= BLOCK


@pytest.mark.parametrize("recipe", ["paper", "exact"])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_estimates_follow_the_seconds_of_the_committed_records(name, recipe):
    experiment = EXPERIMENTS[name]
    of_recipe = [record for record in committed()[name] if record.recipe.name == recipe]
    estimate = sum(seconds_per_seed(experiment, record.cell, record.recipe) for record in of_recipe)
    assert estimate == pytest.approx(sum(record.seconds for record in of_recipe), rel=0.5, abs=60)


@pytest.mark.parametrize(
    ("seconds", "block", "size"),
    [
        (0.1, 100, 100),
        (0.6, 200, 100),
        (0.61, 200, 98),
        (6.0, 200, 10),
        (7.0, 200, 8),
        (7.0, 3, 3),
        (60.0, 200, 1),
        (1000.0, 200, 1),
    ],
)
def test_a_block_lasts_at_most_a_minute_by_estimate(seconds, block, size):
    """Which are the ten minutes of a machine without a compiler."""
    experiment = replace(EXPERIMENT, seconds=lambda *_: seconds)
    first, *_ = plan(experiment, QUICK, ("paper",), range(100), block=block)
    assert first.seeds == range(size)


def test_an_experiment_may_have_smaller_blocks():
    first, *_ = plan(replace(EXPERIMENT, block=7), QUICK, ("paper",), range(50), block=20)
    second, *_ = plan(replace(EXPERIMENT, block=30), QUICK, ("paper",), range(50), block=20)
    assert (first.seeds, second.seeds) == (range(7), range(20))


def test_seeds_without_gaps_are_a_range_which_takes_little_memory():
    first, *_ = plan(EXPERIMENT, QUICK, ("exact",), range(250))
    assert first.seeds == range(100)
    done = replace(first, seeds=(3,)).identities
    second, *_ = plan(EXPERIMENT, QUICK, ("exact",), range(250), done=done)
    assert second.seeds == (*range(3), *range(4, 101))


def test_blocks_are_shorter_where_workers_leave_soon_and_a_seed_that_is_too_long_is_a_sentence():
    """A block that lasts longer than its workers stay would run over and over."""
    experiment = EXPERIMENTS["comparisons"]
    size = experiment.profiles["quick"]
    cell = experiment.cells_of("paper", size)[0]
    each = seconds_per_seed(experiment, cell, size.shorten(experiment.recipes["paper"]))
    items = plan(experiment, size, ("paper",), range(20), keep=lambda other: other == cell, longest=30.5 * each)
    assert [len(item.seeds) for item in items] == [3] * 6 + [2]
    with pytest.raises(InputError, match=r"^a seed of comparisons takes about .* ask for a longer walltime$"):
        plan(experiment, size, ("paper",), range(20), keep=lambda other: other == cell, longest=0.9 * each)
