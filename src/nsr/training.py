"""The training loop: a Recipe says how, ``fit`` does it, and a History records what happened."""

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nsr.adam import (
    AdamState,
    adam_corrections,
    adam_step,
    bounds_of,
    compiled_or_eager,
    disagreement,
    has_compiler,
    report_fallback,
)
from nsr.data import Rows
from nsr.ensemble import Ensemble, State
from nsr.errors import one_of
from nsr.native import NativeTraining
from nsr.nn.checks import numbers_in


def absolute_error(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Distance of the comparison y, or of a number, from its target, row by row: the paper's loss."""
    return _difference(module, x, y).abs()


def squared_error(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Square of the absolute error, row by row: large errors weigh more."""
    return _difference(module, x, y).square()


def _difference(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    output: Tensor = module(x)
    return (output[..., 0] if output.dim() > y.dim() else output) - y


def cross_entropy(module: Any, x: Tensor, y: Tensor) -> Tensor:
    """Binary cross-entropy of a comparison's logit, row by row."""
    return functional.binary_cross_entropy_with_logits(module.logit(x), y, reduction="none")


LOSSES: Mapping[str, Callable[[nn.Module, Tensor, Tensor], Tensor]] = MappingProxyType(
    {"mae": absolute_error, "mse": squared_error, "bce": cross_entropy}
)


LATER: Mapping[str, bool] = MappingProxyType({"later": True})
"""Marks a setting added later: at its default it is left out of a result's identity, so old results stay valid."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is trained: full-batch Adam with these settings. Every field can change a result.

    >>> Recipe(loss="mse", epochs=500, learning_rate=0.01)
    Recipe(name='custom', loss='mse', epochs=500, learning_rate=0.01, check_every=1000, patience=0, tolerance=0.1, \
sparsity=0.0)
    >>> from dataclasses import replace
    >>> replace(EXACT, epochs=10_000).patience  # a variant of an existing recipe
    5
    """

    name: str = "custom"
    loss: str
    """A key of ``LOSSES``."""
    epochs: int
    """The largest number of epochs."""
    learning_rate: float = 1e-3
    check_every: int = 1000
    """Epochs between checks on the training rows."""
    patience: int = 0
    """A member stops after being right on every row in this many consecutive checks; 0: it never stops early."""
    tolerance: float = field(default=0.1, metadata=LATER)
    """How far a number may be from its target and still count as right (Section 4.3). Comparisons need none."""
    sparsity: float = field(default=0.0, metadata=LATER)
    """How hard the weights of a NAU are pulled to -1, 0 and 1, in learning rates; grows to this in the second half."""

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {self.loss!r}")
        for name, least in (("epochs", 1), ("check_every", 1), ("patience", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}, got {value}")
        rate = self.learning_rate
        if not (isinstance(rate, Real) and rate > 0 and math.isfinite(rate)):
            raise ValueError(f"learning_rate must be positive and finite, got {rate!r}")
        for name in ("tolerance", "sparsity"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and value >= 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be finite and not negative, got {value!r}")

    def settings(self) -> dict[str, Any]:
        """The fields that are part of a result's identity."""
        return {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if not entry.metadata or getattr(self, entry.name) != entry.default
        }


PAPER = Recipe(name="paper", loss="mae", epochs=50_000)
"""Section 4.1: mean absolute error, Adam at its defaults, 50,000 epochs."""

EXACT = Recipe(name="exact", loss="bce", epochs=2_000, learning_rate=1e-2, check_every=20, patience=5)
"""Ours: cross-entropy on logits, ten times the learning rate, and a member stops when it is right on all rows."""


@dataclass(frozen=True, eq=False)
class History:
    """What happened in training, for each member."""

    epochs: tuple[int, ...]
    """The epochs of the checks."""
    loss: Tensor
    """(checks, members): before the step of that epoch."""
    accuracy: Tensor
    """(checks, members): weighted share of the training rows that were right."""
    stopped: Tensor
    """(members,): the epoch whose weights each member kept."""
    seconds: float
    engine: str
    """What trained: a key of ``ENGINES``."""
    rows: int
    """Rows per epoch, after folding."""


def fold(rows: Rows) -> Rows:
    """Merge rows that differ by a shift only, adding their weights (for a shift-invariant module).

    The 400 pairs of Section 4.1 become 39 rows, with the same loss and the same gradient. Floats that a shift would
    round, such as [1e8, 1.5], are left as they are.
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


ENGINES: Mapping[str, str] = MappingProxyType(
    {
        "native": "epochs written in C, for the models of the paper (float32); needs a C compiler on first use",
        "compiled": "torch.compile, for any module; needs a C++ compiler and some seconds",
        "eager": "torch as it is, for any module",
    }
)
"""What can do the training. They differ by rounding."""

COMPILING_PAYS = 200_000
"""Rows times epochs from which compiling repays its seconds. Members do not count: any block gives the same numbers."""

CHECKED = 3
"""Members whose first native epoch is compared with torch's."""

WIDEST_VECTOR = 16
"""Numbers in the widest vector register of a CPU: float32 in AVX-512."""


def fit(
    model: Ensemble | nn.Module,
    data: Any,
    recipe: Recipe,
    *,
    folded: bool | None = None,
    engine: str | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> History:
    """Train an ensemble, or a single module, in place.

    Args:
        model: What to train. Each member ends with the weights of the epoch at which it stopped.
        data: A pair ``(x, y)`` of tensors, arrays, lists or data frames, or ``Rows``. Every epoch uses all rows.
        recipe: How to train.
        folded: Merge rows that differ by a shift only. By default if the module allows it.
        engine: A key of ``ENGINES``. By default the fastest that can train this model here.
        on_progress: Called at each check with the share of the epochs that is done.

    >>> import torch
    >>> from nsr import EXACT, NSR, fit
    >>> model = NSR(2, generator=torch.Generator().manual_seed(0))
    >>> history = fit(model, ([[1, 2], [5, 5], [2, 1], [7, 3]], [0, 0, 1, 1]), EXACT)
    >>> history.accuracy[-1]
    tensor([1.])
    >>> model([[10**9 + 1, 10**9]])[:, 0] > 0.5
    tensor([True])
    """
    if not isinstance(model, Ensemble | nn.Module):
        raise ValueError(f"model must be an Ensemble or a module such as NSR(2), got {model!r}")
    if not isinstance(recipe, Recipe):
        raise ValueError(f"recipe must be a Recipe such as EXACT, got {recipe!r}")
    if engine is not None:
        one_of("engine", engine, ENGINES)
    rows = Rows.from_data(data)
    if isinstance(model, nn.Module):
        ensemble = Ensemble.of([model])
        history = fit(ensemble, rows, recipe, folded=folded, engine=engine, on_progress=on_progress)
        model.load_state_dict(ensemble.member(0).state_dict())
        return history
    _check_loss(model.template, rows, recipe)
    invariant = bool(getattr(model.template, "shift_invariant", False))
    if folded and not invariant:
        raise ValueError(
            f"rows can only be folded for a module that a shift of all inputs leaves unchanged, "
            f"which {model.template!r} is not"
        )
    if invariant and folded is not False:
        if isinstance(inputs := getattr(model.template, "inputs", None), int):
            numbers_in(rows.x, inputs)  # an error names the rows as they were given
        rows = fold(rows)
    with one_thread():
        return _fit(model, rows, recipe, engine, on_progress)


def _check_loss(template: nn.Module, rows: Rows, recipe: Recipe) -> None:
    """Require a loss that fits the module and targets that fit the loss."""
    if recipe.loss == "bce" and not hasattr(template, "logit"):
        raise ValueError(f"loss 'bce' needs a module with a logit method, which {template!r} does not have")
    if hasattr(template, "logit") and (rows.y.min() < 0 or rows.y.max() > 1):
        raise ValueError(f"targets must lie in [0, 1], got {rows.y.min().item():g} to {rows.y.max().item():g}")


def _fit(
    ensemble: Ensemble, rows: Rows, recipe: Recipe, engine: str | None, on_progress: Callable[[float], None]
) -> History:
    began = time.perf_counter()
    rows = _for_training(rows, ensemble.dtype)
    corrections = adam_corrections(recipe.learning_rate, recipe.epochs, recipe.sparsity)
    training = _training(ensemble, rows, recipe, engine, corrections[:1])
    checks = _Checks(ensemble, rows, recipe)
    for done in range(0, recipe.epochs, recipe.check_every):
        some = corrections[done : done + recipe.check_every]
        losses = training.advance(some, checks.stopped == 0)
        ensemble.parameters = ensemble.parameters | training.parameters()
        checks.add(done + len(some), losses)
        on_progress((done + len(some)) / recipe.epochs)
        if checks.all_stopped:
            break
    ensemble.parameters = checks.kept
    return checks.history(seconds=time.perf_counter() - began, engine=training.engine)


def _training(
    ensemble: Ensemble, rows: Rows, recipe: Recipe, engine: str | None, correction: Tensor
) -> "NativeTraining | _TorchTraining":
    """The engine asked for, or the fastest that can train the ensemble and agrees with torch on its first epoch."""
    if engine in (None, "native"):
        native = _native(ensemble, rows, recipe, correction)
        if native is not None:
            return native
        if engine == "native":
            raise ValueError(f"engine 'native' cannot train {ensemble.template!r} here: leave the choice to fit")
    if engine is None:
        pays = has_compiler() and len(rows) * recipe.epochs >= COMPILING_PAYS
        engine = "compiled" if pays else "eager"
    return _TorchTraining(ensemble, rows, recipe, compiled=engine == "compiled")


def _native(ensemble: Ensemble, rows: Rows, recipe: Recipe, correction: Tensor) -> NativeTraining | None:
    """Native training of the ensemble, if there is one and its first epoch is torch's, for the first members."""
    first = _rows_of_members(rows, CHECKED)
    trial = NativeTraining.of(ensemble[:CHECKED], recipe.loss, first)
    if trial is None:
        return None
    torch_training = _TorchTraining(ensemble[:CHECKED], first, recipe, compiled=False, copies=0)
    losses = trial.advance(correction)
    state = tuple({f"module.{name}": value for name, value in part.items()} for part in trial.state_by_name())
    difference = disagreement((state, losses), torch_training.arguments(correction[0]))  # type: ignore[arg-type]
    if difference is not None:
        report_fallback(ensemble.template, f"its native training step is wrong on this machine: {difference}")
        return None
    return NativeTraining.of(ensemble, recipe.loss, rows)


def _rows_of_members(rows: Rows, members: int) -> Rows:
    """The rows of the first members."""
    return Rows(
        rows.x[:members] if rows.x.dim() == 3 else rows.x,
        rows.y[:members] if rows.y.dim() == 2 else rows.y,
        rows.weight[:members] if rows.weight.dim() == 2 else rows.weight,
    )


class _TorchTraining:
    """All members in one tensor program, eager or compiled: one call of ``adam_step`` per epoch."""

    def __init__(
        self, ensemble: Ensemble, rows: Rows, recipe: Recipe, *, compiled: bool, copies: int | None = None
    ) -> None:
        self.members = len(ensemble)
        self.objective = Objective(ensemble.template, recipe.loss)
        self.bounds = bounds_of(self.objective)
        padded = self.members + (1 + WIDEST_VECTOR // len(rows) if copies is None else copies)
        self.state, self.buffers = _initial_state(ensemble, padded)
        self.shared, self.per_member = _loss_arguments(rows, self.members, members=padded)
        corrections = adam_corrections(recipe.learning_rate, 1, recipe.sparsity)
        self.step = compiled_or_eager(*self.arguments(corrections[0])) if compiled else adam_step

    @property
    def engine(self) -> str:
        return "eager" if self.step is adam_step else "compiled"

    def arguments(self, correction: Tensor) -> tuple[Any, ...]:
        """The arguments of ``adam_step``."""
        return self.objective, self.bounds, self.state, self.buffers, correction, self.shared, self.per_member

    def advance(self, corrections: Tensor, _active: Tensor) -> Tensor:
        """Train all members for one epoch per correction; returns the losses before the last step."""
        for correction in corrections:
            self.state, losses = self.step(*self.arguments(correction))
        return losses[: self.members]

    def parameters(self) -> State:
        """The parameters by their names in the module."""
        return {name.removeprefix("module."): value[: self.members] for name, value in self.state[0].items()}


def _for_training(rows: Rows, dtype: torch.dtype) -> Rows:
    """The rows in the dtype of the weights, laid out by columns: the units of a layer are vectorised along the rows."""
    x = rows.x.to(dtype)
    if not rows.x.is_floating_point() and not torch.equal(x.to(rows.x.dtype), rows.x):
        x = rows.x  # too large for the dtype: a register subtracts integers as they are
    return Rows(x.mT.contiguous().mT, rows.y.to(dtype), rows.weight.to(dtype))


def _initial_state(ensemble: Ensemble, members: int) -> tuple[AdamState, State]:
    """Adam's state and the constant tensors, under the names they have inside an Objective.

    The last member is repeated. The remainder of a vectorised loop is rounded differently, and a stack of one is
    compiled differently: both then affect copies that are dropped.
    """

    def stacked(state: State) -> State:
        return {f"module.{name}": _padded(value, members) for name, value in state.items()}

    frozen = {name for name, value in ensemble.template.named_parameters() if not value.requires_grad}
    parameters = stacked({name: value for name, value in ensemble.parameters.items() if name not in frozen})
    fixed = {name: value for name, value in ensemble.parameters.items() if name in frozen}
    first, second = ({name: torch.zeros_like(value) for name, value in parameters.items()} for _ in range(2))
    return (parameters, first, second), stacked(ensemble.buffers | fixed)


def _loss_arguments(rows: Rows, trained: int, *, members: int) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """What all members share and what differs, in the order of ``Objective.forward``: weight, x, y."""
    shared: tuple[Tensor, ...] = (rows.weight, rows.x)
    per_member: tuple[Tensor, ...] = (_padded(rows.y.expand(trained, len(rows)), members),)
    if rows.x.dim() == 3:  # each member has different rows
        shared, per_member = (rows.weight,), (_padded(rows.x, members), *per_member)
    if rows.weight.dim() == 2:  # with different weights
        shared, per_member = (), (_padded(rows.weight, members), *per_member)
    return shared, per_member


def _padded(stacked: Tensor, members: int) -> Tensor:
    """``stacked`` with its last entry repeated until there is one for each member."""
    return torch.cat([stacked, stacked[-1:].repeat_interleave(members - len(stacked), 0)])


class _Checks:
    """The checks on the training rows: what they found, which members have stopped, and the weights these keep."""

    def __init__(self, ensemble: Ensemble, rows: Rows, recipe: Recipe) -> None:
        self.ensemble, self.rows, self.recipe = ensemble, rows, recipe
        self.kept = {name: value.clone() for name, value in ensemble.parameters.items()}
        self.stopped = torch.zeros(len(ensemble), dtype=torch.int64)
        self.streak = torch.zeros_like(self.stopped)
        self.log: list[tuple[int, Tensor, Tensor]] = []

    @property
    def all_stopped(self) -> bool:
        return bool(self.stopped.all())

    def add(self, epoch: int, losses: Tensor) -> None:
        """Check all members, and keep the weights of those that stop now."""
        right = self._right()
        accuracy = (right * self.rows.weight).sum(-1)
        if self.log:
            _, previous_losses, previous_accuracy = self.log[-1]
            losses = torch.where(self.stopped > 0, previous_losses, losses)
            accuracy = torch.where(self.stopped > 0, previous_accuracy, accuracy)
        self.log.append((epoch, losses, accuracy))
        self.streak = torch.where(right.all(-1), self.streak + 1, 0)
        ready = self.streak >= (self.recipe.patience or math.inf)
        stopping = (self.stopped == 0) & (ready | (epoch == self.recipe.epochs))
        self.stopped[stopping] = epoch
        for name, value in self.ensemble.parameters.items():
            self.kept[name][stopping] = value[stopping]

    def _right(self) -> Tensor:
        """Which rows are right: a comparison on its side of a half, a number within the tolerance."""
        x, y = self.rows.x, self.rows.y
        output = self.ensemble.each(x) if x.dim() == 3 else self.ensemble(x)
        if output.dim() == 3 and output.shape[-1] > 1:
            return (output[..., 0] > 0.5) == (y > 0.5)
        output = output[..., 0] if output.dim() == 3 else output  # one number for each row, as a NAU gives
        return (output - y).abs() <= self.recipe.tolerance

    def history(self, *, seconds: float, engine: str) -> History:
        epochs, loss, accuracy = zip(*self.log, strict=True)
        return History(epochs, torch.stack(loss), torch.stack(accuracy), self.stopped, seconds, engine, len(self.rows))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run torch with one thread: on small tensors two are slower, and far slower if the other core is busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
