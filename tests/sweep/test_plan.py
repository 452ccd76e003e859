from nsr.experiments import EXPERIMENTS
from nsr.experiments.spec import PROFILES
from nsr.sweep.plan import plan

EXPERIMENT = EXPERIMENTS["comparisons"]


def test_every_cell_recipe_and_seed_once_in_blocks():
    items = plan(EXPERIMENT, PROFILES["quick"], EXPERIMENT.cells, ("paper", "exact"), range(25), block=10)
    assert len(items) == 12 * 2 * 3
    planned = [(item.cell, item.recipe.name, seed) for item in items for seed in item.seeds]
    assert len(planned) == len(set(planned)) == 12 * 2 * 25
    assert max(len(item.seeds) for item in items) == 10


def test_a_profile_shortens_the_recipe_of_its_items():
    items = plan(EXPERIMENT, PROFILES["smoke"], EXPERIMENT.cells[:1], ("paper",), range(2))
    assert [item.recipe.epochs for item in items] == [PROFILES["smoke"].epochs]
