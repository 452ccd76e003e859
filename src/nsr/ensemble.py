"""Many seeds as one: members are stacked, run and trained as a single tensor program, and taken out again."""

import copy
import functools
import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

State = dict[str, Tensor]


class Ensemble:
    """Modules of one kind, one for each seed, with their parameters stacked along a first axis.

    A module's answer must follow from its input and its parameters: no dropout, and buffers that stay as they are.
    The members never meet: each has its own loss and its own Adam, so a member is what its seed trained alone is.

    Args:
        build: Makes one module from a generator, its only source of randomness.
        seeds: One for each member; ``member(seed)`` finds it again.
    """

    def __init__(self, build: Callable[[torch.Generator], nn.Module], seeds: Iterable[int]) -> None:
        seeds = tuple(seeds)
        self._stack([build(torch.Generator().manual_seed(seed)) for seed in seeds], seeds)

    @classmethod
    def of(cls, modules: Sequence[nn.Module]) -> "Ensemble":
        """An ensemble of modules that exist already; their seeds are 0, 1, 2 and so on."""
        ensemble = cls.__new__(cls)
        ensemble._stack(list(modules), tuple(range(len(modules))))
        return ensemble

    def _stack(self, modules: list[nn.Module], seeds: tuple[int, ...]) -> None:
        if not seeds:
            raise ValueError("seeds must name at least one seed, got none")
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"seeds must differ from one another, got {list(seeds)}")
        for module in modules:
            if repr(module) != repr(modules[0]):
                raise ValueError(f"members must be of one kind, got {modules[0]!r} and {module!r}")
        parameters, buffers = stack_module_state(modules)
        self.seeds = seeds
        self.template = copy.deepcopy(modules[0])
        self.parameters: State = {name: stacked.detach() for name, stacked in parameters.items()}
        self.buffers: State = dict(buffers)

    def __len__(self) -> int:
        return len(self.seeds)

    def __getitem__(self, some: slice) -> "Ensemble":
        """An ensemble of some of the members, in the order of their seeds' list."""
        part = copy.copy(self)
        part.seeds = self.seeds[some]
        part.parameters = {name: value[some] for name, value in self.parameters.items()}
        part.buffers = {name: value[some] for name, value in self.buffers.items()}
        return part

    def __repr__(self) -> str:
        return f"Ensemble of {len(self)} x {self.template!r}"

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the members' parameters."""
        return next(iter(self.parameters.values())).dtype

    def to(self, dtype: torch.dtype) -> "Ensemble":
        """The same members with parameters of another dtype. Trained in float32, they are best asked in float64."""
        other = copy.copy(self)
        other.template = copy.deepcopy(self.template).to(dtype)
        other.parameters = {name: value.to(dtype) for name, value in self.parameters.items()}
        other.buffers = {
            name: value.to(dtype) if value.is_floating_point() else value for name, value in self.buffers.items()
        }
        return other

    def __call__(self, x: Tensor) -> Tensor:
        """What every member says of the same ``x``: a first axis of members."""
        return self._run(x, None)

    def each(self, x: Tensor) -> Tensor:
        """What every member says of an ``x`` of its own: the first axis of ``x`` is that of the members."""
        if len(x) != len(self):
            raise ValueError(f"x must have one entry for each of {len(self)} members, got {len(x)}")
        return self._run(x, 0)

    def _run(self, x: Tensor, x_axis: int | None) -> Tensor:
        one = vmap(lambda own, buffers, x: functional_call(self.template, (own, buffers), (x,)), (0, 0, x_axis))
        with torch.no_grad():
            answer: Tensor = one(self.parameters, self.buffers, x)
        return answer

    def member(self, seed: int) -> nn.Module:
        """A module of its own with the weights of one seed."""
        if seed not in self.seeds:
            raise ValueError(f"seed must be one of {list(self.seeds)}, got {seed!r}")
        index = self.seeds.index(seed)
        module = copy.deepcopy(self.template)
        with torch.no_grad():
            for name, own in (*module.named_parameters(), *module.named_buffers()):
                own.copy_((self.parameters | self.buffers)[name][index])
        return module


