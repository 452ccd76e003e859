"""What supports a rule that was found in a table, or why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nsr.learn.diagnostics import Margin
from nsr.program.program import Evidence

ORIGINS = {"screen": "from the screen", "random": "from random weights"}
"""Where a restart began, in words."""


@dataclass(frozen=True, kw_only=True)
class RuleEvidence(Evidence):
    """How well a rule agrees with the rows, and with rows that it was read without."""

    agreement: float
    """Share of all rows on which the rule is right."""
    held_out: float | None
    """Share of the held-out rows on which a rule that was read without them is right; None where there were none."""
    held_out_rows: int
    origin: str = "screen"
    """What proposed its comparisons: a key of ``ORIGINS``."""
    restarts: int = 0
    """How many networks were trained; 0 if none was needed."""
    agreed: int = 0
    reread: bool = False
    """Whether the rule changed, say in a constant, when it was read again together with the held-out rows."""
    origins: Mapping[str, int] = field(default_factory=dict)
    margins: Mapping[str, Margin] = field(default_factory=dict)
    """For each comparison, how near the rows come to where it changes."""
    reason: str | None = None
    """Why there is no rule; None if there is one."""
    nearest: str | None = None
    """If there is no rule, the nearest one, if any; the other figures then describe it."""

    def __str__(self) -> str:
        lines = [f"accuracy: {percent(self.agreement)} ({self.rows:,} distinct rows)"]
        if self.held_out is None:
            lines.append("held-out accuracy: none, too few rows")
        else:
            lines.append(f"held-out accuracy: {percent(self.held_out)} ({self.held_out_rows:,} rows)")
        if self.reason is not None:
            nearest = [] if self.nearest is None else [f"nearest rule: {self.nearest}"]
            return "\n".join([self.reason, *nearest, *lines])
        if self.agreed:
            origins = ", ".join(f"{count} {ORIGINS[origin]}" for origin, count in self.origins.items())
            again = "; constants read again with the held-out rows" if self.reread else ""
            lines.append(f"same rule from {self.agreed} of {self.restarts} restarts ({origins}){again}")
        lines += [f"rows nearest to the border between {pair}: {margin}" for pair, margin in self.margins.items()]
        if self.not_covered:
            lines.append(f"not covered by the data: {', '.join(self.not_covered)}")
        return "\n".join(lines)


def percent(share: float) -> str:
    """A share in percent; only all of the rows are 100 %."""
    return "100 %" if share == 1 else f"{min(share, 0.9999) * 100:.4g} %"
