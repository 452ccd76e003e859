"""Reading a loop: its gate is read on the pairs that it meets in the lists, and the loop is checked on the lists."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nsr.data import node_update_rows, random_graph
from nsr.nn import NodeUpdate, Recurrent, RecurrentMinimum, ShortestPaths
from nsr.program.expressions import Constant, Expression, Variable, Where
from nsr.program.folds import FIRST, ITEM, Fold
from nsr.program.paths import DISTANCE, SUM, WEIGHT, Paths
from nsr.program.program import Program
from nsr.reading.columns import Columns
from nsr.reading.evidence import ReadingEvidence, Source, UnreadableError
from nsr.reading.gates import SHOWN, Task, read_register
from nsr.reading.pieces import integer_weights, learned_constant, weighted_sum
from nsr.reading.probing import probing_rows

CLOSE = 0.1
"""How near the loop must be to the model if there are no answers; relative to answers above 1."""


def read_loop(
    module: Recurrent,
    x: Tensor | None,
    y: np.ndarray | None,
    errors: float,
    *,
    lengths: Tensor | None = None,
    model: np.ndarray | None = None,
) -> Fold:
    """The loop that a recurrent module stands for, or ``UnreadableError`` with lists that contradict the nearest.

    Args:
        module: What to read.
        x: Lists, by default random ones.
        y: The answers, where they are known.
        errors: The share of the lists that may contradict the loop.
        lengths: How many elements of each list count; all by default.
        model: What the loop must agree with where there are no answers; the module's own answers by default.
    """
    x = torch.randint(-10, 10, (500, 5), generator=torch.Generator().manual_seed(0)) if x is None else x
    lengths = torch.full(x.shape[:1], x.shape[1]) if lengths is None else lengths
    loop, gate = _nearest(module, x, lengths, errors)
    answers = np.asarray(loop(x, lengths), dtype=np.float64)
    model = module(x, lengths).numpy() if model is None else model
    with_model = np.abs(answers - model) <= CLOSE * np.maximum(1, np.abs(model))
    holds = with_model if y is None else answers == y
    if holds.mean() < 1 - errors:
        raise _contradicted(loop, x, lengths, answers, model if y is None else y, holds)
    evidence = ReadingEvidence(
        rows=len(answers),
        agreement=None if y is None else float(holds.mean()),
        with_model=float(with_model.mean()),
        margin=gate.margin if gate else None,
        distance=float(np.abs(answers - model).max()),
        dropped=gate.dropped if gate else (),
        not_covered=gate.not_covered if gate else (),
        sources=_sources(gate, labelled=y is not None),
    )
    return replace(loop, evidence=evidence)


def _sources(gate: ReadingEvidence | None, *, labelled: bool) -> tuple[tuple[str, Source], ...]:
    """The gate is read from the module alone; what answers decide is whether the loop around it is accepted."""
    parts = tuple(part for part in gate.sources if part[0] != "acceptance") if gate else ()
    return (*parts, ("acceptance", "labels" if labelled else "answers"))


def _contradicted(
    loop: Fold, x: Tensor, lengths: Tensor, answers: np.ndarray, truth: np.ndarray, holds: np.ndarray
) -> UnreadableError:
    wrong = np.flatnonzero(~holds)
    reason = f"no exact reading: {len(wrong)} of {len(answers)} lists contradict the nearest loop"
    shown = [
        f"list {at}: {x[at, : lengths[at]].tolist()} should give {truth[at]:.15g}, not {answers[at]:.15g}"
        for at in wrong[:SHOWN]
    ]
    return UnreadableError(reason, None, [int(at) for at in wrong], [*str(loop).splitlines(), *shown])


def _nearest(module: Recurrent, x: Tensor, lengths: Tensor, errors: float) -> tuple[Fold, ReadingEvidence | None]:
    """The loop around the gate's formula, and the evidence for the formula. The lists decide whether it holds."""
    minimum = isinstance(module, RecurrentMinimum)
    state = Variable("best" if minimum else "count")
    names = (state.name if minimum else FIRST.name, ITEM.name)
    formula = _read_gate(module.gate, names, _pairs_met(module, x, lengths), errors)
    evidence = formula.evidence if isinstance(formula.evidence, ReadingEvidence) else None
    if minimum:
        return Fold(state.name, FIRST, Where(formula.expression, state, ITEM)), evidence
    return Fold(state.name, Constant(0), Where(formula.expression, state + 1, state)), evidence


