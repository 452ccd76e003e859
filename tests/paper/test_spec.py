import dataclasses
import json
import math
from dataclasses import dataclass

import pytest

from nsr import PAPER
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.spec import PROFILES, Cell, canonical_json, grid

COMPARISONS = EXPERIMENTS["comparisons"]


@dataclass(frozen=True)
class Point(Cell):
    a: int
    b: str


def test_a_grid_is_every_combination_with_the_last_axis_fastest():
    assert grid(Point, a=(1, 2), b=("x", "y")) == (Point(1, "x"), Point(1, "y"), Point(2, "x"), Point(2, "y"))


def test_canonical_json_does_not_depend_on_order_and_refuses_nan():
    assert (
        canonical_json({"b": 1, "a": [1.5, "≥"]})
        == canonical_json({"a": [1.5, "≥"], "b": 1})
        == '{"a":[1.5,"≥"],"b":1}'
    )
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(math.nan)


def test_everything_that_can_change_a_number_is_in_the_identity():
    cell, other = COMPARISONS.cells[:2]
    quick, paper = PROFILES["quick"], PROFILES["paper"]
    identities = {
        COMPARISONS.identity(cell, PAPER, quick, 0),
        COMPARISONS.identity(other, PAPER, quick, 0),
        COMPARISONS.identity(cell, PAPER, paper, 0),
        COMPARISONS.identity(cell, PAPER, quick, 1),
        COMPARISONS.identity(cell, dataclasses.replace(PAPER, learning_rate=0.1), quick, 0),
        dataclasses.replace(COMPARISONS, revision=99).identity(cell, PAPER, quick, 0),
    }
    assert len(identities) == 6
    assert COMPARISONS.identity(cell, PAPER, quick, 0) in identities
    assert json.loads(min(identities))["experiment"] == "comparisons"


def test_a_profile_shortens_recipes_and_never_lengthens_them():
    smoke = PROFILES["smoke"]
    assert smoke.shorten(PAPER).epochs == smoke.epochs
    short = dataclasses.replace(PAPER, epochs=3)
    assert smoke.shorten(short) == short
    assert PROFILES["paper"].shorten(PAPER) == PAPER
