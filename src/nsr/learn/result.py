"""What was learned from a table: the rule, the evidence, and the rows that contradict it."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from nsr.errors import InputError
from nsr.learn import NSRClassifier, NSRRegressor
from nsr.learn.search import share_of

FEW = 10
"""A target of no more distinct numbers than this is taken for classes first."""
MOST_CLASSES = 20
MOST_KEPT = 1_000
"""How many contradicting rows are kept, to be learned from."""


@dataclass(frozen=True, eq=False)
class Verified:
    """What all rows of a table say of a rule."""

    rows: int
    wrong: int
    """How many rows contradict it."""
    some: Any
    """The first of these, as a DataFrame; its index numbers the rows as in the file."""
    said: Sequence[Any]
    """What the rule says of them."""


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
    verified: Verified | None
    """What all rows of the table say of the rule; None without one."""
    seconds: float

    def words(self) -> str:
        """What was found, and the evidence, for a person to read."""
        evidence = self.estimator.evidence_
        if self.verified is None:
            score = self.estimator.score(self.x, self.y)
            what = f"is right on {share_of(score)} of the rows" if self.is_class else f"has an R^2 of {score:.4f}"
            nearest = "" if evidence.nearest is None else f"\nthe nearest is {evidence.nearest}"
            return f"{evidence.reason}{nearest}\nthe trained model {what}"
        rows, wrong = self.verified.rows, self.verified.wrong
        holds = f"verified on all {rows:,} rows"
        if wrong:
            some = ", ".join(map(str, self.verified.some.index[:5]))
            holds = f"{wrong:,} of {rows:,} rows contradict it (row {some}{' and others' if wrong > 5 else ''})"
        return "\n".join([str(self.estimator.rule_), "", holds, str(evidence)])

    @property
    def answers(self) -> list[tuple[str, str]]:
        """What the code gives, and the class that it stands for; nothing where it gives the target itself."""
        if not isinstance(self.estimator, NSRClassifier) or self.estimator.says_labels:
            return []
        classes = list(map(str, self.estimator.classes_.tolist()))
        if len(classes) == 2:
            return [("true", classes[1]), ("false", classes[0])]
        return [(str(place), each) for place, each in enumerate(classes)]

    @property
    def is_class(self) -> bool:
        """Whether the target was learned as classes."""
        return isinstance(self.estimator, NSRClassifier)


def fitted(
    x: Any, y: Any, kind: str, settings: Mapping[str, Any], watch: Callable[[float], None]
) -> NSRClassifier | NSRRegressor:
    """A fitted estimator: of classes, of numbers, or, where it is not said, of what the target looks like.

    A few distinct numbers may be classes or numbers: both are tried, and the rule that fewer rows contradict, then the
    shorter one, is taken.
    """
    numeric = y.dtype.kind in "iuf"
    few = y.nunique() <= min(FEW, len(y) // 2)
    if kind == "number" and not numeric:
        raise InputError(f"the target {y.name!r} holds {y.dtype}, not numbers: --kind class learns it")
    if y.nunique() > MOST_CLASSES and (kind == "class" or not numeric):
        raise InputError(
            f"the target {y.name!r} has {y.nunique():,} different values; classes are {MOST_CLASSES} at most"
        )
    tried: list[type[NSRClassifier] | type[NSRRegressor]] = []
    if kind == "class" or (kind == "auto" and (few or not numeric)):
        tried.append(NSRClassifier)
    if kind == "number" or (kind == "auto" and numeric and (not few or y.nunique() > 2)):
        tried.append(NSRRegressor)
    models: list[NSRClassifier | NSRRegressor] = []
    for make in tried:
        model = make(**settings)
        before = len(models) / len(tried)
        model.watch = partial(_part, watch, before, 1 / len(tried))
        models.append(model.fit(x, y))
        del model.watch  # else it could not be pickled
    ruled = [model for model in models if model.program_ is not None]
    return min(ruled, key=_contradicted_and_long) if ruled else models[0]


def _contradicted_and_long(model: NSRClassifier | NSRRegressor) -> tuple[float, int]:
    assert model.program_ is not None
    return 1 - model.evidence_.agreement, model.program_.expression.size


def _part(watch: Callable[[float], None], before: float, width: float, done: float) -> None:
    watch(before + width * done)


def contradicted(estimator: NSRClassifier | NSRRegressor, rows: Any, target: str) -> tuple[np.ndarray, np.ndarray]:
    """What the program says of some rows, and which of them it contradicts, but for the rounding of sums."""
    program, y = estimator.program_, rows[target].to_numpy()
    assert program is not None
    said = np.asarray(program(rows))
    if isinstance(estimator, NSRClassifier):
        labels = said if estimator.says_labels else estimator.classes_[said.astype(np.int64)]
        return labels, labels != y
    columns = [rows[name].to_numpy() for name in program.inputs]
    if all(np.array_equal(column, np.rint(column)) for column in (*columns, y)):
        return said, said != y
    sizes = sum(np.abs(column.astype(np.float64)) for column in columns) + np.abs(y)
    return said, np.abs(said.astype(np.float64) - y) > 16 * np.finfo(np.float64).eps * sizes


def found(
    x: Any,
    y: Any,
    *,
    parts: Callable[[Sequence[str]], Iterable[Any]],
    kind: str,
    settings: Mapping[str, Any],
    tell: Callable[[str], None],
    watch: Callable[[float], None],
) -> tuple[NSRClassifier | NSRRegressor, Verified | None]:
    """A fitted estimator, and what all rows of the table say of its rule; ``parts`` gives those rows."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        estimator = fitted(x, y, kind, settings, watch)
    for message in dict.fromkeys(str(each.message) for each in warned):
        tell(message)
    if estimator.program_ is None:
        return estimator, None
    return estimator, verify(estimator, parts(list(x.columns)), y.name)


def joined(x: Any, y: Any, more: Any) -> tuple[Any, Any]:
    """Rows and targets with some more rows of the same table, none of them twice."""
    x, y = (pd.concat([own, more[names]]) for own, names in ((x, list(x.columns)), (y, y.name)))
    new = ~x.index.duplicated()
    return x[new], y[new]


def verify(estimator: NSRClassifier | NSRRegressor, parts: Iterable[Any], target: str) -> Verified:
    """Ask a rule about all rows of a table, part by part."""
    rows = wrong = 0
    some: list[Any] = []
    said: list[Any] = []
    for part in parts:
        answers, contradicts = contradicted(estimator, part, target)
        room = MOST_KEPT - len(said)
        some.append(part[contradicts][:room])
        said += answers[contradicts][:room].tolist()
        rows, wrong = rows + len(part), wrong + int(contradicts.sum())
    return Verified(rows, wrong, pd.concat(some), said)