def _pairs_met(module: Recurrent, x: Tensor, lengths: Tensor) -> Tensor | None:
    """The distinct pairs that the gate compares in the lists; None where no list has two elements."""
    if not (lengths > 1).any():
        return None
    gate: Any = module.gate
    held, pairs = x[:, 0], []
    for position, item in enumerate(x[:, 1:].unbind(1), start=1):
        both, present = torch.stack([held, item], dim=-1), position < lengths
        pairs.append(both[present])
        if isinstance(module, RecurrentMinimum):
            held = torch.where((gate.logit(both) > 0) | ~present, held, item)
    met: Tensor = torch.unique(torch.cat(pairs), dim=0)
    return met


def _read_gate(gate: Any, names: tuple[str, str], pairs: Tensor | None, errors: float) -> Program:
    """The gate's formula on the pairs it meets; where no formula fits all of them, the nearest."""
    task = Task(Columns(probing_rows(gate) if pairs is None else pairs, names), None, errors)
    try:
        return read_register(gate, task)
    except UnreadableError as error:
        if error.program is None:
            raise
        return error.program


def read_paths(module: ShortestPaths, x: Tensor | None, y: np.ndarray | None, errors: float) -> Paths:
    """The message and the fold of a module for shortest paths, read from rows as ``NodeUpdate`` takes them."""
    if x is None:
        generator = np.random.default_rng(0)
        x = node_update_rows([random_graph(generator) for _ in range(25)], messages=9).distinct().x
    if x.shape[-1] < 2 or x.shape[-1] % 2:
        raise ValueError(f"data must hold a count, a distance and pairs in each row, got {tuple(x.shape)}")
    counts, model = x[:, 0].long(), NodeUpdate(module)(x).numpy()
    problems = []
    for message in _messages(module, answered=y is not None):
        arrived = Program(message, (DISTANCE.name, WEIGHT.name))(x[:, 2:].reshape(len(x), -1, 2))
        lists = torch.cat([x[:, 1:2], arrived], dim=-1)
        try:
            fold = read_loop(module.fold, lists, y, errors, lengths=counts + 1, model=model)
        except UnreadableError as error:
            reason, *shown = str(error).split("\n  ")
            problems.append(UnreadableError(f"with the message {message}: {reason}", None, error.rows, shown))
            continue
        return Paths(_with_message_sources(fold, module, labelled=y is not None), message)
    raise problems[0]


def _with_message_sources(fold: Fold, module: ShortestPaths, *, labelled: bool) -> Fold:
    if module.message is None or not isinstance(fold.evidence, ReadingEvidence):
        return fold
    *parts, acceptance = fold.evidence.sources
    learned: list[tuple[str, Source]] = [
        ("weights of the message", "weights"),
        ("constant of the message", "labels" if labelled else "weights"),
    ]
    return replace(fold, evidence=replace(fold.evidence, sources=(*parts, *learned, acceptance)))


def _messages(module: ShortestPaths, *, answered: bool) -> list[Expression]:
    """Possible messages: integer weights and a simple constant; if there are answers to decide, first an integer."""
    if module.message is None:
        return [SUM]
    simple = learned_constant(module.message, 0)
    constants = (Fraction(round(simple)), simple, Fraction(0)) if answered else (simple,)
    weights = integer_weights(module.message, 0)
    return [weighted_sum(weights, (DISTANCE.name, WEIGHT.name), constant) for constant in dict.fromkeys(constants)]
