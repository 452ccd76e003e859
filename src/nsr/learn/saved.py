"""What was learned, as JSON: an exact rule, or the trained model if there is none. Loading a file runs no code."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from nsr.errors import InputError
from nsr.files import write
from nsr.learn import NSRClassifier
from nsr.learn.gated import Gated, Member, Scaling
from nsr.learn.networks import Inputs, Network
from nsr.learn.registers import CHOICES, UNITS, Register, Restart
from nsr.learn.result import Estimator
from nsr.learn.saved_content import NETWORK, OLD_REGISTERS, REGISTERS, RULE, not_saved, read_content
from nsr.learn.tables.text import shorten
from nsr.nn import NSR, RuleNet
from nsr.program.cells import evaluate_cells
from nsr.program.emit.json import load
from nsr.program.kinds import Kind
from nsr.program.program import Program
from nsr.program.values import INT64
from nsr.reading.atoms import Atom


@dataclass(frozen=True, eq=False)
class Saved(ABC):
    """A rule or a model that predicts a column."""

    target: str
    classes: tuple[Any, ...] | None
    """The classes that its outputs are positions of; None if it outputs the target itself."""

    @property
    @abstractmethod
    def kinds(self) -> dict[str, Kind]:
        """The columns it needs, and what they hold."""

    @abstractmethod
    def outputs(self, table: pd.DataFrame) -> np.ndarray:
        """Numbers, or positions of classes."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """What a file holds besides the target and the classes."""

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        """The class or the number of each row."""
        outputs = self.outputs(table)
        if self.classes is None:
            return outputs
        if pd.isna(outputs).any():
            raise InputError("the rule predicts a missing number as the number of a class")
        if len(outputs) and not 0 <= outputs.min() <= outputs.max() < len(self.classes):
            largest = outputs.max() + 0  # True is 1
            raise InputError(
                f"the rule predicts class number {largest if largest < INT64 else 'above 2**63'} (counting from 0), "
                f"but the number of classes in its file is {len(self.classes)}"
            )
        positions = outputs.astype(np.int64)
        if (positions != outputs).any():
            raise InputError("the rule predicts a fraction as the number of a class")
        return np.array(self.classes, dtype=object)[positions]

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        content = {"target": self.target, "classes": self.classes} | self.content()
        write(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


@dataclass(frozen=True, eq=False)
class SavedRule(Saved):
    """An exact rule."""

    program: Program
    dates: Mapping[str, str] = field(default_factory=dict)
    """How dates that are not written as 2024-12-31 are written in the table, such as ``day/month/year``, by column."""
    gaps: Sequence[str] = ()
    """The columns that had missing cells in the table."""
    steps: Mapping[str, Fraction] = field(default_factory=dict)
    """For columns of integers or decimals, the target too, what they are multiples of: 1 or, for cents, 1/100."""
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For columns with few different texts, all that they had in the table."""

    @property
    def kinds(self) -> dict[str, Kind]:
        """The columns it needs, and what they hold."""
        return {name: self.program.expression.kinds[name] for name in self.program.inputs}

    def outputs(self, table: pd.DataFrame) -> np.ndarray:
        """The values of the program."""
        return evaluate_cells(self.program.expression, table, len(table))

    def content(self) -> dict[str, Any]:
        """The program, how its dates are written, and comparisons that the rows do not distinguish from its own."""
        content = {"format": RULE, "program": json.loads(self.program.emit("json"))}
        evidence = self.program.evidence
        open_pairs = () if evidence is None else evidence.not_distinguished
        content |= {"dates": dict(self.dates)} if self.dates else {}
        content |= {"gaps": list(self.gaps)} if self.gaps else {}
        content |= {"steps": {name: str(step) for name, step in self.steps.items()}} if self.steps else {}
        content |= {"texts": {name: list(texts) for name, texts in self.texts.items()}} if self.texts else {}
        return content | ({"not_distinguished": list(open_pairs)} if open_pairs else {})


