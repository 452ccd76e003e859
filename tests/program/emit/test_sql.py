"""SQL: the expressions are run in SQLite and in DuckDB."""

import random
import sqlite3
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from nsr.errors import InputError
from nsr.program import And, Compare, Constant, Program, Truth, Variable, Where
from nsr.program.emit import InexactWarning, emit
from nsr.program.emit.exactness import integer_range
from nsr.program.integers import denominator, magnitude_bound, with_integer_coefficients
from tests.program.emit.samples import answers, exact, float_rows, has_products, integer_rows, programs, same
from tests.program.strategies import NAMES

a, b = Variable("a"), Variable("b")
CONNECT = {"sqlite": lambda: sqlite3.connect(":memory:"), "duckdb": duckdb.connect}
TYPES = {"sqlite": ("REAL", "INTEGER"), "duckdb": ("DOUBLE", "BIGINT")}
engines = pytest.mark.parametrize("engine", CONNECT)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def table(engine, names, rows, integers=False):
    """A connection to a table t of these columns and rows, in the order of ``place``."""
    connection = CONNECT[engine]()
    kind = TYPES[engine][integers]
    connection.execute(f"CREATE TABLE t (place INTEGER, {', '.join(f'{quoted(name)} {kind}' for name in names)})")
    marks = ", ".join("?" * (len(names) + 1))
    connection.executemany(f"INSERT INTO t VALUES ({marks})", [(place, *row) for place, row in enumerate(rows)])
    return connection


def selected(connection, expression):
    return [row[0] for row in connection.execute(f"SELECT {expression} FROM t ORDER BY place").fetchall()]


def overflows(program):
    """Whether an intermediate result can overflow float64, after which SQLite differs because it has no NaN."""
    return any(magnitude_bound(node, 10**301) > 10**308 for node in program.expression.walk() if not node.is_boolean)


@engines
@pytest.mark.usefixtures("unchecked")
def test_float_columns_give_the_same_bits_as_the_tree(engine):
    rows = np.array([float_rows()[name] for name in NAMES]).T
    small = np.abs(rows).max(axis=1) < 1e200
    connection = table(engine, NAMES, rows.tolist())
    for program in programs():
        expected, kept = answers(program), small if overflows(program) else small | True
        found = np.array(selected(connection, emit(program, "sql")), dtype=expected.dtype)
        assert same(found[kept], expected[kept]), program


@engines
@pytest.mark.usefixtures("unchecked")
def test_integer_columns_are_exact(engine):
    tried = {2**10: 0, 2**40: 0}
    rows = {largest: integer_rows(largest=largest) for largest in tried}
    tables = {
        largest: table(engine, NAMES, [[row[name] for name in NAMES] for row in rows[largest]], integers=True)
        for largest in tried
    }
    for program in programs():
        fractions = not program.expression.is_boolean and denominator(program.expression) > 1
        largest = 2**10 if has_products(program) else 2**40
        if not fractions and (integer_range(with_integer_coefficients(program.expression)) or 0) >= largest:
            tried[largest] += 1
            found = selected(tables[largest], emit(program, "sql", integers=True))
            assert found == exact(program, rows[largest]), program
    assert sum(tried.values()) > len(programs()) / 2
    assert tried[2**10] > len(programs()) / 60


@engines
def test_quotients_of_integer_columns_are_not_truncated(engine):
    connection = table(engine, ("a",), [(1,), (7,)], integers=True)
    assert selected(connection, emit(Program(a * 0.5), "sql")) == [0.5, 3.5]
    third = Program(Compare(">", a * 3, Constant(1)))
    assert selected(connection, emit(third, "sql")) == [True, True]


NASTY = ('a"; drop table t; --', '"', "'", "a b", "select", "a\nb", "--", "/*", "?", ":a", "größe", "[a]", "`a`", "\\")


@engines
def test_names_never_become_code(engine):
    connection = table(engine, NASTY, [range(len(NASTY)), [-1] * len(NASTY)])
    for index, name in enumerate(NASTY):
        program = Program(
            And(Compare(">=", Variable(name), Constant(0)), Compare("<", Variable(name), Constant(index + 1)))
        )
        for options in ({}, {"table": "t"}):
            assert selected(connection, emit(program, "sql", **options)) == [True, False]
    assert len(selected(connection, "place")) == 2


def test_with_the_name_of_the_table_a_misspelt_column_is_an_error():
    connection = table("sqlite", ("a",), [(1.0,)])
    program = Program(Compare(">", Variable("aa"), Constant(0)))
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        selected(connection, emit(program, "sql", table="t"))


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_sql_cannot_quote_are_errors(name):
    with pytest.raises(ValueError, match="^.* cannot be a name in SQL: it must be valid Unicode without a NUL"):
        emit(Program(Variable(name)), "sql")


