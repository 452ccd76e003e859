import duckdb
import numpy as np
import pandas as pd
import pytest

from nsr.learn import tables
from nsr.learn.profile import Statement, profile
from nsr.learn.profile.report import emit
from nsr.program.parser import parse
from tests.learn.profile.samples import orders


def statement(source, text: str) -> Statement:
    return next(each for each in profile(source).statements if str(each) == text)


def damaged(tmp_path):
    """The orders with three rows that break a statement, and gaps; rows are numbered from the header on."""
    table = orders(2000)
    table.loc[[7, 50], "low"] = 500
    table.loc[99, "gross"] += 1
    table.loc[99, "country"] = "Z" if table.loc[99, "country"] != "Z" else "X"
    table.loc[3, ["low", "start"]] = None
    table.loc[11, "first_name"] = "Eve" if table.loc[11, "kind"] != "private" else None
    path = tmp_path / "orders.csv"
    table.to_csv(path, index=False, date_format="%Y-%m-%d")
    return path


@pytest.mark.parametrize(
    ("text", "rows", "counted"),
    [
        ("low <= high", [9, 52], 1999),
        ("gross == net + tax", [101], 2000),
        ("city determines country", [101], 2000),
        ("first_name is present exactly where kind == 'private'", [13], 2000),
        ("start <= shipped", [], 1999),
    ],
)
def test_the_rows_that_break_a_statement(tmp_path, text, rows, counted):
    found = statement(damaged(tmp_path), text)
    assert found.examples.index.tolist() == rows
    assert (found.breaks, found.rows) == (len(rows), counted)


def test_emitted_checks_return_the_rows_that_break_a_statement_and_no_other(tmp_path):
    found = profile(damaged(tmp_path))
    queries, messages = emit(found, "checks")
    assert messages == ["city determines country: about several rows, so there is no check of a single row"]
    database = duckdb.connect()
    decimals = ", ".join(f"{name}: 'DECIMAL(12, 2)'" for name in ("price", "total", "net", "tax", "gross"))
    rows = f"read_csv('{tmp_path}/orders.csv', types = {{{decimals}}})"
    database.execute(f"CREATE TABLE orders AS SELECT * FROM {rows}")
    rejected = [database.execute(query).df() for query in queries.split(";\n")]
    checked = [each for each in found.surprising if each.check is not None]
    assert [len(rows) for rows in rejected] == [each.breaks for each in checked]
    by_text = dict(zip(map(str, checked), rejected, strict=True))
    assert by_text["low <= high"].low.tolist() == [500, 500]


def test_rows_outside_of_the_sample_are_counted(tmp_path):
    generator = np.random.default_rng(1)
    low = generator.integers(0, 1000, 50_000)
    table = pd.DataFrame({"low": low, "high": low + generator.integers(1, 300, 50_000)})
    broken = [5, 20_000, 49_999]
    table.loc[broken, "low"] = 5000
    table.to_parquet(tmp_path / "t.parquet")
    found = statement(tmp_path / "t.parquet", "low < high")
    assert found.examples.index.tolist() == [row + 1 for row in broken]  # without a header, the first row is row 1
    assert (found.holds, found.breaks) == (49_997, 3)


def test_ties_outside_of_the_sample_make_an_order_weak():
    generator = np.random.default_rng(2)
    low = generator.integers(0, 1000, 50_000)
    table = pd.DataFrame({"low": low, "high": low + generator.integers(1, 300, 50_000)})
    outside = sorted(set(range(1, 50_001)) - set(tables.read(table).sample.index))[:3]
    table.loc[[row - 1 for row in outside], "high"] = table.low
    (found,) = profile(table).surprising
    assert (str(found), found.breaks) == ("low <= high", 0)


def test_statements_parse_back():
    for each in profile(orders()).surprising:
        formula = each.candidate.formula
        if formula is not None:
            assert parse(str(formula), kinds=formula.kinds).simplified() == formula.simplified()
