"""The README: short, run as a user would run it, and with nothing that has gone out of date."""

import re
import subprocess
import sys
from pathlib import Path

from tests.test_documentation import examples

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_the_first_example_runs_in_a_process_of_its_own():
    code, printed = examples(README)[0]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == printed


def test_it_is_short():
    assert len(README.read_text().splitlines()) <= 120
    code, _ = examples(README)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 12


def test_it_has_a_picture_the_two_commands_and_one_table_of_results():
    page = README.read_text()
    assert page.index("](docs/figures/magnitude.svg)") < page.index("```python") < page.index("make reproduce")
    assert "make test" in page
    assert len(re.findall(r"^\| section \|", page, re.MULTILINE)) == 1
