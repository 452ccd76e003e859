import json
import random
import subprocess
import sys
from pathlib import Path

import kills
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kills.py"


def test_a_process_that_has_ended_is_not_killed_again():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    figures = kills.Figures()
    kills.disturb(ended.pid, random.Random(0), figures)
    assert figures.kills.total() == 0


@pytest.mark.outer
def test_a_few_kills_lose_double_and_change_nothing(tmp_path):
    command = [sys.executable, SCRIPT, "--kills", "12", "--seeds", "2", "--json", tmp_path / "kills.jsonl"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    figures = json.loads((tmp_path / "kills.jsonl").read_text())
    assert figures["total_kills"] >= 12
    assert [figures[name] for name in ("lost", "doubled", "changed", "damaged", "failures_left")] == [0] * 5
    assert figures["records"] == figures["rounds"] * 6 * 2 * 2
