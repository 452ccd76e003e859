"""From a trained module to the exact program that it stands for, with the evidence, or a reason why there is none."""

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor, nn

from nsr.data import Rows
from nsr.nn import NSR, Inbox, Piecewise, Recurrent, ShortestPaths
from nsr.program.expressions import Compare, Expression, Truth, Where
from nsr.program.folds import Fold
from nsr.program.paths import Paths
from nsr.program.program import Evidence, Program, checked_names
from nsr.reading.columns import Numbers
from nsr.reading.pieces import read_arm
from nsr.reading.registers import Observed, Reading, pairs, readings, units

SHOWN = 5
"""How many contradicting rows a refusal shows."""
LARGEST = 40
"""A formula of more nodes than this explains nothing and is no reading."""
WORTH = 0.005
"""Where labels may be wrong, the share of rows that a further comparison must explain to be taken up."""
ROUND = 0.05
"""How far the weights of an arm may be from whole numbers where no answers are given to judge by."""


class UnreadableError(ValueError):
    """A module that no exact program stands for. The text says why and shows rows that contradict the nearest one.

    ``program`` is the nearest, where there is one, with its evidence; ``rows`` are the numbers of the rows.
    """

    def __init__(self, reason: str, program: Program | None, rows: Sequence[int], shown: Sequence[str]) -> None:
        super().__init__("\n  ".join([reason, *shown]))
        self.reason, self.program, self.rows = reason, program, tuple(rows)


@overload
def harden(
    module: NSR | Piecewise, *, names: Sequence[str] | None = ..., data: Any = ..., errors: float = ...
) -> Program: ...


@overload
def harden(module: Recurrent, *, data: Any = ..., errors: float = ...) -> Fold: ...


@overload
def harden(module: ShortestPaths | Inbox, *, data: Any = ..., errors: float = ...) -> Paths: ...


@overload
def harden(
    module: nn.Module, *, names: Sequence[str] | None = ..., data: Any = ..., errors: float = ...
) -> Program | Fold | Paths: ...


def harden(
    module: nn.Module, *, names: Sequence[str] | None = None, data: Any = None, errors: float = 0.0
) -> Program | Fold | Paths:
    """Read a trained module: the program it stands for, or ``UnreadableError`` with the reason and the rows.

    What is compared is read from the weights, how it is compared from what the module does on the data. The program
    is handed out if it says what the data say; where these have no answers, if it says what the module says.

    Args:
        module: An ``NSR``, a ``Piecewise`` whose gate is one, a recurrent module around one, which gives a ``Fold``, or
            ``ShortestPaths``, which gives ``Paths``; its rows are those of an ``Inbox``.
        names: Of the inputs; x1, x2 and so on by default.
        data: ``Rows``, a pair of rows and their answers, or rows alone. By default whole numbers over lambda, as far
            as the module's answers can change.
        errors: Which share of the rows may contradict the program, as where labels are sometimes wrong.
    """
    module = module.paths if isinstance(module, Inbox) else module
    gated = module.fold if isinstance(module, ShortestPaths) else module
    register = gated.gate if isinstance(gated, Piecewise | Recurrent) else module
    if not isinstance(module, NSR | Piecewise | Recurrent | ShortestPaths) or not isinstance(register, NSR):
        raise UnreadableError(f"only what an NSR decides can be read, and {module!r} has none", None, (), ())
    if not all(parameter.isfinite().all() for parameter in module.parameters()):
        raise UnreadableError(f"{module!r} holds weights that are NaN or infinite", None, (), ())
    if not 0 <= errors < 0.5:
        raise ValueError(f"errors must be a share from 0 to below 0.5, got {errors}")
    x, y = _taken(data)
    with torch.no_grad():
        if isinstance(module, Recurrent | ShortestPaths):
            from nsr.reading.loops import read_loop, read_paths

            if names is not None:
                raise ValueError("names are for columns, and a loop has none")
            loop = copy.deepcopy(module).double()
            return read_loop(loop, x, y, errors) if isinstance(loop, Recurrent) else read_paths(loop, x, y, errors)
        names = checked_names(names, module.inputs)
        if x is not None and x.shape[-1] != module.inputs:
            raise ValueError(f"data must be (rows, {module.inputs}), got {tuple(x.shape)}")
        slack = 0.05 / register.scale if x is None else None
        numbers = Numbers(_probing_rows(register) if x is None else x, names)
        module = copy.deepcopy(module).double()
        read: Callable[..., Program] = _register if isinstance(module, NSR) else _piecewise
        return read(module, numbers, y, errors, slack)


