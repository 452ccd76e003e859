"""Rules as checks: SQLite, DuckDB, PostgreSQL and pandera reject exactly the planted rows."""

import math
import sqlite3
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import duckdb
import jinja2
import pandas as pd
import psycopg
import pytest

from nsr.errors import InputError
from nsr.program import Kind, Program
from tests.program.emit.test_cells import function_of, iso

KINDS = {
    "kind": Kind.TEXT,
    "first_name": Kind.TEXT,
    "invoiced": Kind.DATE,
    "paid": Kind.DATE,
    "late": Kind.BOOLEAN,
    "price": Kind.NUMBER,
    "level": Kind.TEXT,
}
TYPES = {Kind.NUMBER: "BIGINT", Kind.BOOLEAN: "BOOLEAN", Kind.TEXT: "TEXT", Kind.DATE: "DATE"}
JAN, FEB, MAR = date(2024, 1, 1), date(2024, 2, 1), date(2024, 3, 1)
ROWS = [
    ("private", "Ada", JAN, JAN, False, 10, "low"),
    ("private", None, JAN, MAR, True, 200, "high"),
    ("company", None, JAN, FEB, True, 50, "mid"),
    ("it's", "x", JAN, None, False, 99, "mid"),
    ("company", "{{ x }}", None, MAR, None, None, None),
    (None, "Bob", FEB, MAR, False, 100, "high"),
    ("private", "", JAN, date(2024, 1, 31), False, -1, "high"),
]

CASES = {
    "presence": ("kind != 'private' or first_name is present", {}, [1]),
    "dates": ("paid <= invoiced + 30 days", {}, [1, 2, 3, 4]),
    "texts": ("kind in ('private', 'it''s', '{{ x }}')", {}, [2, 4, 5]),
    "truth": ("paid > invoiced + 30 days", {"column": "late"}, [4]),
    "classes": ("where(price >= 100, 2, where(price >= 20, 1, 0))", {"column": "level"}, [4, 6]),
    "numbers": ("where(kind = 'private', price, 50)", {"column": "price"}, [3, 4, 5]),
    "formula": ("price >= 60", {"column": "level", "classes": ["low", "high"]}, [2, 3, 4, 6]),
}
"""The rule, its options, and the rows that break it."""
CLASSES = {"classes": {"classes": ["low", "mid", "high"]}}
REFUSALS = (sqlite3.IntegrityError, duckdb.ConstraintException, psycopg.errors.CheckViolation)
cases = pytest.mark.parametrize("case", CASES)
engines = pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres"])


def rule(case):
    text, options, broken = CASES[case]
    return Program.parse(text, kinds=KINDS), {**options, **CLASSES.get(case, {})}, broken


@pytest.fixture
def connect(engine, request):
    if engine == "postgres":
        connection = request.getfixturevalue("postgres")
        connection.execute("DROP TABLE IF EXISTS orders")
        return connection
    return sqlite3.connect(":memory:") if engine == "sqlite" else duckdb.connect()


def create(connection, engine, constraint=""):
    types = {**TYPES, Kind.DATE: "TEXT"} if engine == "sqlite" else TYPES
    columns = ", ".join(f'"{name}" {types[kind]}' for name, kind in KINDS.items())
    connection.execute(f"CREATE TABLE orders (place INTEGER, {columns}{constraint})")


def insert(connection, engine, place):
    marks = ", ".join(["%s" if engine == "postgres" else "?"] * (1 + len(KINDS)))
    cells = ROWS[place] if engine != "sqlite" else map(iso, ROWS[place])
    connection.execute(f"INSERT INTO orders VALUES ({marks})", (place, *cells))


@cases
@engines
def test_the_query_returns_the_planted_rows(connect, engine, case):
    program, options, broken = rule(case)
    create(connect, engine)
    for place in range(len(ROWS)):
        insert(connect, engine, place)
    query = program.emit("check-sql", table="orders", dialect=engine, **options)
    assert sorted(row[0] for row in connect.execute(query).fetchall()) == broken, query


@cases
@engines
def test_the_constraint_refuses_the_planted_rows(connect, engine, case):
    program, options, broken = rule(case)
    if engine == "postgres":
        create(connect, engine)
        connect.execute(program.emit("check-constraint", table="orders", dialect=engine, **options))
    else:
        create(connect, engine, ", " + program.emit("check-constraint", dialect=engine, **options))
    refused = []
    for place in range(len(ROWS)):
        try:
            insert(connect, engine, place)
        except REFUSALS:
            refused.append(place)
    assert refused == broken


