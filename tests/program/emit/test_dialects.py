"""SQL dialects: sqlglot reads back what it wrote, and decimals are exact."""

import random
import sys
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from nsr.errors import InputError
from nsr.program import Compare, Kind, OneOf, Program, Variable
from nsr.program.emit.dialects import DIALECTS
from tests.program.emit import cell_samples, samples
from tests.program.emit.cell_samples import TEXTS

dialects = pytest.mark.parametrize("dialect", DIALECTS)
TRICKY = [*TEXTS, "'; drop table t; --", "\\'; drop table t; --", "\\", "\\n", "''", "\t\r\n", "`x`", "[x]", "N'x'"]


@dialects
@pytest.mark.filterwarnings("ignore::nsr.program.emit.InexactWarning")
def test_sqlglot_reads_every_program_back(dialect):
    durations = dialect in ("duckdb", "postgres")
    for program in [*cell_samples.programs(durations=durations), *samples.programs()[:100]]:
        written = program.emit("sql", dialect=dialect)
        tree = sqlglot.parse_one(written, read=dialect)
        again = tree.sql(dialect=dialect)
        assert sqlglot.parse_one(again, read=dialect) == tree, written
        names = {column.name for column in tree.find_all(exp.Column)}
        assert names == set(program.inputs), written


@dialects
def test_texts_and_names_never_become_code(dialect):
    for words in TRICKY:
        name = words if words.strip() else "x"
        written = Program(OneOf(Variable(name, "text"), [words])).emit("sql", dialect=dialect)
        tree = sqlglot.parse_one(written, read=dialect)
        found = [each.this for each in tree.find_all(exp.Literal, exp.National) if each.name not in ("0", "1")]
        assert found == [words], written
        assert [column.name for column in tree.find_all(exp.Column)] == [name], written


KINDS = {
    "paid": Kind.DATE,
    "due": Kind.DATE,
    "seen": Kind.TIMESTAMP,
    "taken": Kind.DURATION,
    "f": Kind.BOOLEAN,
    "c": Kind.TEXT,
}


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("paid <= due", "duckdb", 'COALESCE("due" >= "paid", FALSE)'),
        ("paid <= due", "sqlite", 'COALESCE("due" >= "paid", FALSE)'),
        ("paid > due + 30 days", "postgres", """COALESCE("paid" > "due" + INTERVAL '30 DAY', FALSE)"""),
        ("paid > due + 30 days", "sqlite", 'COALESCE(JULIANDAY("paid") > JULIANDAY("due") + 30, FALSE)'),
        ("paid > due + 30 days", "tsql", "CASE WHEN [paid] > DATEADD(DAY, 30, [due]) THEN 1 ELSE 0 END"),
        ("paid >= 2024-01-01", "duckdb", """COALESCE("paid" >= DATE '2024-01-01', FALSE)"""),
        ("paid >= 2024-01-01", "sqlite", """COALESCE("paid" >= '2024-01-01', FALSE)"""),
        ("paid >= 2024-01-01", "bigquery", "COALESCE(`paid` >= CAST('2024-01-01' AS DATE), FALSE)"),
        ("seen >= 2024-01-01", "mysql", "COALESCE(`seen` >= CAST('2024-01-01 00:00:00' AS DATETIME(6)), FALSE)"),
        ("f and c is missing", "duckdb", 'COALESCE("c" IS NULL AND "f", FALSE)'),
        ("not f", "sqlite", 'COALESCE("f" = 0, FALSE)'),
        ("not f", "tsql", "CASE WHEN [f] = 0 THEN 1 ELSE 0 END"),
        ("c = 'größe'", "tsql", "CASE WHEN [c] = N'größe' THEN 1 ELSE 0 END"),
        ("c is missing", "snowflake", '"c" IS NULL'),
        ("x > 37.5", "spark", "`x` > 37.5e0"),
        ("x/3", "postgres", '"x" / 3e0'),
        ("x > 3", "tsql", "CASE WHEN [x] > 3 THEN 1 ELSE 0 END"),
    ],
)
def test_the_output_looks_handwritten(text, dialect, expected):
    assert Program.parse(text, kinds=KINDS).emit("sql", dialect=dialect) == expected


@pytest.mark.parametrize("dialect", [each for each in DIALECTS if each not in ("duckdb", "postgres")])
def test_durations_are_refused_where_columns_cannot_hold_them(dialect):
    for text in ("taken > 3 days", "paid > due + taken", "paid > due + 2*taken", "where(f, taken, 0)"):
        with pytest.raises(InputError, match=f"dialect '{dialect}' cannot compare column 'taken': only duckdb and"):
            Program.parse(text, kinds=KINDS).emit("sql", dialect=dialect)


def test_texts_that_sql_cannot_hold_are_errors():
    for words in ("a\0b", "\ud800"):
        with pytest.raises(InputError, match="cannot be a text in SQL"):
            Program(OneOf(Variable("c", "text"), [words])).emit("sql")


def test_decimals_are_written_as_they_are():
    def emit(text):
        return Program.parse(text).emit("sql", decimals=True)

    assert emit("price > 37.5") == '"price" > 37.5'
    assert emit("price > limit + 0.1") == '"limit" < "price" - 0.1'
    assert emit("3*price > limit + 1/3") == '3 * "limit" < 9 * "price" - 1'
    assert emit("0.1*price") == '0.1 * "price"'
    assert emit("where(price > 1/3, 0.5, price/4)") == 'CASE WHEN 3 * "price" > 1 THEN 0.5 ELSE 0.25 * "price" END'


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_comparisons_of_decimals_are_exact(engine, request):
    connection = duckdb.connect() if engine == "duckdb" else request.getfixturevalue("postgres")
    connection.execute("DROP TABLE IF EXISTS prices")
    connection.execute("CREATE TABLE prices (place INTEGER, a DECIMAL(18, 4), b DECIMAL(18, 2))")
    source = random.Random(0)
    rows = [(Decimal(source.randrange(0, 40)) / 10, Decimal(source.randrange(0, 40)) / 10) for _ in range(60)]
    rows += [(Decimal("9999999999999.1001"), Decimal("999999999999999.99")), (None, Decimal(1))]
    mark = "?" if engine == "duckdb" else "%s"
    for place, row in enumerate(rows):
        connection.execute(f"INSERT INTO prices VALUES ({mark}, {mark}, {mark})", (place, *row))
    a, b = Variable("a"), Variable("b")
    for operator in (">", "<", ">=", "<=", "=", "!="):
        for left, right in (
            (a, b + Fraction("0.1")),
            (a * 3, b),
            (a - b, Fraction(1, 3)),
            (a, Fraction("99999999999999.1")),
        ):
            program = Program(Compare(operator, left, right))
            written = program.emit("sql", dialect=engine, decimals=True, missing=True)
            found = connection.execute(f"SELECT {written} FROM prices ORDER BY place").fetchall()
            expected = [None not in row and program({"a": row[0], "b": row[1]}) for row in rows]
            assert [each for (each,) in found] == expected, written


def test_unknown_dialects_are_errors_with_a_suggestion():
    with pytest.raises(InputError, match="postgres"):
        Program.parse("x > 3").emit("sql", dialect="postgre")


def test_duckdb_and_sqlite_need_no_sqlglot(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    program = Program.parse("x > 3 and c = 'a'")
    for dialect in ("duckdb", "sqlite"):
        assert program.emit("sql", dialect=dialect) == """COALESCE("c" = 'a' AND "x" > 3, FALSE)"""
    with pytest.raises(InputError, match=r"^this needs sqlglot: .*\[sql\]"):
        program.emit("sql", dialect="postgres")
