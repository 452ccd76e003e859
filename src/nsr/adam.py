"""One Adam step of all members of an ensemble, eager or compiled; compiled steps are checked against eager ones."""

import contextlib
import functools
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from nsr.ensemble import State

Bounds = Mapping[str, tuple[float, float]]
AdamState = tuple[State, State, State]
"""Parameters, first moments and second moments, all by parameter name and stacked along a first axis of members."""


def bounds_of(module: nn.Module) -> dict[str, tuple[float, float]]:
    """The bounds that submodules set on their parameters (as ``NAU.bounds`` does), by full parameter name."""
    return {
        f"{prefix}.{name}" if prefix else name: bound
        for prefix, part in module.named_modules()
        for name, bound in getattr(part, "bounds", {}).items()
    }


def adam_step(
    objective: nn.Module,
    bounds: Bounds,
    state: AdamState,
    buffers: State,
    correction: Tensor,
    shared: tuple[Tensor, ...],
    per_member: tuple[Tensor, ...],
) -> tuple[AdamState, Tensor]:
    """One epoch of every member: loss, gradient and Adam update (Kingma and Ba, 2015, with torch's defaults).

    The loss of one member is ``objective(*shared, *per_member)``; tensors in ``per_member`` have a first axis of
    members. ``correction`` is one row of ``adam_corrections``.
    """
    parameters, first, second = state
    loss = grad_and_value(
        lambda weights, rest, per_member: functional_call(objective, (weights, rest), (*shared, *per_member))
    )
    gradients, losses = vmap(loss)(parameters, buffers, per_member)
    factors = correction.unbind()
    new: AdamState = ({}, {}, {})
    for name, gradient in gradients.items():
        mean = torch.lerp(first[name], gradient, 0.1)
        square = 0.999 * second[name] + 0.001 * gradient.square()
        value = _updated(parameters[name], mean, square, factors, bounds.get(name))
        new[0][name], new[1][name], new[2][name] = value, mean, square
    return new, losses


def _updated(
    value: Tensor, mean: Tensor, square: Tensor, factors: Sequence[Tensor], bound: tuple[float, float] | None
) -> Tensor:
    """A parameter after Adam's update, clamped to its bounds and pulled towards integers where both are asked for.

    The pull comes after the update rather than through the gradient, as AdamW decays weights: Adam normalises
    gradients, so a weak pull and a strong one would have the same effect.
    """
    step, root, *pull = factors
    value = value - step * mean / (square.sqrt() / root + 1e-8)
    if bound is not None:
        value = value.clamp(*bound)
        if pull:
            value = value - (value - value.round()).clamp(-pull[0], pull[0]).to(value.dtype)
    return value


def adam_corrections(learning_rate: float, epochs: int, sparsity: float = 0.0) -> Tensor:
    """The factors that ``adam_step`` needs in each epoch, one row per epoch, in float64.

    They are the learning rate over Adam's first bias correction, the root of the second, and, where there is
    sparsity, how far bounded parameters are pulled towards integers: in the second half, growing to ``sparsity``
    learning rates per epoch.
    """
    epoch = torch.arange(1, epochs + 1, dtype=torch.float64)
    columns = [learning_rate / (1 - 0.9**epoch), (1 - 0.999**epoch).sqrt()]
    if sparsity:
        columns.append(learning_rate * sparsity * (2 * epoch / epochs - 1).clamp(min=0))
    return torch.stack(columns, dim=-1)


def has_compiler() -> bool:
    """Whether there is a C++ compiler for ``torch.compile``."""
    return any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++"))


@functools.cache
def compiled_step() -> Callable[..., Any]:
    """``adam_step`` through ``torch.compile``, one per process, so that ensembles of the same kind compile once."""
    return torch.compile(adam_step, fullgraph=True)


