"""The Neural Arithmetic Unit (Madsen and Johansen, 2020): sums and differences that extrapolate (Section 4.3)."""

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from nsr.nn.checks import floating_dtype, numbers_in, positive_integer
from nsr.nn.shapes import ArrayLike, Float, Real


class NAU(nn.Module):
    """A linear map with weights in [-1, 1] that are pulled to -1, 0 and 1.

    ``fit`` keeps the weights within ``bounds`` and pulls them by the ``sparsity`` of its recipe. A training loop of
    your own calls ``clamp_`` after every step and adds ``sparsity()`` to its loss.

    Args:
        inputs: Numbers per row.
        outputs: Sums to form.
        bias: Also learn a constant for each sum, as ``x5 + 4`` needs.

    >>> difference = NAU(2)
    >>> _ = difference.load_state_dict({"weight": torch.tensor([[1.0, -1.0]])})
    >>> difference([[10**9 + 3, 10**9], [5, 7]]).tolist()
    [[0.0], [-2.0]]
    >>> difference.double()([[10**9 + 3, 10**9], [5, 7]]).tolist()  # float32 has too few digits for the first row
    [[3.0], [-2.0]]
    """

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"weight": (-1.0, 1.0)}

    def __init__(
        self,
        inputs: int,
        outputs: int = 1,
        *,
        bias: bool = False,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.inputs = positive_integer("inputs", inputs)
        self.outputs = positive_integer("outputs", outputs)
        dtype = floating_dtype(dtype)
        reach = min(0.5, (6 / (self.inputs + self.outputs)) ** 0.5)  # Xavier's bound, at most a half
        drawn = torch.rand(self.outputs, self.inputs, generator=generator, dtype=dtype)
        self.weight = nn.Parameter(((2 * drawn - 1) * reach).to(device))
        self.bias = nn.Parameter(torch.zeros(self.outputs, device=device, dtype=dtype)) if bias else None

    def forward(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch outputs"]:
        """One sum for each output."""
        x = numbers_in(x, self.inputs)
        dtype = torch.promote_types(x.dtype, self.weight.dtype)
        bias = None if self.bias is None else self.bias.to(dtype)
        return functional.linear(x.to(dtype), self.weight.clamp(-1, 1).to(dtype), bias)

    def sparsity(self) -> Float[Tensor, ""]:
        """Mean distance of the weights from the nearest of -1, 0 and 1: the penalty of the NAU."""
        size = self.weight.clamp(-1, 1).abs()
        return torch.minimum(size, 1 - size).mean()

    @torch.no_grad()
    def clamp_(self) -> None:
        """Clamp the weights to their bounds. Outside, their gradient is zero and would not bring them back."""
        self.weight.clamp_(-1, 1)

    def __repr__(self) -> str:
        dtype = "" if self.weight.dtype == torch.float32 else f", dtype={self.weight.dtype}"
        return f"NAU({self.inputs}, {self.outputs}, bias={self.bias is not None}{dtype})"
