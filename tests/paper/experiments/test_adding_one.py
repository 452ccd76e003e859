"""A new experiment is one file and one line: it runs, prints its table and appears on the page."""

import importlib.util
import re

import pytest

from nsr.cli import main
from nsr.paper.experiments import EXPERIMENTS

FILE = '''
"""Beyond the paper: how often a coin that a seed throws shows heads."""

from dataclasses import dataclass

import numpy as np

from nsr.html.charts import Chart, Line, number_axis
from nsr.paper.cells import by_recipe, metrics
from nsr.paper.spec import PROFILES, Cell, Experiment, grid
from nsr.paper.tables import Columns, Table, run_of
from nsr.training import EXACT, PAPER


@dataclass(frozen=True)
class CoinCell(Cell):
    """How many throws."""

    throws: int


def run_cell(cell, recipe, seeds, _data=None):
    """Throw the coin."""
    return [
        {"heads": float(np.random.default_rng(seed).integers(0, 2, cell.throws).mean()), "landed": 1.0}
        for seed in seeds
    ]


def tables(summaries):
    """A column for each number of throws."""
    cells = {f"{cell.throws} throws": cell for cell in EXPERIMENT.cells}
    columns = {recipe: (shown, Columns.of(cells, shown)) for recipe, shown in by_recipe(summaries).items()}
    return [
        Table(f"Coins: {run_of(shown)}", "", one.names, (one.compared("heads"),), (one.perfect("landed", "landed"),))
        for shown, one in columns.values()
    ]


def figures(summaries):
    """The means as points."""
    points = [(s.cell.throws, s.metrics["heads"]) for s in summaries]
    if points:
        yield "coins", "Heads", Chart(number_axis("throws", (1, 1000)), number_axis("heads", (0, 1)), [Line(points)])


EXPERIMENT = Experiment(
    name="coins",
    title="Throwing coins",
    section="9",
    shows="Coins",
    revision=1,
    cells=grid(CoinCell, throws=(1, 1000)),
    recipes={"paper": PAPER, "exact": EXACT},
    run=run_cell,
    published={CoinCell(1000): {"heads": 0.5}},
    profiles=PROFILES,
    metrics=metrics(accuracy=["heads"], flag=["landed"]),
    description="Seeds throw a coin <fairly>.",
    tables=tables,
    figures=figures,
)
'''


def load(path):
    specification = importlib.util.spec_from_file_location("coins", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def coins(tmp_path, monkeypatch):
    file = tmp_path / "coins.py"
    file.write_text(FILE)
    monkeypatch.setitem(EXPERIMENTS, "coins", load(file).EXPERIMENT)  # the one line


@pytest.mark.usefixtures("coins")
def test_it_runs_prints_its_table_and_appears_on_the_page(tmp_path, capsys, monkeypatch):
    in_threads = ["--executor", "concurrent.futures:ThreadPoolExecutor"]
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "coins", "--profile", "quick", "--out", str(tmp_path), "--quiet", *in_threads])
    assert stop.value.code == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["Coins:", "recipe", "paper,", "10", "seeds"]
    assert lines[1] == ["1", "throws", "1000", "throws"]
    heads, landed = lines[2:4]
    assert (heads[0], heads[2], heads[4]) == ("heads", "-", "0.50")
    assert 0.48 < float(heads[3]) < 0.52
    assert landed == ["landed", "10", "of", "10", "10", "of", "10"]
    page = (tmp_path / "report.html").read_text()
    assert "Throwing coins (Section 9: Coins)" in page
    assert "Seeds throw a coin &lt;fairly&gt;." in page
    assert re.search(rf"<td>{heads[3]}<small>[^<]*0\.50</small></td>|<td>{heads[3]}[^/]*<small>0\.50</small>", page)
    assert 'id="chart-coins"' in page
    assert "<td>10 of 10<small>0.72 to 1.00</small></td>" in page
