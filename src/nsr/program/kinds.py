"""The kinds of columns that a program can use."""

from enum import StrEnum


class Kind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
