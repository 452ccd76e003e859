"""Every number of the pages that comes from records is the one that the committed records give."""

import csv
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nsr.paper.claims import Verdict
from nsr.paper.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[1]
SPECIFICATION = importlib.util.spec_from_file_location("measured", ROOT / "tools" / "measured.py")
measured = importlib.util.module_from_spec(SPECIFICATION)
sys.modules["measured"] = measured  # its dataclasses look for their module
SPECIFICATION.loader.exec_module(measured)


@pytest.fixture(scope="module")
def committed():
    return measured.Measured(ROOT / "results")


@pytest.mark.parametrize("name", measured.PAGES)
def test_every_block_is_what_the_committed_records_say(name, committed):
    page = (ROOT / name).read_text()
    assert measured.written(page, committed) == page, "run python tools/measured.py"


def test_every_block_is_used_and_every_marker_has_its_end():
    used = set()
    for name in measured.PAGES:
        page = (ROOT / name).read_text()
        found = [block[1] for block in measured.MARKERS.findall(page)]
        assert page.count("<!-- measured: ") == page.count("<!-- /measured -->") == len(found) > 0
        used.update(found)
    assert used == set(measured.BLOCKS)


@pytest.mark.outer
def test_a_number_that_drifts_is_noticed(tmp_path):
    shutil.copytree(ROOT / "results", tmp_path / "results")
    path = tmp_path / "results" / "piecewise.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if (row["model"], row["function"], row["recipe"]) == ("nsr", "f", "paper"):
            row["3^8"] = "0.5"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    check = [sys.executable, str(ROOT / "tools/measured.py"), "--check", "--from", str(tmp_path / "results")]
    ran = subprocess.run(check, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    assert "README.md: results" in ran.stdout.splitlines()


def test_what_was_chosen_is_shown_on_fresh_seeds_too(committed):
    block = measured.open_points(committed)
    assert "chosen among 14 variants by the same 10 seeds: gate starts three times as large" in " ".join(block.split())
    assert block.count("gate starts three times as large, 90 fresh seeds") == 1
    assert "as reported" not in block


def test_one_of_ten_collapsed_baselines_is_no_evidence_of_being_on_par(committed):
    par, *_ = EXPERIMENTS["digits"].claims(committed.of["digits"])
    assert par.says == "on par"
    assert par.verdict("paper") == Verdict.UNDECIDED
    assert par.verdict("exact") == Verdict.EQUAL
