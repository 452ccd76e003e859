"""Expressions of polars, as they are written; ``test_cells.py`` runs many of them."""

import pytest

from nsr.errors import InputError
from nsr.program import Kind, Program

KINDS = {
    "c": Kind.TEXT,
    "f": Kind.BOOLEAN,
    **dict.fromkeys("de", Kind.DATE),
    "t": Kind.TIMESTAMP,
    **dict.fromkeys("uv", Kind.DURATION),
}
A_OVER_B = "pl.col('a') > pl.col('b')"
NULLS = "pl.col('a').is_null() | pl.col('b').is_null()"
CLIPPED = (
    "pl.when(pl.col('a') <= 0).then(0).when(pl.col('a') >= 9).then(9)"
    ".when((pl.col('a') >= 0) & (pl.col('a') <= 9)).then(pl.col('a'))"
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a > b", A_OVER_B),
        ("a > b and b > 3 or a = 1", f"(pl.col('a') == 1) | (({A_OVER_B}) & (pl.col('b') > 3))"),
        ("3", "pl.lit(3)"),
        ("True", "pl.lit(True)"),
        ("False", "pl.lit(False)"),
        ("where(a > b, a, 0)", f"pl.when({A_OVER_B}).then(pl.col('a')).otherwise(0)"),
        ("count(a > b)", f"({A_OVER_B}).cast(pl.Int64)"),
        ("count(a > b, a > 1)", f"(pl.col('a') > 1).cast(pl.Int64) + ({A_OVER_B}).cast(pl.Int64)"),
        ("abs(a - b)", "(pl.col('a') - pl.col('b')).abs()"),
        (
            "max(a, b)",
            "pl.when((pl.col('a') >= pl.col('b'))).then(pl.col('a'))"
            ".when((pl.col('b') >= pl.col('a'))).then(pl.col('b'))",
        ),
        ("clip(a, 0, 9)", CLIPPED),
    ],
)
def test_numbers(text, written):
    assert Program.parse(text).emit("polars") == written


def test_numbers_that_may_be_null():
    def written(text):
        return Program.parse(text).emit("polars", missing=True)

    assert written("a > b") == f"({A_OVER_B}).fill_null(False)"
    assert written("a + b") == "pl.col('a') + pl.col('b')"
    assert written("True") == "pl.lit(True)"
    assert written("a is missing") == "pl.col('a').is_null()"
    assert written("count(a > b)") == f"({A_OVER_B}).fill_null(False).cast(pl.Int64)"
    assert written("clip(a, 0, 9)") == CLIPPED
    assert written("median(a, b, c)").startswith(f"pl.when({NULLS} | pl.col('c').is_null()).then(None).when(")
    assert written("smallest(2, a, b, 3, 4)").startswith(f"pl.when({NULLS}).then(None).when(")
    assert "is_null" not in Program.parse("median(a, b, c)").emit("polars")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("f", "pl.col('f').fill_null(False)"),
        ("not f", "pl.col('f').not_().fill_null(False)"),
        ("c = 'x'", "(pl.col('c') == 'x').fill_null(False)"),
        ("c != 'x'", "(pl.col('c') != 'x').fill_null(False)"),
        ("c in ('x', 'y')", "pl.col('c').is_in(['x', 'y']).fill_null(False)"),
        ("c not in ('x', 'y')", "pl.col('c').is_in(['x', 'y']).not_().fill_null(False)"),
        ("c is present", "pl.col('c').is_not_null()"),
        ("d > e", "(pl.col('d') > pl.col('e') + pl.duration(days=0)).fill_null(False)"),
        ("d > e + 30 days", "(pl.col('d') > pl.col('e') + pl.duration(days=30)).fill_null(False)"),
        ("d > 2024-01-31", "(pl.col('d') > pl.date(2024, 1, 31) + pl.duration(days=0)).fill_null(False)"),
        ("d > 1970-01-01", "(pl.col('d') > pl.date(1970, 1, 1) + pl.duration(days=0)).fill_null(False)"),
        (
            "d > e + 1 hour",
            "(pl.col('d').cast(pl.Datetime(\"us\")) > pl.col('e').cast(pl.Datetime(\"us\")) + pl.duration(hours=1))"
            ".fill_null(False)",
        ),
        (
            "t > 2024-01-31T12:30",
            "(pl.col('t').dt.cast_time_unit(\"us\") > pl.datetime(2024, 1, 31, 12, 30, 0, 0)).fill_null(False)",
        ),
        (
            "d < t",
            "(pl.col('d').cast(pl.Datetime(\"us\")) < pl.col('t').dt.cast_time_unit(\"us\")).fill_null(False)",
        ),
        ("u > 0 days", "(pl.col('u').dt.cast_time_unit(\"us\") > pl.duration(microseconds=0)).fill_null(False)"),
        (
            "2*u > v",
            "(2 * pl.col('u').dt.cast_time_unit(\"us\") > pl.col('v').dt.cast_time_unit(\"us\")).fill_null(False)",
        ),
        (
            "d > e + n days",
            "(pl.col('d').dt.epoch(\"us\") > pl.col('e').dt.epoch(\"us\") + 86400000000 * pl.col('n'))"
            ".fill_null(False)",
        ),
        ("n days < u", "(86400000000 * pl.col('n') < pl.col('u').dt.total_microseconds()).fill_null(False)"),
    ],
)
def test_cells(text, written):
    assert Program.parse(text, kinds=KINDS).emit("polars") == written


def test_names_that_polars_reads_as_patterns_are_errors():
    for name in ("*", "^a$", "^$"):
        with pytest.raises(InputError, match="cannot be a name in polars"):
            Program.parse(f"`{name}` > 1").emit("polars")
    assert Program.parse("`^a` > `b$`").emit("polars") == "pl.col('^a') > pl.col('b$')"
