"""What was learned, as JSON: an exact rule, or for want of one the trained model. Nothing of a file is executed."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from nsr.errors import InputError
from nsr.files import write
from nsr.learn import NSRClassifier, NSRRegressor
from nsr.learn.gated import Gated, Member, Scaling
from nsr.learn.registers import CHOICES, UNITS, Register, Restart
from nsr.nn import NSR
from nsr.program.emit.json import load
from nsr.program.program import Program
from nsr.reading.columns import Probe

RULE, MODEL = "nsr-rule/1", "nsr-model/1"
LARGEST = 50_000_000
"""Bytes of a file that are read."""


@dataclass(frozen=True, eq=False)
class Saved(ABC):
    """Something that answers for a column."""

    target: str
    classes: tuple[Any, ...] | None
    """What its answers stand for, position by position; None where they are the target itself."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """The columns that it needs."""

    @abstractmethod
    def answers(self, table: Any) -> np.ndarray:
        """Numbers, or positions of classes."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """What a file holds beside the target and the classes."""

    def __call__(self, table: Any) -> np.ndarray:
        """What it says of the rows of a table."""
        said = self.answers(table)
        if self.classes is None:
            return said
        places = said.astype(np.int64)
        if len(places) and not 0 <= places.min() <= places.max() < len(self.classes):
            raise InputError(
                f"the rule says class {places.max()}, counted from 0, and its file names {len(self.classes)}"
            )
        return np.array(self.classes, dtype=object)[places]

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        whole = {"target": self.target, "classes": self.classes} | self.content()
        write(path, json.dumps(whole, indent=1, allow_nan=False) + "\n")


@dataclass(frozen=True, eq=False)
class SavedRule(Saved):
    """An exact rule."""

    program: Program

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return self.program.inputs

    def answers(self, table: Any) -> np.ndarray:
        """What the program says."""
        return np.asarray(self.program(table))

    def content(self) -> dict[str, Any]:
        """The program."""
        return {"format": RULE, "program": json.loads(self.program.emit("json"))}


@dataclass(frozen=True, eq=False)
class SavedModel(Saved):
    """A trained model: the best of the restarts."""

    names: tuple[str, ...]
    model: Register | Member

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return self.names

    def answers(self, table: Any) -> np.ndarray:
        """The likeliest class, or the number."""
        x = torch.tensor(table[list(self.names)].to_numpy())
        return self.model.logits(x).argmax(1) if isinstance(self.model, Register) else self.model.predict(x)

    def content(self) -> dict[str, Any]:
        """Its weights."""
        restart = self.model.restart
        told: dict[str, Any] = {
            "format": MODEL,
            "names": self.names,
            "probes": [[probe.first, probe.second, str(probe.at)] for probe in restart.probes],
            "units": restart.units,
        }
        nets: Sequence[nn.Module] = self.model.nets if isinstance(self.model, Register) else [self.model.net]
        told["nets"] = [{name: own.tolist() for name, own in net.state_dict().items()} for net in nets]
        if isinstance(self.model, Member):
            scaling = self.model.scaling
            told["scaling"] = [scaling.middle.tolist(), scaling.spread.tolist(), list(scaling.target)]
        return told


def saved(estimator: NSRClassifier | NSRRegressor, target: str) -> Saved:
    """What an estimator has learned of a column: its rule, or where there is none its model."""
    labels = tuple(estimator.classes_.tolist()) if isinstance(estimator, NSRClassifier) else None
    if estimator.program_ is None:
        return SavedModel(target, labels, tuple(map(str, estimator.feature_names_in_)), estimator.best_)
    said = isinstance(estimator, NSRClassifier) and estimator.says_labels
    return SavedRule(target, None if said else labels, estimator.program_)


def load_saved(path: Path) -> Saved:
    """Read what ``save`` wrote; anything else is an InputError."""
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} is not what nsr learn --save writes: it has more than {LARGEST:,} bytes")
        whole = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}: nsr learn TABLE --target COLUMN --save {path} writes one") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not what nsr learn --save writes: {problem}") from None
    if not isinstance(whole, dict) or whole.get("format") not in (RULE, MODEL):
        raise InputError(f"{path} is not what nsr learn --save writes: its format is neither {RULE} nor {MODEL}")
    target, classes = whole.get("target"), whole.get("classes")
    simple = isinstance(classes, list) and all(isinstance(each, str | int | float | bool) for each in classes)
    if not isinstance(target, str) or not (classes is None or simple):
        raise InputError(f"{path} is not what nsr learn --save writes: its target or its classes are something else")
    labels = None if classes is None else tuple(classes)
    if whole["format"] == RULE:
        return SavedRule(target, labels, load(json.dumps(whole.get("program"))))
    try:
        names = tuple(str(name) for name in whole["names"])
        return SavedModel(target, labels, names, _model(whole, len(names)))
    except (KeyError, TypeError, ValueError, ZeroDivisionError, RuntimeError, OverflowError) as problem:
        raise InputError(f"{path} is not what nsr learn --save writes: {problem}") from None


def _model(whole: Mapping[str, Any], columns: int) -> Register | Member:
    probes = tuple(Probe(int(first), int(second), Fraction(at)) for first, second, at in whole["probes"])
    units = tuple(float(unit) for unit in whole["units"])
    if len(probes) != CHOICES or len(units) != CHOICES or not all(unit > 0 for unit in units):
        raise ValueError(f"it needs {CHOICES} differences with units above 0")
    if not all(0 <= probe.first < columns and 0 <= probe.second <= columns for probe in probes):
        raise ValueError(f"its differences are not of {columns} columns")
    restart = Restart(probes, units, "screen")
    if "scaling" not in whole:
        nets = [NSR(CHOICES, redundancy=UNITS, constants=True) for _ in whole["nets"]]
        return Register(restart, tuple(_filled(net, state) for net, state in zip(nets, whole["nets"], strict=True)))
    middle, spread, (mean, deviation) = whole["scaling"]
    scaling = Scaling(np.array(middle, dtype=np.float64), np.array(spread, dtype=np.float64), (mean, deviation))
    if scaling.middle.shape != (columns,) or scaling.spread.shape != (columns,):
        raise ValueError(f"its scaling is not of {columns} columns")
    (state,) = whole["nets"]
    return Member(restart, scaling, _filled(Gated(columns, generator=torch.Generator()), state))


def _filled(net: Any, state: Mapping[str, Any]) -> Any:
    tensors = {name: torch.tensor(own, dtype=torch.float64) for name, own in state.items()}
    if not all(own.isfinite().all() for own in tensors.values()):
        raise ValueError("its weights must be finite")
    net.double().load_state_dict(tensors)
    return net
