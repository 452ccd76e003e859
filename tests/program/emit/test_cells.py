"""Texts, truth values, dates, durations and missing cells: every target gives what the program means."""

import sqlite3
import warnings
from datetime import datetime, timedelta

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from nsr.program import Kind, Program
from tests.program.emit.cell_samples import KINDS, agree, answers, columns, programs, rounds, rows
from tests.program.emit.test_sql import quoted

TYPES = {
    "duckdb": ("BIGINT", "BOOLEAN", "VARCHAR", "DATE", "TIMESTAMP", "INTERVAL"),
    "postgres": ("BIGINT", "BOOLEAN", "TEXT", "DATE", "TIMESTAMP", "INTERVAL"),
    "sqlite": ("INTEGER", "INTEGER", "TEXT", "TEXT", "TEXT", None),
}
"""The types of columns, in the order of ``Kind``."""
FLOATS = {"duckdb": "DOUBLE", "postgres": "DOUBLE PRECISION", "sqlite": "REAL"}


def created(connection, engine, mark="?", cell=lambda cell: cell):
    """Create the table t of all rows; ``place`` is their order."""
    types = dict(zip(Kind, TYPES[engine], strict=True))
    kept = {name: FLOATS[engine] if name == "half" else types[kind] for name, kind in KINDS.items() if types[kind]}
    names = ", ".join(f"{quoted(name)} {kind}" for name, kind in kept.items())
    connection.execute("DROP TABLE IF EXISTS t")
    connection.execute(f"CREATE TABLE t (place INTEGER, {names})")
    insert = f"INSERT INTO t VALUES ({', '.join([mark] * (1 + len(kept)))})"
    for place, row in enumerate(rows()):
        connection.execute(insert, (place, *(cell(row[name]) for name in kept)))
    return connection


def iso(cell):
    """A cell for SQLite: dates and times as text."""
    return cell.isoformat(*([" "] if hasattr(cell, "hour") else [])) if hasattr(cell, "isoformat") else cell


@pytest.fixture(scope="module")
def engines(postgres):
    return {
        "duckdb": created(duckdb.connect(), "duckdb"),
        "sqlite": created(sqlite3.connect(":memory:"), "sqlite", cell=iso),
        "postgres": created(postgres, "postgres", "%s"),
    }


def selected(connection, expression):
    return [row[0] for row in connection.execute(f"SELECT {expression} FROM t ORDER BY place").fetchall()]


def test_the_programs_have_everything():
    nodes = [node for program in programs() for node in program.expression.walk()]
    kinds = {type(node).__name__ for node in nodes} | {str(getattr(node, "kind", "")) for node in nodes}
    expected = {"OneOf", "Flag", "Missing", "Compare", "Count", "Order", "Where", "Linear", "Product", *map(str, Kind)}
    assert expected <= kinds
    found = [answers(program) for program in programs()]
    assert sum(None in each for each in found) > 10
    assert sum(True in each and False in each for each in found) > len(found) / 2


def test_evaluation_on_columns_of_python_objects():
    for program in programs():
        assert agree(program(columns(program.inputs)).tolist(), program), program


def test_evaluation_of_single_rows():
    for program in programs()[:60]:
        assert agree([program({name: row[name] for name in program.inputs}) for row in rows()], program), program


def test_python():
    for program in programs():
        function = function_of(program.emit("python", missing=True))
        assert agree([function(*(row[name] for name in program.inputs)) for row in rows()], program), program


def function_of(source, name="rule"):
    namespace = {}
    exec(compile(source, "emitted", "exec"), namespace)
    return namespace[name]


def frames():
    """The rows as data frames of Python objects, of numpy's types, and of nullable types; the index has duplicates."""
    objects = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns(KINDS).items()})
    objects.index = [0] * len(objects)
    plain, nullable = objects.copy(), objects.convert_dtypes()
    for name, kind in KINDS.items():
        if kind == Kind.NUMBER:
            plain[name] = objects[name].astype(float)
        elif kind in (Kind.DATE, Kind.TIMESTAMP):
            plain[name] = nullable[name] = pd.to_datetime(objects[name])
        elif kind == Kind.DURATION:
            plain[name] = nullable[name] = pd.to_timedelta(objects[name])
        elif kind == Kind.TEXT:
            plain[name] = objects[name].astype("category")
    nullable["member"] = objects["member"].astype("boolean")
    return {"objects": objects, "plain": plain, "nullable": nullable}


def programs_for(flavour):
    """In a frame of numpy's types all columns of numbers are floats, because cells are missing."""
    floats = ("half", "x", "unit price")
    return [program for program in programs() if flavour != "plain" or not rounds(program.expression, floats)]


@pytest.mark.parametrize("flavour", ["objects", "plain", "nullable"])
def test_pandas(flavour):
    frame = frames()[flavour]
    for program in programs_for(flavour):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = function_of(program.emit("pandas", missing=True))(frame)
        assert list(answer.index) == list(frame.index)
        found = [None if pd.isna(value) else value for value in answer]
        assert agree(found, program), (program, program.emit("pandas", missing=True))


@pytest.mark.parametrize("flavour", ["objects", "plain", "nullable"])
def test_evaluation_on_data_frames(flavour):
    frame = frames()[flavour]
    for program in programs_for(flavour):
        found = [None if pd.isna(value) else value for value in np.asarray(program(frame), dtype=object)]
        assert agree(found, program), program


def polars_frame():
    types = {Kind.NUMBER: pl.Int64, Kind.BOOLEAN: pl.Boolean, Kind.TEXT: pl.String, Kind.DATE: pl.Date}
    types |= {Kind.TIMESTAMP: pl.Datetime("us"), Kind.DURATION: pl.Duration("us")}
    schema = {name: pl.Float64 if name == "half" else types[kind] for name, kind in KINDS.items()}
    return pl.DataFrame(columns(KINDS), schema=schema)


def test_evaluation_on_polars():
    frame = polars_frame()
    for program in programs():
        assert agree(program(frame).tolist(), program), program


def test_polars():
    frame = polars_frame()
    for program in programs():
        expression = eval(program.emit("polars", missing=True), {"pl": pl})
        assert agree(frame.select(answer=expression)["answer"].to_list(), program), (
            program,
            program.emit("polars", missing=True),
        )


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_polars_compares_microseconds_whatever_the_unit_of_a_column(unit):
    schema = {"t": pl.Datetime(unit), "u": pl.Datetime("us"), "taken": pl.Duration(unit)}
    frame = pl.DataFrame(
        [(datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 1), timedelta(hours=1))], schema, orient="row"
    )
    kinds = {"t": Kind.TIMESTAMP, "u": Kind.TIMESTAMP, "taken": Kind.DURATION}
    for text in ("t >= u", "t >= 2024-01-01T00:00:00.000001", "taken > 3599999999 microseconds + 1 microsecond"):
        program = Program.parse(text, kinds=kinds)
        assert frame.select(eval(program.emit("polars"), {"pl": pl})).item() is False, text
        assert frame.select(eval(Program(~program.expression).emit("polars"), {"pl": pl})).item() is True, text


@pytest.mark.parametrize("engine", ["duckdb", "postgres", "sqlite"])
def test_databases(engines, engine):
    for program in programs(durations=engine != "sqlite"):
        expression = program.emit("sql", dialect=engine, missing=True)
        assert agree(selected(engines[engine], expression), program), (program, expression)
