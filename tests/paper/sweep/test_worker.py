import re
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from nsr.errors import InputError
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item
from nsr.paper.sweep import worker
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.worker import MismatchError, check_data, run_checked, run_item, versions


def test_the_same_versions_run():
    assert run_checked(versions(), max, 1, 2) == 2


@pytest.mark.parametrize("name", ["nsr", "sources of nsr", "torch", "numpy", "Python"])
def test_other_versions_do_not_and_the_sentence_names_them(name):
    expected = {**versions(), name: "9.9"}
    text = rf"^the worker \d+ on \S+ has {name} {re.escape(versions()[name])} instead of 9\.9: install the same"
    with pytest.raises(MismatchError, match=text):
        run_checked(expected, pytest.fail, "ran")


def test_python_may_differ_in_its_last_number():
    assert versions()["Python"] == f"{sys.version_info.major}.{sys.version_info.minor}"


def test_the_digest_of_sources_is_of_their_names_and_contents(tmp_path):
    (tmp_path / "b").mkdir()
    contents = {"a.py": b"1", "b/c.c": b"2", "b/d.h": b"3"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    expected = sha256(b"a.py\x001" + b"b/c.c\x002" + b"b/d.h\x003").hexdigest()
    assert worker._digest(tmp_path) == expected[:12]


def test_two_copies_of_one_version_differ_by_their_sources(tmp_path):
    (tmp_path / "a.py").write_text("1")
    before = worker._digest(tmp_path)
    (tmp_path / "notes.txt").write_text("of no consequence")
    assert worker._digest(tmp_path) == before
    (tmp_path / "a.py").write_text("2")
    assert worker._digest(tmp_path) != before


def test_a_data_folder_that_the_worker_does_not_have_is_a_sentence(tmp_path):
    digits, comparisons = EXPERIMENTS["digits"], EXPERIMENTS["comparisons"]
    (item, *_) = plan(digits, digits.profiles["paper"], ("exact",), range(1), data=tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"^there is no folder .*nowhere on \S+, where a worker needs it: name one"):
        check_data(item)
    check_data(replace(item, data=tmp_path))
    (other, *_) = plan(comparisons, comparisons.profiles["quick"], ("exact",), range(1), data=tmp_path / "nowhere")
    check_data(other)  # draws its data from the seed


def measured(monkeypatch, *, missing: int = 0) -> None:
    """Let the experiment digits measure nothing, of all seeds but this many."""
    digits = EXPERIMENTS["digits"]
    run = lambda cell, recipe, seeds, data: [{}] * (len(seeds) - missing)  # noqa: E731
    monkeypatch.setitem(EXPERIMENTS, "digits", replace(digits, run=run))


def item_of_three(folder: Path) -> Item:
    digits = EXPERIMENTS["digits"]
    return plan(replace(digits, block=3), digits.profiles["paper"], ("exact",), range(3), data=folder)[0]


def test_the_seconds_of_a_block_are_shared_by_its_seeds(tmp_path, monkeypatch):
    measured(monkeypatch)
    times = iter([10.0, 16.0])
    monkeypatch.setattr(worker, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    assert [(record.seed, record.seconds) for record in run_item(item_of_three(tmp_path))] == [
        (0, 2.0),
        (1, 2.0),
        (2, 2.0),
    ]


def test_an_item_whose_data_folder_is_missing_does_not_run(tmp_path, monkeypatch):
    measured(monkeypatch)
    with pytest.raises(InputError, match="^there is no folder "):
        run_item(item_of_three(tmp_path / "nowhere"))


def test_an_experiment_that_measures_too_few_seeds_is_an_error(tmp_path, monkeypatch):
    measured(monkeypatch, missing=1)
    with pytest.raises(ValueError, match="shorter"):
        run_item(item_of_three(tmp_path))
