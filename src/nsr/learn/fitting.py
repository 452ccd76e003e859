"""Fitting the estimator that suits a target, and verifying its rule on all rows of a table."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from nsr.errors import InputError
from nsr.learn import NSRClassifier, NSRRegressor
from nsr.learn.classifier import MOST_CLASSES
from nsr.learn.evidence import percent
from nsr.learn.features import Features, features_of
from nsr.learn.gaps import margins_of_rows, with_gaps
from nsr.learn.preparation import Prepared, nothing_to_learn_from
from nsr.learn.result import Estimator, Verified
from nsr.learn.tidying import tidied
from nsr.learn.verification import contradictions
from nsr.program.cells import LARGEST_FLOAT_INTEGER
from nsr.program.expressions import Compare, Expression
from nsr.program.program import Program
from nsr.program.text import sides
from nsr.reading.derived import Derived, Meaning

FEW = 10
"""A numeric target with at most this many distinct values is also tried as classes."""
COPIES = 10
"""Equal rows are taken for copies if this many times as many different rows are possible as there are rows."""
LEAST_TIME = 0.5
"""Seconds that each search has at least, so that there is a model to predict with."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How to learn; the fields are those of ``nsr.learn.commands.learn``."""

    kind: str
    errors: float
    restarts: int
    time_limit: float
    seed: int


@dataclass(frozen=True, eq=False)
class Fitted:
    """An estimator, and its rule in terms of the table."""

    estimator: Estimator
    """Fitted on ``x``, the rows as numbers."""
    features: Features
    rows: pd.DataFrame
    x: pd.DataFrame
    y: pd.Series
    program: Program | None
    """None if there is no rule."""
    verified: Verified | None = None
    """How the rule did on all rows of the table."""


Verify = Callable[[Estimator, Program], Verified]
"""Compares a rule with all rows of the table."""


