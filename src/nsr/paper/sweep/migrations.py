"""Bring an older store up to date, inside the transaction of whoever opens it."""

import json
import sqlite3
from hashlib import sha256
from typing import Any

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, complete_recipe
from nsr.paper.spec import canonical_json
from nsr.paper.sweep.damage import NUMBERS, TEXTS, checksum, problem


def has_checksums(connection: sqlite3.Connection) -> bool:
    """Whether the tables are of schema 3, whatever the file's number says, which may be damaged."""
    return any(name == "checksum" for _, name, *_ in connection.execute("PRAGMA table_info(results)"))


def add_recipe_fields(connection: sqlite3.Connection) -> None:
    """From schema 1 to 2: recipes get the fields that experiments used to derive from the recipe's name."""
    rows = connection.execute("SELECT identity, experiment, recipe FROM results").fetchall()
    for identity, experiment, recipe in rows:
        try:
            parts = json.loads(identity)
            parts["recipe"] = complete_recipe(experiment, parts["recipe"])
            completed = canonical_json(complete_recipe(experiment, json.loads(recipe)))
            renamed = canonical_json(parts)
        except _DAMAGE:  # it stays as it is, and is reported when it is read
            continue
        connection.execute(
            "UPDATE OR IGNORE results SET identity = ?, recipe = ? WHERE identity = ?", (renamed, completed, identity)
        )
    for table in ("failures", "claims"):
        for (key,) in connection.execute(f"SELECT item FROM {table}").fetchall():
            connection.execute(f"UPDATE OR IGNORE {table} SET item = ? WHERE item = ?", (_current_key(key), key))


def add_checksums(connection: sqlite3.Connection) -> None:
    """From schema 2 to 3: the checksum of a record stands beside it, and records that had none get one.

    Some stores of schema 2 have checksums in a table of their own. A record that did not agree with its checksum is not
    given a new one, and neither is one whose content is not that of a record.
    """
    connection.execute("ALTER TABLE results ADD COLUMN checksum BLOB")
    old = "(SELECT checksum FROM checksums WHERE result = old_digest(identity))"
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checksums'").fetchone():
        old = "NULL"
    connection.create_function("old_digest", 1, _old_digest, deterministic=True)
    connection.create_function("new_checksum", 1 + len(_OLD_COLUMNS), _new_checksum, deterministic=True)
    columns = (f"CAST({name} AS BLOB)" if name in TEXTS else name for name in _OLD_COLUMNS)
    connection.execute(f"UPDATE results SET checksum = new_checksum({old}, {', '.join(columns)})")
    connection.execute("DROP TABLE IF EXISTS checksums")


_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_OLD_COLUMNS = (
    *("identity", "experiment", "revision", "cell", "recipe", "profile", "seed"),
    *("metrics", "seconds", "memory", "environment", "finished"),
)


def _old_digest(text: Any) -> str:
    return sha256(str(text).encode(errors="backslashreplace")).hexdigest()[:32]


def _new_checksum(old: str | None, *columns: Any) -> bytes | None:
    """The checksum of a record; None for a damaged record without one, a wrong one if the old one was wrong."""
    if old is not None:
        decoded = tuple(each.decode(errors="replace") if isinstance(each, bytes) else each for each in columns)
        if _old_digest(repr(decoded)) != old:
            return b"wrong"
    content = dict(zip(_OLD_COLUMNS, columns, strict=True))
    row = [content[name] for name in (*TEXTS, *NUMBERS)]
    return checksum(row) if problem(row) is None else None


def _current_key(key: str) -> str:
    """The key that an item has today; unchanged if its experiment or its cell no longer exists."""
    try:
        parts = json.loads(key)
        experiment = EXPERIMENTS[parts["experiment"]]
        return Item(
            experiment.name,
            experiment.revision,
            experiment.cell(parts["cell"]),
            experiment.recipe(complete_recipe(experiment.name, parts["recipe"])),
            parts["profile"],
            tuple(parts["seeds"]),
        ).key
    except _DAMAGE:
        return key
