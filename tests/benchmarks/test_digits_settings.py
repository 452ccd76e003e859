import json
from pathlib import Path

import digits_settings
import torch

from nsr.data import Digits, small_digits
from nsr.data.digits import Pictures
from nsr.paper.experiments.digits import EXPERIMENT, DigitsCell

RECORD = Path(__file__).parents[2] / "results" / "digits_settings.jsonl"


def test_settings_are_compared_on_training_images_alone(monkeypatch):
    data = small_digits()
    monkeypatch.setattr(digits_settings, "HELD_OUT", 300)
    empty = Pictures(torch.zeros(0, 8, 8, dtype=torch.uint8), torch.zeros(0, dtype=torch.int64))
    parts = digits_settings.split(Digits(data.name, data.brightest, data.train, empty))
    assert torch.equal(torch.cat([parts.train.images, parts.test.images]), data.train.images)
    assert torch.equal(torch.cat([parts.train.labels, parts.test.labels]), data.train.labels)
    assert len(parts.test.labels) == 300
    assert parts.contrast != data.contrast  # the held-out pixels do not count either


def test_a_training_is_recorded_with_what_differs(monkeypatch):
    monkeypatch.setattr(digits_settings, "BASE", digits_settings.BASE | {"epochs": 1})
    cell = DigitsCell("mlp", "=", "8x8")
    record = digits_settings.measure(small_digits(), cell, {"learning_rate": 0.01}, 3)
    assert list(record)[:5] == ["model", "comparison", "pairs", "settings", "seed"]
    assert (record["settings"], record["seed"]) == ({"learning_rate": 0.01}, 3)
    assert 0 <= record["equal"] <= 1


def test_the_recipe_is_a_recorded_candidate():
    """For either comparison the record has the settings of recipe exact, for the register and for the MLP."""
    exact = EXPERIMENT.recipes["exact"]
    records = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]
    for (comparison, model), candidates in digits_settings.CANDIDATES.items():
        tried = [
            r["settings"] for r in records if (r["comparison"], r["model"], r["pairs"]) == (comparison, model, "all")
        ]
        assert all(candidate in tried for candidate in candidates)
        acting = ["learning_rate", "comparator_rate"]
        acting += ["first_scale", "scale"] if model == "nsr" else []
        acting += ["selection", "zero_bit"] if (model, comparison) == ("nsr", "=") else []
        wanted = {name: getattr(exact, name) for name in acting}
        assert wanted in [{name: (digits_settings.BASE | settings)[name] for name in acting} for settings in tried]
