"""Every kind of file gives the same table; a file that cannot be read is an error in one sentence."""

import datetime as dt
import functools
import gzip
import random
import sqlite3
from contextlib import closing
from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nsr.errors import InputError
from nsr.learn.tables import read
from nsr.learn.tables.engine import Engine
from nsr.program.kinds import Kind

GOOD = b"a,b\n1,2\n3,4\n"
LINES = b'{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n'


def cells(table):
    return table.connection.execute(f"SELECT * FROM {table.relation}").fetchall()


@pytest.mark.parametrize(
    ("name", "content", "first"),
    [
        ("t.csv", GOOD, 2),
        ("t.CSV", GOOD, 2),
        ("t.tsv", GOOD.replace(b",", b"\t"), 2),
        ("commas.tsv", GOOD, 2),
        ("t.txt", GOOD.replace(b",", b"|"), 2),
        ("semicolons.csv", GOOD.replace(b",", b";"), 2),
        ("bom.csv", b"\xef\xbb\xbf" + GOOD, 2),
        ("windows.csv", GOOD.replace(b"\n", b"\r\n"), 2),
        ("old_mac.csv", GOOD.replace(b"\n", b"\r"), 2),
        ("no_end.csv", GOOD.rstrip(), 2),
        ("t.csv.gz", gzip.compress(GOOD, mtime=0), 2),
        ("quoted.csv", b'"a","b"\n"1","2"\n"3","4"\n', 2),
        ("apostrophes.csv", b"'a','b'\n'1','2'\n'3','4'\n", 2),
        ("blank.csv", b"\n\n" + GOOD, 4),
        ("a[1]*?.csv", GOOD, 2),
        ("it's; DROP TABLE x --.csv", GOOD, 2),
        ("größe 日本.csv", GOOD, 2),
        ("t.jsonl", LINES, 1),
        ("t.ndjson", LINES, 1),
        ("t.jsonl.gz", gzip.compress(LINES, mtime=0), 1),
        ("t.json", b'[{"a": 1, "b": 2}, {"a": 3, "b": 4}]', 1),
    ],
)
def test_the_same_table_in_many_forms(tmp_path, name, content, first):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "a1xx.csv").write_text("a,b\n7,7\n")  # matches a pattern, and is not the file asked for
    table = read(tmp_path / name)
    assert (list(table.columns), cells(table)) == (["a", "b"], [(1, 2), (3, 4)])
    assert table.sample.index.tolist() == [first, first + 1]
    assert {column.sql_type for column in table.columns.values()} == {"BIGINT"}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.xlsx", b"PK", "t.xlsx has an unsupported file type: save the table as .csv ('CSV UTF-8' in Excel)"),
        ("t.png", b"PK", "t.png has an unsupported file type: save the table as .csv, .tsv or .parquet"),
        ("t.parquet.gz", b"x", "t.parquet.gz has an unsupported file type: save the table as"),
        ("t.csv", b"", "t.csv is empty: expected a header row with the column names, followed by rows"),
        ("t.csv", b"\n\n", "t.csv has no column names: the first row must be a header"),
        ("t.csv", b"\xef\xbb\xbf", "t.csv has no column names"),
        ("t.csv", b",,\n1,2,3\n", "t.csv has no column names"),
        ("t.csv", b"a,b\n1,2\n3\n", "row 3 of PATH has 1 cell, but the header has 2: every row needs one cell per"),
        ("t.csv", b"a,b\n1,2,3\n", "row 2 of PATH has 3 cells, but the header has 2"),
        ("t.csv", b"a,b\n\n1,2\n1,2,3\n", "row 4 of PATH has 3 cells"),
        ("t.csv", b"a;b\n1;2\n1;2;3\n", "row 3 of PATH has 3 cells"),
        ("t.csv", GOOD * 1 + b"1,2\n" * 30000 + b"9\n", "row 30004 of PATH has 1 cell"),
        ("t.csv", b'a,b\n1,"2\n3,4\n', "cannot be parsed at line 2 (a quote is not closed): check the quotes there"),
        ("t.csv", b"a,b\n1,2\r\n3,4\n", "check its quotes, and that all lines end in the same way"),
        ("t.csv", b"a,b\n1,\xff\n", "t.csv is not encoded in UTF-8: save it as UTF-8 ('CSV UTF-8' in Excel)"),
        ("t.csv", GOOD + b"1,2\n" * 9999 + b"1,\xff\n", "t.csv is not encoded in UTF-8 (line 10003): save it as UTF-8"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), "is not encoded in UTF-8"),
        ("t.csv", b"\x7fELF\0\0\0,\0\n", "t.csv is a binary file: save the table as .csv, .tsv or .parquet"),
        ("t.csv", random.Random(0).randbytes(5000), "is not encoded in UTF-8"),
        ("t.csv", b"a,b,a\n1,2,3\n", "t.csv has 2 columns named 'a': column names must be unique"),
        ("t.csv", b"a,b,A\n1,2,3\n", "t.csv has columns named 'a' and 'A': names must differ in more than case"),
        ("t.csv", b"a,nsr_row\n1,2\n", "t.csv has a column named 'nsr_row', which is reserved: rename it"),
        (
            "t.csv",
            b",".join(b"c%d" % n for n in range(10001)) + b"\n",
            "has 10,001 columns; at most 2,000 can be read: remove the others",
        ),
        (
            "t.csv",
            b"a,b\n1," + b"x" * 3_000_000 + b"\n",
            "t.csv has a line of more than 2,000,000 bytes: it is damaged",
        ),
        (
            "t.csv",
            GOOD + b"1,2\n" * 99 + b"1," + b"x" * 3_000_000 + b"\n1,2" * 600_000,
            "has a line of more than 2,000,000 bytes (line 103)",
        ),
        # DuckDB by itself skips a last line that is longer than its buffer
        ("t.csv", GOOD + b"1,2\n" * 99 + b"1," + b"x" * 20_000_000, "has a line of more than 2,000,000 bytes"),
        (
            "t.csv.gz",
            gzip.compress(GOOD + b"1,2\n" * 99 + b"1," + b"x" * 20_000_000, 1, mtime=0),
            "has a line of more than 2,000,000 bytes",
        ),
        ("t.csv.gz", GOOD, "t.csv.gz cannot be decompressed: it is truncated or not a gzip file"),
        ("t.csv.gz", gzip.compress(GOOD * 99, mtime=0)[:-12], "t.csv.gz cannot be decompressed: it is truncated"),
        ("t.parquet", b"PAR1", "t.parquet is truncated or not a Parquet file: write it again"),
        ("t.parquet", b"", "t.parquet is empty"),
        ("t.jsonl", LINES + b"nope\n", "t.jsonl is not valid JSON at line 3"),
        ("t.jsonl", b"[1, 2]", "t.jsonl has no objects with names: write one object such as"),
        ("t.jsonl.gz", LINES, "t.jsonl.gz cannot be decompressed"),
        ("t.db", b"hello", "t.db is not a database of SQLite or DuckDB: check the file name"),
        ("t.db", b"SQLite format 3\0" + b"x" * 99, "t.db cannot be read as a database of SQLite"),
        ("t.duckdb", b"12345678DUCK" + b"x" * 99, "t.duckdb cannot be read"),
    ],
)
def test_a_bad_file_is_an_error(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read(path)
    assert sentence.replace("PATH", str(path)) in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < len(str(path)) + 250


def test_no_file_and_a_folder_are_errors(tmp_path):
    with pytest.raises(InputError, match="t.csv does not exist: check the file name and the folder"):
        read(tmp_path / "t.csv")
    with pytest.raises(InputError, match="is a folder: give the path of a file"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"no file matches .*\*.csv: check the pattern and the folder"):
        read(tmp_path / "*.csv")
    with pytest.raises(InputError, match="t.db does not exist"):
        read(f"{tmp_path}/t.db::orders")
    with pytest.raises(
        InputError, match="https://example.com/t.csv is an address: download the file, and give its path"
    ):
        read("https://example.com/t.csv")


def test_files_that_match_a_pattern_are_one_table(tmp_path):
    for number in (2, 1):
        (tmp_path / f"{number}.csv").write_text(f"a,b\n{number},x\n")
        pq.write_table(pa.table({"a": [number]}), tmp_path / f"{number}.parquet")
    table = read(tmp_path / "*.csv")
    assert (cells(table), table.sample.index.tolist()) == ([(1, "x"), (2, "x")], [1, 2])
    assert cells(read(tmp_path / "[12].parquet")) == [(1,), (2,)]
    (tmp_path / "3.csv").write_text("a,c\n1,2\n")
    with pytest.raises(InputError, match=r"3.csv has other columns than .*1.csv: files read together need the same"):
        read(tmp_path / "*.csv")
    with pytest.raises(InputError, match="matches files of different types: 1.csv and 1.parquet"):
        read(tmp_path / "1.*")


def test_parquet_that_is_truncated_or_repeats_a_name_is_an_error(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [3, 4]}), path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="t.parquet is truncated or not a Parquet file: write it again"):
        read(path)
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(InputError, match="has 2 columns named 'a'"):
        read(path)


