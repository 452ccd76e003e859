"""What the options of ``nsr reproduce`` select: experiments, recipes, cells, and the data folder."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from nsr.errors import InputError, one_of
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.spec import Cell, Experiment

RECIPES: Mapping[str, tuple[str, ...]] = {"paper": ("paper",), "exact": ("exact",), "both": ("paper", "exact")}


def choose(names: Sequence[str], only: Mapping[str, Sequence[str]]) -> list[Experiment[Any]]:
    """The experiments named, or all whose cells have the fields of ``only``; unknown names and values are errors."""
    named = [EXPERIMENTS[one_of("experiment", name, EXPERIMENTS)] for name in names]
    chosen = [e for e in named or EXPERIMENTS.values() if all(field in _fields(e) for field in only)]
    if not chosen:
        raise InputError(f"none of these experiments has a {' and a '.join(only)} to choose")
    for field, values in only.items():
        known = dict.fromkeys(str(getattr(cell, field)) for e in chosen for cell in e.cells + e.beyond)
        for value in values:
            one_of(field, value, known)
    return chosen


def selector(only: Mapping[str, Sequence[str]]) -> Callable[[Cell], bool]:
    """Whether a cell has one of the given values in every field of ``only``."""
    return lambda cell: all(str(getattr(cell, field)) in values for field, values in only.items())


def data_folder(
    data: Path | None, experiments: Sequence[Experiment[Any]], recipes: Sequence[str], profile: str
) -> Path | None:
    """The folder with data files: ``data``, which must exist and be needed, or else the one named by NSR_DATA."""
    if data is None:
        named = os.environ.get("NSR_DATA")
        return Path(named).resolve() if named else None
    if not os.path.isdir(data):  # noqa: PTH112  also false for names that are too long
        raise InputError(f"there is no folder {data}: --data names the folder with the files of MNIST")
    cells = ((e, cell) for e in experiments for recipe in recipes for cell in e.cells_of(recipe, e.profiles[profile]))
    if not any(experiment.reads_data(cell) for experiment, cell in cells):
        raise InputError("--data is only for runs that read MNIST, such as digits --profile paper")
    return data.resolve()


def _fields(experiment: Experiment[Any]) -> set[str]:
    return {field.name for field in fields(experiment.cells[0])}
