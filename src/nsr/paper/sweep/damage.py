"""Damaged records: those whose checksum, whose identity or whose content is not what was stored."""

import functools
import json
import math
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from nsr.paper.experiments import EXPERIMENTS

TEXTS = ("identity", "experiment", "cell", "recipe", "profile", "metrics", "environment", "finished")
NUMBERS = ("revision", "seed", "memory", "seconds")
COLUMNS = (*TEXTS, *NUMBERS)
Row = Sequence[Any]
"""The columns of a record in this order, texts as bytes."""
_PACK = struct.Struct("<qqqd").pack
_SELECT = f"SELECT rowid, checksum, {', '.join(COLUMNS)} FROM results NOT INDEXED WHERE rowid > ? ORDER BY rowid"
NO_METRICS, NO_ENVIRONMENT = "its metrics are not numbers", "its environment is not an object"
START = -math.inf
"""Less than the number of every record: SQLite allows numbers below 0."""


@dataclass(frozen=True)
class Damaged:
    """A record that cannot be trusted."""

    row: int
    """Its number in the table."""
    label: str
    reason: str

    def __str__(self) -> str:
        return f"record {self.row} ({self.label}): {self.reason}"


def checksum(row: Row) -> bytes:
    """The checksum of a record: half of a SHA-256 of its columns."""
    return sha256(b"\0".join((*row[:8], _PACK(*row[8:])))).digest()[:16]


def scan(
    connection: sqlite3.Connection, after: float = START, *, order: str = "ASC", metrics: bool = True
) -> Iterator[tuple[int, Row, Damaged | None]]:
    """The records whose number is larger than ``after``: their numbers, their rows, and what is wrong with each.

    All experiments, as a record whose experiment is damaged may belong to any. The connection must not be used until
    the last record is read: its texts are bytes meanwhile, which is faster.

    Args:
        connection: To the store.
        after: The number before the first one.
        order: ``ASC`` or ``DESC``.
        metrics: Whether metrics are read that have the right checksum; not if whoever asks reads them.
    """
    text_factory, connection.text_factory = connection.text_factory, bytes
    try:
        for number, expected, *row in connection.execute(f"{_SELECT} {order}", (after,)):
            reason = _reason(row, expected) or (_without_metrics(row[5]) if metrics else None)
            yield number, row, None if reason is None else Damaged(number, label(row), reason)
    finally:
        connection.text_factory = text_factory


def salvage(connection: sqlite3.Connection) -> Iterator[tuple[int, Row, Damaged | None]]:
    """What ``scan`` yields of a table with damaged pages: the records before the first of them and after the last."""
    for order in ("ASC", "DESC"):
        try:
            yield from scan(connection, order=order)
        except sqlite3.DatabaseError:
            continue
        return


def decoded(row: Row) -> Row:
    """The columns of a record with texts instead of bytes."""
    return [value.decode(errors="replace") if isinstance(value, bytes) else value for value in row]


def _reason(row: Row, expected: bytes | None) -> str | None:
    try:
        if checksum(row) == expected:
            unknown = _unknown_fields(row[1], row[8], row[2], row[3], row[6])
            return unknown if unknown or math.isfinite(row[11]) else NO_METRICS
        return "its checksum is wrong" if expected is not None else problem(row) or "its checksum is missing"
    except (TypeError, struct.error):  # a column that holds something else than its declared type
        return "its checksum is wrong"


def label(row: Row) -> str:
    """What a damaged record is called."""
    content = dict(zip(COLUMNS, decoded(row), strict=True))
    return f"{content['experiment']} {content['cell']}, profile {content['profile']}, seed {content['seed']}"[:200]


def problem(row: Row) -> str | None:
    """What is wrong with a record that has no checksum: it was wrong when the store was brought up to date."""
    try:
        content: dict[str, Any] = {
            name: value.decode() if isinstance(value, bytes) else value
            for name, value in zip(COLUMNS, row, strict=True)
        }
        identity, metrics = json.loads(content["identity"]), json.loads(content["metrics"])
        cell, recipe, environment = (json.loads(content[name]) for name in ("cell", "recipe", "environment"))
        named = {name: content[name] for name in ("experiment", "revision", "profile", "seed")}
        agrees = named | {"cell": cell} == {name: identity[name] for name in (*named, "cell")}
        settings = identity["recipe"].items()
        agrees &= "name" in recipe and all(recipe[name] == value for name, value in settings)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "a column is not the JSON that was written"
    if not agrees:
        return "its identity and its columns disagree"
    if not _are_metrics(metrics) or not _is_finite(content["seconds"]):
        return NO_METRICS
    if not isinstance(environment, Mapping):
        return NO_ENVIRONMENT
    fields = _unknown_fields(row[1], row[8], row[2], row[3], row[6])
    return fields or _unknown_metrics(content["experiment"], row[8], metrics)


def _unknown_metrics(name: str, revision: int, metrics: Mapping[str, float]) -> str | None:
    experiment = EXPERIMENTS.get(name)
    if experiment is None or experiment.revision != revision:
        return None
    unknown = metrics.keys() - {metric.name for metric in experiment.metrics}
    return f"{name} has no metric {min(unknown)!r}"[:200] if unknown else None


@functools.cache
def _unknown_fields(name: bytes, revision: int, cell: bytes, recipe: bytes, environment: bytes) -> str | None:
    experiment = EXPERIMENTS.get(name.decode(errors="replace"))
    if experiment is None or experiment.revision != revision:
        return None  # of another version: not read, and not wrong
    try:
        hash((experiment.cell(json.loads(cell)), experiment.recipe(json.loads(recipe))))
    except _WRONG:
        return f"its cell or its recipe has other fields than those of {experiment.name}"
    try:
        return None if isinstance(json.loads(environment), dict) else NO_ENVIRONMENT
    except _WRONG:
        return NO_ENVIRONMENT


_WRONG = (TypeError, ValueError, LookupError, AttributeError, OverflowError, RecursionError)


class NotMetricsError(ValueError):
    """The metrics of a record are not numbers, although its checksum is right."""


def read_metrics(text: bytes | str) -> dict[str, float]:
    """The metrics of a record from their JSON. A checksum only shows that they are what somebody stored."""
    try:
        metrics = json.loads(text)
    except _WRONG:
        metrics = None
    if not _are_metrics(metrics):
        raise NotMetricsError(NO_METRICS)
    return metrics  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=1000)
def _without_metrics(text: bytes) -> str | None:
    try:
        read_metrics(text)
    except NotMetricsError:
        return NO_METRICS
    return None


def _are_metrics(metrics: Any) -> bool:
    return isinstance(metrics, dict) and all(map(_is_finite, metrics.values()))


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:  # an integer beyond the floats
        return False
