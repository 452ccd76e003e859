"""A column has one kind in all rows, and its values are exact."""

import datetime as dt
from decimal import Decimal

import pandas as pd
import pytest

from nsr.errors import InputError
from nsr.learn.tables import kinds, read
from nsr.program.kinds import Kind


@pytest.fixture(params=[1000, 1], ids=["all rows are the head", "the head is one row"], autouse=True)
def head(request, monkeypatch):
    """What the first rows suggest must not matter."""
    monkeypatch.setattr(kinds, "HEAD", request.param)


def table(tmp_path, cells, name="t.csv"):
    path = tmp_path / name
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    path.write_text("a,b\n" + "".join(f"{cell},0\n" for cell in quoted), encoding="utf-8")
    return read(path)


def values(made):
    return [row[0] for row in made.connection.execute(f"SELECT a FROM {made.relation}").fetchall()]


@pytest.mark.parametrize(
    ("cells", "kind", "sql_type", "expected"),
    [
        (["1", " 2 ", "-3"], Kind.NUMBER, "BIGINT", [1, 2, -3]),
        (["1", "2", "2.5"], Kind.NUMBER, "DECIMAL(2, 1)", [1, 2, Decimal("2.5")]),
        (["2.5", "1", ""], Kind.NUMBER, "DECIMAL(2, 1)", [Decimal("2.5"), 1, None]),
        (["0.1", "0.2"], Kind.NUMBER, "DECIMAL(2, 1)", [Decimal("0.1"), Decimal("0.2")]),
        ([".5", "+7.", "008"], Kind.NUMBER, "DECIMAL(4, 1)", [Decimal("0.5"), 7, 8]),
        (["1e3", "2"], Kind.NUMBER, "DOUBLE", [1000.0, 2.0]),
        (["0." + "1" * 40, "2"], Kind.NUMBER, "DOUBLE", [float("0." + "1" * 40), 2.0]),
        (["99999999999999999999", "0.5"], Kind.NUMBER, "DECIMAL(21, 1)", [99999999999999999999, Decimal("0.5")]),
        (["9223372036854775807", "-9223372036854775808"], Kind.NUMBER, "BIGINT", [2**63 - 1, -(2**63)]),
        (["true", "FALSE", "NA"], Kind.BOOLEAN, "BOOLEAN", [True, False, None]),
        (["true", "2"], Kind.NUMBER, "BIGINT", [1, 2]),
        (["yes", "no"], Kind.TEXT, "VARCHAR", ["yes", "no"]),
        (["red", "1", "blue"], Kind.TEXT, "VARCHAR", ["red", "1", "blue"]),
        (["1_000", "2_000"], Kind.TEXT, "VARCHAR", ["1_000", "2_000"]),
        (["2024-01-02", "", "2023-12-31"], Kind.DATE, "DATE", [dt.date(2024, 1, 2), None, dt.date(2023, 12, 31)]),
        (["2024-02-30", "2023-02-31", "x"], Kind.TEXT, "VARCHAR", ["2024-02-30", "2023-02-31", "x"]),
        (
            ["2024-01-02 10:00", "2024-01-02T10:00:00.5", "2024-01-03"],
            Kind.TIMESTAMP,
            "TIMESTAMP",
            [dt.datetime(2024, 1, 2, 10), dt.datetime(2024, 1, 2, 10, 0, 0, 500000), dt.datetime(2024, 1, 3)],
        ),
        (
            ["2024-01-02T10:00:00+02:00", "2024-01-02T10:00:00Z"],
            Kind.TIMESTAMP,
            "TIMESTAMP",
            [dt.datetime(2024, 1, 2, 8), dt.datetime(2024, 1, 2, 10)],
        ),
    ],
)
def test_one_type_fits_all_rows(tmp_path, cells, kind, sql_type, expected):
    made = table(tmp_path, cells)
    assert (made.columns["a"].kind, made.columns["a"].sql_type) == (kind, sql_type)
    assert values(made) == expected
    assert made.columns["a"].missing == expected.count(None)
    assert made.columns["a"].distinct == len(set(expected) - {None})
    made.check(["a"])


