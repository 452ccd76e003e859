import dataclasses

import pytest

from nsr.paper.cells import Cell, Summary
from nsr.paper.tables import Columns, Count, Error, Mean, Number, Row, Table, mean_of, plural, run_of


@dataclasses.dataclass(frozen=True)
class Size(Cell):
    number: int


SMALL, LARGE = Size(1), Size(2)
VALUES = {"train": (1.0, 0.5), "test": (0.0, 0.25), "error": (0.0, 0.0), "epochs": (999.0, 1003.0), "read": (1.0, 0.0)}
SUMMARY = Summary(SMALL, "paper", "quick", VALUES, ("train",), 1.0, 1, {"train": 0.75})
COLUMNS = Columns.of({"small": SMALL, "large": LARGE}, [SUMMARY])


@pytest.mark.parametrize(
    ("entry", "text", "detail", "is_best"),
    [
        (Mean(1.0), "1.000", "", True),
        (Mean(0.99999, 1.0), "0.999", "1.00", False),
        (Mean(0.0, 0.0), "0.000", "0.00", False),
        (Error(0.0), "0", "", True),
        (Error(1234.5), "1.23e+03", "", False),
        (Count(99, 100), "99 of 100", "0.94 to 1.00", False),
        (Number(50_000.4), "50,000", "", False),
    ],
)
def test_an_entry_as_text(entry, text, detail, is_best):
    assert (entry.text, entry.detail, entry.is_best) == (text, detail, is_best)


def test_a_cell_without_results_is_missing_in_every_row():
    assert COLUMNS.names == ("small", "large")
    assert COLUMNS.present == [SUMMARY]
    assert COLUMNS.compared("train") == Row("train", (Mean(0.75, 0.75), None))
    assert COLUMNS.compared("test") == Row("test", (Mean(0.125), None))
    assert COLUMNS.means("both", ["train", "test"]) == Row("both", (Mean(0.4375), None))
    assert COLUMNS.errors("distance", "error") == Row("distance", (Error(0.0), None))
    assert COLUMNS.counts("read") == (
        Row("perfect", (Count(1, 2), None)),
        Row("read", (Count(1, 2), None)),
        Row("epochs", (Number(1001.0), None)),
    )


def test_a_table_knows_whether_the_paper_prints_numbers():
    rows = COLUMNS.compared("test"), COLUMNS.compared("train")
    assert Table("", "", COLUMNS.names, rows).has_published
    assert not Table("", "", COLUMNS.names, rows[:1]).has_published


def test_titles():
    assert run_of([SUMMARY]) == "recipe paper, 2 seeds"
    assert (plural(0, "seed"), plural(1, "seed"), plural(2, "seed")) == ("0 seeds", "1 seed", "2 seeds")


def test_a_mean_names_its_spread_and_an_error_too():
    summary = Summary(Cell(), "paper", "paper", {"a": (0.0, 1.0), "b": (0.5, 0.5), "e": (1e-9, 3e-9)}, (), 1.0, 1, {})
    columns = Columns({"x": summary})
    (mean,) = columns.means("both", ["a", "b"]).entries
    assert (mean.text, mean.spread) == ("0.500", "± 0.35")  # seeds 0.25 and 0.75
    (error,) = columns.errors("error", "e").entries
    assert (error.text, error.spread) == ("2e-09", "± 1.4e-09")
    assert mean_of(summary, "b").spread == "± 0.00"
    single = Summary(Cell(), "paper", "paper", {"a": (1.0,)}, (), 1.0, 1, {})
    assert mean_of(single, "a").spread == ""
