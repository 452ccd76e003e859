"""Records as plain files, which can be committed and read without a database: one CSV file per experiment."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from nsr.errors import InputError
from nsr.files import reject_nul
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
    reject_nul(folder)
    try:
        index = _index(folder / INDEX)
        return {
            name: list(_read(experiment, folder / f"{name}.csv", index))
            for name, experiment in EXPERIMENTS.items()
            if (folder / f"{name}.csv").exists()
        }
    except FileNotFoundError:
        raise InputError(f"there are no exported results in {folder}: nsr results --export DIR writes them") from None
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise _unreadable(folder, f"they are not UTF-8 ({error.reason})") from None
    except InputError:
        raise


def _index(path: Path) -> dict[str, Any]:
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise _unreadable(path.parent, f"{path.name} is not JSON: {error}") from error
    except RecursionError as error:
        raise _unreadable(path.parent, f"{path.name} is nested too deep") from error
    parts = ("environments", "recipes")
    if not (isinstance(index, dict) and all(isinstance(index.get(part), dict) for part in parts)):
        raise _unreadable(path.parent, f"{path.name} must be an object with the objects {' and '.join(parts)}")
    return index


def _unreadable(folder: Path, reason: str) -> InputError:
    return InputError(f"the exported results in {folder} cannot be read: {reason[:200]}")


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


def _read(experiment: Experiment[Any], path: Path, index: Mapping[str, Any]) -> Iterator[Record]:
    metrics_of: dict[tuple[Any, ...], set[str]] = {}
    seen = set()
    with path.open(newline="", encoding="utf-8") as file:
        for number, row in enumerate(_lines(path, file), start=2):
            try:
                record = _parse(experiment, row, index)
                if not record.is_current(experiment):
                    continue
                group = (record.profile, record.recipe.name, record.cell)
                _check_metrics(experiment, record, metrics_of.setdefault(group, set(record.metrics)))
                if (*group, record.seed) in seen:
                    raise ValueError("another row has the same cell, recipe, profile and seed")
            except (ValueError, KeyError, TypeError) as error:
                reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
                raise _unreadable(path.parent, f"{path.name}, row {number}: {reason}") from error
            seen.add((*group, record.seed))
            yield record


def _lines(path: Path, file: TextIO) -> Iterator[dict[str, str]]:
    lines = csv.DictReader(file)
    try:
        if not lines.fieldnames:
            raise _unreadable(path.parent, f"{path.name} has no header")
        yield from lines
    except csv.Error as error:
        raise _unreadable(path.parent, f"{path.name}, line {lines.line_num}: {error}") from error


def _parse(experiment: Experiment[Any], row: Mapping[str, str], index: Mapping[str, Any]) -> Record:
    cell_fields = {field.name: field.type for field in fields(experiment.cells[0])}
    not_metrics = {*FIRST, *cell_fields, "seed", *LAST}
    if None in row or None in row.values():
        raise ValueError("the number of cells is not that of the header")
    recipe = index["recipes"][f"{experiment.name} {row['profile']} {row['recipe']}"]
    environment = index["environments"][row["environment"]]
    for name, content in (("a recipe", recipe), ("an environment", environment)):
        if not isinstance(content, dict):
            raise TypeError(f"{name} must be an object, got {content!r}")
    return Record(
        experiment.name,
        int(row["revision"]),
        experiment.cell({name: _value(row[name], kind) for name, kind in cell_fields.items()}),
        experiment.recipe(complete_recipe(experiment.name, recipe)),
        row["profile"],
        _count(row["seed"]),
        {name: _finite(value) for name, value in row.items() if name not in not_metrics and value},
        _finite(row["seconds"]),
        _count(row["memory"]),
        canonical_json(environment),
    )


def _check_metrics(experiment: Experiment[Any], record: Record, expected: set[str]) -> None:
    """Require metrics that the experiment has, and the same ones for all seeds of a cell."""
    unknown = set(record.metrics) - {metric.name for metric in experiment.metrics}
    if unknown:
        raise ValueError(f"{experiment.name} has no metric {min(unknown)!r}")
    if differing := expected ^ set(record.metrics):
        raise ValueError(f"{min(differing)!r} is empty here or in another row of the same cell")
    if not expected:
        raise ValueError("all metrics are empty")


def _count(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**63:
        raise ValueError(f"{text[:30]!r} is not a number from 0 to 2^63 - 1")
    return number


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is not a finite number")
    return number


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
