"""Targets that are sums of points are read exactly, with the points and the thresholds that were meant."""

import numpy as np
import pandas as pd
import pytest
import torch

from nsr.learn import NSRRegressor, commands
from nsr.learn.pieces import Targets, points
from nsr.program import Program
from nsr.reading.columns import Columns

NAMES = ["art", "bio", "latin", "maths", "sport", "age", "shoe"]


def marks(rows: int, high: int = 101, seed: int = 0) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(seed).integers(0, high, (rows, len(NAMES))), columns=NAMES)


SCORES = {
    "count": "count(art >= 50, bio >= 50, latin >= 50, maths >= 50, sport >= 50)",
    "points": "2*count(art >= 75) + 3*count(sport < 20) + count(bio > latin, maths <= 60)",
    "fees": "2.51*count(art >= 75) + 10*count(bio > 30) + 4.99",
    "two steps": "count(age >= 18) + 2*count(age >= 65, art > bio) + 1",
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SCORES)
def test_a_sum_of_points_is_read(name, seed):
    x, truth = marks(1_000, seed=seed), Program.parse(SCORES[name], names=NAMES)
    model = NSRRegressor(random_state=seed).fit(x, truth(x))
    fresh = marks(4_000, seed=seed + 100)
    assert model.evidence_.origin == "points"
    assert model.evidence_.agreement == model.evidence_.held_out == 1
    wrong = np.abs(model.predict(fresh) - truth(fresh)) > 1e-9
    ties = np.any([fresh[name] == value for name, value in _ties_without_rows(model)], axis=0)
    assert not (wrong & ~ties).any(), model.rule_


def _ties_without_rows(model: NSRRegressor) -> list[tuple[str, int]]:
    """Single ties that the evidence says no row shows."""
    single = [case.split(" == ") for case in model.evidence_.not_covered if " and " not in case]
    return [(name, int(value)) for name, value in single if value.isdigit()] or [("age", -1)]


def test_equal_columns_give_points():
    x = marks(800, high=5)
    y = 5 * (x["art"] == x["bio"]) + 2 * (x["latin"] == x["maths"]) + (x["sport"] >= 3)
    model = NSRRegressor(random_state=0).fit(x, y)
    assert model.rule_ == "5*count(art == bio) + 2*count(latin == maths) + count(sport > 2)"


def test_counts_are_tried_before_classes():
    x = marks(1_000)
    found = commands.learn(x.assign(passed=(x[NAMES[:5]] >= 50).sum(axis=1)), "passed")
    assert found.rule == "count(art >= 50, bio >= 50, latin >= 50, maths >= 50, sport >= 50)"


@pytest.mark.parametrize("kind", ["noise", "one wrong", "smooth", "too many values"])
def test_other_targets_are_no_points(kind):
    x = marks(600)
    y = {
        "noise": np.random.default_rng(1).integers(0, 6, 600).astype(float),
        "one wrong": (x["art"] >= 50) + (x["bio"] >= 50) + 1.0 * (np.arange(600) == 7),
        "smooth": np.round(x["art"] * x["bio"] / 2_000),
        "too many values": x["art"] + x["bio"] / 7 + (x["latin"] > 3),
    }[kind]
    columns = Columns(torch.tensor(x.to_numpy()), NAMES)
    assert points(Targets(columns, np.asarray(y, dtype=float), np.ones(600))) is None
