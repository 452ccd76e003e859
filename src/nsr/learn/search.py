"""The search for a rule: restarts are trained and read, and the best of what they say is chosen."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from torch import Tensor

from nsr.learn.doubts import (
    BY_CHANCE,
    LEFT_OVER,
    Margin,
    chance_of_nearness,
    left_over,
    margins,
    smoother,
    unseen,
)
from nsr.learn.registers import Register, starts, train
from nsr.learn.rules import WOBBLE, Rule, nats_to_tell, read, said
from nsr.learn.screen import SCREENED, Labelled, Preferred, Screen, some_rows

HELD_OUT = 0.2
"""Which share of the rows a rule is not read from, but judged by."""
CLEAR = 3.0
"""Nats by which a rule must be shorter to tell than the classes themselves."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What speaks for a rule, or against it."""

    rows: int
    """How many distinct rows there were."""
    agreement: float
    """The share of all rows of which the rule is right."""
    held_out: float | None
    """The share of the held-out rows of which a rule read without them is right; None where none were held out."""
    held_out_rows: int
    restarts: int
    agreed: int
    """How many of the restarts found this rule."""
    reread: bool = False
    """Whether it changed, say by a constant, when it was read again together with the rows held out."""
    began: Mapping[str, int] = field(default_factory=dict)
    """How many of these began from a screen of the data, and how many at random."""
    margins: Mapping[str, Margin] = field(default_factory=dict)
    """For each comparison how near the rows come to where it changes."""
    unseen: tuple[str, ...] = ()
    """Cases that no row shows. Of them the rule says what is shortest."""
    reason: str | None = None
    """Why there is no rule, where there is none."""
    nearest: str | None = None
    """The rule that comes nearest then, where one does; the other figures are about it."""

    def __str__(self) -> str:
        lines = [f"right on {share_of(self.agreement)} of the rows, of which {self.rows:,} are distinct"]
        if self.held_out is None:
            lines.append("too few rows to hold any out")
        else:
            lines.append(f"read without {self.held_out_rows:,} of them, right on {share_of(self.held_out)} of these")
        if self.reason is not None:
            nearest = [] if self.nearest is None else [f"the nearest is {self.nearest}"]
            return "\n".join([self.reason, *nearest, *lines])
        kinds = ", ".join(f"{count} from {_article(kind)}" for kind, count in self.began.items())
        if self.agreed:
            again = ", then read again together with the rows held out" if self.reread else ""
            lines.append(f"found by {self.agreed} of {self.restarts} restarts ({kinds}){again}")
        lines += [f"nearest rows to the border of {pair}: {margin}" for pair, margin in self.margins.items()]
        if self.unseen:
            lines.append(f"no row shows {', '.join(self.unseen)}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: the best rule, the evidence, all trained registers, and the best of these."""

    rule: Rule
    evidence: Evidence
    registers: tuple[Register, ...]
    best: Register


def search(
    rows: Labelled,
    *,
    restarts: int,
    epochs: int,
    errors: float,
    rng: np.random.Generator,
    preferred: Preferred = MappingProxyType({}),
    watch: Callable[[float], None] = lambda _: None,
) -> Found:
    """Train restarts on some of the rows, read them, and judge what they say by the others.

    Right on held-out rows comes first, then what is shortest to tell, then what most restarts agree on. Where rows
    leave a constant open, it is one of those ``preferred`` for its pair, else the roundest. ``watch`` is told which
    share of the search is done.
    """
    seen, held_out = halves(rows, rng)
    screen = Screen(seen.some(some_rows(seen, SCREENED)), preferred=preferred)
    begun = starts(screen, restarts, rng)
    registers = train(seen, begun, epochs, rng, lambda done: watch(0.1 + 0.5 * done))
    rules = []
    for register in registers:
        rules.append(read(screen, register.probes))
        watch(0.6 + 0.4 * len(rules) / len(registers))
    votes = Counter(rule.expression for rule in rules)
    wrong = [_wrong(rule, held_out) for rule in rules]
    fine = [rule for rule, count in zip(rules, wrong, strict=True) if count <= min(wrong) + WOBBLE * (min(wrong) > 0)]
    chosen = min(fine, key=lambda rule: (rule.nats, rule.expression.size, -votes[rule.expression]))

    pairs = list(dict.fromkeys(probe.pair for probe in chosen.probes))
    whole = Screen(rows, pairs, among=screen.among, preferred=preferred)
    final = read(whole, chosen.probes)
    agreeing = [
        register.restart.began
        for register, rule in zip(registers, rules, strict=True)
        if rule.expression == chosen.expression
    ]
    kept = 1 - _wrong(chosen, held_out) / held_out.total if len(held_out) else None
    evidence = Evidence(
        rows=len(rows),
        agreement=1 - final.wrong / rows.total,
        held_out=kept,
        held_out_rows=len(held_out),
        restarts=len(rules),
        agreed=len(agreeing),
        reread=final.expression != chosen.expression,
        began=Counter(agreeing),
        margins=margins(rows.numbers, final),
        unseen=unseen(rows.numbers, final),
        reason=_refusal(rows, screen, final, errors) or _failed(kept, len(held_out), errors),
    )
    return Found(final, evidence, tuple(registers), _best(registers, held_out if len(held_out) else rows))


def _refusal(rows: Labelled, screen: Screen, rule: Rule, errors: float) -> str | None:
    """Why a rule is not handed out; None where it is."""
    nothing = nats_to_tell(rows.classes, np.zeros_like(rows.classes), rows.weight, rows.kinds)
    share = rule.wrong / rows.total
    if nothing < CLEAR + math.log(6 * screen.among):
        rarest = int(np.bincount(rows.classes, minlength=rows.kinds).min())
        return (
            f"no rule: {len(rows):,} distinct rows, {rarest:,} of the rarest class, are too few to tell one from chance"
        )
    if not rule.comparisons or rule.nats > nothing - CLEAR:
        return "no comparison of the columns tells the classes apart better than chance"
    if (line := smoother(rows, rule)) is not None:
        return f"no exact rule: comparisons only follow a border that is about {line}; a column with that would tell it"
    contradicted = f"no exact rule: {share_of(share)} of the rows contradict the nearest, and"
    if share > errors:
        return f"{contradicted} {share_of(errors)} may"
    if rule.wrong:
        whole = Screen(rows.some(some_rows(rows, SCREENED)), screen.pairs)
        if left_over(whole, rule) > LEFT_OVER:
            return f"{contradicted} not by chance, since further comparisons would explain some of them"
        if chance_of_nearness(rows, rule) < BY_CHANCE:
            return f"{contradicted} not by chance, since they lie along its borders"
    return None


def _failed(held_out: float | None, rows: int, errors: float) -> str | None:
    """Why held-out rows speak against a rule; None where they do not."""
    if held_out is None or 1 - held_out <= errors + 2 * math.sqrt((errors + 1 / rows) / rows):
        return None
    return f"no rule: read without some of the rows, it is right on {share_of(held_out)} of these only"


def halves(rows: Labelled, rng: np.random.Generator) -> tuple[Labelled, Labelled]:
    """Rows to learn from and rows to judge by, with as many of each class as there should be."""
    out = np.zeros(len(rows), dtype=bool)
    for kind in range(rows.kinds):
        own = rng.permutation(np.flatnonzero(rows.classes == kind))
        out[own[: int(len(own) * HELD_OUT)]] = True
    return rows.some(np.flatnonzero(~out)), rows.some(np.flatnonzero(out))


def _wrong(rule: Rule, rows: Labelled) -> float:
    return float(rows.weight[said(rule.expression, rows) != rows.classes].sum())


def _best(registers: Sequence[Register], rows: Labelled) -> Register:
    """The register that is right most often."""
    return max(registers, key=lambda one: rows.weight[one.logits(rows.numbers.x).argmax(1) == rows.classes].sum())


def probabilities(register: Register, x: Tensor) -> np.ndarray:
    """(rows, classes): what a register makes of rows."""
    z = register.logits(x)
    odds = np.exp(z - z.max(1, keepdims=True))
    return np.asarray(odds / odds.sum(1, keepdims=True))


def share_of(share: float) -> str:
    """A share in percent; only all is 100."""
    return "100 %" if share == 1 else f"{min(share, 0.9999) * 100:.4g} %"


def _article(kind: str) -> str:
    return {"screen": "a screen of the data", "random": "random weights"}[kind]
