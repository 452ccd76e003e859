"""The one training loop: a Recipe says how, ``fit`` does it, a History tells what happened."""

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nsr.data import Rows
from nsr.ensemble import (
    Ensemble,
    State,
    adam_corrections,
    adam_step,
    bounds_of,
    compiled_or_eager,
    has_compiler,
)


def absolute_error(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """How far the answer y of a comparison, or a number, is from its target, row by row: the paper's loss."""
    return _difference(module, x, y).abs()


def squared_error(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The square of that: rows that are far off weigh more."""
    return _difference(module, x, y).square()


def _difference(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    answer: Tensor = module(x)
    return (answer[..., 0] if answer.dim() > y.dim() else answer) - y


def cross_entropy(module: Any, x: Tensor, y: Tensor) -> Tensor:
    """Binary cross-entropy of a comparison's logit, row by row."""
    return functional.binary_cross_entropy_with_logits(module.logit(x), y, reduction="none")


LOSSES: Mapping[str, Callable[[nn.Module, Tensor, Tensor], Tensor]] = MappingProxyType(
    {"mae": absolute_error, "mse": squared_error, "bce": cross_entropy}
)


LATER: Mapping[str, bool] = MappingProxyType({"later": True})
"""Marks a setting that came later: at its default it is no part of a result's identity, so old results stay valid."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is trained: full-batch Adam with these settings. Everything here can change a number."""

    name: str
    loss: str
    """A key of ``LOSSES``."""
    epochs: int
    """How many at most."""
    learning_rate: float = 1e-3
    check_every: int = 1000
    """Epochs between two looks at the training rows."""
    patience: int = 0
    """A member stops once it was right on every row in this many looks one after another; 0: it never stops."""
    tolerance: float = field(default=0.1, metadata=LATER)
    """How far a number may be from its target and still be right (Section 4.3). A comparison is right or wrong."""
    sparsity: float = field(default=0.0, metadata=LATER)
    """How hard the weights of a NAU are drawn to -1, 0 and 1, in learning rates; growing to this from half time on."""

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {self.loss!r}")
        for name, least in (("epochs", 1), ("check_every", 1), ("patience", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, got {value}")
        if not (self.learning_rate > 0 and math.isfinite(self.learning_rate)):
            raise ValueError(f"learning_rate must be positive and finite, got {self.learning_rate}")
        for name in ("tolerance", "sparsity"):
            value = getattr(self, name)
            if not (value >= 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be finite and not negative, got {value}")

    def settings(self) -> dict[str, Any]:
        """Its fields, as they stand in the identity of a result."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        later = {each.name for each in fields(self) if each.metadata and own[each.name] == each.default}
        return {name: value for name, value in own.items() if name not in later}


PAPER = Recipe(name="paper", loss="mae", epochs=50_000)
"""Section 4.1: mean absolute error, Adam at its defaults, 50,000 epochs."""

EXACT = Recipe(name="exact", loss="bce", epochs=2_000, learning_rate=1e-2, check_every=20, patience=5)
"""Ours: cross-entropy on logits, ten times the learning rate, and each member stops when it has it right."""


@dataclass(frozen=True, eq=False)
class History:
    """What happened in training, member by member."""

    epochs: tuple[int, ...]
    """When the training rows were looked at."""
    loss: Tensor
    """(looks, members): before the step of that epoch."""
    accuracy: Tensor
    """(looks, members): weighted share of the training rows that were right."""
    stopped: Tensor
    """(members,): the epoch whose weights each member kept."""
    seconds: float
    compiled: bool
    rows: int
    """How many rows an epoch had, after folding."""


def fold(rows: Rows) -> Rows:
    """Rows that differ by a shift as one row with the sum of their weights (for a shift-invariant module).

    The 400 pairs of Section 4.1 become 39 rows, with the same loss and the same gradient. Rows of floats that a
    shift would round, such as [1e8, 1.5], are left as they are.
    """
    first = rows.x[:, :1]
    centred = rows.x - first
    if rows.x.is_floating_point():
        back = centred - rows.x
        lost = (rows.x - (centred - back)) - (first + back)  # what the subtraction rounded away, exactly
        if (lost != 0).any():
            return rows
    targets, target_of = torch.unique(rows.y.reshape(-1, len(rows)), dim=1, return_inverse=True)
    keys = torch.cat([centred, target_of.unsqueeze(-1).to(centred.dtype)], dim=-1)
    distinct, row_of = torch.unique(keys, dim=0, return_inverse=True)
    weight = torch.zeros(len(distinct), dtype=rows.weight.dtype).index_add(0, row_of, rows.weight)
    y = targets[:, distinct[:, -1].long()].reshape(*rows.y.shape[:-1], len(distinct))
    return Rows(distinct[:, :-1], y, weight)


class Objective(nn.Module):
    """One member's loss on weighted rows: what ``fit`` minimises."""

    def __init__(self, module: nn.Module, loss: str) -> None:
        super().__init__()
        self.module = module
        self.loss = LOSSES[loss]

    def forward(self, weight: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """The weighted mean of the row losses."""
        return (self.loss(self.module, x, y) * weight).sum()


COMPILING_PAYS = 200_000
"""Rows times epochs from which compiling repays its seconds. Not times members: a block of any size, same numbers."""

WIDEST_VECTOR = 16
"""Numbers in the widest vector register of a CPU: float32 in AVX-512."""


def fit(
    model: Ensemble | nn.Module,
    rows: Rows,
    recipe: Recipe,
    *,
    folded: bool | None = None,
    compiled: bool | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> History:
    """Train an ensemble, or a single module, in place.

    Args:
        model: What to train. Members end with the weights of the epoch at which they stopped.
        rows: The training rows, all of them in every epoch.
        recipe: How to train.
        folded: Fold shift-equivalent rows. By default where the module allows it.
        compiled: Compile the step. By default where there is a compiler and enough work to repay it.
        on_progress: Called at each check with the share of the epochs that is done.
    """
    if isinstance(model, nn.Module):
        ensemble = Ensemble.of([model])
        history = fit(ensemble, rows, recipe, folded=folded, compiled=compiled, on_progress=on_progress)
        model.load_state_dict(ensemble.member(0).state_dict())
        return history
    invariant = bool(getattr(model.template, "shift_invariant", False))
    if folded and not invariant:
        raise ValueError(
            f"rows can only be folded for a module that a shift of all inputs leaves unchanged, "
            f"which {model.template!r} is not"
        )
    if invariant and folded is not False:
        rows = fold(rows)
    if compiled is None:
        compiled = has_compiler() and len(rows) * recipe.epochs >= COMPILING_PAYS
    if recipe.loss == "bce" and not hasattr(model.template, "logit"):
        raise ValueError(f"loss 'bce' needs a module with a logit method, which {model.template!r} has not")
    if hasattr(model.template, "logit") and (rows.y.min() < 0 or rows.y.max() > 1):
        raise ValueError(f"targets must lie in [0, 1], got {rows.y.min().item():g} to {rows.y.max().item():g}")
    with one_thread():
        return _fit(model, rows, recipe, compiled, on_progress)


def _fit(
    ensemble: Ensemble, rows: Rows, recipe: Recipe, compiled: bool, on_progress: Callable[[float], None]
) -> History:
    began = time.perf_counter()
    y, weight, x = rows.y.to(ensemble.dtype), rows.weight.to(ensemble.dtype), rows.x.to(ensemble.dtype)
    if not rows.x.is_floating_point() and not torch.equal(x.to(rows.x.dtype), rows.x):
        x = rows.x  # too large for the dtype of the weights: a register subtracts integers as they are
    x = x.mT.contiguous().mT  # columns lie contiguous: the units of a layer run along the rows
    objective = Objective(ensemble.template, recipe.loss)
    bounds = bounds_of(objective)
    state, buffers = _initial_state(ensemble, len(rows))
    corrections = adam_corrections(recipe.learning_rate, recipe.epochs, recipe.sparsity)
    members = len(next(iter(state[0].values())))
    shared: tuple[Tensor, ...] = (weight, x)
    own: tuple[Tensor, ...] = (_padded(y.expand(len(ensemble), len(rows)), members),)
    if x.dim() == 3:  # each member has rows of its own
        shared, own = (weight,), (_padded(x, members), *own)
    if weight.dim() == 2:  # and they weigh differently
        shared, own = (), (_padded(weight, members), *own)
    answer = ensemble.each if x.dim() == 3 else ensemble
    first = objective, bounds, state, buffers, corrections[0], shared, own
    step = compiled_or_eager(*first) if compiled else adam_step

    kept = {name: value.clone() for name, value in ensemble.parameters.items()}
    stopped = torch.zeros(len(ensemble), dtype=torch.int64)
    streak = torch.zeros_like(stopped)
    looks: list[tuple[int, Tensor, Tensor]] = []

    for epoch, correction in enumerate(corrections, start=1):
        state, losses = step(objective, bounds, state, buffers, correction, shared, own)
        if epoch % recipe.check_every and epoch != recipe.epochs:
            continue
        for name, value in state[0].items():
            ensemble.parameters[name.removeprefix("module.")] = value[: len(ensemble)]
        right = _right(answer(x), y, recipe.tolerance)
        on_progress(epoch / recipe.epochs)
        looks.append((epoch, losses[: len(ensemble)], (right * weight).sum(-1)))
        streak = torch.where(right.all(-1), streak + 1, 0)
        ripe = streak >= (recipe.patience or math.inf)
        done = (stopped == 0) & (ripe | (epoch == recipe.epochs))
        stopped[done] = epoch
        for name, value in ensemble.parameters.items():
            kept[name][done] = value[done]
        if stopped.all():
            break

    ensemble.parameters = kept
    epochs, loss, accuracy = zip(*looks, strict=True)
    seconds = time.perf_counter() - began
    return History(epochs, torch.stack(loss), torch.stack(accuracy), stopped, seconds, step is not adam_step, len(rows))


def _right(answer: Tensor, y: Tensor, tolerance: float) -> Tensor:
    """Which rows are right: a comparison on its side of a half, a number within the tolerance."""
    if answer.dim() == 3:
        return (answer[..., 0] > 0.5) == (y > 0.5)
    return (answer - y).abs() <= tolerance


def _initial_state(ensemble: Ensemble, rows: int) -> tuple[tuple[State, State, State], State]:
    """Parameters, Adam's two moments, and what stays as it is, under the names they have inside an Objective.

    The last member is repeated after itself. A vector loop rounds its remainder in another way, and a stack of
    one is compiled in another way: both then befall a copy that nobody looks at.
    """
    members = len(ensemble) + 1 + WIDEST_VECTOR // rows

    def stacked(state: State) -> State:
        return {f"module.{name}": _padded(value, members) for name, value in state.items()}

    frozen = {name for name, value in ensemble.template.named_parameters() if not value.requires_grad}
    parameters = stacked({name: value for name, value in ensemble.parameters.items() if name not in frozen})
    fixed = {name: value for name, value in ensemble.parameters.items() if name in frozen}
    first, second = ({name: torch.zeros_like(value) for name, value in parameters.items()} for _ in range(2))
    return (parameters, first, second), stacked(ensemble.buffers | fixed)


def _padded(stacked: Tensor, members: int) -> Tensor:
    """``stacked`` with its last entry repeated until there is one for each member."""
    return torch.cat([stacked, stacked[-1:].repeat_interleave(members - len(stacked), 0)])


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One thread while tiny tensors are trained: two are slower, and far slower when the other core is busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