@pytest.mark.parametrize(
    ("cells", "expected", "note"),
    [
        (["12 %", "5%"], [12, 5], "read as numbers: '12 %' is 12, in percent and not as a fraction"),
        (["1,234.50", "7"], ["1234.50", 7], "read as numbers: '1,234.50' is 1234.5"),
        (["1.234,50", "7", "0,5"], ["1234.50", 7, "0.5"], "read as numbers: '0,5' is 0.5"),
        (["1 234,5", "2"], ["1234.5", 2], "read as numbers: '1 234,5' is 1234.5"),
        (["€ 5", "€ 1,000"], [5, 1000], "read as numbers: '€ 1,000' is 1000"),
        (["$5.00", "-$1.25"], [5, "-1.25"], "read as numbers: '$5.00' is 5"),
        (["3 EUR", "1,5 EUR"], [3, "1.5"], "read as numbers: '1,5 EUR' is 1.5"),
    ],
)
def test_amounts_are_numbers_and_the_reading_is_noted(tmp_path, cells, expected, note):
    made = table(tmp_path, cells)
    assert made.columns["a"].kind is Kind.NUMBER
    assert values(made) == list(map(Decimal, expected))
    assert made.columns["a"].note in (note, note.replace("'$5.00' is 5", "'-$1.25' is -1.25"))


@pytest.mark.parametrize(
    "cells", [["€ 5", "$ 5"], ["12 %", "12"], ["1,23,4", "x"], ["5 kg", "6 kg"], ["1,234.5", "1.234,5"]]
)
def test_amounts_of_different_forms_are_texts(tmp_path, cells):
    made = table(tmp_path, cells)
    assert (made.columns["a"].kind, values(made)) == (Kind.TEXT, cells)


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["31.12.2024", "1.2.2024"], "read as dates, day.month.year"),
        (["12/31/2024", "02/01/2024"], "read as dates, month/day/year"),
        (["31/12/2024", "01/02/2024"], "read as dates, day/month/year"),
        (["01/02/2024", "31/12/2024"], "read as dates, day/month/year"),
    ],
)
def test_dates_as_people_write_them(tmp_path, cells, note):
    made = table(tmp_path, cells)
    assert sorted(values(made)) == [dt.date(2024, 2, 1), dt.date(2024, 12, 31)]
    assert made.columns["a"].note == note


@pytest.mark.parametrize("time", ["", " 9:30", " 09:30:15"])
def test_dates_that_could_be_read_in_two_ways_are_texts_and_the_user_is_warned(tmp_path, time):
    cells = [f"03/04/2024{time}", f"01/12/2023{time}"]
    made = table(tmp_path, cells)
    assert (made.columns["a"].kind, values(made)) == (Kind.TEXT, cells)
    assert made.columns["a"].note == (
        f"used as text, because '03/04/2024{time}' could be 2024-04-03 (day/month) or 2024-03-04 (month/day); "
        "write dates as 2024-12-31"
    )


def test_the_example_of_an_ambiguous_date_has_two_readings(tmp_path):
    assert "'03/04/2024' could be" in table(tmp_path, ["12/12/2024", "03/04/2024"]).columns["a"].note


@pytest.mark.parametrize(
    ("cells", "written", "first"),
    [
        (["03/04/2024", "01/12/2023"], "day/month/year", dt.date(2024, 4, 3)),
        (["03/04/2024", "01/12/2023"], "month/day/year", dt.date(2024, 3, 4)),
        (["03/04/2024 9:30", "01/12/2023 10:00"], "day/month/year", dt.datetime(2024, 4, 3, 9, 30)),
        (["03/04/2024", "01/12/2023"], "day/month/year with time", dt.date(2024, 4, 3)),
        (["20240403", "20231201"], "yearmonthday", dt.date(2024, 4, 3)),
        (["2024-04-03", "2023-12-01"], "day/month/year", dt.date(2024, 4, 3)),
        (["04/03/2024", "12/31/2023"], "day/month/year", dt.date(2024, 4, 3)),  # the second is not a day and a month
        (["20240403", "99"], "day/month/year", 20240403),
    ],
)
def test_where_the_cells_do_not_decide_the_known_order_of_dates_does(tmp_path, cells, written, first):
    table(tmp_path, cells)
    assert values(read(tmp_path / "t.csv", dates={"a": written}))[0] == first


