"""What a rule may compare is decided in one place: whatever sum is proposed there is read, rounded and printed."""

import numpy as np
import pandas as pd
import pytest
import torch

from nsr.learn import NSRClassifier, NSRRegressor, candidates, stages
from nsr.reading.columns import Columns


@pytest.mark.outer
@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ((("a", 1), ("b", 1), ("c", -1)), "a + b > c"),
        ((("a", 1), ("b", -1), ("c", -1), ("d", 1)), "a + d > b + c + 10"),
        ((("a", 10), ("b", -11)), "10*a > 11*b"),
    ],
)
def test_a_new_kind_of_sum_needs_only_to_be_proposed(monkeypatch, weights, text):
    x = pd.DataFrame(np.random.default_rng(5).integers(0, 60, (500, 5)), columns=list("abcde"))
    total = sum(weight * x[name] for name, weight in weights)
    y = total > (10 if text.endswith("10") else 0)
    screen = {"proposals": ("screen",), "random_state": 0}
    without = NSRClassifier(**screen).fit(x, y)
    assert without.program_ is None or text == "10*a > 11*b"  # that one is near a difference, and read from it
    monkeypatch.setattr(stages, "candidate_sums", lambda rows: [*candidates.candidate_sums(rows), weights])
    model = NSRClassifier(**screen).fit(x, y)
    assert str(model.program_) == text
    assert model.program_.evidence is model.evidence_
    assert (model.predict(x) == y).all()


def test_a_regressor_hands_its_evidence_to_its_program():
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 20, (300, 2)), columns=["a", "b"])
    model = NSRRegressor(restarts=1, random_state=0).fit(x, x["a"] - 2 * x["b"])
    assert model.program_.evidence is model.evidence_
    assert model.program_.evidence.agreement == 1


def test_neighbours_of_a_sum_differ_in_one_column():
    x = torch.from_numpy(np.random.default_rng(0).integers(0, 60, (100, 4)))
    columns = Columns(torch.cat([x, 10_000 * x[:, :1]], -1), ["a", "b", "c", "d", "huge"])
    near = candidates.neighbours(columns, (("a", 9), ("b", 9), ("c", -10)), more=True)
    assert (("a", 1), ("b", 1), ("c", -1)) in near, "the weights of one size"
    assert (("a", 1), ("b", 1)) in near, "a column less"
    assert (("a", 9), ("b", 9), ("c", -10), ("d", -9)) in near, "a column more"
    assert (("a", 9), ("b", 9), ("d", -10)) in near, "another column"
    assert not any("huge" in dict(weights) for weights in near)
    shorter = candidates.neighbours(columns, (("a", 9), ("b", 9), ("c", -10)), more=False)
    assert set(shorter) < set(near)
    assert all(set(dict(weights)) <= {"a", "b", "c"} for weights in shorter)