def test_names_and_text_survive_as_they_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"say ""hi""", größe ,=a+b,"x,y","two\nlines"\n1,"two\nlines",=1+1,ß,\'\n', encoding="utf-8")
    table = read(path)
    assert list(table.columns) == ['say "hi"', " größe ", "=a+b", "x,y", "two\nlines"]
    assert cells(table) == [(1, "two\nlines", "=1+1", "ß", "'")]


@pytest.mark.parametrize(
    "name", ['"; DROP VIEW nsr_rows; --', "a' OR '1'='1", "c0", "nsr_cells", "'", '"', "{}", "%s", "?"]
)
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "db", "frame"])
def test_hostile_names_are_only_names(tmp_path, name, suffix):
    frame = pd.DataFrame({name: [5, 6], "b": ["x", "'); DROP VIEW nsr_rows; --"]})
    source = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        frame.to_csv(source, index=False)
    elif suffix == "parquet":
        frame.to_parquet(source, index=False)
    elif suffix == "jsonl":
        frame.to_json(source, orient="records", lines=True)
    elif suffix == "db":
        database = sqlite3.connect(source)
        frame.to_sql('it\'s "a" table', database, index=False)
        database.close()
        source = f'{source}::it\'s "a" table'
    else:
        source = frame
    table = read(source)
    assert list(table.columns) == [name, "b"]
    assert table.sample[name].tolist() == [5, 6]
    assert pd.concat(table.parts([name]))[name].tolist() == [5, 6]
    quoted = name.replace('"', '""')
    assert table.rows_where(f'"{quoted}" > 5', 9)["b"].tolist() == ["'); DROP VIEW nsr_rows; --"]


