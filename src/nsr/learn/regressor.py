"""A scikit-learn regressor whose model can be read: sums of columns, chosen by their order or by comparisons."""

import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from nsr.learn.attempt import Settings
from nsr.learn.base import Learner, group_numbers
from nsr.learn.candidates import SCREENED, candidate_sums, evenly_spaced
from nsr.learn.diagnostics import UNEXPLAINED, nats_unexplained
from nsr.learn.evidence import RuleEvidence, percent
from nsr.learn.gated import Member, train
from nsr.learn.objections import NO_COMPARISON, time_objection
from nsr.learn.pieces import Pieces, Targets, find_pieces, value_pieces
from nsr.learn.pieces.choice import (
    Choice,
    added_points,
    choose_between,
    nearest_line,
    rounded_line,
    rounded_pieces,
    share_right,
    within_limits,
)
from nsr.learn.registers import starts
from nsr.learn.rules import Rule
from nsr.program.expressions import Expression, Truth, Variable
from nsr.program.program import Program
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows, split_groups
from nsr.reading.screen import Screen
from nsr.training import one_thread

CHOOSE, JUDGE = 0.15, 0.2
"""The shares of the rows that are kept from the search for pieces: to choose a rule by, and to judge it by."""
RESTARTS = 4
"""How many models are trained at most; the best of them predicts."""
MOST_NAMED = 3
"""How many sums are named that the target is on rows where it is not rounded."""
EPOCHS = (200, 40)
"""For how many epochs, and for how many where the time is up."""


