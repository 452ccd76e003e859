"""What supports a program that was read from a trained model, and the error where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nsr.program.program import Evidence, Program

Source = Literal["weights", "answers", "labels"]
"""Where a part of a program was read: in the model's weights, in its answers on the rows, or in the labels."""


@dataclass(frozen=True, kw_only=True)
class ReadingEvidence(Evidence):
    """How well a program agrees with the model it was read from, beside how well it agrees with the data."""

    with_model: float
    """Share of the rows on which the program gives the model's answer."""
    margin: float | None = None
    """For a formula: the smallest absolute logit of the model on any row."""
    distance: float | None = None
    """For a number: the largest distance between model and program on any row."""
    dropped: tuple[str, ...] = ()
    """Comparisons that the model makes and the program does not need."""
    sources: tuple[tuple[str, Source], ...] = ()
    """The parts of the program, and where each was read: the model's weights, its answers on the rows, or the labels.
    What came from labels would be the same with another model that compares the same numbers."""


class UnreadableError(ValueError):
    """No exact program describes a module. The text gives the reason and rows that contradict the nearest program.

    ``program`` is that program with its evidence, where there is one; ``rows`` are the numbers of the rows.
    """

    def __init__(
        self, reason: str, program: Program | None = None, rows: Sequence[int] = (), shown: Sequence[str] = ()
    ) -> None:
        super().__init__("\n  ".join([reason, *shown]))
        self.reason, self.program, self.rows = reason, program, tuple(rows)
