"""Records as plain files, to be committed and read without a database: one CSV for each experiment."""

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
BEFORE, AFTER = ("revision", "profile", "recipe"), ("seconds", "memory", "environment")


def write(folder: Path, records: Mapping[str, list[Record]]) -> list[Path]:
    """Write the records of each experiment, in an order of their own, so that equal records are equal files."""
    written, recipes, environments = [], {}, {}
    for name, some in records.items():
        if not some:
            continue
        rows = sorted((_row(record) for record in some), key=lambda row: [str(value) for value in row.values()])
        for record in some:
            recipes[f"{name} {record.profile} {record.recipe.name}"] = asdict(record.recipe)
            environments[_short(record.environment)] = json.loads(record.environment)
        columns = dict.fromkeys(column for row in rows for column in row if column not in AFTER)
        path = folder / f"{name}.csv"
        text = io.StringIO()
        table = csv.DictWriter(text, [*columns, *AFTER], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        write_file(path, text.getvalue())
        written.append(path)
    index = folder / INDEX
    told = json.dumps({"environments": environments, "recipes": recipes}, indent=1, sort_keys=True)
    write_file(index, told + "\n")
    return [*written, index]


def read(folder: Path) -> dict[str, list[Record]]:
    """The records in a folder, of all experiments; those of an old revision or recipe are left out."""
    try:
        index = json.loads((folder / INDEX).read_text())
        return {
            name: list(_read(experiment, folder / f"{name}.csv", index))
            for name, experiment in EXPERIMENTS.items()
            if (folder / f"{name}.csv").exists()
        }
    except FileNotFoundError:
        raise InputError(f"there are no exported results in {folder}: nsr results --export DIR writes them") from None
    except (ValueError, KeyError, TypeError) as problem:
        raise InputError(f"the exported results in {folder} cannot be read: {problem!r}") from problem


def _row(record: Record) -> dict[str, Any]:
    before = {
        "revision": record.revision,
        "profile": record.profile,
        "recipe": record.recipe.name,
        **asdict(record.cell),
        "seed": record.seed,
    }
    after = {
        "seconds": round(record.seconds, 4),
        "memory": record.memory,
        "environment": _short(record.environment),
    }
    twice = set(record.metrics) & {*before, *after}
    if twice:
        raise ValueError(f"a metric of {record.experiment} has the name of a column: {', '.join(sorted(twice))}")
    return {**before, **record.metrics, **after}


def _read(experiment: Experiment, path: Path, index: Mapping[str, Any]) -> Iterable[Record]:
    cell_fields = {field.name: field.type for field in fields(experiment.cells[0])}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            given = [*BEFORE, *cell_fields, "seed", *AFTER]
            recipe = index["recipes"][f"{experiment.name} {row['profile']} {row['recipe']}"]
            record = Record(
                experiment.name,
                int(row["revision"]),
                experiment.cell({name: _value(row[name], kind) for name, kind in cell_fields.items()}),
                experiment.recipe(complete_recipe(experiment.name, recipe)),
                row["profile"],
                int(row["seed"]),
                {name: float(value) for name, value in row.items() if name not in given and value},
                float(row["seconds"]),
                int(row["memory"]),
                canonical_json(index["environments"][row["environment"]]),
            )
            if record.is_current(experiment):
                yield record


def _value(text: str, kind: Any) -> Any:
    """A cell's field from its text: a number where the field may be one and the text is."""
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
