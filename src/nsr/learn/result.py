"""What was learned from a table: the rule, the evidence for it, and the rows that contradict it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from nsr.learn import NSRClassifier, NSRRegressor
from nsr.learn.emission import class_codes, emit_rule, needs_table
from nsr.learn.evidence import beginning, percent
from nsr.program.cells import evaluate_cells
from nsr.program.expressions import Expression, Or, Where
from nsr.program.program import Program
from nsr.program.whole_constants import with_whole_constants
from nsr.reading.derived import Meaning

Estimator = NSRClassifier | NSRRegressor
SAME = "the same for numbers in the steps of the columns"
"""What a rule with other constants is introduced by."""


@dataclass(frozen=True, eq=False)
class Verified:
    """How a rule did on all rows of a table."""

    rows: int
    wrong: int
    """How many rows contradict the rule."""
    examples: pd.DataFrame
    """The first of them; the index holds their row numbers in the file."""
    predicted: Sequence[Any]
    """What the rule gives for these."""


@dataclass(frozen=True, eq=False)
class Learned:
    """The result of learning from a table."""

    source: str
    """The name of the table's file."""
    target: str
    rows: int
    """How many rows the table has."""
    dropped: int
    """How many of them were dropped because a value is missing."""
    left_out: Sequence[tuple[str, str]]
    """Columns that were not used, each with the reason."""
    table: pd.DataFrame
    """The rows that were learned from."""
    x: pd.DataFrame
    """These as numbers; equal to ``table`` if that has nothing else."""
    y: pd.Series
    """Their targets."""
    estimator: Estimator
    """Fitted on ``x``."""
    program: Program | None
    """The rule in terms of the table; None if there is none."""
    verified: Verified | None
    """How the rule did on all rows of the table; None if there is no rule."""
    seconds: float
    has_floats: bool = True
    """Whether columns that the rule uses hold floats rather than integers, decimals, texts or dates."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """How dates that are not written as 2024-12-31 are written in the table, by column that the rule uses."""
    gaps: Sequence[str] = ()
    """The columns that the rule uses and that have missing cells, if their rows were not skipped."""
    steps: Mapping[str, Fraction] = field(default_factory=dict)
    """For columns of integers or decimals that the rule uses or predicts, what all their numbers are multiples of."""
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For columns with few different texts that the rule uses, all that they have in the table."""

    def emit(self, language: str, dialect: str | None = None) -> str:
        """The rule in another language, or as a check that the target is what the rule gives.

        Args:
            language: A key of ``nsr.program.emit.TARGETS``.
            dialect: The database, for SQL.
        """
        assert self.program is not None
        return emit_rule(
            self.program,
            language,
            column=self.target,
            classes=self._classes,
            dialect=dialect,
            table=self.source.split(".")[0] if needs_table(language) else None,
            missing=any(self.table[name].isna().any() for name in self.program.inputs),
            decimals=not self.has_floats,
            dates=self.dates,
            steps=self.steps,
        )

    @property
    def _classes(self) -> list[Any] | None:
        """The classes that the values of the program are positions of."""
        if not isinstance(self.estimator, NSRClassifier) or self.estimator.gives_labels:
            return None
        labels: list[Any] = self.estimator.classes_.tolist()
        return labels

    @property
    def is_classification(self) -> bool:
        """Whether the target was learned as classes."""
        return isinstance(self.estimator, NSRClassifier)

    @property
    def class_codes(self) -> list[tuple[str, str]]:
        """What the program returns for each class, and the class; empty if it returns the target itself or is None."""
        return [] if self.program is None else class_codes(self.program, self._classes)

    @property
    def model_can_be_saved(self) -> bool:
        """Whether the trained model can be used again: it takes numbers only."""
        return not self.estimator.meaning.derived

    @property
    def rule(self) -> str | None:
        """The rule as text."""
        return None if self.program is None else self.estimator.describe(self.program.expression)

    @property
    def rule_in_steps(self) -> str | None:
        """The rule with the constants that sums of such columns can have; None where it has no others.

        Floats need a constant between two sums, as in ``a + b > c + 0.005``. For exact cents that is ``a + b > c``.
        """
        if self.program is None:
            return None
        rule = self.estimator.describe(with_whole_constants(self.program.expression, self.steps))
        return None if rule == self.rule else rule

    def branches(self) -> list[tuple[str, int]]:
        """The conditions of the rule, and how many of the rows learned from meet each.

        A row may meet several parts of an ``or``; of a choice, those that meet an earlier condition do not count.
        """
        if self.program is None:
            return []
        expression = self.program.expression
        conditions = _alternatives(expression, self.estimator.meaning)
        first, found, met = _is_choice(expression), list[tuple[str, int]](), np.zeros(len(self.table), dtype=bool)
        for condition in conditions:
            holds = np.asarray(evaluate_cells(condition.simplified(), self.table, len(self.table)), dtype=bool)
            found.append((str(condition.simplified()), int((holds & ~met if first else holds).sum())))
            met |= holds
        return [*found, ("otherwise", int((~met).sum()))] if found else []

    def summary(self) -> str:
        """The rule and the evidence for it, or the reason why there is none, as lines of text."""
        if self.verified is None:
            return "\n".join(map(printable, self._why_no_rule()))
        rule = [str(self.rule), *([] if self.rule_in_steps is None else [f"{SAME}: {self.rule_in_steps}"])]
        evidence = str(self.estimator.evidence_).splitlines()
        return "\n".join(map(printable, [*rule, "", _verdict(self.verified), *self._support(), *evidence]))

    def _why_no_rule(self) -> list[str]:
        """The reason, the nearest rule and how often it is right, and the accuracy of the trained model."""
        evidence = self.estimator.evidence_
        lines = [str(evidence.reason)]
        if evidence.nearest is not None:
            share = percent(evidence.agreement)
            lines.append(f"nearest rule, right on {share} of the rows: {beginning(evidence.nearest)}")
        if evidence.model_held_out is not None:
            accuracy = f"{percent(evidence.model_held_out)} ({evidence.held_out_rows:,} rows)"
            lines.append(f"trained model: held-out accuracy {accuracy}")
        return lines

    def _support(self) -> list[str]:
        """How many rows meet each condition, as one line; none where the rule has no conditions."""
        support = [f"{count:,} {condition}" for condition, count in self.branches()]
        choice = self.program is not None and _is_choice(self.program.expression)
        what = "rows that meet each condition" + (", and none before it" if choice else "")
        return [f"{what}: {'; '.join(support)}"] if support else []


def _verdict(verified: Verified) -> str:
    rows, wrong = verified.rows, verified.wrong
    if not wrong:
        return f"verified on all {rows:,} rows"
    first = ", ".join(map(str, verified.examples.index[:5]))
    which = f"row {first}" if wrong == 1 else f"rows {first}{', ...' if wrong > 5 else ''}"
    return f"contradicted by {wrong:,} of {rows:,} rows ({which})"


def _alternatives(expression: Expression, meaning: Meaning) -> list[Expression]:
    """The conditions under which a rule gives something else than otherwise: parts of an or, branches of a choice."""
    if isinstance(expression, Or):
        return list(expression.parts)
    if expression.is_boolean:
        return [expression]
    found = []
    while isinstance(expression, Where):
        condition, then, rest = expression.condition, expression.then, expression.otherwise
        if (
            isinstance(then, Where)
            and not isinstance(rest, Where)
            and (turned := meaning.opposite(condition)) is not None
        ):
            condition, rest = turned, then
        found.append(condition)
        expression = rest
    return found


def _is_choice(expression: Expression) -> bool:
    return isinstance(expression, Where)


def printable(text: str) -> str:
    """One line of text that is safe to print: line breaks and other control characters are escaped."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
