"""The status bits of a difference, sign and zero: relaxed (Sections 3.2, 3.3) and exact (Section 3.1)."""

import torch
from torch import Tensor

from nsr.nn.shapes import Float


def status_bits(
    difference: Float[Tensor, "*shape"], scale: float | Float[Tensor, ""] = 1.0
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    """Relaxed sign and zero bits of a difference (Sections 3.2, 3.3; ``scale`` is lambda)."""
    step = torch.tanh(scale * difference)
    return step, 1 - 2 * step.square()


def exact_bits(
    difference: Float[Tensor, "*shape"], *, off: float = -1.0
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    """The bits of a CPU: whether the difference is positive, and whether it is zero (Section 3.1).

    A set bit is 1, and a cleared bit is ``off``: -1 as in the relaxation, or 0 as in a CPU. NaN stays NaN.
    """
    on = torch.ones_like(difference)
    undefined = difference.isnan()
    sign = torch.where(difference > 0, on, off * on)
    zero = torch.where(difference == 0, on, off * on)
    return torch.where(undefined, difference, sign), torch.where(undefined, difference, zero)
