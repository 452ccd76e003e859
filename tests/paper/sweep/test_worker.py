import re
from dataclasses import replace

import pytest

from nsr.errors import InputError
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.sweep import worker
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.worker import MismatchError, check_data, run_checked, versions


def test_the_same_versions_run():
    assert run_checked(versions(), max, 1, 2) == 2


@pytest.mark.parametrize("name", ["nsr", "sources of nsr", "torch", "numpy", "Python"])
def test_other_versions_do_not_and_the_sentence_names_them(name):
    expected = {**versions(), name: "9.9"}
    text = rf"^the worker \d+ on \S+ has {name} {re.escape(versions()[name])} instead of 9\.9: install the same"
    with pytest.raises(MismatchError, match=text):
        run_checked(expected, pytest.fail, "ran")


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
