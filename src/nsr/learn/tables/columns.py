"""What a column holds, and the SQL that gives its values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from nsr.learn.tables import forms
from nsr.learn.tables.forms import Form
from nsr.learn.tables.text import shorten, sql_text
from nsr.program.kinds import Kind

MOST_DIGITS = 38
"""The most digits of a DECIMAL."""
MOST_PLACES = 6
"""Numbers of more decimal places are measured, and not multiples of a unit."""
EXACT_DIGITS = 15
"""Decimals of up to so many digits are still different as doubles."""
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
LARGE_INTEGERS = ("UBIGINT", "HUGEINT", "UHUGEINT")
AS_TEXT = ("TIME", "TIME WITH TIME ZONE", "UUID")


@dataclass(frozen=True)
class Misfit:
    """Cells that do not fit into a column: the condition in SQL, and what is wrong with them."""

    where: str
    problem: str
    remedy: str = "correct it, or clear the cell and use --drop-missing"


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table, as found from all of its cells."""

    name: str
    kind: Kind
    sql_type: str
    missing: int
    distinct: int
    """How many distinct values there are; about, in a large table."""
    note: str = ""
    """How unusual texts were read."""
    problem: str | None = None
    """Why the column cannot be used."""
    value: str = ""
    """SQL of the value, from the cell."""
    misfits: tuple[Misfit, ...] = ()
    written: str | None = None
    """The form of dates that are not written as 2024-12-31: a key of ``forms.DATE_FORMS``."""

    @property
    def is_integer(self) -> bool:
        """Whether the values are integers of 64 bits."""
        return self.sql_type == "BIGINT"

    @property
    def step(self) -> Fraction | None:
        """What all numbers are multiples of: 1 for integers, 1/100 for decimals such as 3.25; None if not known."""
        if self.kind is not Kind.NUMBER:
            return None
        digits = re.match(r"DECIMAL\(\d+, ?(\d+)", self.sql_type)
        scale = 0 if self.is_integer else int(digits[1]) if digits else None
        return Fraction(1, 10**scale) if scale is not None and scale <= MOST_PLACES else None

    @property
    def has_large_decimals(self) -> bool:
        """Whether there are decimals with so many digits before the point that doubles would round them to integers."""
        digits = re.match(r"DECIMAL\((\d+), ?(\d+)", self.sql_type)
        return digits is not None and int(digits[1]) - int(digits[2]) > EXACT_DIGITS

    @property
    def as_double(self) -> str:
        """SQL of the value as the nearest double: DuckDB itself rounds decimals of many digits twice."""
        digits = re.match(r"DECIMAL\((\d+)", self.sql_type)
        exact = not digits or int(digits[1]) <= EXACT_DIGITS
        return "CAST({} AS DOUBLE)" if exact else "CAST(CAST({} AS VARCHAR) AS DOUBLE)"


def number_aggregates(form: Form, cell: str) -> dict[str, str]:
    """SQL of what must be known about the numbers of a column to choose their type."""
    text = form.text(cell)
    point = f"strpos({text}, '.')"
    fits = form.matches(cell)
    needed = {
        "digits": f"max(CASE WHEN NOT {fits} THEN 0 WHEN {point} = 0 THEN length({text}) ELSE {point} - 1 END)",
        "scale": f"max(CASE WHEN NOT {fits} OR {point} = 0 THEN 0 ELSE length({text}) - {point} END)",
    }
    if form in {forms.INTEGER, forms.POINT, forms.COMMA}:
        needed["large"] = f"count_if({form.matches(cell)} AND TRY_CAST({text} AS BIGINT) IS NULL)"
    if form in {forms.INTEGER, forms.FLOAT}:
        needed["infinite"] = f"count_if({forms.INFINITE.matches(cell)} OR {_infinite(text)})"
    if form in {forms.POINT, forms.COMMA}:
        symbol = forms.symbol_of(cell)
        needed |= {"least_symbol": f"min({symbol})", "largest_symbol": f"max({symbol})"}
        needed["example"] = f"min(CASE WHEN NOT {forms.FLOAT.matches(cell)} THEN {cell} END)"
    return needed


