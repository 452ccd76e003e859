"""A scikit-learn regressor whose model can be read: sums of columns, chosen by comparisons."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from nsr.learn.base import Learner
from nsr.learn.doubts import LEFT_OVER, left_over, margins, unseen
from nsr.learn.gated import Member, train
from nsr.learn.registers import starts
from nsr.learn.rules import Rule
from nsr.learn.screen import SCREENED, Labelled, Screen, some_rows
from nsr.learn.search import HELD_OUT, Evidence, search, share_of
from nsr.learn.sums import Sum, Targets, nearest_sum, rounding, sums
from nsr.program.expressions import Expression, Truth, Where
from nsr.program.program import Program
from nsr.reading.columns import Numbers


class NSRRegressor(RegressorMixin, Learner):  # type: ignore[misc]
    """Finds the exact sums of columns that give a number, and the comparisons that choose between them.

    Two sums (NAU) gated by a register are trained from several starts; their weights are read as whole numbers, and
    which row follows which sum is learned as ``NSRClassifier`` learns classes. A single sum is the simplest case, and
    there may be up to four. Where the rows follow no such rule, ``program_`` is None, ``evidence_`` says why, and the
    best trained model answers.

    Its settings are those of ``Learner``.

    Attributes:
        program_: The rule as an exact program, or None.
        rule_: The rule in words, or None.
        evidence_: What speaks for it, or why there is none.
        members_: The trained models.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NSRRegressor":
        """Learn from rows ``X`` and the number ``y`` of each."""
        X, y, weight = self._checked(X, y, sample_weight, y_numeric=True)
        rng, names = self._rng(), self._names()
        coarse = max(
            float(np.finfo(kind).eps) for kind in (X.numpy().dtype, y.dtype, np.dtype(float)) if kind.kind == "f"
        )
        targets = Targets(Numbers(X, names), np.asarray(y, dtype=np.float64), weight, coarse).distinct()
        shuffled = rng.permutation(len(targets))
        held_out = targets.some(np.sort(shuffled[: max(1, int(len(targets) * HELD_OUT))]))
        tried = targets.some(np.sort(shuffled[-min(SCREENED, len(targets) - len(held_out)) :]))
        found = sums(tried, rng)
        seen = targets.some(np.sort(shuffled[len(held_out) :]))
        begun = starts(Screen(_sides(tried, found)), self.restarts, rng)
        self.members_ = tuple(train(seen, begun, found, self.epochs, rng, lambda done: self.watch(0.1 + 0.4 * done)))
        self.best_ = min(self.members_, key=lambda member: _error(member, targets))
        pieces, began = self._pieces(tried, found)
        expression, self.evidence_ = self._judged(targets, seen, pieces, began, rng)
        kept = _given(held_out, pieces) if expression is None else _right(expression, pieces, held_out)
        self.evidence_ = replace(self.evidence_, held_out=_share(held_out, kept), held_out_rows=len(held_out))
        self.program_ = None if expression is None else Program(expression, names)
        self.rule_ = None if self.program_ is None else str(self.program_)
        return self

    def _pieces(self, targets: Targets, found: list[Sum]) -> tuple[list[Sum], Counter[str]]:
        """The sums that give most rows, from the screen or as a model has learned them; and who has learned them."""
        learned = []
        for member in self.members_:
            own = [nearest_sum(targets, weights) for weights in member.whole_weights]
            learned.append((list(dict.fromkeys(own)), member.restart.began))
        given = [targets.weight[_given(targets, each)].sum() for each in (found, *(own for own, _ in learned))]
        best = found if given[0] >= max(given) else learned[int(np.argmax(given[1:]))][0]
        weights = {each.weights for each in best}
        return best, Counter(began for own, began in learned if {each.weights for each in own} >= weights)

    def _judged(
        self, targets: Targets, seen: Targets, pieces: list[Sum], began: Counter[str], rng: np.random.Generator
    ) -> tuple[Expression | None, Evidence]:
        """The function of some sums, and the evidence for it, or none and the reason."""
        names = targets.numbers.names
        given = _given(targets, pieces)
        share = _share(targets, given)
        evidence = Evidence(
            rows=len(targets),
            agreement=share,
            held_out=None,
            held_out_rows=0,
            restarts=len(self.members_),
            agreed=began.total(),
            began=began,
        )
        if not pieces or share < 1 - self.errors:
            reason = (
                f"no exact rule: sums of up to three columns give the target on {share_of(share)} of the rows "
                f"only, and {share_of(self.errors)} may be contradicted"
            )
            return None, replace(evidence, reason=reason)
        pieces = _needed(targets, pieces)
        constant = len(pieces) == 1 and not any(pieces[0].weights)
        if share < 1 and (constant or _explained(targets, given)):
            reason = (
                f"no exact rule: sums give the target on {share_of(share)} of the rows, and the others are no "
                "accident, since comparisons would explain some of them"
            )
            return None, replace(evidence, reason=reason)
        if len(pieces) == 1:
            return pieces[0].expression(names), evidence
        rows = _sides(seen, pieces, only=True)
        if len(np.unique(rows.classes)) < len(pieces):
            return None, replace(evidence, reason="no exact rule: which rows follow which sum cannot be told")
        gate = search(
            rows,
            restarts=self.restarts,
            epochs=self.epochs,
            errors=self.errors,
            rng=rng,
            preferred=_crossings(pieces),
            watch=lambda done: self.watch(0.5 + 0.5 * done),
        )
        whole = _whole(gate.rule.expression, pieces, names)
        evidence = replace(
            gate.evidence,
            rows=len(targets),
            agreement=_share(targets, _right(whole, pieces, targets)),
            margins=margins(targets.numbers, gate.rule),
            unseen=unseen(targets.numbers, gate.rule),
        )
        return None if gate.evidence.reason else whole, evidence

    def predict(self, X: Any) -> Any:
        """The number of each row."""
        X, program = self._asked(X)
        return self.best_.predict(X) if program is None else np.asarray(program(X)).astype(np.float64)


