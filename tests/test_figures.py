"""The pictures of README and docs are those that the records and the layer give."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPECIFICATION = importlib.util.spec_from_file_location("figures", ROOT / "tools" / "figures.py")
figures = importlib.util.module_from_spec(SPECIFICATION)
figures_module = SPECIFICATION.loader
NUMBER = re.compile(r"-?\d+\.?\d*")


@pytest.fixture(scope="module", autouse=True)
def loaded():
    import sys

    sys.modules["figures"] = figures  # its dataclasses look for their module
    figures_module.exec_module(figures)


@pytest.mark.outer
@pytest.mark.parametrize("name", ["magnitude", "bits", "selection", "lambda", "lambda_map"])
def test_a_picture_is_current(name):
    drawn, committed = figures.PICTURES[name](), (ROOT / "docs" / "figures" / f"{name}.svg").read_text()
    assert NUMBER.sub("", drawn) == NUMBER.sub("", committed), "make figures draws it anew"
    pairs = zip(NUMBER.findall(drawn), NUMBER.findall(committed), strict=True)
    assert all(abs(float(new) - float(old)) <= 0.3 for new, old in pairs)  # CPUs round tanh and exp differently


def test_there_is_no_other_picture():
    assert {path.stem for path in (ROOT / "docs" / "figures").iterdir()} == set(figures.PICTURES)


@pytest.mark.parametrize("name", ["magnitude", "bits", "selection", "lambda", "lambda_map"])
def test_a_picture_can_be_read_on_light_and_dark_pages(name):
    committed = (ROOT / "docs" / "figures" / f"{name}.svg").read_text()
    assert "prefers-color-scheme: dark" in committed
    assert '<rect class="card"' in committed
    assert "<title>" in committed
    assert not re.search(r"(href|src|url\()", committed)