@cases
def test_the_dbt_test_returns_the_planted_rows(case):
    program, options, broken = rule(case)
    source = program.emit("dbt", table="orders", **options)
    assert "FROM {{ ref('orders') }}" in source
    compiled = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(source).render(ref=lambda name: name)
    connection = duckdb.connect()
    create(connection, "duckdb")
    for place in range(len(ROWS)):
        insert(connection, "duckdb", place)
    assert sorted(row[0] for row in connection.execute(compiled).fetchall()) == broken


@cases
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pandera_rejects_the_planted_rows(case, nullable):
    pandera = pytest.importorskip("pandera.pandas")
    program, options, broken = rule(case)
    frame = pd.DataFrame(ROWS, columns=list(KINDS))
    frame = frame.convert_dtypes() if nullable else frame
    schema = function_of(program.emit("pandera", **options), "schema")
    with pytest.raises(pandera.errors.SchemaErrors) as caught:
        schema.validate(frame, lazy=True)
    assert sorted(set(caught.value.failure_cases["index"])) == broken
    kept = frame.drop(index=broken)
    assert schema.validate(kept, lazy=True).equals(kept)


def test_text_in_a_rule_never_becomes_a_template():
    program = Program.parse("kind in ('{{ 1 + 1 }}', '{% raw %}', '{# x #}') or `{{ y }}` is missing")
    source = program.emit("dbt", table="it's")
    rendered = jinja2.Environment().from_string(source).render(ref=lambda name: name)
    assert "'{# x #}', '{% raw %}', '{{ 1 + 1 }}'" in rendered
    assert '"{{ y }}" IS NULL' in rendered
    assert "FROM it's\n" in rendered


def test_the_output_looks_handwritten():
    program = Program.parse("paid <= invoiced + 30 days", kinds=KINDS)
    assert program.emit("check-sql", table="orders") == (
        """SELECT * FROM "orders" WHERE NOT COALESCE("paid" <= "invoiced" + INTERVAL '30' DAY, FALSE)"""
    )
    assert program.emit("check-constraint", table="orders", dialect="tsql", name="in time") == (
        "ALTER TABLE [orders] ADD CONSTRAINT [in time] "
        "CHECK (CASE WHEN [paid] <= DATEADD(DAY, 30, [invoiced]) THEN 1 ELSE 0 END = 1)"
    )
    assert Program.parse("x is present").emit("check-sql", table="t") == 'SELECT * FROM "t" WHERE NOT ("x" IS NOT NULL)'


@pytest.mark.parametrize(
    ("target", "text", "options", "message"),
    [
        ("check-sql", "x > 3", {}, "target 'check-sql' needs the option 'table'"),
        ("dbt", "x > 3", {}, "target 'dbt' needs the option 'table'"),
        ("check-constraint", "x + 3", {}, "a check must be a formula, or the name of a column that must be equal to"),
        ("check-constraint", "x > 3", {"classes": ["a", "b"]}, "classes are those of a column"),
        ("pandera", "x > 3", {"classes": ["a"], "column": "y"}, "a formula has two classes, for false and for true"),
        ("check-constraint", "x > 3", {"classes": [[], "a"], "column": "y"}, "a class must be a text, a number"),
        ("check-constraint", "x > 3", {"classes": [0, 10**400], "column": "y"}, "which cannot represent 10000000"),
        ("check-constraint", "x > 3", {"dialect": "bigquery"}, "'bigquery' does not enforce CHECK constraints"),
        ("check-constraint", "x > 3", {"table": "t", "dialect": "sqlite"}, "'sqlite' cannot add a CHECK to a table"),
        ("check-constraint", "x > 3", {"dialect": "oracle"}, "dialect"),
    ],
)
def test_options_that_make_no_sense_are_errors(target, text, options, message):
    with pytest.raises(InputError, match=message):
        Program.parse(text).emit(target, **options)


@pytest.mark.parametrize(
    ("classes", "dialect", "no", "yes"),
    [
        ([False, True], "duckdb", "FALSE", "TRUE"),
        ([False, True], "sqlite", "0", "1"),
        ([0, 1.5], "duckdb", "0", "1.5e0"),
        (["it's", ""], "sqlite", "'it''s'", "''"),
        ([JAN, FEB], "duckdb", "DATE '2024-01-01'", "DATE '2024-02-01'"),
        ([JAN, FEB], "sqlite", "'2024-01-01'", "'2024-02-01'"),
    ],
)
def test_classes_are_written_as_the_database_knows_them(classes, dialect, no, yes):
    program = Program.parse("a > b")
    written = program.emit("check-sql", table="t", column="y", classes=classes, dialect=dialect)
    condition = f'"y" = CASE WHEN "a" > "b" THEN {yes} ELSE {no} END'
    assert written == f'SELECT * FROM "t" WHERE NOT COALESCE({condition}, FALSE)'


