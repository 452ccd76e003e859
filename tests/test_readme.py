"""The README's first screen is run, as a user would run it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def first_code(page: Path) -> tuple[str, str]:
    code, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", page.read_text(), re.DOTALL).groups()
    return code, printed


@pytest.mark.parametrize("page", [README, README.parent / "docs" / "programs.md"], ids=lambda page: page.name)
def test_the_first_code_prints_what_the_page_says(page):
    code, printed = first_code(page)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == printed


def test_the_first_code_of_the_readme_is_short():
    assert len([line for line in first_code(README)[0].splitlines() if line.strip()]) <= 12


def test_every_file_it_links_to_exists():
    links = re.findall(r"\]\((?!http)([^)]+)\)", README.read_text())
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []
