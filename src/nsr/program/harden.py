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

from nsr.nn import NAU, NSR, Piecewise
from nsr.nn.recurrent import Recurrent, RecurrentMinimum
from nsr.program.constants import simplest
from nsr.program.expressions import Constant, Expression, Truth, Variable, Where, total
from nsr.program.folds import FIRST, ITEM, Fold
from nsr.program.program import Evidence, Program, checked_names
from nsr.program.reading import Numbers, Reading, formulas, rational_of, units
from nsr.tasks import Rows

Readings = Iterable[tuple[int, Callable[[], Reading]]]
SHOWN = 5
"""How many contradicting rows a refusal shows."""
LARGEST = 40
"""A formula of more nodes than this explains nothing and is no reading."""
CLOSE, EQUAL = 0.1, 1e-9
"""How near a number must be to the model's, which is soft, and to the data's, in parts of its size where above 1."""


class UnreadableError(ValueError):
    """A module that no exact program stands for. The text says why and shows rows that contradict the nearest one.

    ``program`` is the nearest, where there is one, with its evidence; ``rows`` are the numbers of the rows.
    """

    def __init__(self, reason: str, program: Program | None, rows: Sequence[int], shown: Sequence[str]) -> None:
        super().__init__("\n  ".join([reason, *shown]))
        self.reason, self.program, self.rows = reason, program, tuple(rows)


@overload
def harden(
    module: NSR | Piecewise, *, names: Sequence[str] | None = ..., data: Rows | Tensor | None = ..., errors: float = ...
) -> Program: ...


@overload
def harden(module: Recurrent, *, data: Rows | Tensor | None = ..., errors: float = ...) -> Fold: ...


@overload
def harden(
    module: nn.Module, *, names: Sequence[str] | None = ..., data: Rows | Tensor | None = ..., errors: float = ...
) -> Program | Fold: ...


def harden(
    module: nn.Module,
    *,
    names: Sequence[str] | None = None,
    data: Rows | Tensor | None = None,
    errors: float = 0.0,
) -> Program | Fold:
    """Read a trained module: the program it stands for, or ``UnreadableError`` with the reason and the rows.

    What is compared is read from the weights, how it is compared from what the module does on the data. The program
    is handed out if it says what the data say; where these have no answers, if it says what the module says.

    Args:
        module: An ``NSR``, a ``Piecewise`` whose gate is one, or a recurrent module around one, which gives a ``Fold``.
        names: Of the inputs; x1, x2 and so on by default.
        data: Rows with their answers, or rows alone (rows, inputs). By default integers of [-10, 9] over lambda.
        errors: Which share of the rows may contradict the program, as where labels are sometimes wrong.
    """
    register = module.gate if isinstance(module, Piecewise | Recurrent) else module
    if not isinstance(module, NSR | Piecewise | Recurrent) or not isinstance(register, NSR):
        raise UnreadableError(f"only what an NSR decides can be read, and {module!r} has none", None, (), ())
    if not 0 <= errors < 0.5:
        raise ValueError(f"errors must be a share from 0 to below 0.5, got {errors}")
    x, y = (data.x, data.y) if isinstance(data, Rows) else (data, None)
    if isinstance(module, Recurrent):
        return read_loop(module, register, x, y, errors)
    names = checked_names(names, module.inputs)
    slack = 0.05 / register.scale if x is None else math.inf
    x = _probing_rows(register) if x is None else x
    if x.dim() != 2 or x.shape[-1] != module.inputs or len(x) == 0:
        raise ValueError(f"data must be (rows, {module.inputs}) with at least one row, got {tuple(x.shape)}")
    if not x.isfinite().all():
        raise ValueError("data must be finite, got NaN or infinity")
    with torch.no_grad():
        module, numbers = copy.deepcopy(module).double(), Numbers(x, names, slack)
        answers = None if y is None else y.double().numpy()
        read: Callable[..., Program] = _register if isinstance(module, NSR) else _piecewise
        return read(module, x, numbers, answers, errors)


