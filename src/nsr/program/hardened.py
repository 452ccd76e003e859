"""A program as a torch module: exact gates where the trained module had soft ones."""

import torch
from torch import Tensor, nn

from nsr.nn.shapes import Float, Real
from nsr.program.program import Program


class Hardened(nn.Module):
    """What a program says of rows, behind the interface of the module it was read from.

    A formula answers as a register does, [y, not y] of zeros and ones; a number as a ``Piecewise`` does. Gradients
    flow through the branch that a row takes, and not through the comparisons.
    """

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def forward(self, x: Real[Tensor, "*batch inputs"]) -> Float[Tensor, "*answers"]:
        """The exact answer."""
        dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
        answer: Tensor = self.program(x)
        if not self.program.expression.is_truth:
            return answer.to(dtype)
        return torch.stack([answer, ~answer], dim=-1).to(dtype)

    def __repr__(self) -> str:
        return f"Hardened({str(self.program)!r})"
