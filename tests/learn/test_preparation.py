"""What a rule can be learned from, what is left out, and what is an error."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nsr.errors import InputError
from nsr.learn.preparation import prepare
from nsr.learn.tables import read
from nsr.program.kinds import Kind


def table(tmp_path, text, **options):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return read(path, **options)


def test_numbers_stay_exact_and_labels_stay_labels(tmp_path):
    ready = prepare(table(tmp_path, "a,b,c,y\n9007199254740993,0.1,true,no\n2,3,False,yes\n"), "y")
    assert ready.rows.to_dict("list") == {"a": [2**53 + 1, 2], "b": [0.1, 3.0], "c": [True, False]}
    assert list(map(str, ready.rows.dtypes)) == ["int64", "float64", "boolean"]
    assert list(ready.kinds.values()) == [Kind.NUMBER, Kind.NUMBER, Kind.BOOLEAN]
    assert (ready.target.tolist(), ready.target.name) == (["no", "yes"], "y")
    assert (ready.left_out, ready.dropped) == ((), 0)


@pytest.mark.parametrize(
    ("cells", "labels"),
    [("1 2", [1, 2]), ("0.5 2", [0.5, 2.0]), ("True False", [True, False]), ("x 1 y", ["x", "1", "y"])],
)
def test_a_target_has_the_type_of_its_cells(tmp_path, cells, labels):
    rows = "".join(f"{n},{cell}\n" for n, cell in enumerate(cells.split()))
    found = prepare(table(tmp_path, "a,y\n" + rows), "y").target.tolist()
    assert (found, list(map(type, found))) == (labels, list(map(type, labels)))


def test_uninformative_columns_are_left_out_with_the_reason(tmp_path):
    text = ",a,k,twin,word,day,none,y\n0,1,5,1,red,2024-01-02,,0\n1,2,5,2,blue,2024-01-03,,1\n"
    ready = prepare(table(tmp_path, text), "y")
    assert list(ready.rows) == ["a", "word", "day"]
    assert list(ready.kinds.values()) == [Kind.NUMBER, Kind.TEXT, Kind.DATE]
    assert dict(ready.left_out) == {
        "unnamed column 1": "no name",
        "none": "empty",
        "k": "constant",
        "twin": "identical to 'a'",
    }


def test_rows_with_missing_values_are_dropped_on_request(tmp_path):
    made = table(tmp_path, "a,b,k,y\n9007199254740993,1,5,0\n2,NA,,1\n3,4,5,\n5,6,5,1\n")
    kept = prepare(made, "y")
    assert (kept.rows.index.tolist(), kept.rows.b.tolist()[0], kept.dropped) == ([2, 3, 5], 1, 1)
    assert kept.rows.b.isna().tolist() == [False, True, False]
    ready = prepare(made, "y", drop_missing=True)
    assert ready.rows[["a", "b"]].to_dict("list") == {"a": [2**53 + 1, 5], "b": [1, 6]}
    assert (ready.rows.index.tolist(), ready.target.tolist(), ready.dropped) == ([2, 5], [0, 1], 2)
    assert list(prepare(made, "y", drop_missing=True, only=["a"]).rows) == ["a"]


def test_a_column_that_dropping_makes_constant_is_left_out(tmp_path):
    ready = prepare(table(tmp_path, "a,b,y\n1,7,0\n2,7,1\n,8,1\n"), "y", drop_missing=True)
    assert (list(ready.rows), ready.left_out) == (["a"], (("b", "constant"),))


def test_dropped_rows_are_counted_in_the_complete_file(tmp_path):
    text = "a,b,y\n" + "".join(f"{n},{'' if n % 4 == 0 else n % 3},{n % 2}\n" for n in range(100))
    ready = prepare(table(tmp_path, text, rows=20), "y", drop_missing=True)
    assert ready.dropped == 25
    assert 0 < len(ready.rows) <= 20


def test_messages_about_a_sample_say_so(tmp_path):
    text = "a,b,y\n" + "".join(f"{n},{int(n == 0)},{n % 2}\n" for n in range(100))
    assert prepare(table(tmp_path, text, rows=20), "y").left_out == (("b", "constant in the sample"),)
    with pytest.raises(InputError, match="the target 'b' is constant: it is 0 in all 20 sampled rows$"):
        prepare(table(tmp_path, text, rows=20), "b")


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("a,y\n1,2\n", {}, "has only one row: a rule needs at least two, with different values of 'y'"),
        ("a,y\n1,2\n2,2\n", {}, "the target 'y' is constant: it is 2 in all 2 rows"),
        ("a,y\n1,\n2,\n", {}, "is empty: fill it in, or choose another column"),
        ("a,Y\n1,1\n2,2\n", {}, "has no column 'y'; did you mean 'Y'?"),
        ("a,y\n1,1\n2,2\n", {"only": ["y"]}, "'y' is the target: remove it from the columns to learn from"),
        ("a,y\n1,1\n2,2\n", {"only": ["aa"]}, "has no column 'aa'; did you mean 'a'?"),
        ("y\n1\n2\n", {}, "no column is left to learn 'y' from: there is no other column"),
        (
            "a,b,y\n1,x,1\n1,x,2\n",
            {},
            "no column is left to learn 'y' from: 'a' (constant), 'b' (constant)",
        ),
        (
            "a,y\n1,1\n2,1\n,2\n",
            {"drop_missing": True},
            "the target 'y' is constant: it is 1 in all 2 rows left after skipping 1 row with missing values",
        ),
        (
            "a,b,y\n1,,1\n2,,1\n,3,2\n,4,2\n",
            {"drop_missing": True},
            "has no row left after skipping 4 rows with missing values: a rule needs at least two",
        ),
        ("a,y\n1,1\n2,2\nx,3\n", {}, "'x' is not a number (row 4, column 'a'; 1 such cell)"),
        ("a,y\n1,1\n2,inf\n3,3\n", {}, "'inf' is infinite or too large (row 3, column 'y'; 1 such cell)"),
    ],
)
def test_what_cannot_be_learned_is_an_error(tmp_path, text, options, sentence):
    with pytest.raises(InputError) as error:
        prepare(table(tmp_path, text), "y", **options)
    assert sentence in str(error.value)


def test_a_bad_column_that_is_not_used_does_not_matter(tmp_path):
    made = table(tmp_path, "a,id,y\n1,99999999999999999999,0\n2,99999999999999999998,1\n")
    assert list(prepare(made, "y", only=["a"]).rows) == ["a"]
    with pytest.raises(InputError, match=r"does not fit in 64 bits \(row 2, column 'id'\)"):
        prepare(made, "y")


def test_parquet_is_prepared_like_csv(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [2**53 + 1, None, 4], "b": [True, False, False], "y": ["x", "y", "y"]}), path)
    ready = prepare(read(path), "y", drop_missing=True)
    assert ready.rows.to_dict("list") == {"a": [2**53 + 1, 4], "b": [True, False]}
    assert ready.rows.index.tolist() == [1, 3]