@dataclass(frozen=True, eq=False)
class SavedModel(Saved):
    """A trained model: the best of the restarts."""

    names: tuple[str, ...]
    model: Network | Register | Member

    @property
    def kinds(self) -> dict[str, Kind]:
        """The columns it needs, and what they hold."""
        return dict.fromkeys(self.names, Kind.NUMBER)

    def outputs(self, table: pd.DataFrame) -> np.ndarray:
        """The most likely class, or the number."""
        rows = table[list(self.names)]
        if rows.isna().to_numpy().any():
            raise InputError("a trained model needs all values: use --drop-missing to skip rows with missing ones")
        x = torch.tensor(rows.astype({name: "float64" for name in rows if rows[name].dtype.kind != "i"}).to_numpy())
        return self.model.predict(x) if isinstance(self.model, Member) else self.model.logits(x).argmax(1)

    def content(self) -> dict[str, Any]:
        """Its weights."""
        if isinstance(self.model, Network):
            return {"format": NETWORK, "names": self.names} | _network_content(self.model)
        restart = self.model.restart
        content: dict[str, Any] = {
            "format": REGISTERS,
            "names": self.names,
            "atoms": [[dict(atom.weights), str(atom.constant)] for atom in restart.atoms],
            "units": restart.units,
        }
        nets: Sequence[nn.Module] = self.model.nets if isinstance(self.model, Register) else [self.model.net]
        content["nets"] = [{name: weights.tolist() for name, weights in net.state_dict().items()} for net in nets]
        if isinstance(self.model, Member):
            scaling = self.model.scaling
            content["scaling"] = [scaling.middle.tolist(), scaling.spread.tolist(), list(scaling.target)]
        return content


def to_saved(
    estimator: Estimator,
    target: str,
    program: Program | None = None,
    dates: Mapping[str, str] | None = None,
    *,
    gaps: Sequence[str] = (),
    steps: Mapping[str, Fraction] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> Saved:
    """The rule that an estimator has learned for a column, or its model if there is no rule.

    Args:
        estimator: A fitted estimator.
        target: The column.
        program: The rule in terms of the table, if that has more than numbers.
        dates: How the dates of its columns are written, if not as 2024-12-31.
        gaps: Its columns that have missing cells.
        steps: For its columns of integers or decimals, and the target, what all of their numbers are multiples of.
        texts: For its columns with few different texts, all that they have.
    """
    program = program or estimator.program_
    classes = tuple(estimator.classes_.tolist()) if isinstance(estimator, NSRClassifier) else None
    if program is None and estimator.meaning.derived:
        raise InputError("no rule was found, and a model of texts, dates or missing values cannot be saved")
    if program is None:
        return SavedModel(target, classes, tuple(map(str, estimator.feature_names_in_)), estimator.best_)
    gives_labels = isinstance(estimator, NSRClassifier) and estimator.gives_labels
    return SavedRule(target, None if gives_labels else classes, program, dates or {}, gaps, steps or {}, texts or {})


def load_saved(path: Path) -> Saved:
    """Read what ``save`` wrote; any other file is an InputError."""
    content = read_content(path)
    target, classes = content["target"], content.get("classes")
    labels = None if classes is None else tuple(classes)
    try:
        if content["format"] == RULE:
            return _rule(target, labels, content)
        names = tuple(content["names"])
        return SavedModel(target, labels, names, _model(content, names))
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, RuntimeError) as problem:  # also RecursionError
        raise not_saved(path, problem) from None


def _rule(target: str, classes: tuple[Any, ...] | None, content: Mapping[str, Any]) -> SavedRule:
    steps = {name: Fraction(step) for name, step in content.get("steps", {}).items()}
    program = load(json.dumps(content["program"]))
    dates, gaps, texts = content.get("dates", {}), content.get("gaps", ()), content.get("texts", {})
    rule = SavedRule(target, classes, program, dates, gaps, steps, texts)
    for name in rule.dates:
        if rule.kinds.get(name) not in (Kind.DATE, Kind.TIMESTAMP):
            raise ValueError(f"its dates name {shorten(name)}, which is not a column of dates of the rule")
    for name in (*rule.gaps, *rule.texts, *(name for name in rule.steps if name != target)):
        wanted = {Kind.NUMBER} if name in rule.steps else set(Kind)
        if rule.kinds.get(name) not in (wanted & {Kind.TEXT} if name in rule.texts else wanted):
            raise ValueError(f"its gaps, steps or texts name {shorten(name)}, which is not such a column of the rule")
    return rule