def bounds_of(module: nn.Module) -> dict[str, tuple[float, float]]:
    """The bounds that submodules set on their parameters (as ``NAU.bounds`` does), by full name."""
    return {
        f"{prefix}.{name}" if prefix else name: bound
        for prefix, part in module.named_modules()
        for name, bound in getattr(part, "bounds", {}).items()
    }


def adam_step(
    objective: nn.Module,
    bounds: Mapping[str, tuple[float, float]],
    state: tuple[State, State, State],
    buffers: State,
    correction: Tensor,
    shared: tuple[Tensor, ...],
    own: tuple[Tensor, ...],
) -> tuple[tuple[State, State, State], Tensor]:
    """One epoch of every member: its loss, its gradient, its Adam (Kingma and Ba, 2015, torch's defaults).

    ``objective(*shared, *own)`` is one member's loss; ``own`` has a first axis of members. ``correction`` holds
    this epoch's learning rate over Adam's first bias correction, the root of the second, and perhaps how far bounded
    parameters are drawn to the nearest whole number: after the step and not through it, as AdamW decays weights,
    since Adam would make the same of a weak pull and a strong one.
    """
    parameters, first, second = state
    loss = grad_and_value(lambda weights, rest, own: functional_call(objective, (weights, rest), (*shared, *own)))
    gradients, losses = vmap(loss)(parameters, buffers, own)
    step, root, *pull = correction.unbind()
    new: tuple[State, State, State] = ({}, {}, {})
    for name, gradient in gradients.items():
        mean = torch.lerp(first[name], gradient, 0.1)
        square = 0.999 * second[name] + 0.001 * gradient.square()
        value = parameters[name] - step * mean / (square.sqrt() / root + 1e-8)
        if name in bounds:
            value = value.clamp(*bounds[name])
            if pull:
                value = value - (value - value.round()).clamp(-pull[0], pull[0]).to(value.dtype)
        new[0][name], new[1][name], new[2][name] = value, mean, square
    return new, losses


def adam_corrections(learning_rate: float, epochs: int, sparsity: float = 0.0) -> Tensor:
    """For each epoch the two numbers ``adam_step`` wants, or three where there is sparsity, in float64.

    Weights are drawn to whole numbers from half time on, more and more, up to ``sparsity`` learning rates an epoch.
    """
    epoch = torch.arange(1, epochs + 1, dtype=torch.float64)
    columns = [learning_rate / (1 - 0.9**epoch), (1 - 0.999**epoch).sqrt()]
    if sparsity:
        columns.append(learning_rate * sparsity * (2 * epoch / epochs - 1).clamp(min=0))
    return torch.stack(columns, dim=-1)


def has_compiler() -> bool:
    """Whether there is a C++ compiler for ``torch.compile`` to use."""
    return any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++"))


@functools.cache
def compiled_step() -> Callable[..., Any]:
    """``adam_step`` through ``torch.compile``, once for the process: a second ensemble of a kind finds it ready."""
    return torch.compile(adam_step, fullgraph=True)


def compiled_or_eager(*arguments: Any) -> Callable[..., Any]:
    """The compiled step when it works on these arguments, and the eager one with a warning when it does not."""
    state, buffers, own = arguments[2], arguments[3], arguments[-1]
    for value in (*own, *(value for stacked in (*state, buffers) for value in stacked.values())):
        torch._dynamo.maybe_mark_dynamic(value, 0)  # one program for every number of members
    step = compiled_step()
    try:
        with torch._dynamo.config.patch(recompile_limit=1_000, accumulated_recompile_limit=10_000):
            step(*arguments)
    except Exception as problem:  # whatever goes wrong in a compiler, the eager step is right
        reason = str(problem).strip().split("\n")[0]
        warnings.warn(f"the training step runs eagerly, because compiling it failed: {reason}", stacklevel=4)
        return adam_step
    return step
