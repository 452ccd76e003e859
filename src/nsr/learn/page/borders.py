"""Where the comparisons of a rule change, and which columns are most informative: what is worth drawing."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from nsr.learn import NSRClassifier
from nsr.learn.result import Learned
from nsr.learn.verification import contradictions
from nsr.program.expressions import Compare, Constant, Count, Expression, Linear, Variable, Where
from nsr.program.program import Program
from nsr.program.times import POINTS
from nsr.reading.atoms import Atom
from nsr.reading.derived import Derived

MOST_POINTS = 1_000
"""The most rows that are drawn. Of more rows, a sample is drawn, the same each time."""


def classes_of(learned: Learned) -> tuple[Any, ...] | None:
    """The classes that were learned; None if the target is a number."""
    estimator = learned.estimator
    return tuple(estimator.classes_.tolist()) if isinstance(estimator, NSRClassifier) else None


def borders(expression: Expression, conditions: Set[str] = frozenset()) -> list[Atom]:
    """The borders of an expression, each once, as far as a chart can show them: those of one or two columns.

    Conditions are columns of 0 and 1, which have no borders to look at.
    """
    atoms = (Atom.from_comparison(node) for node in expression.walk() if isinstance(node, Compare))
    found = dict.fromkeys(atom for atom in atoms if atom is not None and len(atom.weights) <= 2)
    return [atom for atom in found if not conditions & set(atom.columns)]


def wide_comparisons(expression: Expression) -> list[Compare]:
    """Comparisons of products, or of sums of more than two columns, each once."""
    compared = (node for node in expression.walk() if isinstance(node, Compare) and not isinstance(node.left, Count))
    atoms = {node: Atom.from_comparison(node) for node in compared}
    return [node for node, atom in atoms.items() if atom is None or len(atom.weights) > 2]


def measured(border: Atom, x: pd.DataFrame) -> np.ndarray:
    """The sum that a border compares with its constant, for each row."""
    return np.asarray(sum(weight * x[name].to_numpy() for name, weight in border.weights))


@dataclass(frozen=True, eq=False)
class Points:
    """Rows to draw: their columns as floats, their targets, and the groups that colours show."""

    x: pd.DataFrame
    y: np.ndarray
    groups: tuple[str, ...]
    """The classes, or the sums that a rule chooses from; empty if the colour shows the target itself."""
    group: np.ndarray
    """The position of each row's group, or whether its target is above the median."""
    wrong: np.ndarray
    """Which rows contradict the rule; none if there is no rule."""
    predicted: np.ndarray | None
    """What the rule gives for each row; None if there is no rule."""
    sides: frozenset[str] = frozenset()
    """Columns that are not in the table but one side of a comparison, such as ``a + b``."""
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    """Columns of dates and times, and the milliseconds of their unit."""

    @classmethod
    def of(cls, learned: Learned) -> "Points":
        """At most ``MOST_POINTS`` of the rows that were learned from; none in which a cell is missing that matters."""
        drawn = np.random.default_rng(0).permutation(len(learned.x))
        if learned.program is not None and learned.program.inputs:
            missing = learned.table[list(learned.program.inputs)].isna().to_numpy().any(1)
            drawn = drawn[~missing[drawn]] if not missing.all() else drawn
        rows = np.sort(drawn[:MOST_POINTS])
        x, y = learned.x.iloc[rows], np.asarray(learned.y)[rows]
        x = x.set_axis([str(name) for name in x.columns], axis=1)
        classes, program = classes_of(learned), learned.estimator.program_
        predicted, wrong = None, np.zeros(len(y), dtype=bool)
        if program is not None:
            assert learned.program is not None
            predicted, wrong = contradictions(learned.estimator, learned.program, learned.table.iloc[rows], y)
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
        times = milliseconds(learned.estimator.meaning.derived)
        return cls(x.astype(np.float64), y, groups, group, wrong, predicted, milliseconds=times)

    def with_sides(self, comparison: Compare) -> tuple["Points", Atom]:
        """The rows with both sides of a comparison as columns, and the border between these."""
        left, right = comparison.left, comparison.right
        numbers = {str(side): np.asarray(Program(side)(self.x), dtype=np.float64) for side in (left, right)}
        if isinstance(right, Constant):
            border, numbers = Atom.difference(str(left), None, right.value), {str(left): numbers[str(left)]}
        else:
            border = Atom.difference(str(left), str(right))
        return replace(self, x=self.x.assign(**numbers), sides=frozenset(numbers)), border

    @cached_property
    def ranked(self) -> list[str]:
        """The columns by their mutual information with the target, highest first."""
        numbers = self.x.to_numpy()
        if self.groups:
            information = mutual_info_classif(numbers, self.group, random_state=0)
        else:
            information = mutual_info_regression(numbers, self.y, random_state=0)
        return [self.x.columns[at] for at in np.argsort(-information, kind="stable")]

    def information(self, border: Atom) -> float:
        """Mutual information, in nats, between a row's side of a border (below, at, above) and its group."""
        sides = np.sign(measured(border, self.x) - float(border.constant)).astype(np.int64) + 1
        cells = np.bincount(sides * (self.group.max() + 1) + self.group, minlength=3 * (self.group.max() + 1))
        joint = cells.reshape(3, -1) / len(sides)
        independent = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
        occurs = joint > 0
        return float((joint[occurs] * np.log(joint[occurs] / independent[occurs])).sum())


def milliseconds(derived: Derived) -> dict[str, float]:
    """The columns that stand for points in time, and the milliseconds of their unit."""
    found = {}
    for name, meant in derived.items():
        match meant:
            case Linear(((weight, Variable(_, kind)),)) if kind in POINTS:
                found[name] = float(1 / weight) / 1000
    return found


def _branches(expression: Expression, x: Any) -> Iterator[tuple[Expression, np.ndarray]]:
    """The distinct branches of a choice, each with the rows that take it."""
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
