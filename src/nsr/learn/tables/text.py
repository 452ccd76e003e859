"""Small texts: counts with their noun, cells in messages, and names and texts quoted for SQL."""

from collections.abc import Iterable


def plural(count: int, noun: str) -> str:
    """A count with its noun, such as ``1 row`` and ``2,000 rows``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def shorten(cell: object) -> str:
    """A cell in quotes, cut to 40 characters."""
    text = str(cell)
    return repr(text if len(text) <= 40 else text[:37] + "...")


def sql_name(name: str) -> str:
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """A text quoted for SQL."""
    return "'" + text.replace("'", "''") + "'"


def sql_list(texts: Iterable[str]) -> str:
    """Texts as a list in SQL."""
    return "[" + ", ".join(map(sql_text, texts)) + "]"