def number_column(name: str, cell: str, form: Form, found: Mapping[str, Any], shared: dict[str, Any]) -> Column:
    """A column of numbers that are written in one form; cells of another form are misfits."""
    digits, scale = found["digits"] or 1, found["scale"] or 0
    if form is forms.INTEGER or (form is not forms.FLOAT and not scale):
        sql_type = "BIGINT"
    elif form is not forms.FLOAT and digits + scale <= MOST_DIGITS:
        sql_type = f"DECIMAL({digits + scale}, {scale})"
    else:
        sql_type = "DOUBLE"
    text = form.text(cell)
    fits, misfits = form.matches(cell), []
    value = f"TRY_CAST({text} AS {sql_type})"
    if found["fits"] < found["present"]:
        truth = f"{cell} IN {_words(forms.TRUE + forms.FALSE)}"
        value = f"CASE WHEN {fits} THEN {value} WHEN {truth} THEN CAST(CAST({cell} AS BOOLEAN) AS INTEGER) END"
        infinite = forms.INFINITE.matches(cell)
        misfits.append(Misfit(f"NOT ({fits} OR {truth} OR {infinite})", "is not a number"))
    if found.get("infinite"):
        where = f"({forms.INFINITE.matches(cell)} OR {_infinite(text)})"
        misfits.append(Misfit(where, "is infinite or too large"))
    if found.get("large") and sql_type == "BIGINT":
        remedy = "leave the column out, or divide it by a common factor"
        where = f"{fits} AND TRY_CAST({text} AS BIGINT) IS NULL"
        misfits.append(Misfit(where, "does not fit in 64 bits", remedy))
    return Column(
        name=name,
        kind=Kind.NUMBER,
        sql_type=sql_type,
        note=_number_note(form, found),
        value=value,
        misfits=tuple(misfits),
        **shared,
    )


def boolean_column(name: str, cell: str, found: Mapping[str, Any], shared: dict[str, Any]) -> Column:
    """A column of the words true and false."""
    value = f"CASE WHEN {cell} IN {_words(forms.TRUE)} THEN true WHEN {cell} IN {_words(forms.FALSE)} THEN false END"
    bad = Misfit(f"{cell} NOT IN {_words(forms.TRUE + forms.FALSE)}", "is not true or false")
    misfits = (bad,) if found["fits"] < found["present"] else ()
    return Column(name=name, kind=Kind.BOOLEAN, sql_type="BOOLEAN", value=value, misfits=misfits, **shared)


def time_column(name: str, cell: str, form: Form, found: Mapping[str, Any], shared: dict[str, Any]) -> Column:
    """A column of dates, or of dates with a time of day."""
    if form.kind is Kind.DATE:
        sql_type, value = "DATE", f"TRY_CAST({form.text(cell)} AS DATE)"
    elif form is not forms.TIMESTAMP:
        sql_type, value = "TIMESTAMP", f"TRY_CAST({form.text(cell)} AS TIMESTAMP)"
    else:
        sql_type, value = "TIMESTAMP", f"timezone('UTC', TRY_CAST({cell} AS TIMESTAMPTZ))"
    misfits: tuple[Misfit, ...] = ()
    written = form.name if form in forms.WRITTEN_DATES else None
    if found["fits"] < found["present"]:
        value = f"CASE WHEN {form.matches(cell)} THEN {value} END"
        wanted = f"a {form.name} such as 2024-12-31" if written is None else f"a date, {written}"
        misfits = (Misfit(f"NOT {form.matches(cell)}", f"is not {wanted}"),)
    note = "read as times in UTC: their zones differ from it or are given" if found.get("zoned") else ""
    note = note if written is None else f"read as dates, {written}"
    return Column(
        name=name,
        kind=form.kind,
        sql_type=sql_type,
        value=value,
        note=note,
        misfits=misfits,
        written=written,
        **shared,
    )


def text_column(name: str, cell: str, shared: dict[str, Any], problem: str | None = None, *, note: str = "") -> Column:
    """A column of texts."""
    return Column(name=name, kind=Kind.TEXT, sql_type="VARCHAR", value=cell, problem=problem, note=note, **shared)


AMBIGUOUS = "used as text, because "