def fit_and_verify(
    prepared: Prepared,
    settings: FitSettings,
    *,
    verify: Verify,
    sampled: bool,
    on_message: Callable[[str], None],
    on_progress: Callable[[float], None],
) -> Fitted:
    """A fitted estimator, and how its rule did on all rows of the table.

    If other rows contradict a rule that fits every row of the sample, as rare ties do, it is learned once more with
    those rows, if there is time.

    Args:
        prepared: Rows to learn from, all of the table or a sample, and their targets.
        settings: How to learn.
        verify: Compares a rule with all rows of the table.
        sampled: Whether the rows are a sample.
        on_message: Called with warnings about the rows.
        on_progress: Called with the fraction of the search that is done.
    """
    deadline = time.monotonic() + settings.time_limit

    def attempt(rows: pd.DataFrame, y: pd.Series, groups: pd.Series | None = None) -> Fitted:
        features = features_of(rows, prepared.kinds, y)
        x = features.encode(rows)
        if x.empty:
            raise nothing_to_learn_from(str(y.name), dict((*prepared.left_out, *features.left_out)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator = choose_and_fit(x, y, settings, features, deadline, on_progress, groups)
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            on_message(message)
        program = in_terms_of_the_table(estimator, features, rows, y)
        if program is not None and _rounds_integers(estimator, x):
            program = _with_exact_evidence(estimator, program, rows, x, y)
        verified = None if program is None else verify(estimator, program)
        return Fitted(estimator, features, rows, x, y, program, verified)

    fitted = attempt(prepared.rows, prepared.target, prepared.groups)
    for name, reason in fitted.features.left_out:
        on_message(f"not using column {name!r}: {reason}")
    if fitted.features.note:
        on_message(fitted.features.note)
    verified = fitted.verified
    incomplete = sampled and verified is not None and verified.wrong > 0 and fitted.estimator.evidence_.agreement == 1
    if incomplete and verified is not None and prepared.groups is None and time.monotonic() < deadline:
        on_message(f"{verified.wrong:,} other rows contradict the rule found in the sample: learning again with them")
        again = attempt(*_with_rows(prepared, verified.examples))
        if again.verified is not None and again.verified.wrong < verified.wrong:
            fitted, verified = again, again.verified
    if verified is not None and verified.wrong > settings.errors * verified.rows:
        reason = (
            f"no exact rule: {percent(verified.wrong / verified.rows)} of all rows contradict the nearest rule "
            f"(allowed: {percent(settings.errors)})"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they say about the rows was a message before
            fitted.estimator.withdraw_rule(reason, fitted.x, fitted.y)
        fitted = Fitted(fitted.estimator, fitted.features, fitted.rows, fitted.x, fitted.y, None)
    return fitted


def in_terms_of_the_table(estimator: Estimator, features: Features, rows: pd.DataFrame, y: pd.Series) -> Program | None:
    """The rule of an estimator with texts, dates and missing cells in the place of the numbers it was fitted on."""
    if estimator.program_ is None:
        return None
    names, evidence = tuple(map(str, rows.columns)), estimator.evidence_
    expression = estimator.meaning.of(estimator.program_.expression)
    columns = {name: rows[name] for name in names}

    def wrong(each: Expression) -> int:
        return int(contradictions(estimator, Program(each, names), columns, y.to_numpy())[1].sum())

    if features.derived:
        expression = with_gaps(expression, features.nullable, wrong)
        has_gaps = bool(features.nullable & set(expression.variables))
        expression = tidied(expression, rows, wrong, shorten=has_gaps)
        if has_gaps:
            evidence = replace(evidence, margins=margins_of_rows(expression, rows))
            estimator.evidence_ = evidence
    return Program(expression, names, evidence)


def _rounds_integers(estimator: Estimator, x: pd.DataFrame) -> bool:
    """Whether an estimator has seen integers of its rule rounded, because other columns hold fractions."""
    used = [] if estimator.program_ is None else x[list(estimator.program_.inputs)].select_dtypes("integer")
    large = any(max(abs(int(used[name].min())), abs(int(used[name].max()))) > LARGEST_FLOAT_INTEGER for name in used)
    return large and any(dtype.kind == "f" for dtype in x.dtypes)


def _with_exact_evidence(
    estimator: Estimator, program: Program, rows: pd.DataFrame, x: pd.DataFrame, y: pd.Series
) -> Program:
    """A rule with evidence from rows that are not rounded."""
    evidence, expression = estimator.evidence_, program.expression
    distinct = ~x.assign(**{"\0": y}).duplicated().to_numpy() if estimator.merge_equal else np.ones(len(x), dtype=bool)
    wrong = contradictions(estimator, program, {name: rows[name] for name in program.inputs}, y.to_numpy())[1]
    agreement = 1 - float(wrong[distinct].mean())
    seen = {pair: near for pair, near in margins_of_rows(expression, rows).items() if pair in evidence.margins}
    ties = [Compare("=", *node.children) for node in expression.walk() if isinstance(node, Compare)]
    unseen = [str(tie) for tie in ties if (pair := sides(tie)) in seen and evidence.margins[pair].at > seen[pair].at]
    all_right = agreement == 1 and evidence.held_out is not None and not evidence.reread
    estimator.evidence_ = replace(
        evidence,
        rows=int(distinct.sum()),
        agreement=agreement,
        held_out=1.0 if all_right else evidence.held_out,
        margins={**evidence.margins, **seen},
        not_covered=(*evidence.not_covered, *unseen),
        exact=None if agreement == 1 else evidence.exact,
    )
    return replace(program, evidence=estimator.evidence_)


def choose_and_fit(
    x: pd.DataFrame,
    y: pd.Series,
    settings: FitSettings,
    features: Features,
    deadline: float,
    on_progress: Callable[[float], None],
    groups: pd.Series | None = None,
) -> Estimator:
    """Fit a classifier, a regressor, or both if the target could be either, each in its share of the time left.

    Of two rules, the one that fewer rows contradict is returned, then the shorter one.
    """
    candidates = _estimators_for(y, settings.kind)
    models: list[Estimator] = []
    for position, make in enumerate(candidates):
        share = max(LEAST_TIME, (deadline - time.monotonic()) / (len(candidates) - position))
        model = make(errors=settings.errors, restarts=settings.restarts, time_limit=share, random_state=settings.seed)
        model.meaning, model.preferred = Meaning(features.derived, features.nullable), dict(features.preferred)
        model.allowed = settings.time_limit
        model.merge_equal = many_rows_are_possible(x, features.derived)
        model.on_progress = _progress_of(on_progress, position, len(candidates))
        models.append(model.fit(x, y, groups=groups))
        del model.on_progress  # a fitted model can be pickled
        if model.program_ is not None and model.evidence_.origin == "points":
            return model  # as classes, these take long and read badly
    with_rule = [model for model in reversed(models) if model.program_ is not None]
    return min(with_rule, key=_contradictions_and_size) if with_rule else models[-1]


def many_rows_are_possible(x: pd.DataFrame, derived: Derived | None = None) -> bool:
    """Whether equal rows would be rare, were the columns independent: then those that are equal are copies.

    Args:
        x: Rows of numbers.
        derived: What columns stand for: conditions on the same column of a table are not independent.
    """
    by_source: dict[str, list[str]] = {}
    for name in x.columns:
        used = set(derived[name].variables) if derived and name in derived else {name}
        if len(used) == 1:
            by_source.setdefault(used.pop(), []).append(name)
    possible = np.log([len(x[names].drop_duplicates()) for names in by_source.values()]).sum()
    return bool(possible > np.log(COPIES * len(x)))


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
    return [NSRRegressor] * as_numbers + [NSRClassifier] * as_classes


def _progress_of(on_progress: Callable[[float], None], position: int, count: int) -> Callable[[float], None]:
    """The progress callback of one of several equal steps; a search that begins once more does not go back."""
    furthest = 0.0

    def report(done: float) -> None:
        nonlocal furthest
        furthest = max(furthest, done)
        on_progress((position + furthest) / count)

    return report


def _contradictions_and_size(model: Estimator) -> tuple[float, int]:
    assert model.program_ is not None
    return 1 - model.evidence_.agreement, model.program_.expression.size


def _with_rows(prepared: Prepared, more: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Rows and targets with more rows of the same table, without duplicates."""
    rows = pd.concat([prepared.rows, more[list(prepared.rows.columns)]])
    y = pd.concat([prepared.target, more[prepared.target.name]]).astype(prepared.target.dtype)
    new = np.asarray(~rows.index.duplicated())
    return rows[new], y[new]
