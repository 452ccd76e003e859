"""Evaluation on the columns of a table; ``tests/program/emit/test_cells.py`` has many random programs."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from nsr.program import Kind, Program
from nsr.program.cells import is_missing

LARGE = 10**18 + 1


@pytest.mark.parametrize(
    "column",
    [
        [LARGE, None, 3],
        pd.Series([LARGE, None, 3], dtype=object),
        pd.Series([LARGE, None, 3], dtype="Int64"),
        pd.Series([LARGE, None, 3], dtype="int64[pyarrow]"),
        pl.Series([LARGE, None, 3]),
    ],
)
def test_integers_beside_missing_ones_are_not_rounded(column):
    assert Program.parse("x = 1000000000000000001")({"x": column}).tolist() == [True, False, False]
    assert Program.parse("x + 1")({"x": column}).tolist() == [LARGE + 1, None, 4]


@pytest.mark.parametrize("cell", [None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")])
def test_what_is_missing(cell):
    assert Program.parse("x is missing")({"x": [cell, 1]}).tolist() == [True, False]
    assert Program.parse("x != 3 or x = 3.5")({"x": [cell, 1]}).tolist() == [False, True]


def test_each_comparison_has_the_types_of_its_own_columns():
    columns = {"a": np.array([2**53 + 1]), "b": np.array([2**53]), "c": np.array([0.5]), "d": ["t"]}
    program = Program.parse("a > b and c > 0 and d = 't'")
    assert program(columns).tolist() == [True]


def test_decimals_and_fractions_are_exact():
    program = Program.parse("price = 0.1 and share > 0.3 and note is missing")
    row = {"price": [Decimal("0.1")], "share": [Fraction(1, 3)], "note": [None]}
    assert program(row).tolist() == [True]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([date(2024, 1, 31), date(2024, 2, 1)], Kind.DATE),
        (["2024-01-31", "2024-02-01"], Kind.DATE),
        (np.array(["2024-01-31", "2024-02-01"], dtype="datetime64[D]"), Kind.DATE),
        (pd.to_datetime(pd.Series(["2024-01-31", "2024-02-01"])), Kind.DATE),
        (pl.Series([date(2024, 1, 31), date(2024, 2, 1)]), Kind.DATE),
        ([datetime(2024, 1, 31), datetime(2024, 2, 1)], Kind.TIMESTAMP),
        (pd.to_datetime(pd.Series(["2024-01-31", "2024-02-01"])).dt.tz_localize("UTC"), Kind.TIMESTAMP),
    ],
)
def test_forms_of_dates(cells, kind):
    assert Program.parse("d > 2024-01-31", kinds={"d": kind})({"d": cells}).tolist() == [False, True]


def test_times_with_a_zone_are_compared_in_utc():
    program = Program.parse("t = 2024-01-31T12:00:00", kinds={"t": Kind.TIMESTAMP})
    zone = timezone(timedelta(hours=2))
    cells = [datetime(2024, 1, 31, 14, tzinfo=zone), datetime(2024, 1, 31, 12, tzinfo=UTC), datetime(2024, 1, 31, 14)]
    assert program({"t": cells}).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("kind", "cell"),
    [(Kind.TEXT, 3), (Kind.BOOLEAN, "yes"), (Kind.DATE, "soon"), (Kind.TIMESTAMP, 5), (Kind.DURATION, "x")],
)
def test_cells_of_another_kind_are_errors(kind, cell):
    text = {Kind.TEXT: "x = 'a'", Kind.BOOLEAN: "x", Kind.DURATION: "x > 3 days"}.get(kind, "x > 2024-01-01")
    with pytest.raises(ValueError, match=f"^'x' must hold cells of kind '{kind}', got {cell!r}$"):
        Program.parse(text, kinds={"x": kind})({"x": [cell]})


def test_columns_must_be_there_and_equally_long():
    program = Program.parse("x is missing or c = 'a'")
    with pytest.raises(ValueError, match="no value for 'c': the program needs c, x"):
        program({"x": [1]})
    with pytest.raises(ValueError, match=r"columns must be equally long, got \[1, 2\]"):
        program({"x": [1], "c": ["a", "b"]})


def test_a_single_row_and_no_rows():
    program = Program.parse("where(c = 'a', x, 0)")
    assert program({"c": "a", "x": 3}) == 3
    assert program({"c": "a", "x": None}) is None
    assert program({"c": None, "x": 3}) == 0
    assert program({"c": [], "x": []}).tolist() == []


def test_a_cell_that_cannot_be_compared_is_not_missing():
    assert is_missing([Decimal("sNaN"), None]).tolist() == [False, True]


@pytest.mark.parametrize(
    "floats", [np.array([2.0**60, 3.5, np.inf]), np.array([2.0**60, 3.5, np.inf], dtype=object)], ids=["floats", "any"]
)
def test_large_integers_beside_floats_are_not_rounded(floats):
    columns = {"a": np.array([2**60 + 1, 2**60 + 1, 2**60 + 1]), "b": floats, "c": ["t"] * 3}
    assert Program.parse("a > b and c = 't'")(columns).tolist() == [True, True, False]
    assert Program.parse("where(c = 't', max(a, b), 0)")(columns).tolist() == [2**60 + 1, 2**60 + 1, np.inf]
    assert Program.parse("where(c = 't', a + b, 0)")(columns).tolist()[:2] == [
        2**61 + 1,
        Decimal("1152921504606846980.5"),
    ]
    assert (
        Program.parse("where(c = 't', (a + b)/3, 0)")({**columns, "b": floats[1:2].repeat(3)}).tolist()
        == [float(Fraction(2**60 + 1) / 3 + Fraction(7, 6))] * 3
    )


def test_large_integers_beside_decimals_are_not_rounded():
    columns = {"a": np.array([2**53 + 1, 5]), "b": [Decimal("9007199254740992.5"), Decimal("0.1")], "c": [0.5, 0.2]}
    columns["d"] = ["t", "t"]
    program = Program.parse("a > b and a + c > b and d = 't'")
    assert program(columns).tolist() == [True, True]
    assert Program.parse("where(d = 't', b + c, 0)")(columns).tolist() == [9007199254740993, 0.1 + 0.2]
