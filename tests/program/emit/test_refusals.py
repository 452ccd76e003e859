"""Targets of numbers refuse texts, dates and missing cells in a sentence; the others write them for readers."""

import random
import sqlite3
from contextlib import closing

import duckdb
import pytest
import z3

from nsr.errors import InputError
from nsr.learn.emission import emit_rule
from nsr.program import And, Constant, Expression, Kind, Linear, Or, Program, Variable, Where
from tests.program.emit.cell_samples import KINDS as SAMPLED
from tests.program.emit.cell_samples import formula, row_answer, rows

KINDS = {
    "paid": Kind.DATE,
    "due": Kind.DATE,
    "seen": Kind.TIMESTAMP,
    "taken": Kind.DURATION,
    "f": Kind.BOOLEAN,
    "c": Kind.TEXT,
    "d": Kind.TEXT,
}


def parse(text):
    return Program.parse(text, kinds=KINDS)


@pytest.mark.parametrize("target", ["c", "onnx", "sympy"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c = 'a'", "has numbers only, and column 'c' is of kind 'text'"),
        ("f", "has numbers only, and column 'f' is of kind 'boolean'"),
        ("paid > due", "has numbers only, and column 'due' is of kind 'date'"),
        ("x is missing", "has no missing numbers, and the program asks whether one is: x is missing"),
    ],
)
def test_targets_of_numbers_refuse_cells(target, text, message):
    with pytest.raises(InputError, match=f"^target '{target}' {message}$"):
        parse(text).emit(target)


def test_arrays_and_modules_refuse_cells():
    with pytest.raises(InputError, match="arrays of numpy have numbers only: target 'pandas' has"):
        parse("c = 'a'").emit("python", numpy=True)
    with pytest.raises(InputError, match="^a torch module has numbers only, not texts, dates or "):
        parse("c = 'a'").module()
    with pytest.raises(InputError, match="cannot be a name in polars, which reads it as a pattern"):
        Program.parse("`^a$` > 3").emit("polars")


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("paid > due", "due is not None and paid is not None and due < paid"),
        ("paid > due + 30 days", "due is not None and paid is not None and paid - due > timedelta(days=30)"),
        (
            "paid > due + x days",
            "due is not None and x is not None and paid is not None and paid - due > timedelta(days=x)",
        ),
        ("paid >= 2024-01-31", "paid is not None and paid >= date(2024, 1, 31)"),
        ("seen < 2024-01-31T12:30:00", "seen is not None and seen < datetime(2024, 1, 31, 12, 30)"),
        (
            "seen >= paid",
            "paid is not None and seen is not None and datetime.combine(paid, time.min) <= seen",
        ),
        ("taken > 90 minutes", "taken is not None and taken > timedelta(minutes=90)"),
        ("c in ('a', 'b') and not f", "f is not None and c in ('a', 'b') and not f"),
        ("c != 'a' or f", "c is not None and c != 'a' or bool(f)"),
        ("where(c = d, x, 0)", "x if c is not None and d is not None and c == d else 0"),
        ("where(f, 2*x, 0)", "(2 * x if x is not None else None) if bool(f) else 0"),
    ],
)
def test_python_looks_handwritten(text, body):
    assert parse(text).emit("python").splitlines()[-1] == f"    return {body}"


def test_python_imports_what_it_uses():
    source = parse("paid > due + 30 days and c = 'it''s a date, datetime'").emit("python")
    assert source.startswith("from datetime import date, timedelta\n\n\ndef rule(c: str | None, due: date | None, ")


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("c in ('a_b', 'b')", r"c \in \{\text{{'}a\_b{'}}, \text{{'}b{'}}\}"),
        ("c != 'a' and not f", r"c \neq \text{{'}a{'}} \land \lnot f"),
        ("x is missing or c is present", r"c \text{ is present} \lor x \text{ is missing}"),
        ("paid > due + 30 days", r"\mathrm{paid} > \mathrm{due} + 30\,\text{days}"),
        ("paid > due + x days", r"\mathrm{paid} > \mathrm{due} + x\,\text{days}"),
        ("seen >= 2024-01-31", r"\mathrm{seen} \geq \text{2024{-}01{-}31}"),
        ("2*taken > 1 day", r"\mathrm{taken} > 12\,\text{hours}"),
    ],
)
def test_latex(text, formula):
    assert parse(text).emit("latex") == formula


