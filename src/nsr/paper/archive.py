"""Records as plain files, which can be committed and read without a database: one CSV file per experiment."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from nsr.errors import InputError
from nsr.files import write as write_file
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record, complete_recipe
from nsr.paper.spec import Experiment, canonical_json

INDEX = "index.json"
FIRST, LAST = ("revision", "profile", "recipe"), ("seconds", "memory", "environment")
"""Columns before the fields of the cell, and after the metrics."""


def write(folder: Path, records: Mapping[str, list[Record]]) -> list[Path]:
    """Write the records of each experiment, sorted, so that equal records give equal files; returns the files."""
    written, recipes, environments = [], {}, {}
    for name, group in records.items():
        if not group:
            continue
        rows = sorted((_row(record) for record in group), key=lambda row: [str(value) for value in row.values()])
        for record in group:
            recipes[f"{name} {record.profile} {record.recipe.name}"] = asdict(record.recipe)
            environments[_short(record.environment)] = json.loads(record.environment)
        columns = dict.fromkeys(column for row in rows for column in row if column not in LAST)
        path = folder / f"{name}.csv"
        text = io.StringIO()
        table = csv.DictWriter(text, [*columns, *LAST], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        write_file(path, text.getvalue())
        written.append(path)
    index = folder / INDEX
    content = {"environments": environments, "recipes": recipes}
    write_file(index, json.dumps(content, indent=1, sort_keys=True) + "\n")
    return [*written, index]


def read(folder: Path) -> dict[str, list[Record]]:
    """The current records in a folder, by experiment; see ``Record.is_current``."""
    try:
        index = json.loads((folder / INDEX).read_text())
        return {
            name: list(_read(experiment, folder / f"{name}.csv", index))
            for name, experiment in EXPERIMENTS.items()
            if (folder / f"{name}.csv").exists()
        }
    except FileNotFoundError:
        raise InputError(f"there are no exported results in {folder}: nsr results --export DIR writes them") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"the exported results in {folder} cannot be read: {error!r}") from error


def _row(record: Record) -> dict[str, Any]:
    first = {
        "revision": record.revision,
        "profile": record.profile,
        "recipe": record.recipe.name,
        **asdict(record.cell),
        "seed": record.seed,
    }
    last = {
        "seconds": round(record.seconds, 4),
        "memory": record.memory,
        "environment": _short(record.environment),
    }
    clashes = set(record.metrics) & {*first, *last}
    if clashes:
        raise ValueError(f"a metric of {record.experiment} has the name of a column: {', '.join(sorted(clashes))}")
    return {**first, **record.metrics, **last}


def _read(experiment: Experiment[Any], path: Path, index: Mapping[str, Any]) -> Iterable[Record]:
    cell_fields = {field.name: field.type for field in fields(experiment.cells[0])}
    not_metrics = {*FIRST, *cell_fields, "seed", *LAST}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            recipe = index["recipes"][f"{experiment.name} {row['profile']} {row['recipe']}"]
            record = Record(
                experiment.name,
                int(row["revision"]),
                experiment.cell({name: _value(row[name], kind) for name, kind in cell_fields.items()}),
                experiment.recipe(complete_recipe(experiment.name, recipe)),
                row["profile"],
                int(row["seed"]),
                {name: float(value) for name, value in row.items() if name not in not_metrics and value},
                float(row["seconds"]),
                int(row["memory"]),
                canonical_json(index["environments"][row["environment"]]),
            )
            if record.is_current(experiment):
                yield record


def _value(text: str, kind: Any) -> Any:
    """A field of a cell from its text: a number where the type allows one and the text is one."""
    if kind is int:
        return int(text)
    if kind is not str:
        try:
            return float(text)
        except ValueError:
            pass
    return text


def _short(environment: str) -> str:
    return sha256(environment.encode()).hexdigest()[:8]
