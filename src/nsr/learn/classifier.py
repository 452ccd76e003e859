"""A scikit-learn classifier whose model can be read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from nsr.learn.base import Learner
from nsr.learn.screen import Labelled
from nsr.learn.search import Found, probabilities, search
from nsr.program.expressions import Constant, Expression, Not, Where
from nsr.program.program import Program
from nsr.reading.columns import Numbers


class NSRClassifier(ClassifierMixin, Learner):  # type: ignore[misc]
    """Finds the exact rule by which a class follows from comparisons of columns, where there is one.

    Registers with constants look at differences of columns, several restarts are trained as one ensemble, each is read
    as a formula of at most four comparisons, and the best by held-out rows is chosen. Where the rows follow no such
    rule, ``program_`` is None, ``evidence_`` says why, and the best trained register answers.

    Its settings are those of ``Learner``.

    Attributes:
        program_: The rule as an exact program, or None. For two classes it is a formula that holds for
            ``classes_[1]``; for more it gives the label, or the position in ``classes_`` where labels are no numbers.
        rule_: The rule in words, or None.
        evidence_: What speaks for it, or why there is none.
        members_: The trained registers.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NSRClassifier":
        """Learn from rows ``X`` and the class ``y`` of each."""
        X, y, weight = self._checked(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes, got one class: {self.classes_.tolist()[0]!r}")
        names = self._names()
        rows = Labelled(Numbers(X, names), classes, weight, len(self.classes_)).distinct()
        found = search(
            rows,
            restarts=self.restarts,
            epochs=self.epochs,
            errors=self.errors,
            rng=self._rng(),
            watch=self.watch,
        )
        self._taken(found, rows, names)
        return self

    def _taken(self, found: Found, rows: Labelled, names: tuple[str, ...]) -> None:
        self.evidence_, self.members_, self.best_ = found.evidence, found.registers, found.best
        labels = self.classes_.tolist()
        expression = found.rule.expression
        if self.says_labels:
            expression = _relabelled(expression, labels)
        program = Program(expression, names)
        places = {label: label for label in labels} if self.says_labels else dict(enumerate(labels))
        words = _words(program.expression, places)
        self.program_ = program if found.evidence.reason is None else None
        self.rule_ = words if found.evidence.reason is None else None
        if self.program_ is None and found.rule.comparisons:
            self.evidence_ = replace(self.evidence_, nearest=words)
        if self.program_ is not None:
            said, kinds = self._places(rows.numbers.of(self.program_)), rows.kinds
            counts = np.bincount(said * kinds + rows.classes, rows.weight, kinds * kinds).reshape(kinds, kinds)
            self.shares_ = (counts + 1 / kinds) / (counts.sum(1, keepdims=True) + 1)

    @property
    def says_labels(self) -> bool:
        """Whether the program gives the labels themselves: where there are more than two, and they are numbers."""
        return len(self.classes_) > 2 and bool(np.issubdtype(self.classes_.dtype, np.number))

    def _places(self, said: Any) -> np.ndarray:
        """The position in ``classes_`` of what the program says."""
        said = np.asarray(said)
        return np.asarray(np.searchsorted(self.classes_, said) if self.says_labels else said.astype(np.int64))

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        likeliest = self.predict_proba(X).argmax(1)
        return self.classes_[likeliest]

    def predict_proba(self, X: Any) -> Any:
        """(rows, classes): by the register, or, for a program, how often it was right where it says the same."""
        X, program = self._asked(X)
        if program is None:
            return probabilities(self.best_, X)
        return self.shares_[self._places(program(X))]


def _relabelled(expression: Expression, labels: Sequence[Any]) -> Expression:
    """A choice between positions as a choice between the labels there."""
    if isinstance(expression, Where):
        then, otherwise = (_relabelled(part, labels) for part in (expression.then, expression.otherwise))
        return Where(expression.condition, then, otherwise)
    return Constant(labels[_number(expression)])


def _words(expression: Expression, labels: Mapping[Any, Any]) -> str:
    """A formula, or a choice between classes, as a person would say it."""
    if expression.is_boolean:
        return f"{labels[1]} if {expression}, else {labels[0]}"
    if not isinstance(expression, Where):
        return str(labels[_number(expression)])
    condition, then, otherwise = expression.condition, expression.then, expression.otherwise
    if isinstance(then, Where) and not isinstance(otherwise, Where):
        condition, then, otherwise = Not(condition).simplified(), otherwise, then
    inner = _words(then, labels)
    return f"{f'({inner})' if isinstance(then, Where) else inner} if {condition}, else {_words(otherwise, labels)}"


def _number(expression: Expression) -> Any:
    assert isinstance(expression, Constant)
    return int(expression.value) if expression.value.denominator == 1 else float(expression.value)
