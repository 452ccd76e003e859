"""Comparing a rule with the rows of a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nsr.learn import NSRClassifier
from nsr.learn.preparation import labels_of
from nsr.learn.result import Estimator, Verified
from nsr.learn.tables.engine import Progress
from nsr.learn.tables.table import Table
from nsr.program.cells import evaluate_cells, is_missing
from nsr.program.expressions import Linear, Variable
from nsr.program.kinds import Kind
from nsr.program.program import Program
from nsr.reading.rounding import rounding_tolerance

MOST_EXAMPLES = 1_000
"""How many contradicting rows are kept."""


def verify(
    table: Table,
    target: str,
    columns: list[str],
    on_progress: Progress,
    drop_missing: bool,
    estimator: Estimator,
    program: Program,
) -> Verified:
    """Compare what a program gives with the target on all rows of a table that have one.

    Args:
        table: The table.
        target: The column that the program predicts.
        columns: Those that were learned from: of the rows that are kept as examples.
        on_progress: Called with the fraction of the rows that have been compared.
        drop_missing: Skip rows with missing values in these columns.
        estimator: The one that found the program, which knows the classes.
        program: A rule in terms of the table.
    """
    rows = wrong = 0
    examples: list[pd.DataFrame] = []
    predictions: list[Any] = []
    label = table.column(target)
    for part in table.parts([*columns, target], on_progress):
        part = part.dropna(subset=[*columns, target] if drop_missing else [target])
        y = labels_of(part[target], label)
        predicted, contradicts = contradictions(estimator, program, part, y.to_numpy())
        room = MOST_EXAMPLES - len(predictions)
        examples.append(part.assign(**{target: y})[contradicts][:room])
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
