"""A register whose units weigh all inputs instead of selecting two: goes beyond Section 3."""

import torch
from torch import Tensor, nn

from nsr.nn.bits import status_bits
from nsr.nn.checks import floating_dtype, numbers_in, positive_integer, positive_number
from nsr.nn.shapes import ArrayLike, Float, Int, Real

INTEGER_WEIGHTS, INTEGER_SUMS = 2.0**32, 2.0**62
"""Weights, and offsets and differences, that are computed as int64 are smaller than this."""


class WeighingNSR(nn.Module):
    """A register whose units compare weighted sums of the inputs with constants. It goes beyond Section 3.

    Where a unit of ``NSR`` selects two operands, a unit here has free weights: ``d = w . x - c``, with the sign bit
    ``tanh(scale d)`` and, if asked for, the zero bit ``1 - 2 tanh(scale d)^2``. The bits are the output; ``Logic``
    combines them.

    Integers with integer weights give an exact ``d``: it is summed as int64 before anything is rounded. The weights
    must be below 2^32, the offset and ``d`` itself below 2^62; the inputs and sums on the way to it may be any int64.
    Beyond that, integers are weighed in float64. Offsets between integers leave the sign exact. Floats are weighed in
    their own dtype or that of the weights, whichever is wider. A row with NaN gives NaN.

    ``scale`` is a buffer, so that it is saved, stacked in an ensemble, and may change during training without
    compiling again: ``register.scale.fill_(10.0)``, or ``ensemble.buffers["scale"].fill_(10.0)`` for all members.

    Args:
        inputs: Numbers per row.
        units: Sums to compare, each with one constant.
        scale: Sharpness of the bits, the paper's lambda.
        zero_bits: Append the zero bits of all units to their sign bits.

    >>> register = WeighingNSR(3, 1, zero_bits=True)
    >>> register
    WeighingNSR(3, 1, scale=1.0, zero_bits=True)
    >>> weights = {"weight": torch.tensor([[2.0, 1.0, -1.0]]), "offset": torch.tensor([4.0])}  # 2 a + b against c + 4
    >>> _ = register.load_state_dict(weights, strict=False)
    >>> register.differences([[1, 2, 0], [1, 2, 5], [10**15, 5, 2 * 10**15]]).tolist()
    [[0.0], [-5.0], [1.0]]
    >>> register.status([[1, 2, 0], [1, 2, 5], [10**15, 5, 2 * 10**15]]).tolist()  # sign and zero bit of the unit
    [[0.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]
    """

    scale: Tensor

    def __init__(
        self,
        inputs: int,
        units: int,
        *,
        scale: float = 1.0,
        zero_bits: bool = False,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.inputs = positive_integer("inputs", inputs)
        self.units = positive_integer("units", units)
        self.zero_bits = bool(zero_bits)
        dtype = floating_dtype(dtype)
        # In float64 whatever the weights are, so that repr shows the scale that was passed.
        self.register_buffer("scale", torch.tensor(positive_number("scale", scale), dtype=torch.float64))
        xavier = (2 / (self.inputs + self.units)) ** 0.5
        drawn = torch.normal(0.0, xavier, (self.units, self.inputs), generator=generator, dtype=dtype)
        self.weight = nn.Parameter(drawn)
        self.offset = nn.Parameter(torch.zeros(self.units, dtype=dtype))

    @property
    def bits(self) -> int:
        """Numbers per row of the output."""
        return self.units * (1 + self.zero_bits)

    def _units(self, x: Real[Tensor, "*batch inputs"]) -> Float[Tensor, "units rows"]:
        columns = x.reshape(-1, self.inputs).T
        if x.is_floating_point():
            dtype = torch.promote_types(x.dtype, self.weight.dtype)
            return weighted_sums(self.weight.to(dtype), columns.to(dtype)) - self.offset.to(dtype).unsqueeze(-1)
        # The integer parts of the parameters are summed exactly; the rest, which has the gradient, is added to it.
        weight, offset = self.weight.double(), self.offset.double().unsqueeze(-1)
        nearest, nearest_offset = _integers_near(weight, INTEGER_WEIGHTS), _integers_near(offset, INTEGER_SUMS)
        rest = weighted_sums(weight - nearest, columns.double()) - (offset - nearest_offset)
        return (_integer_differences(nearest, columns, nearest_offset) + rest).to(self.weight.dtype)

    def differences(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch units"]:
        """The weighted sum of every unit minus its offset."""
        x = numbers_in(x, self.inputs)
        return self._units(x).T.reshape(*x.shape[:-1], self.units)

    def forward(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch bits"]:
        """The relaxed sign bits of all units, and then their zero bits if there are any."""
        difference = self.differences(x)
        sign, zero = status_bits(difference, self.scale.to(difference.dtype))
        return torch.cat([sign, zero], dim=-1) if self.zero_bits else sign

    def status(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch bits"]:
        """The exact bits, the limit of ``forward`` for a large scale: -1, 0 or 1 by the sign of each difference."""
        difference = self.differences(x)
        sign = torch.where(difference.isnan(), difference, difference.sign())
        return torch.cat([sign, 1 - 2 * sign.square()], dim=-1) if self.zero_bits else sign

    def __repr__(self) -> str:
        zero_bits = ", zero_bits=True" if self.zero_bits else ""
        dtype = "" if self.weight.dtype == torch.float32 else f", dtype={self.weight.dtype}"
        return f"WeighingNSR({self.inputs}, {self.units}, scale={self.scale.item()}{zero_bits}{dtype})"


def weighted_sums(
    weight: Real[Tensor, "units inputs"], columns: Real[Tensor, "inputs rows"]
) -> Real[Tensor, "units rows"]:
    """The matrix product, rounded the same however many members of an ensemble are computed at once."""
    return (weight.T.unsqueeze(-1) * columns.unsqueeze(1)).sum(0)


def _integers_near(parameter: Float[Tensor, "*shape"], limit: float) -> Float[Tensor, "*shape"]:
    """The nearest integers, without a gradient; 0 for NaN and for parameters from the limit on."""
    parameter = parameter.detach()
    return torch.where(parameter.abs() < limit, parameter.round(), 0)


def _integer_differences(
    weight: Float[Tensor, "units inputs"], columns: Int[Tensor, "inputs rows"], offset: Float[Tensor, "units 1"]
) -> Float[Tensor, "units rows"]:
    """Weighted sums minus offsets, all of them integers: exact if the results fit int64.

    int64 is arithmetic modulo 2^64, so sums may overflow on the way to a result that fits. A sum in float64 tells
    whether it does: with weights below 2^32 and up to 1,000 inputs it is off by less than 2^62.
    """
    exact = weighted_sums(weight.long(), columns) - offset.long()
    rounded = weighted_sums(weight, columns.double()) - offset
    return torch.where(rounded.abs() < INTEGER_SUMS, exact.double(), rounded)