def test_the_output_looks_handwritten():
    program = Program(Where(Compare("!=", a, b), Variable("unit price") * 2 + 4, a * 0.1))
    assert emit(program, "sql") == 'CASE WHEN "a" = "b" THEN "a" / 10e0 ELSE 2 * "unit price" + 4 END'
    assert emit(Program(Compare(">", a, Constant(37.5))), "sql", table="my table") == '"my table"."a" > 37.5e0'
    assert emit(Program(a + Fraction("0.305")), "sql") == '"a" + 0.305e0'
    assert emit(Program(a + Fraction(1, 3)), "sql") == '"a" + 1e0 / 3e0'
    assert emit(Program(Truth(False)), "sql") == "FALSE"


HALFWAY = ("0.797097", "73.304589", "0.9520787", "0.913565296539742")
"""Near the midpoint of two floats: SQLite 3.40 rounds these decimals to the wrong one."""


@engines
@pytest.mark.parametrize("value", HALFWAY)
def test_decimals_that_a_database_may_round_twice_are_written_as_quotients(engine, value):
    connection = table(engine, ("a",), [(0.0,)])
    expression = emit(Program(a + Fraction(value)), "sql")
    assert " / " in expression
    assert selected(connection, expression) == [float(value)]


@engines
def test_decimals_are_read_as_the_same_floats_as_in_python(engine):
    source, connection = random.Random(0), table(engine, ("a",), [(0.0,)])
    decimals = [f"{source.randrange(10 ** min(15, places + 2)) / 10**places:.{places}f}" for places in range(1, 16)]
    decimals += [f"{source.randrange(1, 10**6)}e-6" for _ in range(2_000)]
    written = [emit(Program(a + Fraction(value)), "sql") for value in decimals]
    assert sum(" / " not in each for each in written) > 0.9 * len(written)
    found = [row for at in range(0, len(written), 500) for row in _row(connection, written[at : at + 500])]
    assert found == [float(value) for value in decimals]


def _row(connection, expressions):
    return connection.execute(f"SELECT {', '.join(expressions)} FROM t").fetchone()


@engines
@pytest.mark.parametrize("value", ["1/10", "1/3", f"{2**53 + 1}/7", f"{10**19}/{10**16 + 1}", f"1/{10**22}"])
def test_constants_are_the_nearest_floats(engine, value):
    constant = Fraction(value)
    connection = table(engine, ("a",), [(0.0,)])
    assert selected(connection, emit(Program(a + constant), "sql")) == [float(constant)]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (a + (2**53 + 1), "^9007199254740993 is not a float: on floats SQLite uses it exactly, "),
        (a + 2**64, "^18446744073709551616 does not fit int64: SQL uses the nearest float$"),
        (Where(Compare(">", a, b), Constant(2**53), a) + 1, r"^constants add up to more than 2\^53: "),
    ],
)
def test_numbers_that_do_not_fit_give_a_warning(expression, message):
    with pytest.warns(InexactWarning, match=message):
        emit(Program(expression), "sql")


def test_numbers_beyond_the_largest_float_are_errors():
    with pytest.raises(ValueError, match="^target 'sql' computes in float64"):
        emit(Program(a + 10**400), "sql")


NULLS = [(None, 1, 2), (1, None, 2), (None, None, None), (3, 1, 2)]


@engines
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("max(a, b, c)", 3),
        ("median(a, b, c)", 2),
        ("clip(a + b + c, 0, 5)", 5),
        ("abs(a - b - 2*c)", 2),
        ("count(a > 1, b > 1, c > 1)", 2),
        ("at least 2 of (a > 1, b > 1, c > 1)", True),
        ("a*b*c", 6),
    ],
)
def test_null_in_one_column_gives_null(engine, text, answer):
    connection = table(engine, ("a", "b", "c"), NULLS, integers=True)
    assert selected(connection, emit(Program.parse(text), "sql")) == [None, None, None, answer]


KINDS = {"c": "text", "f": "boolean", "d": "date", "e": "date", "t": "timestamp", "u": "duration", "v": "duration"}
MICROSECONDS = (
    """(CAST(STRFTIME('%s', SUBSTR("t", 1, 19)) AS INTEGER) * 1000000"""
    """ + CAST(SUBSTR(SUBSTR("t", 21) || '000000', 1, 6) AS INTEGER))"""
)