def _register(module: NSR, x: Tensor, numbers: Numbers, y: np.ndarray | None, errors: float) -> Program:
    z = module.logit(x).numpy()
    soft = z > 0
    search = _Search(
        numbers,
        soft,
        None if y is None else y > 0.5,
        errors,
        agree=lambda said, other, _: said == other,
        margin=lambda _: float(np.abs(z).min()),
    )
    everywhere = np.ones(len(soft), dtype=bool)
    return search.first(module, formulas(module, numbers, soft, everywhere), lambda formula: formula)


def _piecewise(module: Piecewise, x: Tensor, numbers: Numbers, y: np.ndarray | None, errors: float) -> Program:
    gate: Any = module.gate
    chosen, soft = gate.logit(x).numpy() > 0, module(x).numpy()
    arms = [_arm(module.arms, at, numbers, chosen if at == 0 else ~chosen, y) for at in (0, 1)]
    first, second = (numbers.of(Program(arm, numbers.names)) for arm in arms)
    search = _Search(
        numbers,
        soft,
        y,
        errors,
        agree=lambda said, other, near: np.abs(said - other) <= near * np.maximum(1, np.abs(other)),
        margin=lambda said: float(np.abs(said - soft).max()),
    )
    meet = Reading(Truth(True), Truth(True), frozenset(), ())  # where both arms are one, nothing is decided
    readings: Readings = [(0, lambda: meet)]
    if (first != second).any():
        readings = formulas(gate, numbers, chosen, first != second)
    return search.first(gate, readings, lambda formula: Where(formula, *arms))


@dataclass(frozen=True)
class _Search:
    """The first of some readings that holds on the rows."""

    numbers: Numbers
    soft: np.ndarray
    """What the module says."""
    data: np.ndarray | None
    """What the data say."""
    errors: float
    agree: Callable[[np.ndarray, np.ndarray, float], np.ndarray]
    margin: Callable[[np.ndarray], float]

    def first(self, register: NSR, readings: Readings, whole: Callable[[Expression], Expression]) -> Program:
        """The program of the first reading that few enough rows contradict, or a refusal with the nearest."""
        nearest: tuple[float, Program, np.ndarray] | None = None
        for wrong, read in readings:
            if nearest and self.data is None and wrong > self.errors * len(self.soft):
                continue  # it cannot say what the model says
            reading = read()
            for formula in dict.fromkeys((reading.rounded, reading.formula)):
                if formula.size > LARGEST:
                    continue
                program = Program(whole(formula), self.numbers.names)
                said = self.numbers.of(program)
                with_model = self.agree(said, self.soft, CLOSE)
                with_data = None if self.data is None else self.agree(said, self.data, EQUAL)
                holds = with_model if with_data is None else with_data
                evidence = Evidence(
                    rows=len(said),
                    with_model=float(with_model.mean()),
                    with_data=None if with_data is None else float(with_data.mean()),
                    margin=self.margin(said),
                    dropped=_dropped(register, self.numbers.names, reading),
                    unseen=reading.unseen,
                )
                program = Program(program.expression, program.names, evidence)
                if holds.mean() >= 1 - self.errors:
                    return program
                if nearest is None or holds.mean() > nearest[0]:
                    nearest = float(holds.mean()), program, holds
        assert nearest is not None, "the constant formula is always among the readings"
        raise self.refusal(nearest[1], np.flatnonzero(~nearest[2]))

    def refusal(self, nearest: Program, wrong: np.ndarray) -> UnreadableError:
        """Why there is no program, with some of the rows that contradict the nearest one."""
        truth, say = (self.soft, "the model says") if self.data is None else (self.data, "the data say")
        reason = f"no exact reading: {nearest} is the nearest, and {len(wrong)} of {len(truth)} rows contradict it"
        shown = []
        for at in wrong[:SHOWN]:
            values = ", ".join(f"{n} = {v:g}" for n, v in zip(self.numbers.names, self.numbers.x[at], strict=True))
            shown.append(f"row {at}: {values}; {say} {truth[at]}")
        return UnreadableError(reason, nearest, [int(at) for at in wrong], shown)