def solved(text):
    """What a solver finds: whether the emitted formula can hold."""
    solver = z3.Solver(ctx=z3.Context())
    solver.set("timeout", 10_000)
    solver.from_string(f"{text}\n(assert rule)")
    return solver.check()


@pytest.mark.parametrize(
    ("text", "missing", "expected"),
    [
        ("c = 'a\"\\\\é' and c in ('a\"\\\\é', 'b')", None, z3.sat),
        ("paid > 2024-01-01 and paid < 2024-01-02", None, z3.unsat),
        ("seen > 2024-01-01 and seen < 2024-01-02", None, z3.sat),
        ("paid > due + 30 days and due > paid", None, z3.unsat),
        ("f and x is missing and x + y > 3", None, z3.unsat),
        ("x is missing and y > 3", None, z3.sat),
        ("c = d and c = 'a' and d = 'b'", True, z3.unsat),
        ("exactly 1 of (x > 3, x > 4, x is missing)", None, z3.sat),
    ],
)
def test_smtlib(text, missing, expected):
    assert solved(parse(text).emit("smtlib", missing=missing)) == expected


def test_smtlib_defines_where_a_number_is_missing():
    text = parse("where(f, x, 3)").emit("smtlib", missing=True)
    assert "(define-fun rule_missing () Bool" in text
    for asserted, expected in (
        ("(and rule_missing |f| (not |f is missing|) (not |x is missing|))", z3.unsat),
        ("(and rule_missing |f| (not |f is missing|) |x is missing|)", z3.sat),
        ("(and rule_missing |f is missing|)", z3.unsat),
    ):
        solver = z3.Solver(ctx=z3.Context())
        solver.from_string(f"{text}\n(assert {asserted})")
        assert solver.check() == expected, asserted


@pytest.mark.parametrize(
    ("one", "other", "options", "verdict"),
    [
        ("paid > 2024-01-01", "paid >= 2024-01-02", {}, "the same for all rows"),
        ("seen > 2024-01-01", "seen >= 2024-01-02", {}, "differ at seen = 2024-01-01T00:00:00.000001: True and False"),
        ("c in ('a', 'b')", "c = 'a'", {}, "differ at c = 'b': True and False"),
        ("c != 'a'", "c = 'other'", {}, "differ at c = 'other_': True and False"),
        ("c = d", "d = c", {"missing": True}, "the same for all rows"),
        ("f", "not f", {}, "differ at f = False: False and True"),
        ("x > 3 or x is missing", "x > 3", {}, "differ at x is missing: True and False"),
        ("x > 3 or x is missing", "x >= 4 or x is missing", {"over": "integers"}, "the same for all rows of integers"),
        ("taken > 30 minutes", "taken >= 31 minutes", {}, "differ at taken = 1800000001 microseconds: True and False"),
        (
            "where(c = 'a', x, 0)",
            "where(c = 'a', x, y)",
            {"missing": True},
            "differ at c = 'other', x = 0, y = 1: 0 and 1",
        ),
        ("paid > due + 30 days", "paid > due + x days", {"low": 0}, None),
    ],
)
def test_equivalence(one, other, options, verdict):
    found = parse(one).equivalent(parse(other), **options)
    assert verdict is None or str(found) == verdict
    if found.row is not None:
        assert parse(one)(found.row) != parse(other)(found.row)


def test_a_column_of_two_kinds_cannot_be_compared():
    problem = "column 'x' is of kind 'number' in one program and 'text' in the other: give kinds={'x': ...}"
    with pytest.raises(InputError, match=f"^{problem} to Program.parse$"):
        parse("x > 3").equivalent(Program.parse("x = 'a'"))


def test_random_formulas_differ_only_where_they_do():
    tried = 0
    for seed in range(40):
        source = random.Random(seed)
        one, other = (Program(formula(source, 1, True)) for _ in range(2))
        if len(one.expression.variables) + len(other.expression.variables) > 6:
            continue
        verdict = one.equivalent(other, missing=True, timeout=3)
        differ = any(row_answer(one.expression, row) != row_answer(other.expression, row) for row in rows())
        assert not (verdict.equal and differ), (one, other)
        if verdict.row is not None:
            complete = {name: verdict.row.get(name) for name in SAMPLED}
            assert row_answer(one.expression, complete) != row_answer(other.expression, complete), (one, other)
            tried += 1
    assert tried > 15


