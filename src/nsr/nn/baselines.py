"""The baseline of every experiment: a network with one hidden layer (Section 4.1)."""

import torch
from torch import Tensor, nn

from nsr.nn.checks import floating_dtype, numbers_in, positive_integer
from nsr.nn.shapes import ArrayLike, Float, Real


class MLP(nn.Module):
    """One hidden layer and one output with sigmoid activations and the interface of a register (Section 4.1).

    81 parameters for two inputs and 20 hidden units. The names are those of Appendix E: V and b_V into the hidden
    layer, H and b out of it. Weights are initialised as in ``torch.nn.Linear``.

    >>> sum(parameter.numel() for parameter in MLP(2).parameters())
    81
    >>> MLP(2)([[1, 2], [2, 1], [3, 3]]).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        inputs: int,
        *,
        hidden: int = 20,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.inputs = positive_integer("inputs", inputs)
        self.hidden = positive_integer("hidden", hidden)
        dtype = floating_dtype(dtype)

        def uniform(*shape: int, fan_in: int) -> nn.Parameter:
            drawn = torch.rand(shape, generator=generator, dtype=dtype)
            return nn.Parameter(((2 * drawn - 1) / fan_in**0.5).to(device))

        self.v = uniform(self.inputs, self.hidden, fan_in=self.inputs)
        self.bias_v = uniform(self.hidden, fan_in=self.inputs)
        self.h = uniform(self.hidden, fan_in=self.hidden)
        self.bias = uniform(fan_in=self.hidden)

    def logit(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch"]:
        """The logit of the output, for losses on logits."""
        x = numbers_in(x, self.inputs)
        x = x.to(torch.promote_types(x.dtype, self.v.dtype))
        columns = x.reshape(-1, self.inputs).T  # (inputs, rows)
        hidden = (self.v.unsqueeze(-1) * columns.unsqueeze(1)).sum(0).T + self.bias_v  # (rows, hidden)
        return ((hidden.sigmoid() * self.h).sum(-1) + self.bias).reshape(x.shape[:-1])

    def forward(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch 2"]:
        """The output y and its negation, like those of a register."""
        z = self.logit(x)
        return torch.stack([z.sigmoid(), (-z).sigmoid()], dim=-1)

    def __repr__(self) -> str:
        dtype = "" if self.v.dtype == torch.float32 else f", dtype={self.v.dtype}"
        return f"MLP({self.inputs}, hidden={self.hidden}{dtype})"