def test_a_mistake_among_dates_of_a_known_order_is_named(tmp_path):
    table(tmp_path, ["13/04/2024", "12/31/2023", "01/12/2023"])
    with pytest.raises(InputError, match="'12/31/2023' is not a date, day/month/year .row 3, column 'a'"):
        read(tmp_path / "t.csv", dates={"a": "day/month/year"}).check(["a"])


@pytest.mark.parametrize("cells", [["03/04/2024", "soon"], ["12/31/2024", "31/12/2024"], ["13/13/2024", "1/2/2024"]])
def test_texts_that_are_not_all_dates_of_one_form_have_no_note(tmp_path, cells):
    made = table(tmp_path, cells)
    assert (made.columns["a"].kind, made.columns["a"].note) == (Kind.TEXT, "")


def test_a_comma_is_read_as_the_file_suggests(tmp_path):
    assert values(table(tmp_path, ["1,234", "5,678"])) == [1234, 5678]
    path = tmp_path / "semicolons.csv"
    path.write_text("a;b\n1,234;0\n5,678;1\n")
    assert values(read(path)) == [Decimal("1.234"), Decimal("5.678")]


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (
            [*["1"] * 5, "2", "3 kg", "4", "x"],
            "'3 kg' is not a number (row 8, column 'a'; 2 such cells): "
            "correct it, or clear the cell and use --drop-missing",
        ),
        (
            ["1.5", "inf", "-1e999"],
            "'inf' is infinite or too large (row 3, column 'a'; 2 such cells): "
            "correct it, or clear the cell and use --drop-missing",
        ),
        (
            ["1", "9223372036854775808"],
            "'9223372036854775808' does not fit in 64 bits (row 3, column 'a'): "
            "leave the column out, or divide it by a common factor",
        ),
        (["1", "7" * 5000], f"'{'7' * 37}...' is infinite or too large (row 3, column 'a'; 1 such cell)"),
        (["2024-01-02", "2024-01-03", "soon"], "'soon' is not a date such as 2024-12-31 (row 4, column 'a'; 1 such"),
        (["true", "false", "maybe"], "'maybe' is not true or false (row 4, column 'a'; 1 such cell)"),
    ],
)
def test_cells_that_do_not_fit_are_errors(tmp_path, cells, sentence):
    made = table(tmp_path, cells)
    with pytest.raises(InputError) as error:
        made.check(["b", "a"])
    assert str(error.value).startswith(sentence)
    made.check(["b"])


def test_numbers_are_exact_in_pandas(tmp_path):
    big = 2**53 + 1
    made = table(tmp_path, [str(big), "2"])
    assert made.sample["a"].tolist() == [big, 2]
    doubles = ["0.6027556076311561", "0.10405600812449683", "8.429758433974502"]
    assert table(tmp_path, doubles).sample["a"].tolist() == list(map(float, doubles))
    assert table(tmp_path, ["0.1", "1e-320"]).sample["a"].tolist() == [0.1, 1e-320]


def test_types_in_pandas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "i,gaps,d,b,t,day,time\n1,1,0.5,true,x,2024-01-02,2024-01-02 10:00:00\n2,,,,,,\n",
    )
    sample = read(path).sample
    assert list(map(str, sample.dtypes)) == [
        "int64", "Int64", "float64", "boolean", "str", "datetime64[us]", "datetime64[us]",
    ]  # fmt: skip
    assert sample.loc[3].isna().tolist() == [False] + [True] * 6


def test_empty_columns_have_a_problem(tmp_path):
    column = table(tmp_path, ["", "NA"]).columns["a"]
    assert (column.problem, column.missing, column.distinct) == ("empty", 2, 0)


def test_decimals_are_added_exactly(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n0.1,0.2,0.3\n")
    made = read(path)
    assert made.count("a + b = c") == 1
    assert pd.Series([0.1 + 0.2 == 0.3]).tolist() == [False]
