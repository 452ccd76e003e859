"""A file that cannot be read is an error in one sentence; cells are kept as they are in the file."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nsr.errors import InputError
from nsr.learn.tables import files, read
from nsr.learn.tables.files import batches

GOOD = b"a,b\n1,2\n3,4\n"


def only_batch(path):
    (batch,) = batches(path)
    return batch


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", GOOD),
        ("t.CSV", GOOD),
        ("t.tsv", GOOD.replace(b",", b"\t")),
        ("bom.csv", b"\xef\xbb\xbf" + GOOD),
        ("windows.csv", GOOD.replace(b"\n", b"\r\n")),
        ("no_end.csv", GOOD.rstrip()),
        ("t.csv.gz", gzip.compress(GOOD, mtime=0)),
        ("quoted.csv", b'"a","b"\n"1","2"\n"3","4"\n'),
    ],
)
def test_the_same_table_in_many_forms(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    batch = only_batch(tmp_path / name)
    assert (list(batch.rows), batch.cells) == ([2, 3], {"a": ["1", "3"], "b": ["2", "4"]})


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.xlsx", b"PK", "t.xlsx has an unsupported file type: save the table as .csv, .tsv or .parquet"),
        ("t.parquet.gz", b"x", "t.parquet.gz has an unsupported file type: save the table as"),
        ("t.csv", b"", "t.csv is empty: expected a header row with the column names, followed by rows of numbers"),
        ("t.csv", b"\n\n", "t.csv has no column names: the first row must be a header"),
        ("t.csv", b"\xef\xbb\xbf", "t.csv has no column names"),
        ("t.csv", b"a,b\n1,2\n3\n", "row 3 of PATH has 1 cell, but the header has 2: every row needs one cell per"),
        ("t.csv", b"a,b\n1,2,3\n", "row 2 of PATH has 3 cells, but the header has 2"),
        ("t.csv", b"a,b\n\n1,2\n1,2,3\n", "row 4 of PATH has 3 cells"),
        (
            "t.csv",
            b'a,b\n1,"2\n3,4\n',
            "cannot be parsed at or before line 3 (unexpected end of data): check the quotes",
        ),
        ("t.csv", b"a,b\n1,\xff\n", "t.csv is not encoded in UTF-8: save it as UTF-8 ('CSV UTF-8' in Excel)"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), "is not encoded in UTF-8"),
        ("t.csv", b"a,b,a\n1,2,3\n", "t.csv has 2 columns named 'a': column names must be unique"),
        (
            "t.csv",
            b"a;b\n1,5;2\n",
            "t.csv separates its columns with semicolons, but its file extension stands for commas: "
            "save it with commas and decimal points",
        ),
        (
            "t.tsv",
            GOOD,
            "t.tsv separates its columns with commas, but its file extension stands for tabs: save it with tabs",
        ),
        ("t.csv.gz", GOOD, "t.csv.gz cannot be decompressed: it is truncated or not a gzip file"),
        (
            "t.csv.gz",
            gzip.compress(GOOD * 99, mtime=0)[:-12],
            "t.csv.gz cannot be decompressed: it is truncated or not a gzip file",
        ),
        ("t.parquet", b"PAR1", "t.parquet is truncated or not a Parquet file: write it again"),
    ],
)
def test_a_bad_file_is_an_error(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        list(batches(path))
    assert sentence.replace("PATH", str(path)) in str(error.value)
    assert "\n" not in str(error.value)


def test_no_file_and_a_folder_are_errors(tmp_path):
    with pytest.raises(InputError, match="t.csv does not exist: check the file name and the folder"):
        list(batches(tmp_path / "t.csv"))
    with pytest.raises(InputError, match="is a folder: give the path of a file"):
        list(batches(tmp_path))


def test_parquet_that_is_truncated_or_repeats_a_name_is_an_error(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [3, 4]}), path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="t.parquet is truncated or not a Parquet file: write it again"):
        list(batches(path))
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(InputError, match="has 2 columns named 'a'"):
        list(batches(path))


def test_names_and_text_survive_as_they_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"say ""hi""", größe ,=a+b,"x,y"\n1,"two\nlines",=1+1,ß\n', encoding="utf-8")
    batch = only_batch(path)
    assert batch.cells == {'say "hi"': ["1"], " größe ": ["two\nlines"], "=a+b": ["=1+1"], "x,y": ["ß"]}


def test_missing_cells_blank_lines_and_blank_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",a,b\n\n0,NA,\n1,nan,x\n")
    batch = only_batch(path)
    assert list(batch.rows) == [3, 4]  # as a spreadsheet counts
    assert batch.cells == {"unnamed column 1": ["0", "1"], "a": [None, None], "b": [None, "x"]}


def test_cells_of_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    big = 2**53 + 1
    table = {
        "int": pa.array([big, None]),
        "float": pa.array([0.5, float("nan")]),
        "short": pa.array([0.1, None], type=pa.float32()),
        "decimal": pa.array(["7", "8"]).cast(pa.decimal128(20, 0)),
        "list": pa.array([[1], None]),
        "text": pa.array(["NA", "x"]),
        "__index_level_0__": pa.array([5, 6]),
    }
    pq.write_table(pa.table(table), path)
    batch = only_batch(path)
    assert list(batch.rows) == [1, 2]
    short = ["0.1", None]  # as a person reads it, not 0.10000000149011612
    assert list(batch.cells.values())[:4] == [[big, None], [0.5, None], short, ["7", "8"]]
    assert list(batch.cells.values())[4:] == [["[1]", None], [None, "x"], [5, 6]]
    assert list(batch.cells)[-1] == "unnamed column 7"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_without_rows_is_a_batch_without_rows(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        path.write_text("a,b\n\n")
    else:
        pq.write_table(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}), path)
    assert only_batch(path).cells == {"a": [], "b": []}
    assert [(list(part.rows), part.cells) for part in batches(path, ["b"])] == [([], {"b": []})]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_batches_add_up_to_the_file(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        path.write_text("a,b\n" + "".join(f"{n},{-n}\n" for n in range(10)))
    else:
        pq.write_table(pa.table({"a": list(range(10)), "b": [-n for n in range(10)]}), path)
    monkeypatch.setattr(files, "CELLS", 6)
    parts = list(batches(path, ["b"]))
    assert [len(part.rows) for part in parts] == [3, 3, 3, 1]
    assert [int(cell) for part in parts for cell in part.cells["b"]] == [-n for n in range(10)]
    assert all(list(part.cells) == ["b"] for part in parts)
    assert sorted(part.done for part in parts) == [part.done for part in parts]
    assert parts[-1].done == 1
    assert read(path).rows == 10