def _given(targets: Targets, pieces: list[Sum]) -> np.ndarray:
    """Which rows some sum gives."""
    return np.any([piece.holds(targets) for piece in pieces], axis=0) if pieces else np.zeros(len(targets), dtype=bool)


def _share(targets: Targets, rows: np.ndarray) -> float:
    """The share of some rows, by weight."""
    return float(targets.weight[rows].sum() / targets.weight.sum())


def _right(expression: Expression, pieces: list[Sum], targets: Targets) -> np.ndarray:
    """Of which rows a function of some sums is right, but for rounding."""
    said = targets.numbers.of(Program(expression, targets.numbers.names)).astype(np.float64)
    return np.asarray(np.abs(said - targets.y) <= rounding(targets, np.abs([piece.weights for piece in pieces]).sum(0)))


def _explained(targets: Targets, given: np.ndarray) -> bool:
    """Whether a comparison tells which rows no sum gives: then they are no accident."""
    rows = Labelled(targets.numbers, (~given).astype(np.int64), targets.weight, 2)
    return left_over(Screen(rows.some(some_rows(rows, SCREENED))), Rule(Truth(False), (), 0.0, 0.0)) > LEFT_OVER


def _needed(targets: Targets, pieces: list[Sum]) -> list[Sum]:
    """The pieces without those whose rows others give too."""
    kept = list(pieces)
    for piece in reversed(pieces):
        others = [each for each in kept if each is not piece]
        if others and np.array_equal(_given(targets, others), _given(targets, kept)):
            kept = others
    return kept


def _sides(targets: Targets, pieces: list[Sum], *, only: bool = False) -> Labelled:
    """Which sum each row follows; for want of sums, whether its target is above the middle. Perhaps only clear rows."""
    if len(pieces) < 2:
        classes = (targets.y > np.median(targets.y)).astype(np.int64)
        return Labelled(targets.numbers, classes, targets.weight, 2)
    holds = np.stack([piece.holds(targets) for piece in pieces])
    clear = np.flatnonzero(holds.sum(0) == 1) if only else np.arange(len(targets))
    rows = Labelled(targets.numbers, holds.argmax(0), targets.weight, len(pieces))
    return rows.some(clear) if only else rows


def _crossings(pieces: list[Sum]) -> dict[tuple[int, int], list[Fraction]]:
    """Where two sums are equal, as far as a comparison of a column, or of two columns, can say it."""
    found: dict[tuple[int, int], list[Fraction]] = {}
    for one, other in itertools.combinations(pieces, 2):
        apart = np.array(one.weights) - np.array(other.weights)
        columns = np.flatnonzero(apart).tolist()
        gap = other.constant - one.constant
        if len(columns) == 1:
            found.setdefault((columns[0], len(apart)), []).append(gap / int(apart[columns[0]]))
        elif len(columns) == 2 and apart.sum() == 0:
            found.setdefault((columns[0], columns[1]), []).append(gap / int(apart[columns[0]]))
    return found


def _whole(gate: Expression, pieces: list[Sum], names: tuple[str, ...]) -> Expression:
    """The function: what chooses between the positions of sums chooses between the sums."""
    own = [piece.expression(names) for piece in pieces]
    if len(pieces) == 2:
        return Where(gate, own[1], own[0])
    if isinstance(gate, Where):
        return Where(gate.condition, _whole(gate.then, pieces, names), _whole(gate.otherwise, pieces, names))
    return own[int(gate.value)]  # type: ignore[attr-defined]


def _error(member: Member, targets: Targets) -> float:
    return float(targets.weight @ np.abs(member.predict(targets.numbers.x) - targets.y))
