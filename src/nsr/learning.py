"""What was learned from a table: the rule, the evidence, and the rows that contradict it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nsr.estimators import NSRClassifier, NSRRegressor
from nsr.program.emit.json import load
from nsr.program.program import Program
from nsr.refusals import InputError

FORMAT = "nsr-rule/1"


@dataclass(frozen=True, eq=False)
class Learned:
    """A learning run on a table."""

    source: str
    """The name of the table's file."""
    target: str
    rows: int
    """How many rows the table has."""
    dropped: int
    """How many of them were dropped because a value is missing."""
    left_out: Sequence[tuple[str, str]]
    """Columns that were not used, each with the reason."""
    x: Any
    """The rows that were learned from, as a DataFrame."""
    y: Any
    """Their targets, as a Series."""
    estimator: NSRClassifier | NSRRegressor
    verified: tuple[int, int] | None
    """Of how many rows of the whole table the rule was asked, and how many contradict it; None without a rule."""
    contradicting: Sequence[tuple[int, Any]]
    """The first of these: the number of the row in its file, and what the rule says of it."""
    seconds: float

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """What the answers of the program stand for, position by position; None where it gives the target itself."""
        if not isinstance(self.estimator, NSRClassifier) or self.estimator.says_labels:
            return None
        return tuple(self.estimator.classes_.tolist())

    @property
    def rule(self) -> "SavedRule | None":
        """The rule as it is saved; None where there is none."""
        program = self.estimator.program_
        return None if program is None else SavedRule(self.target, self.classes, program)


@dataclass(frozen=True, eq=False)
class SavedRule:
    """A rule for a column: a program, and the classes that its answers stand for."""

    target: str
    classes: tuple[Any, ...] | None
    program: Program

    def __call__(self, table: Any) -> np.ndarray:
        """What it says of the rows of a table."""
        said = np.asarray(self.program(table))
        return said if self.classes is None else np.array(self.classes, dtype=object)[said.astype(np.int64)]

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        whole = {"format": FORMAT, "target": self.target, "classes": self.classes}
        path.write_text(json.dumps(whole | {"program": json.loads(self.program.emit("json"))}, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> "SavedRule":
        """Read what ``save`` wrote; anything else is refused."""
        try:
            whole = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(
                f"there is no file {path}: nsr learn TABLE --target COLUMN --save {path} writes one"
            ) from None
        except (OSError, ValueError) as problem:
            raise InputError(f"{path} is not a saved rule: {problem}") from None
        if not isinstance(whole, dict) or whole.get("format") != FORMAT:
            raise InputError(f"{path} is not a saved rule: its format is not {FORMAT}, which nsr learn --save writes")
        target, classes = whole.get("target"), whole.get("classes")
        simple = isinstance(classes, list) and all(isinstance(each, str | int | float | bool) for each in classes)
        if not isinstance(target, str) or not (classes is None or simple):
            raise InputError(f"{path} is not a saved rule: its target or its classes are not what nsr learn writes")
        program = load(json.dumps(whole.get("program")))
        return cls(target, None if classes is None else tuple(classes), program)
