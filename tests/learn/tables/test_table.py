"""A sample of the rows, and all rows in parts; a small table is its own sample."""

import numpy as np
import pandas as pd
import pytest

from nsr.errors import InputError
from nsr.learn.tables import chunks, files, read


def write(path, rows, header="a,b,y"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_a_small_table_is_its_own_sample(tmp_path):
    table = read(write(tmp_path / "t.csv", ["3,x,0", "1,,1"]))
    assert (table.rows, table.complete) == (2, True)
    assert table.sample.rows == [2, 3]
    assert table.sample.cells == {"a": ["3", "1"], "b": ["x", None], "y": ["0", "1"]}


def test_a_sample_is_fair_in_order_and_depends_on_the_seed_alone(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", [f"{n},{n},0" for n in range(1000)])
    first = read(path, rows=100, seed=1)
    assert (first.rows, first.complete, len(first.sample.rows)) == (1000, False, 100)
    assert first.sample.rows == sorted(set(first.sample.rows))
    assert [int(cell) + 2 for cell in first.sample.cells["a"]] == first.sample.rows
    monkeypatch.setattr(files, "CELLS", 21)
    assert read(path, rows=100, seed=1).sample == first.sample
    assert read(path, rows=100, seed=2).sample.rows != first.sample.rows
    drawn = [int(cell) for seed in range(20) for cell in read(path, rows=100, seed=seed).sample.cells["a"]]
    assert np.mean(drawn) == pytest.approx(499.5, abs=4 * 289 / 2000**0.5)


def test_types_are_the_same_in_all_chunks(tmp_path, monkeypatch):
    rows = [f"{n},{n},no" for n in range(9)] + ["9,0.5,yes"]
    table = read(write(tmp_path / "t.csv", rows))
    monkeypatch.setattr(files, "CELLS", 9)
    parts = list(chunks(table, ["a", "b"], target="y"))
    assert len(parts) == 4
    assert {tuple(map(str, part.dtypes)) for part in parts} == {("int64", "float64", "str")}
    every = pd.concat(parts)
    assert every["b"].tolist() == [*range(9), 0.5]
    assert every.index.tolist() == list(range(2, 12))


def test_a_bad_cell_in_a_late_row_is_named_with_its_row(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CELLS", 9)
    path = write(tmp_path / "t.csv", [f"{n},{n},0" for n in range(30)] + ["7,x,0", ",3,1"])
    table = read(path, rows=5)
    with pytest.raises(InputError, match=r"^'x' is not a number \(row 32, column 'b'; 1 such cell\)"):
        chunks(table, ["a", "b"])
    with pytest.raises(InputError, match=r"missing values \(1 in 'a'; 32 rows in total\): fill them in, or use --drop"):
        chunks(table, ["a"])
    every = pd.concat(chunks(table, ["a"], drop_missing=True))
    assert (len(every), str(every["a"].dtype)) == (31, "int64")


def test_unknown_and_non_numeric_columns_are_errors(tmp_path):
    table = read(write(tmp_path / "t.csv", ["1,x,0", "2,y,1"], "Price,colour,y"))
    with pytest.raises(InputError, match=r"t.csv has no column 'pirce'; did you mean 'Price'\?$"):
        chunks(table, ["pirce"])
    with pytest.raises(InputError, match="t.csv has no column '§'; its columns are 'Price', 'colour', 'y'$"):
        table.column("§")
    with pytest.raises(InputError, match="'colour' of .* is not numeric: text or dates, such as 'x' in row 2"):
        chunks(table, ["Price", "colour"])
    with pytest.raises(InputError, match="rows must be at least 1, got 0"):
        read(table.path, rows=0)


def test_many_columns_with_missing_values_make_a_short_sentence(tmp_path):
    names = [f"c{n}" for n in range(12)]
    table = read(write(tmp_path / "t.csv", [",".join("1" * 12), "," * 11], ",".join(names)))
    with pytest.raises(InputError, match=r"1 in 'c9', and more in 2 other columns; 2 rows in total"):
        chunks(table, names)


def test_a_sample_does_not_repeat_the_random_numbers_of_the_table(tmp_path):
    """Rows are drawn by the smallest random numbers: those of a table made with the same seed must not be the same."""
    numbers = np.random.default_rng(0).random(1000)
    path = tmp_path / "random.csv"
    path.write_text("a,y\n" + "".join(f"{number},0\n" for number in numbers))
    drawn = [float(cell) for cell in read(path, rows=100, seed=0).sample.cells["a"]]
    assert 0.35 < np.mean(drawn) < 0.65
