"""The examples of the README and of the pages are run, as a user would run them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


PROGRAMS, LEARN = (README.parent / "docs" / name for name in ("programs.md", "learn.md"))


def codes(page: Path) -> list[tuple[str, str]]:
    """Every example of a page, and what the page claims it prints."""
    return re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", page.read_text(), re.DOTALL)


def outer(page: Path, at: int):
    return pytest.param(page, at, marks=pytest.mark.outer)


SLOWER = [(README, 1), (PROGRAMS, 1), (PROGRAMS, 3), (PROGRAMS, 4), (LEARN, 1)]


@pytest.mark.parametrize(
    ("page", "at"),
    [(README, 0), (PROGRAMS, 0), (LEARN, 0), *(outer(*each) for each in SLOWER)],
    ids=lambda each: str(each)[-11:],
)
def test_code_prints_what_the_page_says(page, at):
    code, printed = codes(page)[at]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=README.parent)
    assert ran.stdout == printed


def test_the_examples_of_the_readme_are_short():
    first, second = (len([line for line in code.splitlines() if line.strip()]) for code, _ in codes(README)[:2])
    assert first <= 12
    assert second < 15


def test_every_file_it_links_to_exists():
    links = re.findall(r"\]\((?!http)([^)]+)\)", README.read_text())
    assert links
    assert [link for link in links if not _leads_somewhere(link)] == []


def _leads_somewhere(link: str) -> bool:
    file, _, anchor = link.partition("#")
    if not (README.parent / file).exists():
        return False
    headings = re.findall(r"^#+ (.*)$", (README.parent / file).read_text(), re.MULTILINE) if anchor else []
    return not anchor or anchor in [heading.lower().replace(" ", "-") for heading in headings]


def test_the_figures_of_the_battery_are_those_of_its_records():
    show = [sys.executable, "benchmarks/learn.py", "--from", "results/learn.jsonl", "--markdown"]
    printed = subprocess.run(show, capture_output=True, text=True, check=True, cwd=README.parent).stdout
    table = printed[printed.index("| rule | NSR") :].strip()
    assert table in README.read_text()
