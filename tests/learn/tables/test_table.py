"""A sample of the rows, and all rows in parts; a small table is its own sample."""

import numpy as np
import pandas as pd
import pytest

from nsr.errors import InputError
from nsr.learn.preparation import check_columns
from nsr.learn.tables import read, table
from nsr.program.kinds import Kind


def write(path, rows, header="a,b,y"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_a_small_table_is_its_own_sample(tmp_path):
    made = read(write(tmp_path / "t.csv", ["3,x,0", "1,,1"]))
    assert (made.rows, made.complete) == (2, True)
    assert made.sample.index.tolist() == [2, 3]
    assert made.sample["a"].tolist() == [3, 1]
    assert made.sample["b"].isna().tolist() == [False, True]


def test_a_sample_is_fair_in_order_and_depends_on_the_seed_alone(tmp_path):
    path = write(tmp_path / "t.csv", [f"{n},{n},0" for n in range(1000)])
    first = read(path, rows=100, seed=1)
    assert (first.rows, first.complete, len(first.sample)) == (1000, False, 100)
    assert first.sample.index.tolist() == sorted(set(first.sample.index))
    assert (first.sample["a"] + 2).tolist() == first.sample.index.tolist()
    assert read(path, rows=100, seed=1).sample.equals(first.sample)
    assert read(path, rows=100, seed=2).sample.index.tolist() != first.sample.index.tolist()
    drawn = [cell for seed in range(20) for cell in read(path, rows=100, seed=seed).sample["a"]]
    assert np.mean(drawn) == pytest.approx(499.5, abs=4 * 289 / 2000**0.5)


def test_types_are_the_same_in_all_parts(tmp_path, monkeypatch):
    count = 3 * table.VECTOR
    rows = [f"{n},{n},no" for n in range(count)] + [f"{count},0.5,yes"]
    made = read(write(tmp_path / "t.csv", rows))
    monkeypatch.setattr(table, "PART", 1)
    parts = list(made.parts(["a", "b", "y"]))
    assert len(parts) == 4
    assert {tuple(map(str, part.dtypes)) for part in parts} == {("int64", "float64", "str")}
    every = pd.concat(parts)
    assert every["b"].tolist() == [*range(count), 0.5]
    assert every.index.tolist() == list(range(2, count + 3))


def test_parts_keep_their_types_where_cells_are_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "PART", 1)
    made = read(write(tmp_path / "t.csv", [f"{n},{n % 2 or ''},x" for n in range(5000)]), rows=10)
    progress = []
    parts = list(made.parts(["b", "a"], progress.append))
    assert {tuple(map(str, part.dtypes)) for part in parts} == {("Int64", "int64")}
    assert sum(len(part) for part in parts) == 5000
    assert progress == sorted(progress)
    assert progress[-1] == 1


def test_a_bad_cell_in_a_late_row_is_named_with_its_row(tmp_path):
    path = write(tmp_path / "t.csv", [f"{n},{n},0" for n in range(3000)] + ["7,x,0", ",3,1"])
    made = read(path, rows=5)
    with pytest.raises(InputError, match=r"^'x' is not a number \(row 3002, column 'b'; 1 such cell\)"):
        made.check(["a", "b"])
    made.check(["a"])
    every = pd.concat(made.parts(["a"]))
    assert (len(every), str(every["a"].dtype)) == (3002, "Int64")


def test_all_rows_are_counted_and_found_by_condition(tmp_path):
    made = read(write(tmp_path / "t.csv", [f"{n},{n % 7},x" for n in range(5000)]), rows=10)
    assert made.count("a < b") == 0
    assert made.count('"b" = 3 AND "a" >= 4000') == sum(n % 7 == 3 for n in range(4000, 5000))
    found = made.rows_where("b = 3", 2)
    assert (found.index.tolist(), found["a"].tolist(), list(found)) == ([5, 12], [3, 10], ["a", "b", "y"])
    with pytest.raises(InputError, match="cannot be read: "):
        made.count("no_such_column > 1")


def test_unknown_columns_and_other_kinds_are_errors(tmp_path):
    made = read(write(tmp_path / "t.csv", ["1,x,0", "2,y,1"], "Price,colour,y"))
    with pytest.raises(InputError, match=r"t.csv has no column 'pirce'; did you mean 'Price'\?$"):
        made.check(["pirce"])
    with pytest.raises(InputError, match="t.csv has no column '§'; its columns are 'Price', 'colour', 'y'$"):
        made.column("§")
    with pytest.raises(InputError, match="column 'colour' of .* is of kind text, but the rule needs number"):
        check_columns(made, {"Price": Kind.NUMBER, "colour": Kind.NUMBER})
    with pytest.raises(InputError, match="rows must be at least 1, got 0"):
        read(made.name, rows=0)


def test_a_sample_does_not_repeat_the_random_numbers_of_the_table(tmp_path):
    """Rows are drawn by the smallest random numbers: those of a table made with the same seed must not be the same."""
    numbers = np.random.default_rng(0).random(1000)
    path = tmp_path / "random.csv"
    path.write_text("a,y\n" + "".join(f"{number},0\n" for number in numbers))
    drawn = read(path, rows=100, seed=0).sample["a"]
    assert 0.35 < np.mean(drawn) < 0.65


def test_few_texts_are_listed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{word},{n}x\n" for n, word in enumerate(["yes", "no", "", "yes"])))
    table = read(path, rows=2)
    assert table.texts("a", 2) == ["no", "yes"]
    assert table.texts("a", 1) is None
    assert table.texts("b", 4) == ["0x", "1x", "2x", "3x"]