def test_missing_cells_blank_lines_and_blank_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",a,b\n\n0,NA,\n1,nan,x\n")
    table = read(path)
    assert table.sample.index.tolist() == [3, 4]  # as a spreadsheet counts
    assert list(table.columns) == ["unnamed column 1", "a", "b"]
    assert cells(table) == [(0, None, None), (1, None, "x")]


def test_cells_of_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    big = 2**53 + 1
    day, time = dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 10)
    zoned = pd.Timestamp("2024-01-02 10:00", tz="Europe/Berlin")
    columns = {
        "int": pa.array([big, None]),
        "byte": pa.array([1, 2], type=pa.uint8()),
        "float": pa.array([0.5, float("nan")]),
        "short": pa.array([0.1, None], type=pa.float32()),
        "integers": pa.array(["7", "8"]).cast(pa.decimal128(20, 0)),
        "decimal": pa.array(["0.1", "0.2"]).cast(pa.decimal128(20, 2)),
        "bool": pa.array([True, None]),
        "text": pa.array(["NA", "x"]),
        "category": pa.array(["x", "y"]).dictionary_encode(),
        "digits": pa.array(["1.5", "2"]),
        "day": pa.array([day, None]),
        "time": pa.array([time, None], type=pa.timestamp("ns")),
        "zoned": pa.array([zoned, None], type=pa.timestamp("us", tz="Europe/Berlin")),
        "duration": pa.array([dt.timedelta(days=30, hours=5), None], type=pa.duration("us")),
        "list": pa.array([[1], None]),
        "bytes": pa.array([b"x", None]),
        "__index_level_0__": pa.array([5, 6]),
    }
    frame = pa.table(columns)
    pq.write_table(frame.drop(["duration"]), path)
    for source in (path, frame):
        table = read(source)
        row = dict(zip(table.columns, cells(table)[0], strict=True))
        assert table.sample.index.tolist() == [1, 2]
        assert row["int"] == big
        assert (row["byte"], row["float"], row["short"], row["integers"]) == (1, 0.5, 0.1, 7)
        assert (row["decimal"], row["bool"], row["text"], row["digits"]) == (Decimal("0.1"), True, None, Decimal("1.5"))
        assert (row["day"], row["time"], row["zoned"]) == (day, time, time - dt.timedelta(hours=1))
        assert table.columns["list"].problem == "nested values (BIGINT[])"
        assert table.columns["bytes"].problem == "binary values (BLOB)"
        assert table.columns["float"].missing == 1
        kinds = {name: column.kind for name, column in table.columns.items()}
        assert {kinds[name] for name in ("int", "byte", "float", "short", "integers", "decimal")} == {Kind.NUMBER}
        assert (kinds["bool"], kinds["category"], kinds["day"]) == (Kind.BOOLEAN, Kind.TEXT, Kind.DATE)
        assert (kinds["time"], kinds["zoned"]) == (Kind.TIMESTAMP, Kind.TIMESTAMP)
        assert str(table.sample["integers"].dtype) == "int64"
    assert list(read(path).columns)[-1] == "unnamed column 16"
    assert kinds["duration"] is Kind.DURATION
    assert table.sample["duration"].tolist()[0] == pd.Timedelta(days=30, hours=5)
    assert str(table.sample["duration"].dtype) == "timedelta64[us]"