def read_loop(module: Recurrent, gate: NSR, x: Tensor | None, y: Tensor | None, errors: float) -> Fold:
    """The loop that a recurrent module stands for: its gate is read on the pairs that it meets in the lists."""
    x = torch.randint(-10, 10, (500, 5), generator=torch.Generator().manual_seed(0)) if x is None else x
    if x.dim() != 2 or 0 in x.shape:
        raise ValueError(f"data must be (lists, length) with at least one number in each, got {tuple(x.shape)}")
    with torch.no_grad():
        soft = copy.deepcopy(module).double()(x).numpy()
        if isinstance(module, RecurrentMinimum):
            state, pairs = x[:, 0], []
            for item in x[:, 1:].unbind(1):
                pairs.append(torch.stack([state, item], dim=-1))
                state = torch.where(gate.logit(pairs[-1]) > 0, state, item)
        else:
            pairs = [torch.stack([x[:, 0], item], dim=-1) for item in x[:, 1:].unbind(1)]
    met = torch.unique(torch.cat(pairs), dim=0) if pairs else None
    if isinstance(module, RecurrentMinimum):
        best = Variable("best")
        formula = harden(gate, names=(best.name, ITEM.name), data=met).expression
        fold = Fold(best.name, FIRST, Where(formula, best, ITEM))
    else:
        count = Variable("count")
        formula = harden(gate, names=(FIRST.name, ITEM.name), data=met).expression
        fold = Fold(count.name, Constant(0), Where(formula, count + 1, count))
    said = np.asarray(fold(x), dtype=np.float64)
    with_model = np.abs(said - soft) <= CLOSE * np.maximum(1, np.abs(soft))
    with_data = None if y is None else said == y.double().numpy()
    holds = with_model if with_data is None else with_data
    if holds.mean() < 1 - errors:
        wrong = np.flatnonzero(~holds)
        truth = soft if y is None else y.numpy()
        reason = f"no exact reading: {len(wrong)} of {len(said)} lists contradict the nearest loop"
        shown = [f"list {at}: {x[at].tolist()} should give {truth[at]:g}, not {said[at]:g}" for at in wrong[:SHOWN]]
        raise UnreadableError(reason, None, [int(at) for at in wrong], [*str(fold).splitlines(), *shown])
    evidence = Evidence(
        rows=len(said),
        with_model=float(with_model.mean()),
        with_data=None if with_data is None else float(with_data.mean()),
        margin=float(np.abs(said - soft).max()),
    )
    return replace(fold, evidence=evidence)


def _dropped(register: NSR, names: tuple[str, ...], reading: Reading) -> tuple[str, ...]:
    """The pairs that units compare and the formula does not."""
    operands = (*names, "0")
    pairs = dict.fromkeys((unit.first, unit.second) for unit in units(register))
    return tuple(f"{operands[i]} with {operands[j]}" for i, j in pairs if (i, j) not in reading.used)


def _arm(arms: NAU, at: int, numbers: Numbers, chosen: np.ndarray, y: np.ndarray | None) -> Expression:
    """An arm with whole weights, and the simplest constant that the rows which take it allow."""
    weights = arms.weight[at].round().int().tolist()
    learned = rational_of(float(arms.bias[at])) if arms.bias is not None else Fraction(0)
    low, high = learned - Fraction(1, 20), learned + Fraction(1, 20)
    if y is not None and chosen.any():
        middle = rational_of(float(np.median((y - numbers.x @ np.array(weights))[chosen])))
        slack = rational_of(EQUAL * max(1.0, float(np.abs(y).max())))
        low, high = middle - slack, middle + slack
    terms: list[tuple[Fraction, Expression]] = [
        (Fraction(weight), Variable(name)) for weight, name in zip(weights, numbers.names, strict=True)
    ]
    return total(terms, simplest(low, high, min(max(learned, low), high)))


def _probing_rows(register: NSR, count: int = 2_000) -> Tensor:
    """Rows to ask a register about: integers of [-10, 9] over lambda, and around each constant that it has learned."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(-10, 10, (count, register.inputs), generator=generator).double() / register.scale
    parts = [rows]
    for unit in units(register) if register.constants else ():
        some = rows[: count // 5].clone()
        steps = (torch.arange(len(some)) % 21 - 10) / register.scale
        base = 0.0 if unit.second == register.inputs else some[:, unit.second]
        some[:, unit.first] = base + unit.threshold + steps
        parts.append(some)
    return torch.cat(parts)
