"""Reading a loop: the gate is read on the pairs that it meets in the lists, and the loop is checked on the lists."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nsr.data import inboxes, random_graph
from nsr.nn import Inbox, Recurrent, RecurrentMinimum, ShortestPaths
from nsr.program.expressions import Constant, Expression, Variable, Where
from nsr.program.folds import FIRST, ITEM, Fold
from nsr.program.paths import DISTANCE, SUM, WEIGHT, Paths
from nsr.program.program import Evidence, Program
from nsr.reading.harden import SHOWN, UnreadableError, harden
from nsr.reading.pieces import near, sum_of, whole_weights

CLOSE = 0.1
"""How near the loop must be to the model where no answers are given, in parts of its size where above 1."""


def read_loop(
    module: Recurrent,
    x: Tensor | None,
    y: np.ndarray | None,
    errors: float,
    *,
    lengths: Tensor | None = None,
    soft: np.ndarray | None = None,
) -> Fold:
    """The loop that a recurrent module stands for, or ``UnreadableError`` with lists that contradict the nearest.

    Args:
        module: What to read.
        x: Lists, all of them read by default to their ends.
        y: The answers, where they are known.
        errors: Which share of the lists may contradict the loop.
        lengths: How many elements of each list count.
        soft: What the loop is to agree with where there are no answers; by default what the module says.
    """
    x = torch.randint(-10, 10, (500, 5), generator=torch.Generator().manual_seed(0)) if x is None else x
    lengths = torch.full(x.shape[:1], x.shape[1]) if lengths is None else lengths
    fold, gate = _nearest(module, x, lengths, errors)
    said, soft = np.asarray(fold(x, lengths), dtype=np.float64), module(x, lengths).numpy() if soft is None else soft
    with_model = np.abs(said - soft) <= CLOSE * np.maximum(1, np.abs(soft))
    holds = with_model if y is None else said == y
    if holds.mean() < 1 - errors:
        wrong, truth = np.flatnonzero(~holds), soft if y is None else y
        reason = f"no exact reading: {len(wrong)} of {len(said)} lists contradict the nearest loop"
        shown = [
            f"list {at}: {x[at, : lengths[at]].tolist()} should give {truth[at]:.15g}, not {said[at]:.15g}"
            for at in wrong[:SHOWN]
        ]
        raise UnreadableError(reason, None, [int(at) for at in wrong], [*str(fold).splitlines(), *shown])
    evidence = Evidence(
        rows=len(said),
        with_model=float(with_model.mean()),
        with_data=None if y is None else float(holds.mean()),
        margin=gate.margin if gate else None,
        distance=float(np.abs(said - soft).max()),
        dropped=gate.dropped if gate else (),
        unseen=gate.unseen if gate else (),
    )
    return replace(fold, evidence=evidence)


def _nearest(module: Recurrent, x: Tensor, lengths: Tensor, errors: float) -> tuple[Fold, Evidence | None]:
    """The loop around what the gate is read as, and the evidence of that. Whether it holds, the lists must say."""
    gate: Any = module.gate
    held, pairs = x[:, 0], []
    for position, item in enumerate(x[:, 1:].unbind(1), start=1):
        both, there = torch.stack([held, item], dim=-1), position < lengths
        pairs.append(both[there])
        if isinstance(module, RecurrentMinimum):
            held = torch.where((gate.logit(both) > 0) | ~there, held, item)
    met = torch.unique(torch.cat(pairs), dim=0) if (lengths > 1).any() else None
    minimum = isinstance(module, RecurrentMinimum)
    state = Variable("best" if minimum else "count")
    try:
        read = harden(gate, names=(state.name if minimum else FIRST.name, ITEM.name), data=met, errors=errors)
    except UnreadableError as refusal:
        if refusal.program is None:
            raise
        read = refusal.program
    if minimum:
        return Fold(state.name, FIRST, Where(read.expression, state, ITEM)), read.evidence
    return Fold(state.name, Constant(0), Where(read.expression, state + 1, state)), read.evidence


def read_paths(module: ShortestPaths, x: Tensor | None, y: np.ndarray | None, errors: float) -> Paths:
    """The message and the fold of a module for shortest paths, read from inboxes (rows as ``Inbox`` takes them)."""
    if x is None:
        generator = np.random.default_rng(0)
        x = inboxes([random_graph(generator) for _ in range(25)], messages=9).distinct().x
    if x.shape[-1] < 2 or x.shape[-1] % 2:
        raise ValueError(f"data must be inboxes: a count, a distance and pairs, got {tuple(x.shape)}")
    counts, soft = x[:, 0].long(), Inbox(module)(x).numpy()
    problems = []
    for message in _messages(module, answered=y is not None):
        arrived = Program(message, (DISTANCE.name, WEIGHT.name))(x[:, 2:].reshape(len(x), -1, 2))
        lists = torch.cat([x[:, 1:2], arrived], dim=-1)
        try:
            return Paths(read_loop(module.fold, lists, y, errors, lengths=counts + 1, soft=soft), message)
        except UnreadableError as refusal:
            reason, *shown = str(refusal).split("\n  ")
            problems.append(UnreadableError(f"with the message {message}: {reason}", None, refusal.rows, shown))
    raise problems[0]


def _messages(module: ShortestPaths, *, answered: bool) -> list[Expression]:
    """What a message may be: whole weights, and the simplest constant near; where answers judge, first a whole one."""
    if module.message is None:
        return [SUM]
    simple = near(module.message, 0)
    constants = (Fraction(round(simple)), simple, Fraction(0)) if answered else (simple,)
    weights = whole_weights(module.message, 0)
    return [sum_of(weights, (DISTANCE.name, WEIGHT.name), constant) for constant in dict.fromkeys(constants)]
