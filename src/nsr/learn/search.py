"""The search for a rule: comparisons are proposed, rules are read from them, the best is chosen, judged and confirmed.

Rows are split three ways: to learn from, to choose by, and to judge by (``attempt.py``). The last are looked at once,
for a rule that is finished (``judging.py``). What proposes comparisons is in ``stages.py``.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from nsr.learn.attempt import Attempt, Settings
from nsr.learn.base import PROPOSALS
from nsr.learn.judging import Found, judged, reread, rivals_of
from nsr.learn.refinement import CLOSE, SAME, is_rival
from nsr.learn.rules import Rule
from nsr.learn.stages import run_stages
from nsr.program.expressions import Expression
from nsr.program.program import Program
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows

CONFIRMATIONS = 4
"""How many other seeds may be needed to confirm a rule: each that leads to a better one begins anew."""
_PROPOSED_BY = {"columns": "training"}
"""What of ``PROPOSALS`` an origin belongs to, if it is not one of them: networks name the columns of that screen."""


def search(rows: LabelledRows, settings: Settings) -> Found:
    """Look for the rule that gives the class of every row; one that another seed does not confirm is not handed out.

    If another seed leads to a rule that is clearly better, that one is to be confirmed in turn.
    """
    attempt = Attempt(rows, settings)
    run_stages(attempt, settings.proposals)
    found = judged(attempt)
    for _ in range(CONFIRMATIONS):
        if found.evidence.reason is not None or settings.out_of_time:
            return found
        for other, same in rivals_of(attempt, found.rule):
            if not _agree(found, other, attempt.rows.columns, rows, same=same):
                return _not_the_only_one(found, attempt.rows.columns.readable(other.expression))
        if settings.out_of_time:
            return found
        attempt = Attempt(rows, settings)
        since = PROPOSALS.index(_PROPOSED_BY.get(found.rule.origin, found.rule.origin))
        run_stages(attempt, [name for name in settings.proposals if PROPOSALS.index(name) >= since])
        other = reread(attempt, attempt.best())
        if not is_rival(other, found.rule) or _agree(found, other, attempt.rows.columns, rows):
            return found
        rival = attempt.rows.columns.readable(other.expression)
        if other.nats >= found.rule.nats - CLOSE:
            break
        rival, found = found.columns.readable(found.rule.expression), judged(attempt)
    return _not_the_only_one(found, rival)


def _not_the_only_one(found: Found, other: Expression) -> Found:
    reason = (
        f"no exact rule: more rows are needed to distinguish the nearest rule from another one, which tests {other}"
    )
    return replace(found, evidence=replace(found.evidence, reason=reason))


def _agree(found: Found, other: Rule, columns: Columns, rows: LabelledRows, *, same: float = SAME) -> bool:
    """Whether two rules give the same answers but for a share of the rows, and of rows with the columns shuffled.

    Shuffled rows with a tie that no row shows do not count: the evidence names it.
    """
    names = rows.columns.names
    texts = found.columns.written_out(found.rule.expression), columns.written_out(other.expression)
    atoms = [atom for rule in (found.rule, other) for atom in rule.atoms if set(atom.columns) <= set(names)]
    unseen = [atom for atom in dict.fromkeys(atoms) if (rows.signs(atom) != 0).all()]
    for x in (rows.columns.x, _shuffled(rows)):
        shown = Columns(x, names)
        one, two = (shown.evaluate(Program(text, names)) for text in texts)
        tied = np.any([np.zeros(len(x), dtype=bool), *(shown.signs(atom) == 0 for atom in unseen)], axis=0)
        if ((one != two) & ~tied).mean() > same:
            return False
    return True


def _shuffled(rows: LabelledRows) -> Tensor:
    """The rows with each column of the table shuffled by itself."""
    x, rng = rows.columns.x, np.random.default_rng(0)
    sources = [rows.columns.meaning.source(name) for name in rows.columns.names]
    order = {source: rng.permutation(len(x)) for source in dict.fromkeys(sources)}
    return torch.stack([column[order[source]] for source, column in zip(sources, x.T, strict=True)], -1)
