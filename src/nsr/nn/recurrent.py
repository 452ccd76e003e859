"""A register in a loop: the minimum of a list, and how often the first element recurs (Section 4.5, Appendix B)."""

import torch
from torch import Tensor, nn

from nsr.nn.baselines import MLP
from nsr.nn.checks import lengths_of, lists_in
from nsr.nn.register import NSR
from nsr.nn.shapes import ArrayLike, Float, Int, Real


class Recurrent(nn.Module):
    """Base class of both loops: a gate over two numbers, applied to lists in the last axis.

    Args:
        gate: Decides in every step: an ``NSR(2)``, or an ``MLP(2)`` as the baseline.
    """

    def __init__(self, gate: NSR | MLP) -> None:
        super().__init__()
        if gate.inputs != 2:
            raise ValueError(f"gate must compare 2 numbers, got {gate!r}")
        self.gate = gate

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.gate!r})"


class RecurrentMinimum(Recurrent):
    """``m <- y m + (1 - y) x_i``: in each step the gate compares the state with the next element and keeps one."""

    def forward(
        self,
        x: Real[Tensor, "*batch length"] | ArrayLike,
        lengths: Int[Tensor, "*batch"] | ArrayLike | None = None,
    ) -> Float[Tensor, "*batch"]:
        """The state after the last element. It starts as the first element; those after ``lengths`` are ignored."""
        x = lists_in(x)
        lengths = lengths_of(x, lengths)
        x = x.to(torch.promote_types(x.dtype, next(self.parameters()).dtype))
        state = x[..., 0]
        for position in range(1, x.shape[-1]):
            item = x[..., position] if lengths is None else torch.where(position < lengths, x[..., position], state)
            both = torch.stack([state, item], dim=-1)
            new = (self.gate(both) * both).sum(-1)
            state = new if lengths is None else torch.where(position < lengths, new, state)
        return state


class RecurrentCount(Recurrent):
    """``c <- c + y``: in each step the gate compares the first element with the next one and may count it."""

    def forward(
        self,
        x: Real[Tensor, "*batch length"] | ArrayLike,
        lengths: Int[Tensor, "*batch"] | ArrayLike | None = None,
    ) -> Float[Tensor, "*batch"]:
        """The count after the last element. It starts at 0; elements after ``lengths`` are ignored."""
        x = lists_in(x)
        lengths = lengths_of(x, lengths)
        first, rest = x[..., :1].expand_as(x[..., 1:]), x[..., 1:]
        if lengths is not None:
            present = torch.arange(1, x.shape[-1], device=x.device) < lengths.unsqueeze(-1)
            rest = torch.where(present, rest, first)
        counted = self.gate(torch.stack([first, rest], dim=-1))[..., 0]  # the steps are independent: all at once
        if lengths is not None:
            counted = torch.where(present, counted, 0)
        total: Tensor = counted.sum(-1)
        return total
