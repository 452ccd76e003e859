import html
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from nsr.errors import InputError
from nsr.paper import commands
from nsr.paper.commands import export, failures, report, reproduce, results
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.sweep.run import Observer
from nsr.paper.sweep.store import Store


class Counts(Observer):
    def __init__(self) -> None:
        self.planned_items, self.finished_items, self.closed = 0, 0, False

    def planned(self, items) -> None:
        self.planned_items = len(items)

    def finished(self, item, records) -> None:  # noqa: ARG002
        self.finished_items += 1

    def close(self) -> None:
        self.closed = True


def small(folder, **changes):
    options = {"profile": "smoke", "seeds": 3, "only": {"model": ["nsr"], "comparison": [">", "="]}, "out": folder}
    return reproduce(["comparisons"], make_executor=ThreadPoolExecutor, **(options | changes))


def test_reproduce_runs_what_is_missing_and_notifies_the_observer(tmp_path):
    counts = Counts()
    result = small(tmp_path, observer=counts)
    assert [(s.recipe, s.cell.comparison, s.seeds) for s in result.summaries["comparisons"]] == [
        ("paper", ">", 3),
        ("paper", "=", 3),
        ("exact", ">", 3),
        ("exact", "=", 3),
    ]
    assert (result.ran, result.failed) == (4, [])
    assert (counts.planned_items, counts.finished_items, counts.closed) == (4, 4, True)
    again = small(tmp_path, seeds=2)
    assert again.ran == 0
    assert small(tmp_path, seeds=4, recipe="exact").ran == 2


@pytest.mark.parametrize(
    ("html", "figures", "text"), [(".", None, "is a folder: name a file"), ("x", "file", "is a file: name a folder")]
)
def test_where_a_report_goes_is_checked_before_results_are_read(tmp_path, monkeypatch, html, figures, text):
    monkeypatch.setattr(commands, "_summaries", None)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=text):
        commands.report(out=tmp_path, html=tmp_path / html, figures=figures and tmp_path / figures)


def test_results_report_and_export_need_no_training(tmp_path):
    small(tmp_path / "runs")
    ((name, summaries), *_) = results(out=tmp_path / "runs").items()
    assert (name, len(summaries)) == ("comparisons", 4)
    files = export(tmp_path / "exported", out=tmp_path / "runs")
    assert [file.name for file in files] == ["comparisons.csv", "index.json"]
    page = report(
        out=tmp_path / "runs", exported=tmp_path / "exported", html=tmp_path / "p.html", figures=tmp_path / "f"
    )
    assert page == tmp_path / "p.html"
    assert "4 of 24 cells" in page.read_text()
    assert (tmp_path / "f" / "bits.svg").exists()
    assert failures(tmp_path / "runs") == []


@pytest.mark.parametrize("command", [results, failures, report])
def test_a_folder_without_results(tmp_path, command):
    with pytest.raises(
        InputError, match="^there are no results in .*: run nsr reproduce first, or name another folder"
    ):
        command(out=tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_the_store_is_opened_once_and_the_page_shows_what_is_printed(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(commands, "Store", lambda folder: opened.append(folder) or Store(folder))
    result = small(tmp_path / "runs", html=tmp_path / "page.html")
    assert opened == [tmp_path / "runs"]
    text = html.unescape((tmp_path / "page.html").read_text())
    for table in EXPERIMENTS["comparisons"].tables(result.summaries["comparisons"]):
        assert table.title in text


def test_a_missing_extra_is_a_sentence_that_names_it(tmp_path, monkeypatch):
    small(tmp_path)
    monkeypatch.delitem(sys.modules, "nsr.paper.report.page", raising=False)
    monkeypatch.delattr("nsr.paper.report.page", raising=False)
    monkeypatch.delitem(sys.modules, "nsr.html.page", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InputError) as error:
        report(out=tmp_path)
    with pytest.raises(InputError) as before_training:
        small(tmp_path / "new", html=tmp_path / "page.html")
    assert str(before_training.value) == str(error.value)
    assert not (tmp_path / "new").exists()
    assert str(error.value) == "this needs jinja2: install it with pip install 'neural-status-registers[reproduce]'"


def test_pictures_need_an_extra_that_the_page_does_not(tmp_path, monkeypatch):
    small(tmp_path)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert report(out=tmp_path).exists()
    with pytest.raises(InputError, match="^this needs vl_convert: install it with pip install"):
        report(out=tmp_path, figures=tmp_path / "figures")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"names": ["comparison"]},
            "unknown experiment 'comparison': choose from comparisons, floats, piecewise, redundancy, recurrent, "
            "shortest_paths, digits; did you mean 'comparisons'?",
        ),
        ({"profile": "papre"}, "unknown profile 'papre': choose from smoke, quick, paper; did you mean 'paper'?"),
        ({"recipe": "exakt"}, "unknown recipe 'exakt': choose from paper, exact, both; did you mean 'exact'?"),
        ({"seeds": 0}, "seeds must be from 1 to 1,000,000, got 0"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
        (
            {"only": {"comparison": ["=="]}},
            "unknown comparison '==': choose from >, <, >=, <=, =, !=; did you mean '='?",
        ),
        ({"only": {"model": ["nrs"]}}, "unknown model 'nrs': choose from mlp, nsr, classifier; did you mean 'nsr'?"),
    ],
)
def test_a_wrong_request_is_an_error_before_anything_runs(arguments, text):
    with pytest.raises(InputError) as error:
        reproduce(**arguments)
    assert str(error.value) == text