def _taken(data: Any) -> tuple[Tensor | None, np.ndarray | None]:
    """Rows and answers, or a refusal in a sentence."""
    if data is None:
        return None, None
    if isinstance(data, tuple) and len(data) == 2:
        data = Rows.of(*(torch.as_tensor(np.asarray(part)) for part in data))
    x, y = (data.x, data.y) if isinstance(data, Rows) else (data, None)
    try:
        x = x if isinstance(x, Tensor) else torch.as_tensor(np.asarray(x))
    except (ValueError, TypeError):
        raise ValueError("data must be rows of numbers, as many in one as in another") from None
    if x.dim() != 2 or 0 in x.shape or (y is not None and y.dim() != 1):
        raise ValueError(
            f"data must be (rows, inputs) with at least one row, and one answer for each, got {tuple(x.shape)}"
        )
    if x.is_complex() or not x.isfinite().all():
        raise ValueError("data must be real and finite, got complex numbers, NaN or infinity")
    if not x.is_floating_point() and x.numel() and x.to(torch.int64).abs().max() > 2**62:
        raise ValueError("whole numbers in the data must lie within 2^62, where a register subtracts them exactly")
    return x, None if y is None else y.double().numpy()


def _register(module: NSR, numbers: Numbers, y: np.ndarray | None, errors: float, slack: float | None) -> Program:
    if y is not None and not np.isin(y, (0, 1)).all():
        raise ValueError(f"the answers for a register must be 0 or 1, got {y[~np.isin(y, (0, 1))][0]:g}")

    def ask(x: Tensor) -> np.ndarray:
        return np.asarray(module.logit(x).numpy() > 0)

    z = module.logit(numbers.x).numpy()
    soft = z > 0
    rows = Observed(numbers, soft, np.ones(len(soft), dtype=bool), ask, slack)
    truth = soft if y is None else y > 0.5
    search = _Search(
        numbers,
        truth,
        by_model=y is None,
        errors=errors,
        holds=lambda said: said == truth,
        evidence=lambda said, told: Evidence(
            rows=len(soft),
            with_model=float((said == soft).mean()),
            with_data=None if y is None else float((said == truth).mean()),
            margin=float(np.abs(z).min()),
            dropped=_dropped(module, numbers.names, told),
            unseen=told.unseen,
        ),
    )
    return search.best(readings(module, rows), lambda formula: formula)


def _piecewise(
    module: Piecewise, numbers: Numbers, y: np.ndarray | None, errors: float, slack: float | None
) -> Program:
    gate: Any = module.gate

    def ask(x: Tensor) -> np.ndarray:
        return np.asarray(gate.logit(x).numpy() > 0)

    chosen = ask(numbers.x)
    arms = [read_arm(module.arms, at, numbers, chosen if at == 0 else ~chosen, y) for at in (0, 1)]
    first, second = (numbers.of(Program(arm, numbers.names)) for arm in arms)
    soft, sides = module(numbers.x).numpy(), module.arms(numbers.x).numpy()
    near = ROUND * (1 + numbers.size)
    if y is None:  # the model with its gate decided is what there is to judge by, and its weights need not be whole
        truth, tolerance = np.where(chosen, sides[:, 0], sides[:, 1]), near
    else:
        truth, tolerance = y, numbers.rounding(y)

    def holds(said: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(said - truth) <= tolerance)

    search = _Search(
        numbers,
        truth,
        by_model=y is None,
        errors=errors,
        holds=holds,
        evidence=lambda said, told: Evidence(
            rows=len(soft),
            with_model=float((np.abs(said - soft) <= near).mean()),
            with_data=None if y is None else float(holds(said).mean()),
            distance=float(np.abs(said - soft).max()),
            dropped=_dropped(gate, numbers.names, told),
            unseen=told.unseen,
        ),
    )
    matters = first != second
    found: Iterable[Reading] = [Reading(Truth(True), Truth(True), frozenset(), ())]  # both arms are one: no decision
    if matters.any():
        found = readings(gate, Observed(numbers, chosen, matters, ask, slack))
    return search.best(found, lambda formula: Where(formula, *arms))


