"""The finished rule, read once more from all rows and judged: the evidence for it, or why there is no rule."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from nsr.learn.alternatives import conventional, not_distinguished, open_factors
from nsr.learn.attempt import Attempt, rescored, weight_wrong
from nsr.learn.candidates import candidate_sums
from nsr.learn.diagnostics import deciding_rows, margins, not_covered
from nsr.learn.evidence import RuleEvidence
from nsr.learn.exceptions import exact_rule
from nsr.learn.networks import Network
from nsr.learn.objections import few_rows, held_out_objection, objection, time_objection
from nsr.learn.refinement import as_one_idea, polished, rivals
from nsr.learn.rules import Reader, Rule
from nsr.learn.stages import extended_by_all
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows
from nsr.reading.rules import answers


@dataclass(frozen=True, eq=False)
class Found:
    """The best rule, the evidence for it, all networks that were read, and the best of these."""

    rule: Rule
    columns: Columns
    """The columns that the rule compares: those of the table, and products of them."""
    evidence: RuleEvidence
    networks: tuple[Network, ...]

    @property
    def best(self) -> Network | None:
        """The network to predict with; None if none was trained."""
        return self.networks[0] if self.networks else None


def judged(attempt: Attempt) -> Found:
    """The best rule, read once more from all rows but those to judge by, and then judged."""
    final, rows, judge = attempt.best(), attempt.rows, attempt.judge
    accuracy = 1 - weight_wrong(final, judge) / judge.total if len(judge) else None
    chosen = reread(attempt, final)
    deciding = deciding_rows(Reader(rows), chosen)
    evidence = RuleEvidence(
        rows=len(rows),
        agreement=1 - chosen.wrong / rows.total,
        held_out=accuracy,
        held_out_rows=len(judge),
        origin=chosen.origin,
        restarts=attempt.settings.restarts if attempt.networks else 0,
        reread=chosen.expression != final.expression,
        margins=margins(rows.columns, chosen, deciding),
        not_covered=not_covered(rows.columns, chosen, deciding),
        not_distinguished=not_distinguished(attempt.reader_of(rows), chosen),
        factors=open_factors(Reader(rows), chosen),
        exact=_longer_rule(attempt, chosen),
        reason=_reason(attempt, final, chosen, accuracy),
    )
    order = np.argsort([-_right(network, attempt.seen) for network in attempt.networks], kind="stable")
    networks = tuple(attempt.networks[at] for at in order)
    if networks and len(judge):
        evidence = replace(evidence, model_held_out=_right(networks[0], judge) / judge.total)
    return Found(chosen, rows.columns, evidence, networks)


def reread(attempt: Attempt, rule: Rule) -> Rule:
    """A rule that was read without the rows to judge by, read again with all rows if that explains them better."""
    rows, deadline = attempt.rows, attempt.settings.deadline
    before, reader = rescored(rule, attempt.seen, rows), attempt.reader_of(rows)
    if not weight_wrong(rule, attempt.judge):
        return conventional(reader, before)
    again = polished(reader, reader.read(rule.atoms, origin=rule.origin), deadline)
    best = min(before, again, extended_by_all(rows, reader, again, deadline), key=lambda each: each.nats)
    best = as_one_idea(reader, best)
    others = (other for other, _ in rivals_of(attempt, best))
    return conventional(reader, min((best, *others), key=lambda each: each.nats))


def rivals_of(attempt: Attempt, rule: Rule) -> Iterator[tuple[Rule, float]]:
    """Rules that explain all rows as well, each with the share of the rows on which it may differ all the same."""
    return rivals(attempt.reader_of(attempt.rows), rule, attempt.settings.deadline)


def _reason(attempt: Attempt, seen: Rule, rule: Rule, accuracy: float | None) -> str | None:
    """Why the rule is not handed out, and whether more time might help; None if it is."""
    rows, judge, settings = attempt.rows, attempt.judge, attempt.settings
    expected = (_contradicting(seen, attempt.seen) + len(seen.atoms)) / len(attempt.seen)
    before = {atom.canonical for atom in seen.atoms}
    confirmed = not _contradicting(seen, judge) or {atom.canonical for atom in rule.atoms} <= before
    reason = objection(rows, rule, settings.errors, confirmed=confirmed)
    reason = reason or held_out_objection(_contradicting(seen, judge), len(judge), expected, accuracy)
    if reason is not None and attempt.cut_short and not few_rows(rows):
        return time_objection(settings.time_limit, 1 - rule.wrong / rows.total)
    return reason


def _longer_rule(attempt: Attempt, rule: Rule) -> str | None:
    """A longer rule that is right on all rows, if few rows contradict the rule and are hardly random."""
    if not rule.wrong:
        return None
    rows = attempt.rows
    exact = exact_rule(attempt.reader_of(rows), rule, candidate_sums(rows), answers(rule.expression, rows))
    return None if exact is None else str(rows.columns.readable(exact))


def _contradicting(rule: Rule, rows: LabelledRows) -> int:
    """How many rows contradict a rule, whatever their weights."""
    return int((answers(rule.expression, rows) != rows.classes).sum())


def _right(network: Network, rows: LabelledRows) -> float:
    return float(rows.weight[network.logits(rows.columns.x).argmax(1) == rows.classes].sum())