def test_integers_of_parquet_beyond_64_bits_and_infinities_are_errors(tmp_path):
    frame = pa.table({"a": pa.array([1, 2**64 - 1], type=pa.uint64()), "b": [1.0, float("-inf")]})
    table = read(frame)
    with pytest.raises(InputError, match=r"'18446744073709551615' does not fit in 64 bits \(row 2, column 'a'\)"):
        table.check(["a"])
    with pytest.raises(InputError, match=r"'-inf' is infinite or too large \(row 2, column 'b'; 1 such cell\)"):
        table.check(["b"])


def test_json_lines_may_lack_names_and_nest(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 12345678901234.25, "n": {"x": 1}, "t": "5"}\n{"a": 0.1, "b": true, "n": [1]}\n')
    table = read(path)
    assert cells(table)[0][0] == Decimal("12345678901234.25")
    assert (table.columns["b"].kind, table.columns["b"].missing) == (Kind.BOOLEAN, 1)
    assert "nested" in table.columns["n"].problem


def test_tables_of_databases(tmp_path):
    frame = pd.DataFrame({"a": [2**60, 2], "b": [0.5, None], "c": ["x", None]})
    path = tmp_path / "lite.db"
    database = sqlite3.connect(path)
    frame.to_sql("orders", database, index=False)
    database.close()
    other = tmp_path / "duck.db"
    with duckdb.connect(str(other)) as file:
        file.execute("CREATE TABLE orders (a BIGINT, b DECIMAL(3, 1), c VARCHAR)")
        file.execute(f"INSERT INTO orders VALUES ({2**60}, 0.5, 'x'), (2, NULL, NULL)")
    for source in (path, f"{path}::orders", other, f"{other}::orders"):
        table = read(source)
        assert cells(table) == [(2**60, Decimal("0.5"), "x"), (2, None, None)]
        assert table.sample.index.tolist() == [1, 2]
    with pytest.raises(InputError, match=r"unknown table of .*lite.db 'oders': choose from orders; did you"):
        read(f"{path}::oders")
    database = sqlite3.connect(path)
    frame.to_sql("second", database, index=False)
    database.close()
    with pytest.raises(InputError, match=r"has 2 tables: give the name of one such as .*lite.db::orders"):
        read(path)