@dataclass(frozen=True)
class _Search:
    """The best of some readings by how they hold on the rows."""

    numbers: Numbers
    truth: np.ndarray
    by_model: bool
    """Whether the truth is what the model says, for want of answers in the data."""
    errors: float
    holds: Callable[[np.ndarray], np.ndarray]
    evidence: Callable[[np.ndarray, Reading], Evidence]

    def best(self, found: Iterable[Reading], whole: Callable[[Expression], Expression]) -> Program:
        """The first that holds on every row; else, where errors are allowed for, the one that explains most.

        A comparison more must then be worth its place. A refusal names the nearest.
        """
        rows = len(self.truth)
        kept: list[tuple[float, int, Program, np.ndarray]] = []
        for count, told in enumerate(found):
            for formula in dict.fromkeys((told.rounded, told.formula)):
                if formula.size > LARGEST:
                    continue
                program = Program(whole(formula), self.numbers.names)
                said = self.numbers.of(program)
                holds = self.holds(said)
                program = replace(program, evidence=self.evidence(said, told))
                wrong = int((~holds).sum())
                if wrong == 0:
                    return program
                kept.append((wrong + count * max(1.0, WORTH * rows), wrong, program, holds))
        allowed = [entry for entry in kept if entry[1] <= self.errors * rows]
        if allowed:
            return min(allowed, key=lambda entry: entry[:2])[2]
        nearest = min(kept, key=lambda entry: entry[:2])
        raise self.refusal(nearest[2], np.flatnonzero(~nearest[3]))

    def refusal(self, nearest: Program, wrong: np.ndarray) -> UnreadableError:
        """Why there is no program, with some of the rows that contradict the nearest one."""
        reason = f"no exact reading: {nearest} is the nearest, and {len(wrong)} of {len(self.truth)} rows contradict it"
        unit = min((unit for unit in self.numbers.units if unit is not None), default=Fraction(1))
        if unit != 1 and any(isinstance(node, Compare) for node in nearest.expression.walk()):
            reason += f"; floats round sums of decimals, so perhaps as whole numbers, each times {unit.denominator}"
        say = "the model says" if self.by_model else "the data say"
        shown = [f"row {at}: {self.numbers.told(int(at))}; {say} {self.truth[at]!s}" for at in wrong[:SHOWN]]
        return UnreadableError(reason, nearest, [int(at) for at in wrong], shown)


def _dropped(register: NSR, names: tuple[str, ...], told: Reading) -> tuple[str, ...]:
    """The pairs that units compare and the formula does not."""
    operands = (*names, "0")
    return tuple(f"{operands[i]} with {operands[j]}" for i, j in pairs(units(register)) if (i, j) not in told.used)


def _probing_rows(register: NSR, count: int = 2_000) -> Tensor:
    """Rows to ask a register about: whole numbers of [-10, 9] over lambda; with constants, as far as bits change."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(-10, 10, (count, register.inputs), generator=generator).double() / register.scale
    if not register.constants:
        return rows
    own = [unit for unit in units(register) if unit.influence > 0]
    phases = {}  # a constant of 37.5 is asked about at 36.5, 37.5 and 38.5: nearer numbers lambda does not tell apart
    for pair in pairs(own):
        past = [unit.threshold * register.scale % 1 for unit in own if unit.pair == pair]
        phases[pair] = past[0] / register.scale if max(past) - min(past) < 0.01 else 0.0
    for (first, second), phase in sorted(phases.items(), key=lambda pair: -pair[0][1]):
        rows[:, first] += phase + (0.0 if second == register.inputs else float(rows[0, second] % (1 / register.scale)))
    far = max((abs(unit.threshold) for unit in own), default=0.0) * register.scale
    selected = (register.v1.softmax(0) - register.v2.softmax(0)).abs().amax(0)
    reach = min(math.ceil(far + 12 / max(float(selected.min()), 0.01)), 2_000)  # beyond, no bit changes any more
    parts = [rows]
    for (first, second), phase in phases.items():
        steps = torch.arange(-reach, reach + 1) / register.scale
        some = rows[torch.arange(len(steps)) % len(rows)].clone()
        some[:, first] = phase + steps + (0.0 if second == register.inputs else some[:, second])
        parts.append(some)
    return torch.cat(parts)