def _network_content(network: Network) -> dict[str, Any]:
    inputs, net = network.inputs, network.net
    return {
        "logarithms": inputs.logarithms,
        "inputs": [
            {"name": name, "floor": floor if math.isfinite(floor) else None, "middle": middle, "spread": spread}
            for name, floor, middle, spread in zip(
                inputs.names, inputs.floor.tolist(), inputs.middle.tolist(), inputs.spread.tolist(), strict=True
            )
        ],
        "sizes": [net.register.units, net.logic.hidden, net.logic.classes],
        "net": {name: weights.tolist() for name, weights in net.state_dict().items()},
    }


def _network(content: Mapping[str, Any], names: tuple[str, ...]) -> Network:
    numbers = {
        key: np.array([each[key] for each in content["inputs"]], dtype=np.float64)
        for key in ("floor", "middle", "spread")  # a floor of None becomes nan: there is no positive number
    }
    floor = np.where(np.isnan(numbers["floor"]), np.inf, numbers["floor"])
    used, places = tuple(each["name"] for each in content["inputs"]), {name: at for at, name in enumerate(names)}
    if content["sizes"][-1] != len(content["classes"]):
        raise ValueError(f"it must have {len(content['classes'])} outputs, one for each class")
    positions = tuple(places[name] for name in used)
    inputs = Inputs(used, positions, content["logarithms"], floor, numbers["middle"], numbers["spread"])
    net = RuleNet(len(used), *(int(size) for size in content["sizes"]))
    return Network(inputs, _with_weights(net, content["net"]))


def _model(content: Mapping[str, Any], names: tuple[str, ...]) -> Network | Register | Member:
    if content["format"] == NETWORK:
        return _network(content, names)
    atoms = tuple(_old_atoms(content, names) if content["format"] == OLD_REGISTERS else _atoms(content))
    units = tuple(float(unit) for unit in content["units"])
    columns = len(names)
    if not all(set(atom.columns) <= set(names) and math.isfinite(float(atom.constant)) for atom in atoms):
        raise ValueError(f"its sums do not match its {columns} columns")
    restart = Restart(atoms, units, "screen")
    if "scaling" not in content:
        if len(content["nets"]) != (1 if len(content["classes"]) == 2 else len(content["classes"])):
            raise ValueError("the number of its nets does not match its classes")
        nets = [NSR(CHOICES, redundancy=UNITS, constants=True) for _ in content["nets"]]
        loaded = tuple(_with_weights(net, state) for net, state in zip(nets, content["nets"], strict=True))
        return Register(restart, names, loaded)
    middle, spread, (mean, deviation) = content["scaling"]
    scaling = Scaling(np.array(middle, dtype=np.float64), np.array(spread, dtype=np.float64), (mean, deviation))
    if scaling.middle.shape != (columns,) or scaling.spread.shape != (columns,):
        raise ValueError(f"its scaling does not match its {columns} columns")
    (state,) = content["nets"]
    return Member(restart, names, scaling, _with_weights(Gated(columns, generator=torch.Generator()), state))


def _atoms(content: Mapping[str, Any]) -> Iterator[Atom]:
    for weights, constant in content["atoms"]:
        yield Atom(tuple((str(name), int(weight)) for name, weight in weights.items()), Fraction(constant))


def _old_atoms(content: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[Atom]:
    """Format 1 has the positions of two columns; the one after the last stands for the number 0."""
    for first, second, constant in content["probes"]:
        if not (0 <= int(first) < len(names) and 0 <= int(second) <= len(names)):
            raise ValueError(f"its differences do not match its {len(names)} columns")
        other = None if int(second) == len(names) else names[int(second)]
        yield Atom.difference(names[int(first)], other, Fraction(constant))


def _with_weights(net: Any, state: Mapping[str, Any]) -> Any:
    tensors = {name: torch.tensor(weights, dtype=torch.float64) for name, weights in state.items()}
    if not all(weights.isfinite().all() for weights in tensors.values()):
        raise ValueError("its weights must be finite")
    net.double().load_state_dict(tensors)
    return net