@pytest.mark.parametrize("formula", ["a/3 + b", "2*a + b"])
def test_missing_numbers_are_expected_where_a_sum_is_missing_rounded_or_not(formula):
    duckdb = pytest.importorskip("duckdb", reason="needs the extra learn")
    thirds = [3 * 10**6 + number for number in range(4)]
    wanted = [number / 3 + 1 if formula.startswith("a/3") else 2 * number + 1 for number in thirds]
    rows = [*((number, 1, y) for number, y in zip(thirds, wanted, strict=True)), (None, 1, None)]
    wrong = [(3, 1, 2.001), (None, 1, 2.0), (3, 1, None)]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (a DOUBLE, b DOUBLE, y DOUBLE)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [*rows, *wrong])
    query = Program.parse(formula).emit("check-sql", table="t", column="y", dialect="duckdb")
    assert "ABS(" in query
    assert connection.execute(query).fetchall() == wrong
    exact = Program.parse("2*a + b").emit("check-sql", table="t", column="y", integers=True)
    assert 'WHERE NOT COALESCE("y" = (2 * "a" + "b") OR "y" IS NULL' in exact


@pytest.mark.parametrize("wrong", [None, datetime(2024, 1, 1), 1j, 10**400])
def test_other_classes_are_errors(wrong):
    with pytest.raises(InputError, match="^a class must be a text, |^target 'sql' computes in float64"):
        Program.parse("a > b").emit("check-sql", table="t", column="y", classes=["a", wrong])


CENTS = {
    "a sum": "gross - dues - tax",
    "a choice": "where(member = 'yes', gross - dues - tax, gross - tax)",
    "a missing cell": "where(dues is missing, gross - tax, gross - dues - tax)",
    "the largest": "max(gross - dues - tax, 0)",
    "a choice inside": "gross - tax + where(member = 'yes', 0 - dues, 0)",
}
"""Rules of integers times columns; the columns hold cents, and the rows are close to 0 after cancellation."""
AMOUNTS = {
    "gross": "DOUBLE PRECISION",
    "dues": "DOUBLE PRECISION",
    "tax": "DOUBLE PRECISION",
    "net": "DOUBLE PRECISION",
}
numbers = pytest.mark.parametrize("rule", CENTS)


def cents(rule):
    """A program, rows that follow it to the cent, and the same with a cent more or less."""
    program = Program.parse(CENTS[rule], kinds={"member": Kind.TEXT})
    right, wrong = [], []
    for place in range(200):
        member = "yes" if place % 3 else "no"
        exact = [Fraction(400_014 + 37 * place, 100), Fraction(1_901 + place, 100), Fraction(395_913 + 31 * place, 100)]
        exact[1] = None if place % 5 == 0 and (member == "no" or rule == "a missing cell") else exact[1]
        net = program({"gross": [exact[0]], "dues": [exact[1]], "tax": [exact[2]], "member": [member]})[0]
        amounts = [None if each is None else float(each) for each in exact]
        if net is not None and net == net:
            right.append((2 * place, member, *amounts, float(net)))
            off = Fraction(1 if place % 2 else -1, 100)
            wrong.append((2 * place + 1, member, *amounts, float(net + off)))
        else:
            right.append((2 * place, member, *amounts, None))
    return program, right, wrong


@numbers
@engines
def test_floats_that_are_rounded_keep_a_rule_and_a_cent_breaks_it(connect, engine, rule):
    program, right, wrong = cents(rule)
    types = {name: "REAL" if engine == "sqlite" else kind for name, kind in AMOUNTS.items()}
    columns = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
    connect.execute(f"CREATE TABLE orders (place INTEGER, member TEXT, {columns})")
    mark = "%s" if engine == "postgres" else "?"
    for row in right + wrong:
        connect.execute(f"INSERT INTO orders VALUES ({', '.join([mark] * len(row))})", row)
    broken = [row[0] for row in wrong]
    query = program.emit("check-sql", table="orders", dialect=engine, column="net")
    assert sorted(row[0] for row in connect.execute(query).fetchall()) == broken, query
    holds = program.emit("check-constraint", dialect=engine, column="net").partition(" CHECK ")[2]
    assert sorted(row[0] for row in connect.execute(f"SELECT place FROM orders WHERE NOT {holds}").fetchall()) == broken
    if engine == "duckdb":
        source = program.emit("dbt", table="orders", column="net")
        compiled = jinja2.Template(source).render(ref=lambda name: name)
        assert sorted(row[0] for row in connect.execute(compiled).fetchall()) == broken


