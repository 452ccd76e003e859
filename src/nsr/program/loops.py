"""Reading a loop: the gate is read on the pairs that it meets in the lists, and the loop is checked on the lists."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nsr.nn.recurrent import Recurrent, RecurrentMinimum
from nsr.program.expressions import Constant, Variable, Where
from nsr.program.folds import FIRST, ITEM, Fold
from nsr.program.harden import SHOWN, UnreadableError, harden
from nsr.program.program import Evidence

CLOSE = 0.1
"""How near the loop must be to the model where no answers are given, in parts of its size where above 1."""


def read_loop(module: Recurrent, x: Tensor | None, y: np.ndarray | None, errors: float) -> Fold:
    """The loop that a recurrent module stands for, or ``UnreadableError`` with lists that contradict the nearest."""
    x = torch.randint(-10, 10, (500, 5), generator=torch.Generator().manual_seed(0)) if x is None else x
    fold = _nearest(module, x)
    said, soft = np.asarray(fold(x), dtype=np.float64), module(x).numpy()
    with_model = np.abs(said - soft) <= CLOSE * np.maximum(1, np.abs(soft))
    holds = with_model if y is None else said == y
    if holds.mean() < 1 - errors:
        wrong, truth = np.flatnonzero(~holds), soft if y is None else y
        reason = f"no exact reading: {len(wrong)} of {len(said)} lists contradict the nearest loop"
        shown = [f"list {at}: {x[at].tolist()} should give {truth[at]:g}, not {said[at]:g}" for at in wrong[:SHOWN]]
        raise UnreadableError(reason, None, [int(at) for at in wrong], [*str(fold).splitlines(), *shown])
    evidence = Evidence(
        rows=len(said),
        with_model=float(with_model.mean()),
        with_data=None if y is None else float(holds.mean()),
        distance=float(np.abs(said - soft).max()),
    )
    return replace(fold, evidence=evidence)


def _nearest(module: Recurrent, x: Tensor) -> Fold:
    gate: Any = module.gate
    state, pairs = x[:, 0], []
    for item in x[:, 1:].unbind(1):
        pairs.append(torch.stack([state, item], dim=-1))
        if isinstance(module, RecurrentMinimum):
            state = torch.where(gate.logit(pairs[-1]) > 0, state, item)
    met = torch.unique(torch.cat(pairs), dim=0) if pairs else None
    if isinstance(module, RecurrentMinimum):
        best = Variable("best")
        formula = harden(gate, names=(best.name, ITEM.name), data=met).expression
        return Fold(best.name, FIRST, Where(formula, best, ITEM))
    count = Variable("count")
    formula = harden(gate, names=(FIRST.name, ITEM.name), data=met).expression
    return Fold(count.name, Constant(0), Where(formula, count + 1, count))
