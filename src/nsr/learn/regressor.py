"""A scikit-learn regressor whose model can be read: sums of columns, chosen by comparisons."""

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from nsr.learn.base import Learner
from nsr.learn.candidates import SCREENED, candidate_sums, evenly_spaced
from nsr.learn.diagnostics import UNEXPLAINED, margins, nats_unexplained, not_covered
from nsr.learn.evidence import RuleEvidence, percent
from nsr.learn.gated import Member, train
from nsr.learn.registers import starts
from nsr.learn.rules import Preferred, Rule
from nsr.learn.search import HELD_OUT, Settings, search
from nsr.learn.sums import Sum, Targets, find_sums, nearest_sum, tolerance
from nsr.program.expressions import Expression, Truth, Where
from nsr.program.program import Program
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import Screen


class NSRRegressor(RegressorMixin, Learner):  # type: ignore[misc]
    """Finds the exact sums of columns that give a number, and the comparisons that choose between them.

    Two sums (NAU) gated by a register are trained from several starts; their weights are rounded to integers, and which
    row follows which sum is learned as ``NSRClassifier`` learns classes. A single sum is the simplest case, and there
    may be up to four. Where the rows follow no such rule, ``program_`` is None, ``evidence_`` says why, and the best
    trained model predicts.

    >>> import numpy as np
    >>> from nsr.learn import NSRRegressor
    >>> X = np.random.default_rng(0).integers(-20, 20, (300, 3))
    >>> NSRRegressor(restarts=2, random_state=0).fit(X, X[:, :2].max(1)).rule_
    'where(x1 > x2, x1, x2)'

    Args:
        restarts: How many models are trained; half of them start from a screen of the data, half at random.
        epochs: The largest number of epochs for each.
        errors: The share of the rows that may contradict a rule, if they look random.
        use: What predicts: the ``program``, the ``model``, or ``auto``: the program where there is one.
        random_state: Seed of everything random.

    Attributes:
        program_: The rule as an exact program, or None.
        rule_: The rule as text, or None.
        evidence_: What supports the rule, or why there is none.
        members_: The trained models.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NSRRegressor":
        """Learn from rows ``X`` and the number ``y`` of each."""
        X, y, weight = self._validated(X, y, sample_weight, y_numeric=True)
        rng = self._rng()
        split = _split(_targets(Columns(X, self._names()), y, weight), rng)
        found = find_sums(split.tried, rng)
        sides = _which_sum(split.tried, found)
        restarts = starts(Screen(sides, candidate_sums(sides)), self.restarts, rng)
        self.members_ = tuple(
            train(split.seen, restarts, found, self.epochs, rng, lambda done: self.on_progress(0.1 + 0.4 * done))
        )
        self.best_ = min(self.members_, key=lambda member: _error(member, split.rows))
        pieces, origins = self._pieces(split.tried, found)
        expression, evidence = self._evaluate(split, pieces, origins, rng)
        right = _covered(split.held_out, pieces) if expression is None else _right(expression, pieces, split.held_out)
        self.evidence_ = replace(evidence, held_out=_share(split.held_out, right), held_out_rows=len(split.held_out))
        self.program_ = (
            None if expression is None else Program(expression, split.rows.columns.names, evidence=self.evidence_)
        )
        self.rule_ = None if self.program_ is None else str(self.program_)
        return self

    def _pieces(self, targets: Targets, found: list[Sum]) -> tuple[list[Sum], Counter[str]]:
        """The sums that are right on most rows, from the screen or a model; and the origins of those models."""
        learned = []
        for member in self.members_:
            sums = [nearest_sum(targets, weights) for weights in member.integer_weights]
            learned.append((list(dict.fromkeys(sums)), member.restart.origin))
        covered = [targets.weight[_covered(targets, sums)].sum() for sums in (found, *(sums for sums, _ in learned))]
        best = found if covered[0] >= max(covered) else learned[int(np.argmax(covered[1:]))][0]
        weights = {each.weights for each in best}
        return best, Counter(origin for sums, origin in learned if {each.weights for each in sums} >= weights)

    def _evaluate(
        self, split: "_Split", pieces: list[Sum], origins: Counter[str], rng: np.random.Generator
    ) -> tuple[Expression | None, RuleEvidence]:
        """The function made of some sums and the evidence for it, or None and the reason."""
        targets = split.rows
        covered = _covered(targets, pieces)
        evidence = RuleEvidence(
            rows=len(targets),
            agreement=_share(targets, covered),
            held_out=None,
            held_out_rows=0,
            restarts=len(self.members_),
            agreed=origins.total(),
            origins=origins,
        )
        if not pieces or evidence.agreement < 1 - self.errors:
            reason = (
                f"no exact rule: sums of up to three columns give the target on only {percent(evidence.agreement)} "
                f"of the rows (allowed errors: {percent(self.errors)})"
            )
            return None, replace(evidence, reason=reason)
        pieces = _needed(targets, pieces)
        constant = len(pieces) == 1 and not any(pieces[0].weights)
        if evidence.agreement < 1 and (constant or _explained(targets, covered)):
            reason = (
                f"no exact rule: sums give the target on {percent(evidence.agreement)} of the rows, and the others "
                "are not random: comparisons would explain some of them"
            )
            return None, replace(evidence, reason=reason)
        if len(pieces) == 1:
            return pieces[0].expression(targets.columns.names), evidence
        return self._choose_pieces(split, pieces, evidence, rng)

    def _choose_pieces(
        self, split: "_Split", pieces: list[Sum], evidence: RuleEvidence, rng: np.random.Generator
    ) -> tuple[Expression | None, RuleEvidence]:
        """The comparisons that choose between several sums, learned as classes."""
        targets = split.rows
        rows = _which_sum(split.seen, pieces, only_clear=True)
        if len(np.unique(rows.classes)) < len(pieces):
            return None, replace(evidence, reason="no exact rule: the rows do not show which sum they follow")
        settings = Settings(
            restarts=self.restarts,
            epochs=self.epochs,
            errors=self.errors,
            rng=rng,
            preferred=_crossings(pieces, targets.columns.names),
            on_progress=lambda done: self.on_progress(0.5 + 0.5 * done),
        )
        gate = search(rows, settings)
        function = _function(gate.rule.expression, pieces, targets.columns.names)
        evidence = replace(
            gate.evidence,
            rows=len(targets),
            agreement=_share(targets, _right(function, pieces, targets)),
            margins=margins(targets.columns, gate.rule),
            not_covered=not_covered(targets.columns, gate.rule),
        )
        return None if gate.evidence.reason else function, evidence

    def predict(self, X: Any) -> Any:
        """The number of each row."""
        X, program = self._rows_to_predict(X)
        return self.best_.predict(X) if program is None else np.asarray(program(X)).astype(np.float64)


def _targets(columns: Columns, y: Any, weight: np.ndarray) -> Targets:
    """Distinct rows with their targets, and the coarsest precision of the dtypes in which they were given."""
    dtypes = (columns.x.numpy().dtype, y.dtype, np.dtype(float))
    resolution = max(float(np.finfo(dtype).eps) for dtype in dtypes if dtype.kind == "f")
    return Targets(columns, np.asarray(y, dtype=np.float64), weight, resolution).distinct()


@dataclass(frozen=True, eq=False)
class _Split:
    """All rows; those held out to judge by; the others; and as many of the others as the screen examines."""

    rows: Targets
    held_out: Targets
    seen: Targets
    tried: Targets


def _split(rows: Targets, rng: np.random.Generator) -> _Split:
    shuffled = rng.permutation(len(rows))
    n = max(1, int(len(rows) * HELD_OUT))
    n_tried = min(SCREENED, len(rows) - n)
    held_out, seen, tried = (rows.subset(np.sort(part)) for part in (shuffled[:n], shuffled[n:], shuffled[-n_tried:]))
    return _Split(rows, held_out, seen, tried)


def _covered(targets: Targets, pieces: list[Sum]) -> np.ndarray:
    """For which rows one of the sums gives the target."""
    return np.any([piece.holds(targets) for piece in pieces], axis=0) if pieces else np.zeros(len(targets), dtype=bool)


def _share(targets: Targets, rows: np.ndarray) -> float:
    """The share of the given rows, by weight."""
    return float(targets.weight[rows].sum() / targets.weight.sum())


def _right(expression: Expression, pieces: list[Sum], targets: Targets) -> np.ndarray:
    """On which rows a function of some sums is right, up to rounding."""
    answers = targets.columns.evaluate(Program(expression, targets.columns.names)).astype(np.float64)
    sizes = np.abs([piece.weights for piece in pieces]).sum(0)
    return np.asarray(np.abs(answers - targets.y) <= tolerance(targets, sizes))


def _explained(targets: Targets, covered: np.ndarray) -> bool:
    """Whether a comparison explains which rows no sum covers: then they are not random."""
    rows = LabelledRows(targets.columns, (~covered).astype(np.int64), targets.weight, 2)
    screened = rows.subset(evenly_spaced(rows, SCREENED))
    nothing = Rule(Truth(False), (), 0.0, 0.0)
    return nats_unexplained(Screen(screened, candidate_sums(screened)), nothing) > UNEXPLAINED


def _needed(targets: Targets, pieces: list[Sum]) -> list[Sum]:
    """The pieces without those whose rows the others cover too."""
    kept = list(pieces)
    for piece in reversed(pieces):
        others = [other for other in kept if other is not piece]
        if others and np.array_equal(_covered(targets, others), _covered(targets, kept)):
            kept = others
    return kept


def _which_sum(targets: Targets, pieces: list[Sum], *, only_clear: bool = False) -> LabelledRows:
    """Rows labelled with the sum they follow; without sums, with whether the target is above the median.

    ``only_clear`` leaves out rows that follow several sums or none.
    """
    if len(pieces) < 2:
        classes = (targets.y > np.median(targets.y)).astype(np.int64)
        return LabelledRows(targets.columns, classes, targets.weight, 2)
    holds = np.stack([piece.holds(targets) for piece in pieces])
    rows = LabelledRows(targets.columns, holds.argmax(0), targets.weight, len(pieces))
    return rows.subset(np.flatnonzero(holds.sum(0) == 1)) if only_clear else rows


def _crossings(pieces: list[Sum], names: tuple[str, ...]) -> Preferred:
    """Where two sums are equal, as far as a comparison of one column or of two can express it."""
    found: dict[Weights, list[Fraction]] = {}
    for one, other in itertools.combinations(pieces, 2):
        apart = np.array(one.weights) - np.array(other.weights)
        columns = np.flatnonzero(apart).tolist()
        if len(columns) == 1 or (len(columns) == 2 and apart.sum() == 0):
            first, second = names[columns[0]], names[columns[1]] if len(columns) == 2 else None
            weights = Atom.difference(first, second).weights
            gap = other.constant - one.constant
            found.setdefault(weights, []).append(gap / int(apart[columns[0]]))
    return found


def _function(gate: Expression, pieces: list[Sum], names: tuple[str, ...]) -> Expression:
    """A choice between positions of sums as a choice between the sums."""
    sums = [piece.expression(names) for piece in pieces]
    if len(pieces) == 2:
        return Where(gate, sums[1], sums[0])
    if isinstance(gate, Where):
        return Where(gate.condition, _function(gate.then, pieces, names), _function(gate.otherwise, pieces, names))
    return sums[int(gate.value)]  # type: ignore[attr-defined]


def _error(member: Member, targets: Targets) -> float:
    return float(targets.weight @ np.abs(member.predict(targets.columns.x) - targets.y))
