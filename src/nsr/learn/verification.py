"""Comparing a rule with the rows of a table."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from nsr.errors import InputError
from nsr.learn import NSRClassifier
from nsr.learn.preparation import labels_of
from nsr.learn.result import Estimator, Verified
from nsr.learn.tables.engine import Progress
from nsr.learn.tables.table import Table
from nsr.learn.tables.text import sql_name
from nsr.program.cells import evaluate_cells, is_missing
from nsr.program.emit.checks import SqlCheck
from nsr.program.emit.exactness import InexactWarning
from nsr.program.expressions import Linear, Variable
from nsr.program.kinds import Kind
from nsr.program.program import Program
from nsr.reading.rounding import rounding_tolerance

MOST_EXAMPLES = 1_000
"""How many contradicting rows are kept."""


@dataclass(frozen=True)
class Verifier:
    """Compares rules with a column of a table, on all rows that have a value there.

    Classes, and numbers that are exact in the database, are compared inside DuckDB with the SQL that a rule is emitted
    as; other numbers are computed here, so that rounding can be allowed for.
    """

    table: Table
    target: str
    columns: Sequence[str]
    """Those that were learned from."""
    drop_missing: bool = False
    """Whether rows with missing values in these are skipped."""
    on_progress: Progress = lambda _: None
    """Called with the fraction of the rows that have been compared."""

    def __call__(self, estimator: Estimator, program: Program) -> Verified:
        """How a rule, found by an estimator, does on all rows."""
        violated = self._violated(estimator, program)
        if violated is None:
            return self._in_parts(estimator, program)
        try:
            return self._in_the_database(estimator, program, violated)
        except InputError:  # such as an integer overflow
            return self._in_parts(estimator, program)

    @property
    def _needed(self) -> list[str]:
        return [self.target, *(self.columns if self.drop_missing else ())]

    def _in_the_database(self, estimator: Estimator, program: Program, violated: str) -> Verified:
        present = " AND ".join(f"{sql_name(name)} IS NOT NULL" for name in self._needed)
        condition = f"{present} AND {violated}"
        rows = self.table.rows
        if any(self.table.columns[name].missing for name in self._needed):
            rows = self.table.count(present)
        wrong = self.table.count(condition, self.on_progress)
        if not wrong:
            return Verified(rows, 0, self.table.sample[:0], [])
        if not isinstance(estimator, NSRClassifier):
            return self._in_parts(estimator, program)
        examples = self.table.rows_where(condition, MOST_EXAMPLES)[[*self.columns, self.target]]
        y = labels_of(examples[self.target], self.table.column(self.target))
        predicted, _ = contradictions(estimator, program, examples, y.to_numpy())
        return Verified(rows, wrong, examples.assign(**{self.target: y}), predicted.tolist())

    def _violated(self, estimator: Estimator, program: Program) -> str | None:
        """SQL of the condition that a row contradicts a rule; None if that has to be computed here."""
        label = self.table.column(self.target)
        inputs = [self.table.column(name) for name in program.inputs]
        exact = all(column.sql_type != "DOUBLE" for column in inputs)
        classes = None
        if isinstance(estimator, NSRClassifier):
            if label.kind not in (Kind.TEXT, Kind.BOOLEAN, Kind.NUMBER):
                return None
            classes = None if estimator.gives_labels else estimator.classes_.tolist()
        elif not exact or label.sql_type == "DOUBLE":
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InexactWarning)
                return SqlCheck(program, column=self.target, classes=classes, decimals=exact).violated()
        except InputError:
            return None

    def _in_parts(self, estimator: Estimator, program: Program) -> Verified:
        rows = wrong = 0
        examples: list[pd.DataFrame] = []
        predictions: list[Any] = []
        label = self.table.column(self.target)
        for part in self.table.parts([*self.columns, self.target], self.on_progress):
            part = part.dropna(subset=self._needed)
            y = labels_of(part[self.target], label)
            predicted, contradicts = contradictions(estimator, program, part, y.to_numpy())
            room = MOST_EXAMPLES - len(predictions)
            examples.append(part.assign(**{self.target: y})[contradicts][:room])
            predictions += predicted[contradicts][:room].tolist()
            rows, wrong = rows + len(part), wrong + int(contradicts.sum())
        return Verified(rows, wrong, pd.concat(examples), predictions)


def contradictions(
    estimator: Estimator, program: Program, rows: Mapping[str, Any] | pd.DataFrame, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What a program gives for each row, and which rows contradict it by more than rounding."""
    columns = {name: rows[name] for name in program.inputs}
    predicted = evaluate_cells(program.expression, columns, len(y))
    if isinstance(estimator, NSRClassifier):
        labels = predicted if estimator.gives_labels else estimator.classes_[predicted.astype(np.int64)]
        return labels, np.asarray(labels != y)
    missing = is_missing(predicted)
    numbers = {name: rows[name] for name, kind in program.expression.kinds.items() if kind == Kind.NUMBER}
    given = np.where(missing, 0, predicted).astype(np.float64)
    if all(_is_integral(column) for column in (*numbers.values(), y)):
        return predicted, np.asarray(missing | (np.where(missing, 0, predicted) != y))
    largest = _largest_weights(program)
    sizes = sum((largest[name] * np.abs(_floats(column)) for name, column in numbers.items()), np.abs(y))
    tolerance = rounding_tolerance(np.asarray(sizes, dtype=np.float64), float(np.finfo(np.float64).eps))
    return predicted, np.asarray(missing | (np.abs(given - y) > tolerance))


def _floats(cells: Any) -> np.ndarray:
    return np.where(is_missing(cells), 0, cells).astype(np.float64)


def _is_integral(cells: Any) -> bool:
    array = _floats(cells)
    return bool(np.array_equal(array, np.rint(array)))


def _largest_weights(program: Program) -> dict[str, float]:
    """For each column, the largest weight that it has in a sum of the program, and 1 at least."""
    largest = dict.fromkeys(program.inputs, 1.0)
    for node in program.expression.walk():
        for weight, term in node.terms if isinstance(node, Linear) else ():
            if isinstance(term, Variable):
                largest[term.name] = max(largest[term.name], abs(float(weight)))
    return largest