@pytest.mark.parametrize(
    ("text", "duckdb_text", "sqlite_text"),
    [
        ("f", '"f"', '"f" = 1'),
        ("not f", 'NOT "f"', '"f" = 0'),
        ("c = 'x'", "\"c\" = 'x'", "\"c\" = 'x'"),
        ("c != 'it''s'", "\"c\" <> 'it''s'", "\"c\" <> 'it''s'"),
        ("c in ('x', 'y')", "\"c\" IN ('x', 'y')", "\"c\" IN ('x', 'y')"),
        ("c not in ('x', 'y')", "\"c\" NOT IN ('x', 'y')", "\"c\" NOT IN ('x', 'y')"),
        ("d > e", '"d" > "e"', '"d" > "e"'),
        ("d != e", '"d" <> "e"', '"d" <> "e"'),
        ("d > e + 30 days", '"d" > "e" + INTERVAL \'30\' DAY', 'JULIANDAY("d") > JULIANDAY("e") + 30'),
        ("d > 2024-01-31", "\"d\" > DATE '2024-01-31'", "\"d\" > '2024-01-31'"),
        ("d > 1970-01-01", "\"d\" > DATE '1970-01-01'", "\"d\" > '1970-01-01'"),
        (
            "t > 2024-01-31T12:30",
            "\"t\" > TIMESTAMP '2024-01-31 12:30:00'",
            f"{MICROSECONDS} > 1706704200000000",
        ),
        (
            "d > e + 1 hour",
            '"d" > "e" + INTERVAL \'1\' HOUR',
            "CAST(STRFTIME('%s', \"d\") AS INTEGER) * 1000000 > "
            "CAST(STRFTIME('%s', \"e\") AS INTEGER) * 1000000 + 3600000000",
        ),
        (
            "d > e + 2*n days",
            'EPOCH_US("d") > EPOCH_US("e") + 172800000000 * "n"',
            'JULIANDAY("d") > JULIANDAY("e") + 2 * "n"',
        ),
        ("u > v", '"u" > "v"', None),
        ("u > 0 days", "\"u\" > INTERVAL '0' DAY", None),
        ("2*u > v", '2 * EPOCH_US("u") > EPOCH_US("v")', None),
        ("d > e + u", '"d" > "e" + "u"', None),
    ],
)
def test_cells_as_they_are_written(text, duckdb_text, sqlite_text):
    program = Program.parse(text, kinds=KINDS)
    assert program.emit("sql") == f"COALESCE({duckdb_text}, FALSE)"
    if sqlite_text is None:
        with pytest.raises(InputError, match="^dialect 'sqlite' cannot compare column '[uv]'"):
            program.emit("sql", dialect="sqlite")
    else:
        assert program.emit("sql", dialect="sqlite") == f"COALESCE({sqlite_text}, FALSE)"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a is missing", '"a" IS NULL'),
        ("a is present", '"a" IS NOT NULL'),
        ("count(a > b) > 5", "FALSE"),
        ("count(a > b)", 'CASE WHEN "a" > "b" THEN 1 ELSE 0 END'),
        ("a is missing or b > 1", 'COALESCE("a" IS NULL OR "b" > 1, FALSE)'),
        ("abs(a - b)", 'ABS("a" - "b")'),
        ("max(a, b)", 'CASE WHEN "a" >= "b" THEN "a" WHEN "b" >= "a" THEN "b" END'),
        ("where(a > 1, 1, where(a > 0, 2, 3))", 'CASE WHEN "a" > 1 THEN 1 WHEN "a" > 0 THEN 2 ELSE 3 END'),
    ],
)
def test_what_may_be_null(text, written):
    assert Program.parse(text).emit("sql", missing=True) == written


def test_the_middle_of_numbers_that_may_be_null():
    middle = Program.parse("median(a, b, x)")
    nulls = 'CASE WHEN "a" IS NULL OR "b" IS NULL OR "x" IS NULL THEN NULL WHEN '
    assert middle.emit("sql", missing=True).startswith(nulls)
    assert "NULL" not in middle.emit("sql")
    assert middle.emit("sql").count("CAST(") == 12


@pytest.mark.parametrize(
    ("text", "options", "written"),
    [
        ("count(a > b)", {}, 'CAST("a" > "b" AS INTEGER)'),
        ("2*count(a > 1, b > 1)", {}, '2 * (CAST("a" > 1 AS INTEGER) + CAST("b" > 1 AS INTEGER))'),
        ("a > 9223372036854775807", {"integers": True}, '"a" > 9223372036854775807'),
        ("a > 0.1", {}, '"a" > 0.1e0'),
        ("a > 1/3", {}, '"a" > 1e0 / 3e0'),
        ("a > 1/3", {"integers": True}, '3 * "a" > 1'),
        ("a > 1/3", {"decimals": True}, '3 * "a" > 1'),
        ("a > 0.1", {"decimals": True}, '"a" > 0.1'),
        ("a*0.1 + b", {"decimals": True}, '0.1 * "a" + "b"'),
        ("a*0.1 + b", {}, '"a" / 10e0 + "b"'),
        ("a*2/3", {}, '2 * "a" / 3e0'),
        ("where(a > 1/3, 0.5, 2)", {"decimals": True}, 'CASE WHEN 3 * "a" > 1 THEN 0.5 ELSE 2 END'),
        ("a > b", {"table": "t"}, '"t"."a" > "t"."b"'),
    ],
)
def test_numbers_as_they_are_written(text, options, written):
    assert Program.parse(text).emit("sql", **options) == written


@pytest.mark.parametrize("parts", [100, 101, 201])
def test_sqlite_gets_a_hundred_parts_in_a_chain(parts):
    comparisons = [f'"x{number}" > {number}' for number in range(parts)]
    program = Program.parse(" or ".join(comparison.replace('"', "") for comparison in comparisons))
    groups = [" OR ".join(comparisons[start : start + 100]) for start in range(0, parts, 100)]
    written = groups[0] if parts == 100 else " OR ".join(f"({group})" for group in groups)
    assert program.emit("sql", dialect="sqlite") == written
