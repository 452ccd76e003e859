"""A scikit-learn classifier whose model can be read."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from torch import Tensor

from nsr.errors import InputError
from nsr.learn.attempt import Settings
from nsr.learn.base import Learner, group_numbers
from nsr.learn.judging import Found
from nsr.learn.networks import Inputs, probabilities, train_networks
from nsr.learn.search import search
from nsr.program.expressions import Constant, Expression, Where
from nsr.program.program import Program
from nsr.reading.columns import Columns
from nsr.reading.derived import Meaning
from nsr.reading.rows import LabelledRows
from nsr.training import one_thread

MOST_CLASSES = 100
FALLBACK = 4
"""Restarts of the network that predicts where there is no rule and none was trained in the search for one."""


class NSRClassifier(ClassifierMixin, Learner):  # type: ignore[misc]
    """Finds the exact rule by which a class follows from comparisons of columns, where there is one.

    A screen proposes comparisons of columns and of differences of two; if no rule of these explains the rows, networks
    that weigh columns, or their logarithms, propose comparisons of sums and products. The rule with the shortest
    description is chosen and judged by rows that were not looked at before. If there is none, ``program_`` is None,
    ``evidence_`` gives the reason, and a trained network predicts.

    >>> import numpy as np
    >>> from nsr.learn import NSRClassifier
    >>> X = np.random.default_rng(0).integers(-20, 20, (300, 4))
    >>> y = np.where(X[:, 0] > X[:, 2], "high", "low")
    >>> NSRClassifier(restarts=2, random_state=0).fit(X, y).rule_
    'low if x1 <= x3, else high'

    Args:
        restarts: How many networks are trained where the screen finds no rule.
        errors: The share of the rows that may contradict a rule, if they look random, as wrong labels do.
        time_limit: Seconds after which the search ends, with the best rule so far.
        proposals: What may propose comparisons: ``screen``, ``training`` (sums), ``products``.
        use: What predicts: the ``program``, the ``model``, or ``auto``: the program where there is one.
        random_state: Seed of everything random.

    Attributes:
        program_: The rule as an exact program, or None. For two classes it is a formula that holds for
            ``classes_[1]``; for more it gives the label, or the position in ``classes_`` where labels are not numbers.
        rule_: The rule as text, or None.
        evidence_: What supports the rule, or why there is none.
        members_: The trained networks that were read; none if the screen found the rule.
        best_: The one of them that predicts, or None.
    """

    @one_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "NSRClassifier":
        """Learn from rows ``X`` and the class ``y`` of each; rows of one of the ``groups`` are held out together."""
        start = time.monotonic()
        X, y, weight = self._validated(X, y, sample_weight)
        self.classes_, classes = np.unique(y, return_inverse=True)
        _check_classes(y, self.classes_)
        if all(len(column.unique()) == 1 for column in X.T):
            raise ValueError("X must have a column that is not constant")
        rows = self._rows(X, classes, weight, group_numbers(groups, len(X)))
        settings = Settings(
            restarts=self.restarts,
            errors=self.errors,
            rng=self._rng(),
            proposals=tuple(self.proposals),
            preferred=self.preferred,
            deadline=start + self.time_limit,
            time_limit=self.allowed or self.time_limit,
            model=self.use == "model",
            on_progress=self.on_progress,
        )
        self._keep(search(rows, settings), rows)
        if self.program_ is None or self.use == "model":
            self._train_if_needed(rows)
        return self

    def withdraw_rule(self, reason: str, X: Any, y: Any) -> None:
        """Take the rule back and train a network on rows, if the search trained none."""
        self._forget_rule(reason)
        X, y, weight = self._validated(X, y, None)
        self._train_if_needed(self._rows(X, np.searchsorted(self.classes_, y), weight))

    def _rows(
        self, x: Tensor, classes: np.ndarray, weight: np.ndarray, groups: np.ndarray | None = None
    ) -> LabelledRows:
        columns = Columns(x, self._names(), meaning=self.meaning, groups=groups)
        rows = LabelledRows(columns, classes, weight, len(self.classes_))
        return rows.distinct() if self.merge_equal else rows

    def _train_if_needed(self, rows: LabelledRows) -> None:
        if self.best_ is None:
            self.best_ = train_networks(rows, Inputs.of(rows), min(FALLBACK, self.restarts), self._rng())[0]
            self.members_ = (self.best_,)

    def _keep(self, found: Found, rows: LabelledRows) -> None:
        self.evidence_, self.members_, self.best_ = found.evidence, found.networks, found.best
        labels = self.classes_.tolist()
        expression = found.columns.written_out(found.rule.expression)
        if self.gives_labels:
            expression = _with_labels(expression, labels)
        program = Program(expression, rows.columns.names)
        text = self.describe(self.meaning.of(program.expression))
        if found.evidence.reason is not None:
            self.program_ = self.rule_ = None
            if found.rule.comparisons:
                self.evidence_ = replace(self.evidence_, nearest=text)
            return
        self.program_, self.rule_ = replace(program, evidence=self.evidence_), text
        predicted, n = self._positions(rows.columns.evaluate(program)), rows.n_classes
        counts = np.bincount(predicted * n + rows.classes, rows.weight, n * n).reshape(n, n)
        self.shares_ = (counts + 1 / n) / (counts.sum(1, keepdims=True) + 1)

    def describe(self, expression: Expression) -> str:
        """A rule as a sentence: a formula, or a choice between classes."""
        labels = self.classes_.tolist()
        named = {label: label for label in labels} if self.gives_labels else dict(enumerate(labels))
        return _as_text(expression, named, self.meaning)

    @property
    def gives_labels(self) -> bool:
        """Whether the program gives the labels themselves: where there are more than two, and they are numbers."""
        return len(self.classes_) > 2 and bool(np.issubdtype(self.classes_.dtype, np.number))

    def _positions(self, answers: Any) -> np.ndarray:
        """The positions in ``classes_`` of the program's answers."""
        answers = np.asarray(answers)
        return np.asarray(np.searchsorted(self.classes_, answers) if self.gives_labels else answers.astype(np.int64))

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        likeliest = self.predict_proba(X).argmax(1)  # before classes_: it checks that there has been a fit
        return self.classes_[likeliest]

    @one_thread()
    def predict_proba(self, X: Any) -> Any:
        """(rows, classes): the network's, or the shares of the classes among rows with the program's same answer."""
        rows, program = self._rows_to_predict(X)
        if program is not None:
            return self.shares_[self._positions(self._evaluate(program, X, rows))]
        return probabilities(self._model(), rows)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows that are predicted right; labels may be any numbers or texts."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))


