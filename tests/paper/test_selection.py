from pathlib import Path

import pytest

from nsr.errors import InputError
from nsr.paper.commands import reproduce
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.selection import choose, data_folder, selector

DIGITS = [EXPERIMENTS["digits"]]


def test_fields_select_experiments_and_cells():
    with pytest.raises(InputError, match="^none of these experiments has a comparison to choose$"):
        reproduce(["floats"], only={"comparison": [">"]})
    named = [experiment.name for experiment in choose([], {"model": ["nsr"]})]
    assert named == ["comparisons", "piecewise", "recurrent", "shortest_paths", "digits"]
    keep = selector({"model": ["nsr"], "comparison": [">", "="]})
    assert [(cell.model, cell.comparison) for cell in filter(keep, EXPERIMENTS["comparisons"].cells)] == [
        ("nsr", ">"),
        ("nsr", "="),
    ]


def test_the_data_folder_is_the_argument_or_else_nsr_data(tmp_path, monkeypatch):
    monkeypatch.delenv("NSR_DATA", raising=False)
    assert data_folder(None, DIGITS, ["paper"], "paper") is None
    monkeypatch.setenv("NSR_DATA", "")
    assert data_folder(None, DIGITS, ["paper"], "paper") is None
    monkeypatch.setenv("NSR_DATA", str(tmp_path / "named"))
    assert data_folder(None, DIGITS, ["paper"], "smoke") == tmp_path / "named"
    monkeypatch.chdir(tmp_path)
    assert data_folder(Path(), DIGITS, ["paper"], "paper") == tmp_path


def test_a_data_folder_that_is_missing_or_not_needed():
    with pytest.raises(
        InputError, match="^there is no folder nowhere: --data names the folder with the files of MNIST$"
    ):
        data_folder(Path("nowhere"), DIGITS, ["paper"], "paper")
    for experiments, profile in ((DIGITS, "quick"), ([EXPERIMENTS["floats"]], "paper")):
        with pytest.raises(
            InputError, match="^--data is only for runs that read MNIST, such as digits --profile paper$"
        ):
            data_folder(Path(), experiments, ["paper", "exact"], profile)
