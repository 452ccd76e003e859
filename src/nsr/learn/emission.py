"""A rule for a column in another language, as ``nsr learn --emit`` and ``nsr emit`` print it."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from nsr.errors import InputError, one_of
from nsr.learn.tables.forms import strptime_format
from nsr.program.emit import TARGETS, options_of
from nsr.program.emit.dialects import DIALECTS
from nsr.program.program import Program

NOT_TEXT = ("onnx",)
FORMULAS = ("sympy", "latex", "smtlib", "json")
"""Languages that are not run on rows."""
WITHOUT_DECIMALS = ("sqlite", "bigquery")
"""Databases in which 0.9 is a float."""
NAN_IS_LARGEST = {
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "redshift": "Redshift",
    "snowflake": "Snowflake",
    "spark": "Spark",
}
"""Databases in which NaN is larger than every number and equal to itself."""


def check_language(name: str, dialect: str | None = None) -> None:
    """Raise an InputError for a language that rules cannot be written in, or a dialect that is not known or needed."""
    one_of("language", name, [target for target in TARGETS if target not in NOT_TEXT])
    if dialect is not None:
        one_of("dialect", dialect, DIALECTS)
        if "dialect" not in options_of(name):
            raise InputError(f"a dialect is for SQL, not for {name}")


def needs_table(language: str) -> bool:
    """Whether a language needs the name of the table that the rule is about."""
    return options_of(language).get("table", False)


def needs_dates(language: str) -> bool:
    """Whether code in a language needs dates as such, and does not read them from the texts of a table."""
    return language not in FORMULAS and "date_formats" not in options_of(language)


def emit_rule(
    program: Program,
    language: str,
    *,
    column: str,
    classes: Sequence[Any] | None,
    dialect: str | None = None,
    table: str | None = None,
    missing: bool = False,
    decimals: bool = False,
    dates: Mapping[str, str] | None = None,
    steps: Mapping[str, Fraction] | None = None,
) -> str:
    """A rule in another language, or as a check that a column is what the rule gives.

    Args:
        program: The rule.
        language: A key of ``nsr.program.emit.TARGETS``.
        column: The column that the rule predicts.
        classes: The classes that the values of the program are positions of; None if they are the column itself.
        dialect: The database, for SQL.
        table: The name of the table, for SQL.
        missing: Whether cells of the columns may be missing.
        decimals: Whether the columns hold no floats, but integers, decimals, texts or dates.
        dates: How the dates of columns are written in the table, if not as 2024-12-31.
        steps: For columns of integers or decimals, the predicted one too, what all of their numbers are multiples of.
    """
    check_language(language, dialect)
    options: dict[str, Any] = {
        "dialect": dialect or "duckdb",
        "column": column,
        "classes": classes,
        "missing": True if missing else None,
        "decimals": decimals and dialect not in WITHOUT_DECIMALS,
        "steps": steps or {},
        "date_formats": {name: strptime_format(written) for name, written in (dates or {}).items()},
    }
    if table is not None:
        options["table"] = table
    accepted = options_of(language)
    emitted = program.emit(language, **{key: each for key, each in options.items() if key in accepted})
    try:
        return str(emitted)
    except RecursionError:  # the text of an object of SymPy
        raise InputError(f"the program is nested too deep for target {language!r}") from None


def nan_note(language: str, dialect: str | None) -> str | None:
    """What a database makes of NaN in columns of floats, where that is not what the rule does."""
    name = NAN_IS_LARGEST.get(dialect or "duckdb")
    if name is None or "dialect" not in options_of(language):
        return None
    return f"in {name}, NaN is larger than every number, so that a > b holds for it: store missing numbers as NULL"


def class_codes(program: Program, classes: Sequence[Any] | None) -> list[tuple[str, str]]:
    """What a program returns for each class, and the class; empty if it returns the target itself."""
    if classes is None:
        return []
    if program.expression.is_boolean and len(classes) != 2:
        raise InputError(f"the rule is a formula, which tells two classes apart, but the file has {len(classes)}")
    if program.expression.is_boolean:
        return [("true", str(classes[1])), ("false", str(classes[0]))]
    return [(str(position), str(label)) for position, label in enumerate(classes)]