@numbers
@pytest.mark.parametrize("backend", ["numpy", "numpy_nullable", "pyarrow", "Decimal"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pandera_allows_for_rounding_and_for_no_cent(rule, backend):
    pandera = pytest.importorskip("pandera.pandas")
    program, right, wrong = cents(rule)
    frame = pd.DataFrame(right + wrong, columns=["place", "member", *AMOUNTS]).set_index("place")
    if backend == "Decimal":
        as_decimal = frame[list(AMOUNTS)].map(lambda cell: None if pd.isna(cell) else Decimal(str(cell)))
        frame = frame.assign(**as_decimal.astype(object))
    elif backend != "numpy":
        frame = frame.convert_dtypes(dtype_backend=backend)
    schema = function_of(program.emit("pandera", column="net"), "schema")
    with pytest.raises(pandera.errors.SchemaErrors) as caught:
        schema.validate(frame, lazy=True)
    assert sorted(set(caught.value.failure_cases["index"])) == [row[0] for row in wrong]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pandera_rejects_texts_among_numbers_row_by_row():
    pandera = pytest.importorskip("pandera.pandas")
    schema = function_of(Program.parse("a - b").emit("pandera", column="y"), "schema")
    with pytest.raises(pandera.errors.SchemaErrors) as caught:
        schema.validate(pd.DataFrame({"a": [3, 3, 3], "b": 1, "y": [2, "n/a", 4]}), lazy=True)
    assert sorted(set(caught.value.failure_cases["index"])) == [1, 2]


ONE, CENT = Fraction(1), Fraction(1, 100)


@pytest.mark.parametrize(
    ("steps", "exact"),
    [
        ({"a": ONE, "b": ONE, "y": ONE}, True),
        ({"a": ONE, "b": CENT, "y": ONE}, False),
        ({"a": ONE, "b": ONE, "y": CENT}, False),
        ({"a": ONE, "b": ONE}, False),
        ({"a": ONE, "y": ONE}, False),
        ({}, False),
    ],
)
@pytest.mark.parametrize("language", ["check-sql", "check-constraint", "dbt", "pandera"])
def test_numbers_are_compared_exactly_where_all_are_integers(language, steps, exact):
    table = {"table": "t"} if language in ("check-sql", "dbt") else {}
    written = Program.parse("2*a - b").emit(language, column="y", steps=steps, **table)
    assert ("1e-14" not in written) == exact
    assert ('"y" = (2 * "a" - "b")' in written) == (exact and language != "pandera")


@pytest.mark.parametrize("decimals", [False, True])
def test_large_integers_are_compared_exactly(decimals):
    database = duckdb.connect()
    database.execute("CREATE TABLE t (a BIGINT, b BIGINT, y BIGINT)")
    wrong = (2**60, 1, 2**60)
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", [(2**60, 1, 2**60 + 1), wrong])
    options = {"steps": {"a": ONE, "b": ONE, "y": ONE}, "decimals": decimals}
    query = Program.parse("a + b").emit("check-sql", table="t", column="y", **options)
    assert database.execute(query).fetchall() == [wrong]


def test_decimals_are_compared_exactly_unless_they_may_be_floats():
    program = Program.parse("0.1*a - b")
    exact = program.emit("check-sql", table="t", column="y", decimals=True)
    assert '"y" = (0.1 * "a" - "b") OR ' in exact
    close = program.emit("check-sql", table="t", column="y", decimals=True, steps={"a": CENT, "b": CENT, "y": CENT})
    assert 'ABS("y" - (0.1 * "a" - "b")) <= 1e-14 * (0.1 * ABS("a") + ABS("b")) OR ' in close


def test_the_tolerance_is_that_of_the_branch_that_a_row_takes():
    database = duckdb.connect()
    database.execute("CREATE TABLE t (kind TEXT, a DOUBLE, b DOUBLE, c DOUBLE, y DOUBLE)")
    rows = [("x", 0.3, 0.1, math.inf, 0.2), ("x", 0.3, 0.1, None, 0.2), ("y", 0.3, 0.1, 7.0, 7.0)]
    wrong = [("x", 0.3, 0.1, math.inf, 0.21), ("x", 0.3, 0.1, 1e300, 0.21), ("y", 1e300, 0.1, 7.0, 7.01)]
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows + wrong)
    program = Program.parse("where(kind = 'x', a - b, c)", kinds={"kind": Kind.TEXT})
    assert database.execute(program.emit("check-sql", table="t", column="y")).fetchall() == wrong
