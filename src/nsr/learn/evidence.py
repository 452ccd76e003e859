"""What supports a rule that was found in a table, or why there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nsr.learn.diagnostics import Margin
from nsr.program.program import Evidence

ORIGINS = {
    "screen": "a screen of single columns and pairs of columns",
    "training": "networks that weigh columns",
    "columns": "a screen of sums of the columns that networks weigh most",
    "products": "networks of logarithms",
    "pieces": "sums that are exact on many rows",
    "points": "comparisons that were added one at a time, each with its points",
}
"""What proposes comparisons or sums, in words."""
MOST_MARGINS = 6
"""How many comparisons are printed with the rows nearest to them."""
LONGEST_RULE = 400
"""How much of the nearest rule is printed where there is none."""
MOST_CASES = 8
"""How many of the cases are printed that no row shows."""


@dataclass(frozen=True, kw_only=True)
class RuleEvidence(Evidence):
    """How well a rule agrees with the rows, and with rows that it was read without."""

    agreement: float
    """Share of all rows on which the rule is right."""
    held_out: float | None
    """Share of the held-out rows on which a rule that was read without them is right; None where there were none."""
    held_out_rows: int
    origin: str = "screen"
    """What proposed its comparisons, or its sums: a key of ``ORIGINS``."""
    chosen_by: str | None = None
    """For sums: what proposed the comparisons that choose between them; None if their order or ranges do."""
    restarts: int = 0
    """How many networks were trained; 0 if none was needed."""
    reread: bool = False
    """Whether the rule changed, say in a constant, when it was read again together with the held-out rows."""
    margins: Mapping[str, Margin] = field(default_factory=dict)
    """For each comparison, how near the rows come to where it changes."""
    factors: tuple[str, ...] = ()
    """For multiples, as in ``a > 1.1*b``: from where to where the factor could be as far as the rows show."""
    exact: str | None = None
    """For two classes: a longer rule, right on all rows, that the few rows which contradict this one would show."""
    reason: str | None = None
    """Why there is no rule; None if there is one."""
    model_held_out: float | None = None
    """Share of the held-out rows that the trained model predicts right; None where it was trained on all rows."""
    nearest: str | None = None
    """If there is no rule, the nearest one, if any; the other figures then describe it."""

    def __str__(self) -> str:
        lines = [f"accuracy: {percent(self.agreement)} ({self.rows:,} distinct rows)"]
        if self.held_out is None:
            lines.append("held-out accuracy: none, too few rows")
        else:
            before = ", before it was read again with them" if self.reread else ""
            lines.append(f"held-out accuracy: {percent(self.held_out)} ({self.held_out_rows:,} rows{before})")
        if self.reason is not None:
            nearest = [] if self.nearest is None else [f"nearest rule: {beginning(self.nearest)}"]
            return "\n".join([self.reason, *nearest, *lines])
        lines.append(f"found by: {self.found_by}")
        for pair, margin in list(self.margins.items())[:MOST_MARGINS]:
            lines.append(f"rows nearest to the border between {pair}: {margin}")
        if self.factors:
            lines.append(f"factors that the rows leave open: {'; '.join(self.factors[:MOST_MARGINS])}")
        if self.not_covered:
            lines.append(f"not covered by the data: {listed(self.not_covered)}")
        if self.not_distinguished:
            lines.append(f"not distinguished by the data: {'; '.join(self.not_distinguished[:MOST_CASES])}")
        if self.exact is not None:
            lines.append(f"right on all rows with a further condition, for example: {self.exact}")
        return "\n".join(lines)

    @property
    def found_by(self) -> str:
        """What found the rule, in words."""
        chosen_by = "" if self.chosen_by is None else f"; which of them a row follows, by {ORIGINS[self.chosen_by]}"
        return f"{ORIGINS[self.origin]}{chosen_by}"


def beginning(rule: str) -> str:
    """A rule, or its beginning where it is very long."""
    more = len(rule) - LONGEST_RULE
    return rule if more <= 0 else f"{rule[:LONGEST_RULE]}... and {more:,} more characters"


def listed(cases: Sequence[str]) -> str:
    """The first few of some cases, and how many more there are."""
    more = len(cases) - MOST_CASES
    return ", ".join(cases[:MOST_CASES]) + (f" and {more:,} more" if more > 0 else "")


def percent(share: float) -> str:
    """A share in percent; only all of the rows are 100 %."""
    return "100 %" if share == 1 else f"{min(share, 0.9999) * 100:.4g} %"
