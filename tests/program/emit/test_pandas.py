"""Functions of a DataFrame: what they return, as it is written, and how they read dates that are texts."""

import pandas as pd
import pytest

from nsr.program import Kind, Program
from tests.program.emit.test_cells import function_of
from tests.program.emit.test_polars import KINDS


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("f", "f"),
        ("not f", "has_f & ~f"),
        ("a is missing or a > 3", "~has_a | (has_a & (a > 3))"),
        ("c in ('x', 'y')", "c.isin(['x', 'y']).to_numpy()"),
        ("c not in ('x', 'y')", "has_c & ~c.isin(['x', 'y']).to_numpy()"),
        ("d > e + 30 days", 'has_d & has_e & (d > e + np.timedelta64(30, "D"))'),
        ("d > 2024-01-31", 'has_d & (d > np.datetime64("2024-01-31"))'),
        ("d > 1970-01-01", 'has_d & (d > np.datetime64("1970-01-01"))'),
        ("t > 2024-01-31T12:30", 'has_t & (t > np.datetime64("2024-01-31T12:30:00"))'),
        ("u > 0 days", 'has_u & (u > np.timedelta64(0, "us"))'),
        ("u > 5 hours", 'has_u & (u > np.timedelta64(5, "h"))'),
        ("2*u > v", "has_u & has_v & (2 * u > v)"),
        ("d > e + n days", 'has_d & has_e & has_n & (d.astype("int64") > e.astype("int64") + 86400000000 * n)'),
    ],
)
def test_formulas_of_cells(text, written):
    source = Program.parse(text, kinds=KINDS).emit("pandas")
    assert source.endswith(f"    return pd.Series({written}, index=df.index)\n")


def test_numbers_that_may_be_missing():
    program = Program.parse("a + b")
    assert program.emit("pandas").endswith("    return pd.Series(a + b, index=df.index)\n")
    where = ".convert_dtypes().where(has_a & has_b)\n"
    assert program.emit("pandas", missing=True).endswith(f"    return pd.Series(a + b, index=df.index){where}")
    counted = Program.parse("count(a > b)").emit("pandas", missing=True)
    assert counted.endswith("    return pd.Series(np.where(has_a & has_b & (a > b), 1, 0), index=df.index)\n")


@pytest.mark.parametrize(
    ("form", "cells"),
    [
        ("%Y%m%d", [20240131, 20240201, None]),
        ("%Y%m%d", ["20240131", "2024-02-01", None]),
        ("%d.%m.%Y", ["31.01.2024", "01.02.2024", None]),
        ("%d.%m.%Y %H:%M:%S", ["31.01.2024 12:30", "31.01.2024 12:30:01", None]),
    ],
)
def test_dates_that_are_texts(form, cells):
    kind = Kind.TIMESTAMP if "%H" in form else Kind.DATE
    text = "d > 2024-01-31T12:30" if "%H" in form else "d > 2024-01-31"
    source = Program.parse(text, kinds={"d": kind}).emit("pandas", date_formats={"d": form})
    assert function_of(source)(pd.DataFrame({"d": cells})).tolist() == [False, True, False]
