"""The terminal and the page show the same tables: the profile asked for, and the same numbers cell by cell."""

import io
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from nsr.cli import main
from nsr.paper import archive, commands
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.comparisons import MAGNITUDES
from nsr.paper.records import Record
from nsr.paper.report.terminal import for_terminal
from nsr.paper.summaries import summarise
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.store import Store

COMPARISONS = EXPERIMENTS["comparisons"]


class Tables(HTMLParser):
    """The tables of a page: title, and the words of each row, without the intervals below counts."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.title, self.words, self.is_foot = "", None, False

    def handle_starttag(self, tag, attributes) -> None:
        if tag == "caption":
            self.words = []
        elif tag == "tr":
            self.is_foot, self.row = ("class", "foot") in attributes, []
        elif tag in ("td", "th"):
            self.words = self.row
        elif tag == "small" and (self.is_foot or ("class", "spread") in attributes):
            self.words = None

    def handle_endtag(self, tag) -> None:
        if tag == "caption":
            self.title = " ".join(self.words)
            self.tables[self.title] = []
        elif tag == "tr" and self.title:
            self.tables[self.title].append(self.row)
        elif tag == "table":
            self.title = ""
        if tag in ("td", "th", "caption"):
            self.words = None

    def handle_data(self, data) -> None:
        if self.words is not None:
            self.words += data.split()


def on_page(file: Path) -> dict[str, list[list[str]]]:
    parser = Tables()
    parser.feed(file.read_text())
    return parser.tables


def in_terminal(text: str) -> dict[str, list[list[str]]]:
    """The tables that were printed, each a title, its rows and an empty line."""
    tables = {}
    for block in text.strip().split("\n\n"):
        title, *rows = block.splitlines()
        tables[title.strip()] = [row.split() for row in rows]
    return tables


def store_paper_run(folder: Path) -> None:
    """Results of profile paper, with means that no other profile has."""
    metrics = dict.fromkeys(("train", *MAGNITUDES), 0.123) | {
        "read": 0.0,
        "read without labels": 0.0,
        "1000 digits": 0.0,
        "epochs": 7.0,
    }
    profile = COMPARISONS.profiles["paper"]
    with closing(Store(folder)) as store:
        for item in plan(COMPARISONS, profile, ("paper", "exact"), range(2)):
            store.add(
                item,
                [
                    Record(
                        *("comparisons", COMPARISONS.revision, item.cell, item.recipe, "paper", seed),
                        *(metrics, 1.0, 2**20, '{"cpu":"x","cores":1,"system":"s","python":"3","torch":"2","nsr":"0"}'),
                    )
                    for seed in item.seeds
                ],
            )


def test_smoke_over_a_stored_paper_run_is_smoke_in_the_terminal_and_on_the_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    in_threads = ["--executor", "concurrent.futures:ThreadPoolExecutor"]
    store_paper_run(tmp_path)
    chosen = ["comparisons", "--model", "nsr", "--comparison", ">", "--comparison", "!="]
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", *chosen, "--profile", "smoke", "--out", str(tmp_path), "--quiet", *in_threads])
    assert stop.value.code == 0
    printed = in_terminal(capsys.readouterr().out)
    page = tmp_path / "report.html"
    assert printed == {title: rows for title, rows in on_page(page).items() if title in printed}
    assert list(printed) == [
        f"Table 1: NSR, recipe {name}, 2 seeds, ours and the paper's" for name in ("paper", "exact")
    ]
    for rows in printed.values():
        assert rows[1][0] == "train"
        assert rows[1].count("missing") == 4
        assert not any("0.123" in row for row in rows)
    assert commands.report(out=tmp_path) == page  # the largest profile of each experiment
    assert [row[1] for title, rows in on_page(page).items() if title.startswith("Table 1") for row in rows[1:16]] == [
        "0.123"
    ] * 4 * 15


@pytest.mark.outer
def test_every_table_of_the_committed_results_has_the_same_numbers_in_the_terminal_and_on_the_page(tmp_path):
    results = Path(__file__).parents[3] / "results"
    shown = on_page(commands.report(exported=results, html=tmp_path / "page.html"))
    console = Console(file=io.StringIO(), width=300)
    for name, records in archive.read(results).items():
        for table in EXPERIMENTS[name].tables(summarise(EXPERIMENTS[name], records)):
            console.print(for_terminal(table), "")
    printed = in_terminal(console.file.getvalue())
    assert list(printed) == [title for title in shown if title in printed]
    for title, rows in printed.items():
        assert rows == shown[title], title
    assert len(printed) == 20
    assert sum(len(row) for rows in printed.values() for row in rows) > 2000
