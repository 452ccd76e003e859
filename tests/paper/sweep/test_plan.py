from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item
from nsr.paper.sweep.plan import plan

EXPERIMENT = EXPERIMENTS["comparisons"]
QUICK, SMOKE = (EXPERIMENT.profiles[name] for name in ("quick", "smoke"))


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
