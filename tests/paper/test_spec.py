import ast
import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest

import nsr.paper
from nsr import PAPER
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record, identity
from nsr.paper.spec import PROFILES, Cell, canonical_json, grid

COMPARISONS = EXPERIMENTS["comparisons"]


@dataclass(frozen=True)
class Point(Cell):
    a: int
    b: str


def test_a_grid_is_every_combination_with_the_last_axis_fastest():
    assert grid(Point, a=(1, 2), b=("x", "y")) == (Point(1, "x"), Point(1, "y"), Point(2, "x"), Point(2, "y"))


def test_canonical_json_does_not_depend_on_order_and_rejects_nan():
    assert (
        canonical_json({"b": 1, "a": [1.5, "≥"]})
        == canonical_json({"a": [1.5, "≥"], "b": 1})
        == '{"a":[1.5,"≥"],"b":1}'
    )
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(math.nan)


def changed(value):
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return "bce" if value == "mse" else "mse"  # a loss has to be one that exists
    return value + 1


def with_one_field_changed(value) -> list:
    """Copies of a dataclass, each with another field changed."""
    return [
        dataclasses.replace(value, **{field.name: changed(getattr(value, field.name))})
        for field in dataclasses.fields(value)
    ]


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_everything_that_can_change_a_number_is_in_the_identity(experiment):
    for recipe in experiment.recipes.values():
        cell = experiment.cells[0]
        base = (experiment.name, experiment.revision, cell, recipe, "quick", 0)
        others = [
            ("other", *base[1:]),
            (base[0], experiment.revision + 1, *base[2:]),
            *((*base[:2], other, *base[3:]) for other in with_one_field_changed(cell)),
            *((*base[:3], other, *base[4:]) for other in with_one_field_changed(recipe)),
            (*base[:4], "paper", 0),
            (*base[:5], 1),
        ]
        assert len({identity(*parts) for parts in [base, *others]}) == 1 + len(others)
        assert json.loads(identity(*base))["experiment"] == experiment.name


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_all_recipes_of_an_experiment_have_the_class_that_reads_them_back(experiment):
    for recipe in experiment.recipes.values():
        assert experiment.recipe(dataclasses.asdict(recipe)) == recipe


def test_items_and_records_have_the_same_identity():
    cell, recipe = COMPARISONS.cells[0], COMPARISONS.recipes["paper"]
    item = Item("comparisons", 2, cell, recipe, "quick", (3, 5), data=Path("somewhere"))
    records = [Record("comparisons", 2, cell, recipe, "quick", seed, {}, 0.0, 0, "{}") for seed in item.seeds]
    assert item.identities == tuple(record.identity for record in records)
    assert "somewhere" not in item.key
    assert item.key == dataclasses.replace(item, data=None).key


def uses_of_a_recipe_name(source: str) -> list[int]:
    """Lines that compare a recipe's name, or look something up by it."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            used = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            used = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            used = node.args
        elif isinstance(node, ast.Match):
            used = [node.subject]
        else:
            continue
        lines += [node.lineno for part in used if _is_recipe_name(part)]
    return lines


def _is_recipe_name(node: ast.expr) -> bool:
    if not (isinstance(node, ast.Attribute) and node.attr == "name"):
        return False
    owner = node.value
    return "recipe" in (owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", ""))


def mappings_by_recipe_name(source: str) -> list[int]:
    """Lines with a mapping at the top of a module whose keys are names of recipes."""
    return [
        node.lineno
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Dict)
        for node in [statement.value]
        if {key.value for key in node.keys if isinstance(key, ast.Constant)} & {"paper", "exact"}
    ]


OLD_DIGITS = """
SCALES = {"paper": 10.0, "exact": 3.0}
FASTER: Mapping[str, float] = {"paper": 1.0, "exact": 2.5}
rate = FASTER[recipe.name] * recipe.learning_rate
cycle = recipe.name == "exact"
scale = SCALES.get(item.recipe.name)
if recipe.name == "exact":
    pass
EXPERIMENT = Experiment(recipes={"paper": PAPER, "exact": EXACT})
"""
PACKAGE = Path(nsr.paper.__file__).parent
ALLOWED = {"records.py": 1}
"""``Record.is_current`` looks up the recipe itself."""


def test_what_finds_recipe_names_would_have_found_the_old_ones():
    assert sorted(uses_of_a_recipe_name(OLD_DIGITS)) == [4, 5, 6, 7]
    assert mappings_by_recipe_name(OLD_DIGITS) == [2, 3]


def test_the_name_of_a_recipe_changes_nothing():
    files = [*PACKAGE.rglob("*.py")]
    assert len(files) > 20
    for file in files:
        assert len(uses_of_a_recipe_name(file.read_text())) == ALLOWED.get(file.name, 0), file
    for file in PACKAGE.glob("experiments/*.py"):
        assert mappings_by_recipe_name(file.read_text()) == [], file


def test_a_profile_shortens_recipes_and_never_lengthens_them():
    smoke = PROFILES["smoke"]
    assert smoke.shorten(PAPER).epochs == smoke.epochs
    short = dataclasses.replace(PAPER, epochs=3)
    assert smoke.shorten(short) == short
    assert PROFILES["paper"].shorten(PAPER) == PAPER
