import json
from collections import defaultdict
from pathlib import Path
from statistics import mean

import digits_settings
import pytest
import torch

from nsr.data import Digits, small_digits
from nsr.data.digits import Pictures
from nsr.paper.experiments.digits import EXPERIMENT, DigitsCell

RECORD = Path(__file__).parents[2] / "results" / "digits_settings.jsonl"


def test_settings_are_compared_on_training_images_alone():
    data = small_digits()
    empty = Pictures(torch.zeros(0, 8, 8, dtype=torch.uint8), torch.zeros(0, dtype=torch.int64))
    parts = digits_settings.split(Digits(data.name, data.brightest, data.train, empty), 300)
    assert torch.equal(torch.cat([parts.train.images, parts.test.images]), data.train.images)
    assert torch.equal(torch.cat([parts.train.labels, parts.test.labels]), data.train.labels)
    assert len(parts.test.labels) == 300
    assert parts.contrast != data.contrast  # the held-out pixels do not count either


def test_a_training_is_recorded_with_what_differs(monkeypatch):
    monkeypatch.setattr(digits_settings, "BASE", digits_settings.BASE | {"epochs": 1})
    cell = DigitsCell("mlp", "=", "8x8")
    record = digits_settings.measure(small_digits(), cell, {"learning_rate": 0.01}, 3)
    assert list(record)[:6] == ["model", "comparison", "images", "pairs", "settings", "seed"]
    assert (record["settings"], record["seed"]) == ({"learning_rate": 0.01}, 3)
    assert 0 <= record["equal"] <= 1


def recorded(cell: DigitsCell) -> list[dict]:
    records = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]
    names = ("model", "comparison", "images", "pairs")
    return [record for record in records if all(record[name] == getattr(cell, name) for name in names)]


@pytest.mark.parametrize("cell", digits_settings.CANDIDATES)
def test_the_recipe_is_a_recorded_candidate(cell):
    """The record has the settings of recipe exact, with at least three seeds, none of which is reported."""
    records, acting = recorded(cell), digits_settings.acting_settings(cell).items()
    tried = [record["settings"] for record in records]
    assert all(candidate in tried for candidate in digits_settings.CANDIDATES[cell])
    chosen = [record for record in records if acting <= (digits_settings.BASE | record["settings"]).items()]
    assert len({record["seed"] for record in chosen}) >= 3
    assert min(record["seed"] for record in records) >= EXPERIMENT.profiles["paper"].seeds


def test_the_rate_of_the_small_images_is_the_best_on_a_split_of_their_training_images():
    scores = defaultdict(list)
    for model in ("nsr", "mlp"):
        for comparison in (">", "="):
            for record in recorded(DigitsCell(model, comparison, "8x8")):
                names = ("accuracy",) if comparison == ">" else ("equal", "unequal")
                scores[record["settings"]["small_rate"]].append(mean(record[name] for name in names))
    assert set(scores) == set(digits_settings.RATES)
    assert len({len(group) for group in scores.values()}) == 1
    assert max(scores, key=lambda rate: mean(scores[rate])) == EXPERIMENT.recipes["exact"].small_rate