class NSRRegressor(RegressorMixin, Learner):  # type: ignore[misc]
    """Finds the exact sums of columns that give a number, and what chooses between them.

    Pieces are sums of columns, or of products of two columns, with rational weights, each exact on many rows. The
    target is their minimum, maximum or median, or changes along one column, or which piece a row follows is learned
    as ``NSRClassifier`` learns classes. Where the rows follow no such rule, ``program_`` is None, ``evidence_`` says
    why, and a trained model predicts.

    >>> import numpy as np
    >>> from nsr.learn import NSRRegressor
    >>> X = np.random.default_rng(0).integers(-20, 20, (300, 3))
    >>> NSRRegressor(random_state=0).fit(X, X[:, :2].max(1)).rule_
    'max(x1, x2)'

    Args:
        restarts: How many networks are trained, where comparisons have to be learned.
        errors: The share of the rows that may contradict a rule, if they look random.
        time_limit: Seconds after which the search ends.
        proposals: What may propose comparisons; ``products`` also lets pieces multiply columns.
        use: What predicts: the ``program``, the ``model``, or ``auto``: the program where there is one.
        random_state: Seed of everything random.

    Attributes:
        program_: The rule as an exact program, or None.
        rule_: The rule as text, or None.
        evidence_: What supports the rule, or why there is none.
        pieces_: The sums that were found, and on which rows each holds.
        members_: The trained models; none if there is a rule, unless ``use`` is ``model``.
        best_: The one of them that predicts, or None.
    """

    @one_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "NSRRegressor":
        """Learn from rows ``X`` and the number ``y`` of each; rows of one of the ``groups`` are held out together."""
        deadline = time.monotonic() + self.time_limit
        X, y, weight = self._validated(X, y, sample_weight, y_numeric=True)
        rng = self._rng()
        columns = Columns(X, self._names(), meaning=self.meaning, groups=group_numbers(groups, len(X)))
        targets = _targets(columns, y, weight, self.merge_equal)
        split = _split(targets, rng)
        pieces = self._find_pieces(targets.subset(split.learn), rng, deadline)
        cut_short = time.monotonic() > deadline
        self.on_progress(0.3)
        settings = Settings(
            restarts=self.restarts,
            errors=self.errors,
            rng=rng,
            proposals=tuple(self.proposals),
            preferred=self.preferred,
            deadline=deadline,
            time_limit=self.allowed or self.time_limit,
            on_progress=lambda done: self.on_progress(0.3 + 0.5 * done),
        )
        for found in pieces:
            self.pieces_ = found.of(targets.with_products_of(found.targets))
            choice = self._choose(split, settings)
            self._keep(choice, split)
            if self.program_ is not None:
                break
        self._read_again(split, settings)
        if cut_short and self.program_ is None and (choice is None or choice.evidence.reason is None):
            reason = time_objection(settings.time_limit, self.evidence_.agreement)
            self.evidence_ = replace(self.evidence_, reason=reason)
        self.members_, self.best_ = (), None
        if self.program_ is None or self.use == "model":
            self._train(targets.subset(split.seen), rng, EPOCHS[time.monotonic() > deadline])
        self.on_progress(1.0)
        return self

    def withdraw_rule(self, reason: str, X: Any, y: Any) -> None:
        """Take the rule back and train a model on rows, if there is none."""
        self._forget_rule(reason)
        if self.best_ is None:
            X, y, weight = self._validated(X, y, None, y_numeric=True)
            columns = Columns(X, self._names(), meaning=self.meaning)
            self._train(_targets(columns, y, weight, self.merge_equal), self._rng(), EPOCHS[1])

    def _find_pieces(self, targets: Targets, rng: np.random.Generator, deadline: float) -> list[Pieces]:
        """Pieces, and others to try if these lead to no rule."""
        found = find_pieces(targets, rng, deadline=deadline, products="products" in self.proposals)
        values = value_pieces(targets)
        if not len(values):
            return [found]
        if _share(targets, found.covered) < 1 - self.errors:
            return [values]
        return [values, found] if _weighs_conditions(found) else [found]

    def _choose(self, split: "_Split", settings: Settings) -> Choice | None:
        """The function that the rows to choose by show; None if no pieces were found."""
        seen = self.pieces_.targets.subset(split.seen)
        explained = _share(self.pieces_.targets, self.pieces_.covered, split.seen) >= 1 - self.errors
        if (rounded := rounded_pieces(self.pieces_)) is not None:
            return self._without_rounding(*rounded)
        choice = choose_between(self.pieces_, split.seen, settings) if explained else added_points(seen)
        if choice is not None and choice.evidence.reason is None:
            return choice
        if (line := rounded_line(seen, self.errors)) is not None:
            return self._without_rounding(*line)
        choice = choice or choose_between(self.pieces_, split.seen, settings)
        if choice is not None and _share(self.pieces_.targets, self.pieces_.covered) < 1 - self.errors:
            return replace(choice, evidence=replace(choice.evidence, reason=None))  # that pieces are missing says more
        return choice

    def _without_rounding(self, expression: Expression, unit: Fraction, near: np.ndarray | None = None) -> Choice:
        """No rule, because the target is a rounded sum: on all rows, or on those that are near it."""
        pieces = self.pieces_
        reason = f"no exact rule: the target is {expression}, rounded to multiples of {float(unit):g}"
        if near is not None and not near.all():
            count = (pieces.holds & ~near).sum(1)
            sums = Counter(piece.weights for piece in pieces.pieces)
            others = [
                at for at in np.argsort(-count, kind="stable") if count[at] and sums[pieces.pieces[at].weights] == 1
            ]
            named = [str(pieces.pieces[at].expression(pieces.targets)) for at in others[:MOST_NAMED]]
            left = ~near & ~pieces.holds[others[:MOST_NAMED]].any(0)
            where = " or ".join([*named, *(["something else"] if left.any() else [])])
            reason += f", but for {percent(_share(pieces.targets, ~near))} of the rows, where it is {where}"
        return Choice(expression, replace(_no_evidence(len(pieces.targets)), reason=reason))

    def _keep(self, choice: Choice | None, split: "_Split") -> None:
        """The rule and the evidence for it, or the reason why there is none and the nearest rule."""
        targets = self.pieces_.targets
        expression = nearest_line(targets.subset(split.seen)) if choice is None else choice.expression
        right = share_right(expression, self.pieces_)
        held_out = _share(targets, right, split.judge) if len(split.judge) else None
        names = tuple(name for name in targets.columns.names if name not in targets.columns.products)
        evidence = replace(
            _no_evidence(len(targets)) if choice is None else choice.evidence,
            rows=len(targets),
            agreement=_share(targets, right),
            held_out=held_out,
            held_out_rows=len(split.judge),
            model_held_out=None,  # that of the choice between pieces says nothing of the numbers
            reason=_objection(self.pieces_, choice, right, self.errors)
            or _held_out_objection(held_out, len(split.judge), self.errors),
        )
        refused = evidence.reason is not None
        text = self.describe(self.meaning.of(Program(expression, names).expression))
        self.evidence_ = replace(evidence, nearest=text if refused else None)
        self.program_ = None if refused else Program(expression, names, evidence=self.evidence_)
        self.rule_ = None if refused else text

    def describe(self, expression: Expression) -> str:
        """A rule as text."""
        return str(expression)

    def _read_again(self, split: "_Split", settings: Settings) -> None:
        """If held-out rows show what no other row does, such as a tie, choose once more with them."""
        targets = self.pieces_.targets
        if self.program_ is None or self.evidence_.agreement == 1:
            return
        if self.evidence_.origin == "points":
            again = added_points(targets)
        elif self.pieces_.covered.all():
            again = choose_between(self.pieces_, np.arange(len(targets)), settings)
        else:
            again = within_limits(Choice(self.program_.expression, self.evidence_), self.pieces_)
        if again is not None and again.evidence.reason is None:
            right = _share(targets, share_right(again.expression, self.pieces_))
            if right > self.evidence_.agreement:
                held_out = self.evidence_.held_out
                self._keep(again, split)
                self.evidence_ = replace(self.evidence_, held_out=held_out, reread=True)

    def _train(self, targets: Targets, rng: np.random.Generator, epochs: int) -> None:
        """Train a model to predict with."""
        rows = LabelledRows(targets.columns, (targets.y > np.median(targets.y)).astype(np.int64), targets.weight, 2)
        rows = rows.subset(evenly_spaced(rows, SCREENED))
        restarts = starts(Screen(rows, candidate_sums(rows)), min(RESTARTS, self.restarts), rng)
        pieces = [piece for piece in self.pieces_.pieces if set(piece.columns) <= set(targets.columns.names)]
        self.members_ = tuple(
            train(targets, restarts, pieces, epochs, rng, lambda done: self.on_progress(0.8 + 0.2 * done))
        )
        self.best_ = min(self.members_, key=lambda member: _error(member, targets))

    @one_thread()
    def predict(self, X: Any) -> Any:
        """The number of each row."""
        rows, program = self._rows_to_predict(X)
        if program is not None:
            return self._evaluate(program, X, rows).astype(np.float64)
        return self._model().predict(rows)