def ambiguous_date_note(found: Mapping[str, Any]) -> str:
    """Why dates that could be read in two ways are texts, with an example."""
    example = str(found["example"]).strip()
    one, other, year = (int(number) for number in re.findall(r"\d+", example)[:3])
    readings = f"{year:04}-{other:02}-{one:02} (day/month) or {year:04}-{one:02}-{other:02} (month/day)"
    return f"{AMBIGUOUS}{shorten(example)} could be {readings}; write dates as 2024-12-31"


def typed_cell(cell: str, sql_type: str) -> tuple[str, str]:
    """SQL of the cells of a column that has a type, and the type in which we use them."""
    if sql_type in INTEGERS:
        return f"CAST({cell} AS BIGINT)", "BIGINT"
    if sql_type == "FLOAT":  # 0.1 as a person reads it, not 0.10000000149011612
        return f"CASE WHEN NOT isnan({cell}) THEN CAST(CAST({cell} AS VARCHAR) AS DOUBLE) END", "DOUBLE"
    if sql_type == "DOUBLE":
        return f"CASE WHEN NOT isnan({cell}) THEN {cell} END", "DOUBLE"
    if sql_type == "TIMESTAMP WITH TIME ZONE":
        return f"timezone('UTC', {cell})", "TIMESTAMP"
    if sql_type.startswith("TIMESTAMP"):
        return f"CAST({cell} AS TIMESTAMP)", "TIMESTAMP"
    if sql_type.startswith("ENUM") or sql_type in AS_TEXT:
        return f"CAST({cell} AS VARCHAR)", "VARCHAR"
    return cell, sql_type


def typed_aggregates(cell: str, sql_type: str) -> dict[str, str]:
    """SQL of what must be known about a column that has a type."""
    if sql_type == "DOUBLE":
        return {"infinite": f"count_if(isinf({cell}))"}
    if sql_type in LARGE_INTEGERS or (sql_type.startswith("DECIMAL") and sql_type.endswith(",0)")):
        return {"large": f"count_if({cell} IS NOT NULL AND TRY_CAST({cell} AS BIGINT) IS NULL)"}
    return {}


def typed_column(name: str, cell: str, sql_type: str, found: Mapping[str, Any], shared: dict[str, Any]) -> Column:
    """A column that has a type, as in a Parquet file."""
    simple = {"BOOLEAN": Kind.BOOLEAN, "DATE": Kind.DATE, "TIMESTAMP": Kind.TIMESTAMP, "INTERVAL": Kind.DURATION}
    if sql_type in simple:
        return Column(name=name, kind=simple[sql_type], sql_type=sql_type, value=cell, **shared)
    misfits: tuple[Misfit, ...] = ()
    if "large" in found:
        remedy = "leave the column out, or divide it by a common factor"
        where = f"TRY_CAST({cell} AS BIGINT) IS NULL"
        misfits = (Misfit(where, "does not fit in 64 bits", remedy),) if found["large"] else ()
        cell, sql_type = f"TRY_CAST({cell} AS BIGINT)", "BIGINT"
    if found.get("infinite"):
        misfits = (Misfit(f"isinf({cell})", "is infinite or too large"),)
    if sql_type in {"BIGINT", "DOUBLE"} or sql_type.startswith("DECIMAL"):
        return Column(name=name, kind=Kind.NUMBER, sql_type=sql_type, value=cell, misfits=misfits, **shared)
    what = "binary" if sql_type in {"BLOB", "BIT"} else "nested"
    return text_column(name, f"CAST({cell} AS VARCHAR)", shared, f"{what} values ({sql_type[:40]})")


def _infinite(text: str) -> str:
    return f"coalesce(isinf(TRY_CAST({text} AS DOUBLE)), false)"


def _words(words: tuple[str, ...]) -> str:
    return f"({', '.join(map(sql_text, words))})"


def _number_note(form: Form, found: Mapping[str, Any]) -> str:
    """How texts that are not plain numbers were read, with an example."""
    if form not in {forms.POINT, forms.COMMA} or found["example"] is None:
        return ""
    example = str(found["example"])
    kept = re.sub(r"[^0-9.+-]" if form is forms.POINT else r"[^0-9,+-]", "", example).replace(",", ".")
    percent = ", in percent and not as a fraction" if found["largest_symbol"] == "%" else ""
    return f"read as numbers: {shorten(example.strip())} is {Decimal(kept).normalize():f}{percent}"
