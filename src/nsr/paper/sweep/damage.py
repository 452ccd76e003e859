"""Damaged records: those whose checksum, whose identity or whose content is not what was stored."""

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

COLUMNS = (
    *("identity", "experiment", "revision", "cell", "recipe", "profile", "seed"),
    *("metrics", "seconds", "memory", "environment", "finished"),
)
Row = Sequence[Any]
"""The columns of a record, in this order."""


@dataclass(frozen=True)
class Damaged:
    """A record that cannot be trusted."""

    row: int
    """Its number in the table."""
    label: str
    reason: str

    def __str__(self) -> str:
        return f"record {self.row} ({self.label}): {self.reason}"


def checksum(row: Row) -> str:
    """The checksum of a record."""
    return digest(repr(tuple(row)))


def digest(text: Any) -> str:
    """A short name for a text: half of its SHA-256."""
    return sha256(str(text).encode(errors="backslashreplace")).hexdigest()[:32]


def scan(connection: sqlite3.Connection, experiment: str | None = None) -> Iterator[tuple[Row, Damaged | None]]:
    """The records of an experiment, or all, each with what is wrong with it.

    Records whose experiment is damaged may belong to any, so those with an unknown checksum come as well.
    """
    connection.create_function("digest", 1, digest, deterministic=True)
    query = (
        f"SELECT results.rowid, checksum, {', '.join(COLUMNS)} FROM results NOT INDEXED "
        "LEFT JOIN checksums ON checksums.result = digest(identity) ORDER BY results.rowid"
    )
    for number, expected, *row in connection.execute(query):
        damaged = expected is not None and checksum(row) != expected
        if experiment is None or row[1] == experiment or damaged:
            reason = "its checksum is wrong" if damaged else _problem(row)
            yield row, None if reason is None else Damaged(number, _label(row), reason)


def _label(row: Row) -> str:
    return f"{row[1]} {row[3]}, profile {row[5]}, seed {row[6]}"[:200]


def _problem(row: Row) -> str | None:
    """What is wrong with a record whose checksum is right, or that has none because an older version wrote it."""
    content = dict(zip(COLUMNS, row, strict=True))
    try:
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
    if not _are_metrics(metrics) or not math.isfinite(content["seconds"]):
        return "its metrics are not numbers"
    return None if isinstance(environment, Mapping) else "its environment is not an object"


def _are_metrics(metrics: Any) -> bool:
    return isinstance(metrics, dict) and all(
        isinstance(value, int | float) and math.isfinite(value) for value in metrics.values()
    )
