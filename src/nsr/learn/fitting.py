"""Fitting the estimator that suits a target, and verifying its rule on all rows of a table."""

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from nsr.errors import InputError
from nsr.learn import NSRClassifier, NSRRegressor
from nsr.learn.classifier import MOST_CLASSES
from nsr.learn.evidence import percent
from nsr.learn.result import Estimator, Verified
from nsr.program.cells import evaluate_cells
from nsr.program.expressions import Linear, Variable
from nsr.program.program import Program
from nsr.reading.rounding import rounding_tolerance

FEW = 10
"""A numeric target with at most this many distinct values is also tried as classes."""
LEAST_TIME = 0.5
"""Seconds that each search has at least, so that there is a model to predict with."""
MOST_EXAMPLES = 1_000
"""How many contradicting rows are kept."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How to learn; the fields are those of ``nsr.learn.commands.learn``."""

    kind: str
    errors: float
    restarts: int
    time_limit: float
    seed: int


def fit_and_verify(
    x: pd.DataFrame,
    y: pd.Series,
    settings: FitSettings,
    *,
    all_rows: Callable[[list[str]], Iterable[pd.DataFrame]],
    sampled: bool,
    on_message: Callable[[str], None],
    on_progress: Callable[[float], None],
) -> tuple[Estimator, Verified | None]:
    """A fitted estimator, and how its rule did on all rows of the table; None if it found no rule.

    If other rows contradict a rule that fits every row of the sample, as rare ties do, it is learned once more with
    those rows, if there is time.

    Args:
        x: Rows to learn from, all of the table or a sample.
        y: Their targets.
        settings: How to learn.
        all_rows: Returns the given columns and the target for all rows of the table, in parts.
        sampled: Whether ``x`` is a sample.
        on_message: Called with warnings about the rows.
        on_progress: Called with the fraction of the search that is done.
    """

    deadline = time.monotonic() + settings.time_limit

    def attempt(x: pd.DataFrame, y: pd.Series) -> tuple[Estimator, Verified | None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator = choose_and_fit(x, y, settings, deadline, on_progress)
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            on_message(message)
        if estimator.program_ is None:
            return estimator, None
        return estimator, verify(estimator, all_rows(list(x.columns)), y.name)

    estimator, verified = attempt(x, y)
    incomplete = sampled and verified is not None and verified.wrong > 0 and estimator.evidence_.agreement == 1
    if incomplete and verified is not None and time.monotonic() < deadline:
        on_message(f"{verified.wrong:,} other rows contradict the rule found in the sample: learning again with them")
        second, verified_again = attempt(*_with_rows(x, y, verified.examples))
        if verified_again is not None and verified_again.wrong < verified.wrong:
            estimator, verified = second, verified_again
    if verified is not None and verified.wrong > settings.errors * verified.rows:
        reason = (
            f"no exact rule: {percent(verified.wrong / verified.rows)} of all rows contradict the nearest rule "
            f"(allowed: {percent(settings.errors)})"
        )
        estimator.withdraw_rule(reason, x, y)
        verified = None
    return estimator, verified


def choose_and_fit(
    x: pd.DataFrame, y: pd.Series, settings: FitSettings, deadline: float, on_progress: Callable[[float], None]
) -> Estimator:
    """Fit a classifier, a regressor, or both if the target could be either, each in its share of the time left.

    Of two rules, the one that fewer rows contradict is returned, then the shorter one.
    """
    candidates = _estimators_for(y, settings.kind)
    models: list[Estimator] = []
    for position, make in enumerate(candidates):
        share = max(LEAST_TIME, (deadline - time.monotonic()) / (len(candidates) - position))
        model = make(errors=settings.errors, restarts=settings.restarts, time_limit=share, random_state=settings.seed)
        model.on_progress = _progress_of(on_progress, position, len(candidates))
        models.append(model.fit(x, y))
        del model.on_progress  # a fitted model can be pickled
    with_rule = [model for model in models if model.program_ is not None]
    return min(with_rule, key=_contradictions_and_size) if with_rule else models[0]


def _estimators_for(y: pd.Series, kind: str) -> list[type[NSRClassifier] | type[NSRRegressor]]:
    """The estimators to try for a target of the given kind; raises an InputError if it is not of that kind."""
    numeric, distinct = y.dtype.kind in "iuf", y.nunique()
    if kind == "number" and not numeric:
        raise InputError(f"the target {y.name!r} is not numeric ({y.dtype}): use --kind class")
    if distinct > MOST_CLASSES and (kind == "class" or not numeric):
        raise InputError(
            f"the target {y.name!r} has {distinct:,} distinct values; at most {MOST_CLASSES} can be classes"
        )
    if kind != "auto":
        return [NSRClassifier if kind == "class" else NSRRegressor]
    few = distinct <= min(FEW, len(y) // 2)
    as_classes, as_numbers = few or not numeric, numeric and (not few or distinct > 2)
    return [NSRClassifier] * as_classes + [NSRRegressor] * as_numbers


def _progress_of(on_progress: Callable[[float], None], position: int, count: int) -> Callable[[float], None]:
    """The progress callback of one of several equal steps."""
    return lambda done: on_progress((position + done) / count)


def _contradictions_and_size(model: Estimator) -> tuple[float, int]:
    assert model.program_ is not None
    return 1 - model.evidence_.agreement, model.program_.expression.size


def verify(estimator: Estimator, parts: Iterable[pd.DataFrame], target: str) -> Verified:
    """Compare the predictions of a rule with the target on all rows of a table, given in parts."""
    rows = wrong = 0
    examples: list[pd.DataFrame] = []
    predictions: list[Any] = []
    for part in parts:
        predicted, contradicts = predict_and_compare(estimator, part, target)
        room = MOST_EXAMPLES - len(predictions)
        examples.append(part[contradicts][:room])
        predictions += predicted[contradicts][:room].tolist()
        rows, wrong = rows + len(part), wrong + int(contradicts.sum())
    return Verified(rows, wrong, pd.concat(examples), predictions)


def predict_and_compare(estimator: Estimator, rows: pd.DataFrame, target: str) -> tuple[np.ndarray, np.ndarray]:
    """What the program gives for each row, and which rows contradict it by more than rounding."""
    program, y = estimator.program_, rows[target].to_numpy()
    assert program is not None
    columns = {name: rows[name].to_numpy() for name in program.inputs}
    predicted = evaluate_cells(program.expression, columns, len(rows))
    if isinstance(estimator, NSRClassifier):
        labels = predicted if estimator.gives_labels else estimator.classes_[predicted.astype(np.int64)]
        return labels, labels != y
    if all(np.array_equal(column, np.rint(column)) for column in (*columns.values(), y)):
        return predicted, predicted != y
    largest = _largest_weights(program)
    sizes = sum(largest[name] * np.abs(column.astype(np.float64)) for name, column in columns.items()) + np.abs(y)
    tolerance = rounding_tolerance(sizes, float(np.finfo(np.float64).eps))
    return predicted, np.abs(predicted.astype(np.float64) - y) > tolerance


def _largest_weights(program: Program) -> dict[str, float]:
    """For each column, the largest weight that it has in a sum of the program, and 1 at least."""
    largest = dict.fromkeys(program.inputs, 1.0)
    for node in program.expression.walk():
        for weight, term in node.terms if isinstance(node, Linear) else ():
            if isinstance(term, Variable):
                largest[term.name] = max(largest[term.name], abs(float(weight)))
    return largest


def _with_rows(x: pd.DataFrame, y: pd.Series, more: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Rows and targets with more rows of the same table, without duplicates."""
    x, y = pd.concat([x, more[list(x.columns)]]), pd.concat([y, more[y.name]])
    new = ~x.index.duplicated()
    return x[new], y[new]
