"""Where the comparisons of a rule change, and which columns tell most: what is worth a picture."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from nsr.learn import NSRClassifier
from nsr.learn.result import Learned, contradicted
from nsr.program.expressions import Compare, Expression, Linear, Variable, Where, total
from nsr.program.program import Program

MOST_POINTS = 1_000
"""Of more rows some are drawn; they are the same each time."""


def classes_of(learned: Learned) -> tuple[Any, ...] | None:
    """The classes that were learned; None where the target is a number."""
    estimator = learned.estimator
    return tuple(estimator.classes_.tolist()) if isinstance(estimator, NSRClassifier) else None


@dataclass(frozen=True)
class Border:
    """Where a comparison changes: where ``measure`` is ``at``. The first column has the weight 1."""

    weights: tuple[tuple[str, Fraction], ...]
    at: Fraction

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are compared, or the one that is compared with a constant."""
        return frozenset(name for name, _ in self.weights)

    @property
    def measure(self) -> Expression:
        """What is compared with ``at``: a column, or a difference."""
        return total([(weight, Variable(name)) for name, weight in self.weights])

    def __str__(self) -> str:
        (first, _), *others = self.weights
        rest = total([(-weight, Variable(name)) for name, weight in others], self.at)
        return f"{Variable(first)} = {rest}"

    def measured(self, x: pd.DataFrame) -> np.ndarray:
        """The measure of each row."""
        return np.asarray(sum(float(weight) * x[name].to_numpy() for name, weight in self.weights))


def borders(expression: Expression) -> list[Border]:
    """The borders of an expression, each once, as far as a picture can show them: of one column or of two."""
    found = []
    for node in expression.walk():
        if not isinstance(node, Compare):
            continue
        difference = node.left - node.right
        if isinstance(difference, Variable):
            difference = Linear([(1, difference)])
        if isinstance(difference, Linear) and len(difference.terms) <= 2:
            names = [atom.name for atom in difference.children if isinstance(atom, Variable)]
            scale = difference.terms[0][0]
            if len(names) == len(difference.terms):
                weights = tuple((name, c / scale) for name, (c, _) in zip(names, difference.terms, strict=True))
                found.append(Border(weights, -difference.constant / scale))
    return list(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class Points:
    """Rows to draw: their columns as floats, their targets, and what a colour stands for."""

    x: pd.DataFrame
    y: np.ndarray
    groups: tuple[str, ...]
    """The names of the classes, or of the sums that a rule chooses from; none where a colour stands for the target."""
    group: np.ndarray
    """The position of each row's group, or whether its target is above the middle."""
    wrong: np.ndarray
    """Which rows contradict the rule; none where there is none."""
    said: np.ndarray | None

    @classmethod
    def of(cls, learned: Learned) -> "Points":
        """At most ``MOST_POINTS`` of the rows that were learned from."""
        rows = np.sort(np.random.default_rng(0).permutation(len(learned.x))[:MOST_POINTS])
        x, y = learned.x.iloc[rows], np.asarray(learned.y)[rows]
        x = x.set_axis([str(name) for name in x.columns], axis=1)
        classes, program = classes_of(learned), learned.estimator.program_
        said, wrong = None, np.zeros(len(y), dtype=bool)
        if program is not None:
            said, wrong = contradicted(learned.estimator, x.assign(**{learned.target: y}), learned.target)
        groups: tuple[str, ...] = ()
        if classes is not None:
            groups, group = tuple(map(str, classes)), np.searchsorted(np.array(classes), y)
        else:
            y = y.astype(np.float64)
            group = (y > np.median(y)).astype(np.int64)
            if program is not None and isinstance(program.expression, Where):
                leaves = list(_branches(program.expression, x))
                groups = tuple(str(leaf) for leaf, _ in leaves)
                group = np.select([applies for _, applies in leaves], list(range(len(leaves))))
        return cls(x.astype(np.float64), y, groups, group, wrong, said)

    @cached_property
    def ranked(self) -> list[str]:
        """The columns, those first that have most mutual information with the target."""
        numbers = self.x.to_numpy()
        if self.groups:
            told = mutual_info_classif(numbers, self.group, random_state=0)
        else:
            told = mutual_info_regression(numbers, self.y, random_state=0)
        return [self.x.columns[at] for at in np.argsort(-told, kind="stable")]

    def told_by(self, border: Border) -> float:
        """Nats that the side of a border, or being on it, tells of a row's group."""
        sides = np.sign(border.measured(self.x) - float(border.at)).astype(np.int64) + 1
        cells = np.bincount(sides * (self.group.max() + 1) + self.group, minlength=3 * (self.group.max() + 1))
        joint = cells.reshape(3, -1) / len(sides)
        apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
        there = joint > 0
        return float((joint[there] * np.log(joint[there] / apart[there])).sum())


def _branches(expression: Expression, x: Any) -> Iterator[tuple[Expression, np.ndarray]]:
    """What is chosen from, equal ones once, each with the rows for which it is."""
    found: dict[Expression, np.ndarray] = {}

    def visit(node: Expression, rows: np.ndarray) -> None:
        if isinstance(node, Where):
            holds = np.asarray(Program(node.condition)(x)).astype(bool)
            visit(node.then, rows & holds)
            visit(node.otherwise, rows & ~holds)
        else:
            found[node] = found.get(node, np.zeros(len(rows), dtype=bool)) | rows

    visit(expression, np.ones(len(x), dtype=bool))
    yield from found.items()