def _check_classes(y: np.ndarray, labels: np.ndarray) -> None:
    """Raise a ValueError for a target that has no classes, one class, or too many."""
    few = len(labels) <= min(MOST_CLASSES, len(y) // 2)
    if not (y.dtype.kind == "f" and few):  # prices such as 4.99 and 7.50 are labels too
        check_classification_targets(y)
    if len(labels) < 2:
        raise ValueError(f"y must have at least two classes, got one class: {labels.tolist()[0]!r}")
    if len(labels) > MOST_CLASSES:
        raise InputError(f"y has {len(labels):,} distinct values; at most {MOST_CLASSES} can be classes")


def _with_labels(expression: Expression, labels: Sequence[Any]) -> Expression:
    """A choice between positions as a choice between the labels there."""
    if isinstance(expression, Where):
        then, otherwise = (_with_labels(part, labels) for part in (expression.then, expression.otherwise))
        return Where(expression.condition, then, otherwise)
    return Constant(labels[_number(expression)])


def _as_text(expression: Expression, labels: Mapping[Any, Any], meaning: Meaning) -> str:
    """A formula, or a choice between classes, as a sentence."""
    if expression.is_boolean:
        return f"{labels[1]} if {expression}, else {labels[0]}"
    if not isinstance(expression, Where):
        return str(labels[_number(expression)])
    condition, then, otherwise = expression.condition, expression.then, expression.otherwise
    if (
        isinstance(then, Where)
        and not isinstance(otherwise, Where)
        and (turned := meaning.opposite(condition)) is not None
    ):
        condition, then, otherwise = turned, otherwise, then
    inner, rest = (_as_text(part, labels, meaning) for part in (then, otherwise))
    return f"{f'({inner})' if isinstance(then, Where) else inner} if {condition}, else {rest}"


def _number(expression: Expression) -> Any:
    assert isinstance(expression, Constant)
    return int(expression.value) if expression.value.denominator == 1 else float(expression.value)
