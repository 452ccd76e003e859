"""Reading a register, alone or as the gate of a piecewise function, and choosing the reading that fits the rows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from torch import Tensor

from nsr.nn import NSR, Piecewise
from nsr.program.expressions import Compare, Expression, Truth, Where
from nsr.program.program import Program
from nsr.reading.columns import Columns
from nsr.reading.evidence import ReadingEvidence, Source, UnreadableError
from nsr.reading.pieces import read_branch
from nsr.reading.registers import Observed, Reading, readings, units

SHOWN = 5
"""How many contradicting rows an error shows."""
LARGEST = 40
"""A formula with more nodes than this explains nothing and does not count as a reading."""
WORTH = 0.005
"""Where labels may be wrong, the share of rows that a further comparison must explain."""
NEAR = 0.05
"""How far a branch's answers may be from those with integer weights if there are no answers to decide."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a module is read on."""

    columns: Columns
    y: np.ndarray | None
    """The answers, where they are known."""
    errors: float
    """The share of the rows that may contradict the program."""
    slack: float | None = None
    """How far a constant may be from the learned threshold; None: as far as the rows allow."""


def read_register(module: NSR, task: Task) -> Program:
    """The formula that a register computes, or ``UnreadableError``."""
    y = task.y
    if y is not None and not np.isin(y, (0, 1)).all():
        raise ValueError(f"the answers for a register must be 0 or 1, got {y[~np.isin(y, (0, 1))][0]:g}")
    z = module.logit(task.columns.x).numpy()
    model = z > 0
    truth = model if y is None else y > 0.5

    def evidence(answers: np.ndarray, reading: Reading) -> ReadingEvidence:
        return ReadingEvidence(
            rows=len(model),
            agreement=None if y is None else float((answers == truth).mean()),
            with_model=float((answers == model).mean()),
            margin=float(np.abs(z).min()),
            dropped=_dropped(module, task.columns, reading),
            not_covered=reading.not_covered,
            sources=gate_sources(module, reading, labelled=y is not None),
        )

    rows = Observed(task.columns, model, np.ones(len(model), dtype=bool), _decisions_of(module), task.slack)
    choice = _Choice(task, truth, lambda answers: answers == truth, evidence)
    return choice.best(readings(module, rows), lambda formula: formula)


def read_piecewise(module: Piecewise, task: Task) -> Program:
    """The choice between two sums that a ``Piecewise`` computes, or ``UnreadableError``."""
    gate: Any = module.gate
    columns, y = task.columns, task.y
    ask = _decisions_of(gate)
    chosen = ask(columns.x)
    branches = [read_branch(module.arms, at, columns, chosen if at == 0 else ~chosen, y) for at in (0, 1)]
    model, near = module(columns.x).numpy(), NEAR * (1 + columns.sizes)
    if y is None:  # the model with its gate decided is all there is to judge by, and its weights need not be integers
        sums = module.arms(columns.x).numpy()
        truth, tolerance = np.where(chosen, sums[:, 0], sums[:, 1]), near
    else:
        truth, tolerance = y, columns.tolerance(y)

    def holds(answers: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(answers - truth) <= tolerance)

    def evidence(answers: np.ndarray, reading: Reading) -> ReadingEvidence:
        return ReadingEvidence(
            rows=len(model),
            agreement=None if y is None else float(holds(answers).mean()),
            with_model=float((np.abs(answers - model) <= near).mean()),
            distance=float(np.abs(answers - model).max()),
            dropped=_dropped(gate, columns, reading),
            not_covered=reading.not_covered,
            sources=(
                *gate_sources(gate, reading, labelled=y is not None),
                ("weights of the branches", "weights"),
                ("constants of the branches", "weights" if y is None else "labels"),
            ),
        )

    first, second = (columns.evaluate(Program(branch, columns.names)) for branch in branches)
    matters = first != second
    found: Iterable[list[Reading]] = [[Reading(Truth(True), frozenset(), ())]]  # equal branches: nothing to decide
    if matters.any():
        found = readings(gate, Observed(columns, chosen, matters, ask, task.slack))
    return _Choice(task, truth, holds, evidence).best(found, lambda formula: Where(formula, *branches))


def gate_sources(register: NSR, reading: Reading, *, labelled: bool) -> tuple[tuple[str, Source], ...]:
    """Where the parts of a register's formula were read."""
    accepted: tuple[str, Source] = ("acceptance", "labels" if labelled else "answers")
    if not any(isinstance(node, Compare) for node in reading.formula.walk()):
        return (("formula", "answers"), accepted)
    constants: tuple[tuple[str, Source], ...] = (("constants", "answers"),) if register.constants else ()
    return (("compared numbers", "weights"), ("comparisons and their formula", "answers"), *constants, accepted)


def _decisions_of(register: Any) -> Callable[[Tensor], np.ndarray]:
    return lambda x: np.asarray(register.logit(x).numpy() > 0)


def _dropped(register: NSR, columns: Columns, reading: Reading) -> tuple[str, ...]:
    """The operands that units compare and the formula does not."""
    unused: dict[str, None] = {}
    for unit in units(register):
        if unit.weights(columns.names) not in reading.sums:
            second = "0" if unit.second is None else columns.names[unit.second]
            unused[f"{columns.names[unit.first]} with {second}"] = None
    return tuple(unused)


@dataclass(frozen=True)
class _Choice:
    """Chooses the reading that the rows support best."""

    task: Task
    truth: np.ndarray
    holds: Callable[[np.ndarray], np.ndarray]
    evidence: Callable[[np.ndarray, Reading], ReadingEvidence]

    def best(self, found: Iterable[list[Reading]], complete: Callable[[Expression], Expression]) -> Program:
        """The first that holds on every row; else, where errors are allowed, the one that explains most.

        A further comparison must then explain enough rows. The error, where there is no reading, shows the nearest.
        """
        columns, n_rows = self.task.columns, len(self.truth)
        tried: list[tuple[float, int, Program, np.ndarray]] = []
        for n_comparisons, variants in enumerate(found):
            for reading in variants:
                if reading.formula.size > LARGEST:
                    continue
                program = Program(complete(reading.formula), columns.names)
                answers = columns.evaluate(program)
                holds = self.holds(answers)
                program = replace(program, evidence=self.evidence(answers, reading))
                wrong = int((~holds).sum())
                if wrong == 0:
                    return program
                tried.append((wrong + n_comparisons * max(1.0, WORTH * n_rows), wrong, program, holds))
        allowed = [entry for entry in tried if entry[1] <= self.task.errors * n_rows]
        if allowed:
            return min(allowed, key=lambda entry: entry[:2])[2]
        nearest = min(tried, key=lambda entry: entry[:2])
        raise self._error(nearest[2], np.flatnonzero(~nearest[3]))

    def _error(self, nearest: Program, wrong: np.ndarray) -> UnreadableError:
        columns = self.task.columns
        reason = f"no exact reading: {len(wrong)} of {len(self.truth)} rows contradict {nearest}, the nearest program"
        unit = min((unit for unit in columns.units if unit is not None), default=Fraction(1))
        if unit != 1 and any(isinstance(node, Compare) for node in nearest.expression.walk()):
            reason += f"; floats round sums of decimals: try integers, every number times {unit.denominator}"
        source = "the model's answer is" if self.task.y is None else "the answer in the data is"
        shown = [f"row {at}: {columns.describe(int(at))}; {source} {self.truth[at]!s}" for at in wrong[:SHOWN]]
        return UnreadableError(reason, nearest, [int(at) for at in wrong], shown)
