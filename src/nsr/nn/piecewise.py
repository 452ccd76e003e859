"""A piecewise function: a gate that chooses between two sums (Section 4.3)."""

import torch
from torch import Tensor, nn

from nsr.nn.arithmetic import NAU
from nsr.nn.checks import numbers_in, positive_integer
from nsr.nn.shapes import ArrayLike, Float, Real


class Piecewise(nn.Module):
    """``y A(x) + (1 - y) B(x)``: the gate's output y weighs two arms, each a NAU with a learned constant.

    Args:
        gate: An ``NSR``, or an ``MLP`` as the baseline. It gets the same numbers as the arms.

    >>> from nsr import NSR
    >>> model = Piecewise(NSR(2))
    >>> model
    Piecewise(NSR(2, redundancy=10, scale=1.0))
    >>> model([[1, 2], [2, 1], [3, 3]]).shape  # one number per row
    torch.Size([3])
    """

    def __init__(
        self,
        gate: nn.Module,
        *,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.gate = gate
        if not hasattr(gate, "inputs"):
            raise ValueError(f"gate must be a module that compares, such as NSR(2), got {gate!r}")
        self.inputs = positive_integer("gate.inputs", gate.inputs)
        self.arms = NAU(self.inputs, 2, bias=True, generator=generator, device=device, dtype=dtype)

    def forward(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch"]:
        """The number that the gate chooses, or a mixture of both as long as the gate is undecided."""
        x = numbers_in(x, self.inputs)
        chosen: Tensor = self.gate(x) * self.arms(x)
        return chosen.sum(-1)

    def __repr__(self) -> str:
        return f"Piecewise({self.gate!r})"
