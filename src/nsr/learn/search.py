"""The search for a rule: restarts are trained and read, and the best of what they lead to is chosen and judged."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from nsr.learn.candidates import SCREENED, candidate_sums, evenly_spaced
from nsr.learn.diagnostics import (
    BY_CHANCE,
    UNEXPLAINED,
    chance_of_nearness,
    margins,
    nats_unexplained,
    not_covered,
    smooth_border,
)
from nsr.learn.evidence import RuleEvidence, percent
from nsr.learn.registers import Register, starts, train
from nsr.learn.rules import Preferred, Rule, description_length, read_rule
from nsr.reading.rows import LabelledRows
from nsr.reading.rules import WOBBLE, answers
from nsr.reading.screen import Screen

HELD_OUT = 0.2
"""The share of the rows that are held out: a rule is judged by them, not read from them."""
CLEAR = 3.0
"""Nats by which a rule must shorten the description of the classes."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to search."""

    restarts: int
    epochs: int
    errors: float
    rng: np.random.Generator
    preferred: Preferred | None = None
    """Constants that are taken before simpler ones, where the rows leave one open."""
    on_progress: Callable[[float], None] = lambda _: None
    """Called with the share of the search that is done."""


@dataclass(frozen=True, eq=False)
class Found:
    """The best rule, the evidence for it, all trained registers, and the best of these."""

    rule: Rule
    evidence: RuleEvidence
    registers: tuple[Register, ...]
    best: Register


def search(rows: LabelledRows, settings: Settings) -> Found:
    """Train restarts on some of the rows, read them, and judge the rules by the others.

    Rules that are right on the held-out rows come first, then the shortest, then what most restarts agree on.
    """
    seen, held_out = split_rows(rows, settings.rng)
    screened = seen.subset(evenly_spaced(seen, SCREENED))
    screen = Screen(screened, candidate_sums(screened))
    restarts = starts(screen, settings.restarts, settings.rng)
    registers = train(
        seen, restarts, settings.epochs, settings.rng, lambda done: settings.on_progress(0.1 + 0.5 * done)
    )
    rules = _read_all(screen, registers, settings)
    chosen = _choose(rules, held_out)
    sums = list(dict.fromkeys(atom.weights for atom in chosen.atoms))
    final = read_rule(Screen(rows, sums, among=screen.among), chosen.atoms, settings.preferred)
    accuracy = 1 - _wrong(chosen, held_out) / held_out.total if len(held_out) else None
    agreeing = [
        register.restart.origin
        for register, rule in zip(registers, rules, strict=True)
        if rule.expression == chosen.expression
    ]
    evidence = RuleEvidence(
        rows=len(rows),
        agreement=1 - final.wrong / rows.total,
        held_out=accuracy,
        held_out_rows=len(held_out),
        restarts=len(rules),
        agreed=len(agreeing),
        reread=final.expression != chosen.expression,
        origins=Counter(agreeing),
        margins=margins(rows.columns, final),
        not_covered=not_covered(rows.columns, final),
        reason=_objection(rows, screen, final, settings.errors)
        or _held_out_objection(accuracy, len(held_out), settings.errors),
    )
    return Found(final, evidence, tuple(registers), _best(registers, held_out if len(held_out) else rows))


def _read_all(screen: Screen, registers: Sequence[Register], settings: Settings) -> list[Rule]:
    rules = []
    for register in registers:
        rules.append(read_rule(screen, register.atoms, settings.preferred))
        settings.on_progress(0.6 + 0.4 * len(rules) / len(registers))
    return rules


def _choose(rules: Sequence[Rule], held_out: LabelledRows) -> Rule:
    votes = Counter(rule.expression for rule in rules)
    wrong = [_wrong(rule, held_out) for rule in rules]
    limit = min(wrong) + WOBBLE * (min(wrong) > 0)
    fine = [rule for rule, count in zip(rules, wrong, strict=True) if count <= limit]
    return min(fine, key=lambda rule: (rule.nats, rule.expression.size, -votes[rule.expression]))


def _objection(rows: LabelledRows, screen: Screen, rule: Rule, errors: float) -> str | None:
    """Why a rule is not handed out; None if it is."""
    without = description_length(rows.classes, np.zeros_like(rows.classes), rows.weight, rows.n_classes)
    if without < CLEAR + math.log(6 * screen.among):
        rarest = int(np.bincount(rows.classes, minlength=rows.n_classes).min())
        return (
            f"no rule: too few rows to tell a rule from chance ({len(rows):,} distinct rows, "
            f"{rarest:,} of the rarest class)"
        )
    if not rule.comparisons or rule.nats > without - CLEAR:
        return "no rule: no comparison of the columns separates the classes better than chance"
    if (border := smooth_border(rows, rule)) is not None:
        return (
            f"no exact rule: comparisons only approximate the border, which is about {border}; "
            "add that expression as a column"
        )
    return _contradictions_objection(rows, screen, rule, errors)


def _contradictions_objection(rows: LabelledRows, screen: Screen, rule: Rule, errors: float) -> str | None:
    """Why the rows that contradict a rule are too many, or not random."""
    share = rule.wrong / rows.total
    contradicted = f"no exact rule: {percent(share)} of the rows contradict the nearest rule"
    if share > errors:
        return f"{contradicted} (allowed: {percent(errors)})"
    if rule.wrong:
        screened = Screen(rows.subset(evenly_spaced(rows, SCREENED)), screen.sums)
        if nats_unexplained(screened, rule) > UNEXPLAINED:
            return f"{contradicted}, and not at random: further comparisons would explain some of them"
        if chance_of_nearness(rows, rule) < BY_CHANCE:
            return f"{contradicted}, and not at random: they lie along its borders"
    return None


def _held_out_objection(accuracy: float | None, rows: int, errors: float) -> str | None:
    """Why held-out rows speak against a rule; None if they do not."""
    if accuracy is None or 1 - accuracy <= errors + 2 * math.sqrt((errors + 1 / rows) / rows):
        return None
    return f"no rule: the best one is right on only {percent(accuracy)} of the held-out rows"


def split_rows(rows: LabelledRows, rng: np.random.Generator) -> tuple[LabelledRows, LabelledRows]:
    """Rows to learn from and rows to judge by, stratified by class."""
    out = np.zeros(len(rows), dtype=bool)
    for label in range(rows.n_classes):
        members = rng.permutation(np.flatnonzero(rows.classes == label))
        out[members[: int(len(members) * HELD_OUT)]] = True
    return rows.subset(np.flatnonzero(~out)), rows.subset(np.flatnonzero(out))


def _wrong(rule: Rule, rows: LabelledRows) -> float:
    return float(rows.weight[answers(rule.expression, rows) != rows.classes].sum())


def _best(registers: Sequence[Register], rows: LabelledRows) -> Register:
    """The register that is right most often."""
    return max(registers, key=lambda one: rows.weight[one.logits(rows.columns.x).argmax(1) == rows.classes].sum())


def probabilities(register: Register, x: Tensor) -> np.ndarray:
    """(rows, classes): a register's probability for each class."""
    z = register.logits(x)
    odds = np.exp(z - z.max(1, keepdims=True))
    return np.asarray(odds / odds.sum(1, keepdims=True))