def test_a_database_with_a_damaged_name_is_one_sentence(tmp_path):
    path = tmp_path / "lite.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE t (first TEXT)")
    database.close()
    path.write_bytes(path.read_bytes().replace(b"(first", b"(fir\xe3t"))
    with pytest.raises(InputError, match="cannot be read as a database of SQLite: "):
        read(path)


def test_a_cell_that_promises_gigabytes_is_one_sentence(tmp_path, monkeypatch):
    """SQLite raises MemoryError for the length that a damaged page gives."""

    class Damaged(sqlite3.Connection):
        def execute(self, text, *arguments):
            if text.startswith("SELECT *"):
                raise MemoryError
            return super().execute(text, *arguments)

    path = tmp_path / "lite.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (first TEXT)")
    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Damaged))
    with pytest.raises(InputError, match="SQLite: a cell is too long for the memory$"):
        read(path)


def test_bytes_that_duckdb_hands_on_undecoded_are_one_sentence():
    with pytest.raises(InputError, match=r"^t.json has bytes that are not UTF-8: save it"):
        Engine("t.json")._run(lambda: b"\xc3(".decode(), None)


def test_data_frames():
    frame = pd.DataFrame({"a": [1, 2, 3], 3: ["x", None, "y"]}, index=[7, 7, 8])
    frame.insert(1, "mixed", pd.Series([1, "x", dt.date(2024, 1, 2)], dtype=object, index=[7, 6, 8]).to_numpy())
    table = read(frame)
    assert (list(table.columns), table.name) == (["a", "mixed", "3"], "the table")
    assert cells(table) == [(1, "1", "x"), (2, "x", None), (3, "2024-01-02", "y")]
    assert table.sample.index.tolist() == [1, 2, 3]
    assert cells(read(pa.table({"a": [1, 2]}))) == [(1,), (2,)]
    with pytest.raises(InputError, match="the table has 2 columns named 'a'"):
        read(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="must be a path, or a pandas, polars or Arrow table, got builtins.list"):
        read([1, 2])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_without_rows_has_columns(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        path.write_text("a,b\n\n")
    else:
        pq.write_table(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}), path)
    table = read(path)
    assert (table.rows, list(table.columns), len(table.sample), table.complete) == (0, ["a", "b"], 0, True)
    assert [len(part) for part in table.parts()] == [0]


@pytest.mark.outer
def test_many_columns_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{n}" for n in range(1200)) + "\n" + ",".join("1" * 1200) + "\n")
    assert len(read(path).columns) == 1200


def test_progress_grows_to_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(GOOD * 1 + b"5,6\n" * 50000)
    progress = []
    read(path, on_progress=progress.append)
    assert progress == sorted(progress)
    assert progress[-1] == 1


def test_temporary_files_disappear(tmp_path):
    (tmp_path / "t.csv").write_bytes(GOOD)
    table = read(tmp_path / "t.csv")
    folder = table.engine.folder
    assert folder.exists()
    del table
    assert not folder.exists()