def _targets(columns: Columns, y: Any, weight: np.ndarray, merge_equal: bool) -> Targets:
    """Rows with their targets, and the coarsest precision of the dtypes in which they were given."""
    dtypes = (columns.x.numpy().dtype, y.dtype, np.dtype(float))
    resolution = max(float(np.finfo(dtype).eps) for dtype in dtypes if dtype.kind == "f")
    targets = Targets(columns, np.asarray(y, dtype=np.float64), weight, resolution)
    return targets.distinct() if merge_equal else targets


@dataclass(frozen=True, eq=False)
class _Split:
    """Rows by position: to find pieces in, these and more to choose a rule by, and those to judge it by."""

    learn: np.ndarray
    seen: np.ndarray
    judge: np.ndarray


def _split(targets: Targets, rng: np.random.Generator) -> _Split:
    if targets.columns.groups is not None:
        part = split_groups(targets.columns.groups, rng, (CHOOSE, JUDGE))
        return _Split(*(np.flatnonzero(np.isin(part, some)) for some in ((0,), (0, 1), (2,))))
    shuffled = rng.permutation(len(targets))
    choose, judge = int(len(targets) * CHOOSE), min(max(1, int(len(targets) * JUDGE)), len(targets) - 1)
    parts = shuffled[judge + choose :], shuffled[judge:], shuffled[:judge]
    return _Split(*(np.sort(part) for part in parts))


def _share(targets: Targets, rows: np.ndarray, among: np.ndarray | slice = slice(None)) -> float:
    """The share of some rows, by weight."""
    weight = targets.weight[among]
    return float(weight[rows[among]].sum() / weight.sum())


def _weighs_conditions(pieces: Pieces) -> bool:
    """Whether a piece has points for a condition: where a target has few values, these are plainer."""
    meaning = pieces.targets.columns.meaning
    names = {str(name) for piece in pieces.pieces for name in piece.columns}
    products = pieces.targets.columns.products
    factors = {
        node.name for name in names & set(products) for node in products[name].walk() if isinstance(node, Variable)
    }
    return any(meaning.group(name) == "condition" for name in (names - set(products)) | factors)


def _no_evidence(rows: int) -> RuleEvidence:
    return RuleEvidence(rows=rows, agreement=0.0, held_out=None, held_out_rows=0, origin="pieces")


def _objection(pieces: Pieces, choice: Choice | None, right: np.ndarray, errors: float) -> str | None:
    """Why there is no rule; None if there is one."""
    if choice is None:
        return "no exact rule: no sum of columns gives the target on more rows than chance would"
    covered = _share(pieces.targets, pieces.covered)
    if choice.evidence.origin != "points" and covered < 1 - errors and choice.evidence.reason is None:
        return (
            f"no exact rule: sums of columns give the target on only {percent(covered)} of the rows "
            f"(allowed errors: {percent(errors)})"
        )
    constant = len(pieces) == 1 and not pieces.pieces[0].weights
    share = _share(pieces.targets, right)
    if choice.evidence.reason is None and share < 1 and (constant or _explained(pieces.targets, right)):
        return (
            f"no exact rule: sums give the target on {percent(share)} of the rows, and the others "
            "are not random: comparisons would explain some of them"
        )
    if choice.evidence.reason == NO_COMPARISON:
        return (
            f"no exact rule: one of {len(pieces)} sums gives the target on {percent(covered)} of the rows, but no "
            "comparison of the columns shows better than chance which one"
        )
    return choice.evidence.reason


def _explained(targets: Targets, right: np.ndarray) -> bool:
    """Whether a comparison explains on which rows a rule is wrong: then these are not random."""
    rows = LabelledRows(targets.columns, (~right).astype(np.int64), targets.weight, 2)
    screened = rows.subset(evenly_spaced(rows, SCREENED))
    nothing = Rule(Truth(False), (), 0.0, 0.0)
    return nats_unexplained(Screen(screened, candidate_sums(screened)), nothing) > UNEXPLAINED


def _held_out_objection(accuracy: float | None, rows: int, errors: float) -> str | None:
    """Why held-out rows speak against a rule; None if they do not."""
    if accuracy is None or 1 - accuracy <= errors + 2 * math.sqrt((errors + 1 / rows) / rows):
        return None
    return f"no rule: the best one is right on only {percent(accuracy)} of the held-out rows"


def _error(member: Member, targets: Targets) -> float:
    return float(targets.weight @ np.abs(member.predict(targets.columns.x) - targets.y))
