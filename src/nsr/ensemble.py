"""Many seeds as one: members are stacked and run as a single tensor program, and can be taken out again."""

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from nsr.nn.checks import real_tensor

State = dict[str, Tensor]


class Ensemble:
    """Modules of one kind, one per seed, with their parameters stacked along a first axis.

    The output of a module must depend on its input and parameters only: no dropout, and buffers that never change.
    Members do not interact: each has its own loss and its own Adam, so a member equals its seed trained alone.

    Args:
        build: Makes one module from a generator, its only source of randomness.
        seeds: One for each member; ``member(seed)`` returns the module of a seed.

    >>> from nsr import NSR
    >>> ensemble = Ensemble(lambda generator: NSR(2, generator=generator), seeds=range(100))
    >>> ensemble
    Ensemble of 100 x NSR(2, redundancy=10, scale=1.0)
    >>> ensemble([[1, 2], [2, 1], [3, 3]]).shape  # members, rows, the comparison and its negation
    torch.Size([100, 3, 2])
    >>> ensemble.member(42)
    NSR(2, redundancy=10, scale=1.0)
    """

    def __init__(self, build: Callable[[torch.Generator], nn.Module], seeds: Iterable[int]) -> None:
        if not isinstance(seeds, Iterable):
            raise ValueError(f"seeds must be several, as in range({seeds!r}), got {seeds!r}")
        seeds = tuple(seeds)
        self._stack([build(torch.Generator().manual_seed(seed)) for seed in seeds], seeds)

    @classmethod
    def of(cls, modules: Sequence[nn.Module]) -> "Ensemble":
        """An ensemble of existing modules, with the seeds 0, 1, 2 and so on."""
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

    def __getitem__(self, members: slice) -> "Ensemble":
        """An ensemble of a slice of the members."""
        part = copy.copy(self)
        part.seeds = self.seeds[members]
        part.parameters = {name: value[members] for name, value in self.parameters.items()}
        part.buffers = {name: value[members] for name, value in self.buffers.items()}
        return part

    def __repr__(self) -> str:
        return f"Ensemble of {len(self)} x {self.template!r}"

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the members' parameters."""
        return next(iter(self.parameters.values())).dtype

    def to(self, dtype: torch.dtype) -> "Ensemble":
        """A copy in another dtype. Members trained in float32 are best evaluated in float64."""
        other = copy.copy(self)
        other.template = copy.deepcopy(self.template).to(dtype)
        other.parameters = {name: value.to(dtype) for name, value in self.parameters.items()}
        other.buffers = {
            name: value.to(dtype) if value.is_floating_point() else value for name, value in self.buffers.items()
        }
        return other

    def __call__(self, x: Any) -> Tensor:
        """The output of every member for the same ``x``, stacked along a first axis of members."""
        return self._run(real_tensor("x", x), None)

    def each(self, x: Any) -> Tensor:
        """The output of every member for a different ``x``, which has a first axis of members."""
        x = real_tensor("x", x)
        if len(x) != len(self):
            raise ValueError(f"x must have one entry for each of {len(self)} members, got {len(x)}")
        return self._run(x, 0)

    def _run(self, x: Tensor, x_axis: int | None) -> Tensor:
        one = vmap(
            lambda parameters, buffers, x: functional_call(self.template, (parameters, buffers), (x,)), (0, 0, x_axis)
        )
        with torch.no_grad():
            output: Tensor = one(self.parameters, self.buffers, x)
        return output

    def member(self, seed: int) -> nn.Module:
        """A copy of the module of one seed."""
        if seed not in self.seeds:
            raise ValueError(f"seed must be one of {list(self.seeds)}, got {seed!r}")
        index = self.seeds.index(seed)
        module = copy.deepcopy(self.template)
        with torch.no_grad():
            for name, value in (*module.named_parameters(), *module.named_buffers()):
                value.copy_((self.parameters | self.buffers)[name][index])
        return module
