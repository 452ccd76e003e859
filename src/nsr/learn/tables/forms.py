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
FORMS = (BOOLEAN, INTEGER, DECIMAL, FLOAT, INFINITE, POINT, COMMA, DATE, TIMESTAMP)


def symbol_of(column: str) -> str:
    """SQL of the currency or percent sign in a text; an empty text if there is none."""
    return f"regexp_extract({column}, {sql_text(SYMBOL)})"


def has_zone(column: str) -> str:
    """SQL: whether a text is a time with a zone."""
    return f"regexp_full_match({column}, {sql_text(f'.*:[0-9.]+{ZONE}')})"
