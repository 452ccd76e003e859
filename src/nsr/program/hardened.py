"""A program as a torch module, with exact gates in place of the soft ones that were trained."""

import torch
from torch import Tensor, nn

from nsr.errors import InputError
from nsr.nn.shapes import Float, Real
from nsr.program.evaluation import on_floats
from nsr.program.lowering import has_cells
from nsr.program.program import Program

SURE = 1e4
"""A logit whose sigmoid is exactly 1 in every dtype."""


class Hardened(nn.Module):
    """A program behind the interface of the module it was read from.

    A formula returns [y, not y] as a register does, with zeros and ones; a number is returned as ``Piecewise`` does.
    Gradients flow through the branch that a row takes, not through the comparisons.
    """

    def __init__(self, program: Program) -> None:
        super().__init__()
        if has_cells(program.expression):
            raise InputError(f"a torch module has numbers only, not texts, dates or missing cells as in {program}")
        self.program = program

    @property
    def inputs(self) -> int:
        """Number of inputs per row."""
        return len(self.program.names)

    def logit(self, x: Real[Tensor, "*batch inputs"]) -> Float[Tensor, "*batch"]:
        """A logit so large that its sigmoid is 0 or 1, for a formula that replaces a register."""
        answer: Tensor = self(x)[..., 0]
        return (2 * answer - 1) * SURE

    def forward(self, x: Real[Tensor, "*batch inputs"]) -> Float[Tensor, "*answers"]:
        """The exact answer; NaN where the program needs an input that is NaN, as from a register."""
        if not x.is_floating_point():
            return self._with_negation(self.program(x)).to(torch.get_default_dtype())
        program = self.program
        if program.names and x.shape[-1] != len(program.names):
            raise ValueError(f"x must have {len(program.names)} numbers in its last axis, got shape {tuple(x.shape)}")
        columns = {name: x[..., program.names.index(name)] for name in program.inputs}
        answer = self._with_negation(on_floats(program.expression, columns | {"": x[..., 0]})).to(x.dtype)
        for column in columns.values():
            undefined = column.isnan().unsqueeze(-1) if program.expression.is_boolean else column.isnan()
            answer = torch.where(undefined, torch.nan, answer)
        return answer

    def _with_negation(self, answer: Tensor) -> Tensor:
        return torch.stack([answer, ~answer], dim=-1) if self.program.expression.is_boolean else answer

    def __repr__(self) -> str:
        return f"Hardened({str(self.program)!r})"
