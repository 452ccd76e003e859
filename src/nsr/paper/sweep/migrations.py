"""Bring an older store up to date, inside the transaction of whoever opens it."""

import json
import sqlite3

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, complete_recipe
from nsr.paper.spec import canonical_json


def add_recipe_fields(connection: sqlite3.Connection) -> None:
    """From schema 1 to 2: recipes get the fields that experiments used to derive from the recipe's name."""
    rows = connection.execute("SELECT identity, experiment, recipe FROM results").fetchall()
    for identity, experiment, recipe in rows:
        parts = json.loads(identity)
        parts["recipe"] = complete_recipe(experiment, parts["recipe"])
        completed = complete_recipe(experiment, json.loads(recipe))
        connection.execute(
            "UPDATE results SET identity = ?, recipe = ? WHERE identity = ?",
            (canonical_json(parts), canonical_json(completed), identity),
        )
    for table in ("failures", "claims"):
        for (key,) in connection.execute(f"SELECT item FROM {table}").fetchall():
            connection.execute(f"UPDATE {table} SET item = ? WHERE item = ?", (_current_key(key), key))


def _current_key(key: str) -> str:
    """The key that an item has today; unchanged if its experiment or its cell no longer exists."""
    parts = json.loads(key)
    try:
        experiment = EXPERIMENTS[parts["experiment"]]
        return Item(
            experiment.name,
            experiment.revision,
            experiment.cell(parts["cell"]),
            experiment.recipe(complete_recipe(experiment.name, parts["recipe"])),
            parts["profile"],
            tuple(parts["seeds"]),
        ).key
    except (KeyError, TypeError):
        return key
