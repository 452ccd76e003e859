"""A column is of one type in all rows, and its numbers are exact."""

import datetime

import pytest

from nsr.errors import InputError
from nsr.learn.tables.cells import Column, typed


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
def test_one_type_holds_all_batches(batches, dtype):
    made = column(*batches)
    assert made.dtype == dtype
    made.check()


@pytest.mark.parametrize(
    ("batches", "sentence"),
    [
        (
            [["1"] * 5, ["2", "3 kg", "4", "x"]],
            "'3 kg' in row 8 of column 'a' is no number, in a column of numbers (2 such cells): "
            "correct it, or empty the cell and use --drop-missing",
        ),
        (
            [["1.5", "inf"], ["-1e999"]],
            "'inf' in row 3 of column 'a' is infinite or too large (2 such cells): "
            "correct it, or empty the cell and use --drop-missing",
        ),
        (
            [["1"], ["9223372036854775808"]],
            "'9223372036854775808' in row 3 of column 'a' does not fit in 64 bits: "
            "leave the column out, or divide it by a common factor",
        ),
        ([["1", "7" * 5000]], f"'{'7' * 37}...' in row 3 of column 'a' is infinite or too large (1 such cell)"),
    ],
)
def test_cells_that_are_no_exact_numbers_are_refused(batches, sentence):
    with pytest.raises(InputError) as refusal:
        column(*batches).check()
    assert str(refusal.value).startswith(sentence)


def test_a_column_that_holds_no_numbers_says_why():
    assert column([None], [None]).unfit == "empty"
    assert column(["2024-01-02", None]).unfit == "text or dates, such as '2024-01-02' in row 2"
    assert column(["1", None]).unfit is None


def test_numbers_are_exact():
    big = 2**53 + 1
    assert typed([str(big), None, "true"], "int64").tolist()[::2] == [big, 1]
    assert typed(["0.1", "1e-320"], "float64").tolist() == [0.1, 1e-320]
    assert typed(["true", "FALSE"], "bool").tolist() == [True, False]
    assert typed([datetime.date(2024, 1, 2), "x"], "str").tolist() == ["2024-01-02", "x"]
