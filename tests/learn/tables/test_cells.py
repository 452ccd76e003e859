"""A column has one type in all rows, and its numbers are exact."""

import datetime

import pytest

from nsr.errors import InputError
from nsr.learn.tables.cells import Column, parse


def column(*batches) -> Column:
    made, row = Column("a"), 2
    for cells in batches:
        made.add(range(row, row + len(cells)), cells)
        row += len(cells)
    return made


@pytest.mark.parametrize(
    ("batches", "dtype"),
    [
        ([["1", " 2 ", "-3"]], "int64"),
        ([["1", "2"], ["2.5"]], "float64"),
        ([["2.5"], ["1", None]], "float64"),
        ([["true", "FALSE"]], "bool"),
        ([["true"], ["2"]], "int64"),
        ([["true", "2"]], "int64"),
        ([[True, None], [False]], "bool"),
        ([[2**63 - 1, -(2**63)]], "int64"),
        ([["1e3"]], "float64"),
        ([["red", "1"], ["blue"]], "str"),
        ([["1_000", "2_000"]], "str"),
        ([[datetime.date(2024, 1, 2)]], "str"),
        ([["99999999999999999999", "0.5"]], "float64"),
    ],
)
def test_one_type_fits_all_batches(batches, dtype):
    made = column(*batches)
    assert made.dtype == dtype
    made.check()


@pytest.mark.parametrize(
    ("batches", "sentence"),
    [
        (
            [["1"] * 5, ["2", "3 kg", "4", "x"]],
            "'3 kg' is not a number (row 8, column 'a'; 2 such cells): "
            "correct it, or clear the cell and use --drop-missing",
        ),
        (
            [["1.5", "inf"], ["-1e999"]],
            "'inf' is infinite or too large (row 3, column 'a'; 2 such cells): "
            "correct it, or clear the cell and use --drop-missing",
        ),
        (
            [["1"], ["9223372036854775808"]],
            "'9223372036854775808' does not fit in 64 bits (row 3, column 'a'): "
            "leave the column out, or divide it by a common factor",
        ),
        ([["1", "7" * 5000]], f"'{'7' * 37}...' is infinite or too large (row 3, column 'a'; 1 such cell)"),
    ],
)
def test_cells_that_are_not_exact_numbers_are_errors(batches, sentence):
    with pytest.raises(InputError) as error:
        column(*batches).check()
    assert str(error.value).startswith(sentence)


def test_why_a_column_is_not_numeric():
    assert column([None], [None]).not_numeric == "empty"
    assert column(["2024-01-02", None]).not_numeric == "text or dates, such as '2024-01-02' in row 2"
    assert column(["1", None]).not_numeric is None


def test_numbers_are_exact():
    big = 2**53 + 1
    assert parse([str(big), None, "true"], "int64") == [big, None, 1]
    assert parse(["0.1", "1e-320"], "float64") == [0.1, 1e-320]
    assert parse(["true", None, "FALSE"], "bool") == [True, None, False]
    assert parse([datetime.date(2024, 1, 2), None, "x"], "str") == ["2024-01-02", None, "x"]
