"""The forms that the texts of a column can have (integers, amounts with a currency, dates ...), as SQL."""

from dataclasses import dataclass

from nsr.learn.tables.text import sql_text
from nsr.program.kinds import Kind

SYMBOL = r"(€|\$|£|¥|%|EUR|USD|GBP|CHF|JPY)"
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")
ISO_DATE = r"\s*\d{4}-\d{2}-\d{2}"
ISO_TIME = r"[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?"
ZONE = r"\s?(Z|[+-]\d{2}(:?\d{2})?)"
PLAIN = r"\s*[+-]?(\d+\.?\d*|\.\d+)"


def _amount(thousands: str, decimal: str) -> str:
    """The regular expression of a number with separators of thousands, a sign, and a currency or percent sign."""
    number = rf"(\d{{1,3}}({thousands}\d{{3}})+|\d+)({decimal}\d+)?"
    return rf"\s*({SYMBOL}\s*)?[+-]?\s*({SYMBOL}\s*)?{number}(\s*{SYMBOL})?\s*"


@dataclass(frozen=True)
class Form:
    """What the texts of a column look like, and how they become values.

    ``pattern`` is a regular expression for the complete text. In SQL, ``{}`` stands for the column.
    """

    name: str
    kind: Kind
    pattern: str
    value: str = "{}"
    """SQL of a text that DuckDB can cast."""
    also: str = ""
    """A further condition in SQL."""

    def matches(self, column: str) -> str:
        """SQL: whether the text in the column has the form."""
        matched = f"regexp_full_match({column}, {sql_text(self.pattern)})"
        return f"({matched} AND {self.also.format(column)})" if self.also else matched

    def text(self, column: str) -> str:
        """SQL of the text that can be cast to the type of the column."""
        return self.value.format(column)


def _cleaned(drop: str) -> str:
    return f"regexp_replace({{}}, {sql_text(drop)}, '', 'g')"


BOOLEAN = Form("boolean", Kind.BOOLEAN, "true|True|TRUE|false|False|FALSE")
INTEGER = Form("integer", Kind.NUMBER, r"\s*[+-]?\d+\s*")
DECIMAL = Form("decimal", Kind.NUMBER, PLAIN + r"\s*")
FLOAT = Form("float", Kind.NUMBER, PLAIN + r"([eE][+-]?\d+)?\s*")
INFINITE = Form("infinite", Kind.NUMBER, r"(?i)\s*[+-]?inf(inity)?\s*")
POINT = Form("point", Kind.NUMBER, _amount("[,'\u2019]", r"\."), _cleaned("[^0-9.+-]"))
COMMA = Form("comma", Kind.NUMBER, _amount("[. \u00a0\u202f]", ","), f"replace({_cleaned('[^0-9,+-]')}, ',', '.')")
DATE = Form("date", Kind.DATE, ISO_DATE + r"\s*", also="TRY_CAST({} AS DATE) IS NOT NULL")
TIMESTAMP = Form(
    "timestamp",
    Kind.TIMESTAMP,
    f"{ISO_DATE}({ISO_TIME}({ZONE})?)?\\s*",
    also="TRY_CAST({} AS TIMESTAMPTZ) IS NOT NULL",
)


def _written_date(name: str, pattern: str, written: str, *, time: bool = False) -> Form:
    """Dates that are not written as 2024-12-31, in a format of strptime; with the time of day too."""
    seconds = f"try_strptime({{0}}, {sql_text(f'{written} %H:%M:%S')})"
    parsed = f"coalesce({seconds}, try_strptime({{0}}, {sql_text(f'{written} %H:%M')}))" if time else seconds
    parsed = parsed if time else f"try_strptime({{0}}, {sql_text(written)})"
    parsed = parsed.replace("{0}", "trim({0})")
    return Form(
        f"{name} with time" if time else name,
        Kind.TIMESTAMP if time else Kind.DATE,
        rf"\s*{pattern}{r'[ T]+[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?' if time else ''}\s*",
        f"strftime({parsed}, '%Y-%m-%d %H:%M:%S')",
        f"{parsed} IS NOT NULL",
    )


WRITTEN = {
    "day.month.year": (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    "month/day/year": (r"\d{1,2}/\d{1,2}/\d{4}", "%m/%d/%Y"),
    "day/month/year": (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y"),
    "year/month/day": (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    "day-month-year": (r"\d{1,2}-[A-Za-z]{3}-\d{4}", "%d-%b-%Y"),
    "yearmonthday": (r"(19|20)\d{6}", "%Y%m%d"),
}
"""Dates as people write them: the pattern, and the format of strptime."""
WRITTEN_DATES = tuple(_written_date(name, *how, time=time) for name, how in WRITTEN.items() for time in (False, True))
DATE_FORMS = {form.name: form for form in WRITTEN_DATES}
"""By name, as in the file of a saved rule."""
AMBIGUOUS_DATE = Form(
    "ambiguous date", Kind.TEXT, r"\s*(0?[1-9]|1[0-2])/(0?[1-9]|1[0-2])/\d{4}([ T]+\d{1,2}:\d{2}(:\d{2})?)?\s*"
)
"""Dates such as 03/04/2024: month and day, or day and month, where both are at most 12."""
FORMS = (BOOLEAN, INTEGER, DECIMAL, FLOAT, INFINITE, POINT, COMMA, DATE, TIMESTAMP, *WRITTEN_DATES, AMBIGUOUS_DATE)


def strptime_format(name: str) -> str:
    """The format of strptime for a form of written dates; those with a time of day may also lack the seconds."""
    day = name.removesuffix(" with time")
    return WRITTEN[day][1] + (" %H:%M:%S" if name != day else "")


def symbol_of(column: str) -> str:
    """SQL of the currency or percent sign in a text; an empty text if there is none."""
    return f"regexp_extract({column}, {sql_text(SYMBOL)})"


def has_zone(column: str) -> str:
    """SQL: whether a text is a time with a zone."""
    return f"regexp_full_match({column}, {sql_text(f'.*:[0-9.]+{ZONE}')})"