def nested(levels: int, *, first: bool) -> Program:
    """Choices inside of the first or the last branch of choices."""
    expression: Expression = Constant(-1)
    for level in range(levels):
        branches = (expression, Constant(level)) if first else (Constant(level), expression)
        expression = Where(Variable("a") > level, *branches)
    return Program(expression)


def sum_of(terms: int) -> Program:
    return Program(Linear([(1, Variable(f"x{number}")) for number in range(terms)]))


def in_sqlite(written: str, columns: str) -> object:
    with closing(sqlite3.connect(":memory:")) as connection:
        ((answer,),) = connection.execute(f"SELECT {written} FROM (SELECT {columns})")
    return answer


def test_sqlite_reads_many_branches_and_long_formulas():
    chain = nested(90, first=False)
    assert in_sqlite(chain.emit("sql", dialect="sqlite"), '50.5 AS "a"') == chain({"a": 50.5})
    names = [f"x{number}" for number in range(1200)]
    for joined, others in ((And, 1), (Or, 0)):
        program = Program(joined(*(Variable(name) > 0 for name in names)))
        for odd in (0, 1):
            columns = ", ".join(f'{odd if name == "x777" else others} AS "{name}"' for name in names)
            assert in_sqlite(program.emit("sql", dialect="sqlite"), columns) == odd


@pytest.mark.parametrize("make", [lambda: nested(60, first=True), lambda: sum_of(1100)])
def test_what_sqlite_cannot_read_is_refused(make):
    program = make()
    with pytest.raises(InputError, match="^the program is too deep for SQLite .*: use another dialect$"):
        program.emit("sql", dialect="sqlite")


def alternating(levels: int) -> Program:
    """And of or of and ..."""
    expression: Expression = Variable("x0") > 0
    for level in range(1, levels):
        expression = (And if level % 2 else Or)(expression, Variable(f"x{level}") > level)
    return Program(expression)


@pytest.mark.parametrize(
    ("target", "make"),
    [
        ("python", lambda: nested(220, first=True)),
        ("python", lambda: sum_of(3000)),
        *((target, lambda: alternating(250)) for target in ("pandas", "pandera", "polars")),
        *((target, lambda: sum_of(3000)) for target in ("pandas", "polars")),
        ("polars", lambda: nested(350, first=False)),
    ],
)
def test_what_python_cannot_compile_is_refused(target, make):
    program = make()
    with pytest.raises(InputError, match="too deep for target"):
        program.emit(target)


def test_what_duckdb_cannot_read_is_refused():
    with pytest.raises(InputError, match="^the program is too deep for DuckDB, whose max_expression_depth is 1000"):
        sum_of(1100).emit("sql")
    written = sum_of(900).emit("sql")
    columns = ", ".join(f'1 AS "x{number}"' for number in range(900))
    assert duckdb.sql(f"SELECT {written} FROM (SELECT {columns})").fetchall() == [(900,)]


def test_what_sympy_cannot_print_is_refused_by_the_command():
    with pytest.raises(InputError, match="^the program is nested too deep for target 'sympy'$"):
        emit_rule(nested(150, first=False), "sympy", column="y", classes=None)


def test_an_expression_that_is_too_deep_is_refused():
    with pytest.raises(InputError, match="^the expression is nested too deep"):
        alternating(700)


def test_pandas_imports_numpy_only_where_it_is_used():
    assert "import numpy" not in Program.parse("gnp in ('np.x', 'b') and a is missing").emit("pandas")
    assert "import numpy as np" in Program.parse("where(a > b, 1, 2)").emit("pandas")


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "bigquery"])
def test_columns_that_differ_in_case_alone_are_refused(dialect):
    with pytest.raises(InputError, match=f"^columns 'A' and 'a' are the same column in {dialect}: rename one of them$"):
        Program(Variable("a") > Variable("A")).emit("sql", dialect=dialect)
    assert Program(Variable("a") > Variable("A")).emit("sql", dialect="postgres") == '"A" < "a"'


def test_duckdb_ranks_nan_as_the_documentation_says():
    written = Program(Variable("a") > 5).emit("sql")
    assert duckdb.sql(f"SELECT {written} FROM (SELECT 'NaN'::DOUBLE AS a)").fetchall() == [(True,)]
    assert not Program(Variable("a") > 5)({"a": [float("nan")]})[0]