def compiled_or_eager(*arguments: Any) -> Callable[..., Any]:
    """The compiled step if it works on these arguments and agrees with the eager one, else ``adam_step``.

    The first step of every training is done both ways. torch's compiler and its kernels can disagree about the
    vector width of a CPU, and a compiled step is then wrong rather than imprecise. The reason is reported in a
    warning, once for each kind of model.
    """
    objective, _, state, buffers, *_, per_member = arguments
    for value in (*per_member, *(value for stacked in (*state, buffers) for value in stacked.values())):
        torch._dynamo.maybe_mark_dynamic(value, 0)  # one program for any number of members
    step, module = compiled_step(), getattr(objective, "module", objective)
    try:
        with _compiler_settings():
            result = step(*arguments)
    except Exception as problem:  # the eager step is right, whatever goes wrong in the compiler
        reason = str(problem).strip().split("\n")[0]
        report_fallback(module, f"compiling the training step failed: {reason}")
        return adam_step
    difference = disagreement(result, arguments)
    if difference is not None:
        report_fallback(module, f"its compiled training step is wrong on this machine: {difference}")
        return adam_step
    return step


@contextlib.contextmanager
def _compiler_settings() -> Iterator[None]:
    """Allow any number of kinds of models in a process, and keep compiled code for each vector width apart.

    The key of torch's cache leaves out the vector width, so that it would return code for another width, which
    computes half of the numbers, or writes beyond the end of a tensor.
    """
    width = torch.backends.cpu.get_cpu_capability()
    with (
        torch._dynamo.config.patch(recompile_limit=1_000, accumulated_recompile_limit=10_000),
        torch.compiler.config.patch(cache_key_tag=f"{torch.compiler.config.cache_key_tag}{width}"),  # type: ignore[attr-defined]
    ):
        yield


_reported: set[str] = set()
"""The kinds of models that this process has warned about."""


def report_fallback(module: nn.Module, reason: str) -> None:
    """Warn that a kind of model is trained by torch as it is, once per process."""
    if repr(module) not in _reported:
        warnings.warn(f"{module!r} is trained eagerly, because {reason}", stacklevel=6)  # the caller of fit
        _reported.add(repr(module))


NOISE = 256
"""How many roundings of its largest terms a sum may be off by."""


def disagreement(result: tuple[AdamState, Tensor], arguments: Sequence[Any]) -> str | None:
    """The first number in the result of a step that differs from the eager step by more than rounding, in words.

    Half of the digits must agree, relative to the largest entry of a tensor; code for the wrong vector width changes
    the leading ones. Sums that cancel have fewer right digits, so ``NOISE`` roundings of their terms are allowed
    on top: of the targets in a loss, of the largest gradient in a gradient.
    """
    for what, actual, expected, terms in _comparisons(result, arguments):
        eps = torch.finfo(expected.dtype).eps
        allowed = eps**0.5 * _largest(expected) + NOISE * eps * max(map(_largest, terms), default=0.0)
        same = (actual == expected) | (actual.isnan() & expected.isnan())
        off = torch.where(same, 0, (actual - expected).abs()).nan_to_num(nan=torch.inf).flatten()
        if (off > allowed).any():
            worst = off.argmax()
            return f"{what} is {actual.flatten()[worst]:g} instead of {expected.flatten()[worst]:g}"
    return None


def _comparisons(
    result: tuple[AdamState, Tensor], arguments: Sequence[Any]
) -> Iterator[tuple[str, Tensor, Tensor, Sequence[Tensor]]]:
    """What to compare: its name, its value, the eager value, and terms of the sums behind it.

    Parameters are compared with the update that follows from the moments of the same result. Where a gradient is
    close to zero, rounding decides its sign, and with it the direction of a step of full size.
    """
    _, bounds, (parameters, *_), _, correction, _, per_member = arguments
    (values, first, second), losses = result
    (_, eager_first, eager_second), eager_losses = adam_step(*arguments)
    yield "a loss", losses, eager_losses, per_member[-1:]
    gradients = [*eager_first.values()]
    for name, eager in eager_first.items():
        yield f"a first moment of {name}", first[name], eager, gradients
        yield f"a second moment of {name}", second[name], eager_second[name], [g.square() for g in gradients]
        updated = _updated(parameters[name], first[name], second[name], correction.unbind(), bounds.get(name))
        yield f"an updated {name}", values[name] - parameters[name], updated - parameters[name], [updated]


def _largest(tensor: Tensor) -> float:
    """The largest finite absolute value."""
    finite = tensor[tensor.isfinite()].abs()
    return float(finite.max()) if len(finite) else 0.0
