"""The Neural Status Register (Section 3, Figure 1): learns which numbers to compare, and how."""

import torch
from torch import Tensor, nn

from nsr.nn.bits import status_bits
from nsr.nn.checks import floating_dtype, numbers_in, positive_integer, positive_number
from nsr.nn.shapes import ArrayLike, Float, Real


class NSR(nn.Module):
    """A register of ``redundancy`` units that compares the numbers of a row (Sections 3.1 to 3.4).

    Each unit selects two operands, takes their difference and weighs its sign and zero bits; the units are summed
    into one logit. Integers are subtracted as int64 before anything is rounded: exactly, up to 2^62. Floats are
    subtracted in their own dtype. A row with NaN gives NaN, and so may a row with infinity.

    Args:
        inputs: Numbers per row.
        redundancy: Units that are summed (Section 3.4).
        scale: Sharpness of the bits, the paper's lambda. About 1 / (smallest difference between unequal numbers).
        constants: Also compare with learned constants: units may select the number 0 and learn an offset.

    >>> register = NSR(2, generator=torch.Generator().manual_seed(0))
    >>> register
    NSR(2, redundancy=10, scale=1.0)
    >>> y = register([[1, 2], [2, 1], [3, 3]])  # for each row the comparison and its negation
    >>> y.shape
    torch.Size([3, 2])
    >>> torch.allclose(y.sum(-1), torch.ones(3))
    True
    """

    def __init__(
        self,
        inputs: int,
        *,
        redundancy: int = 10,
        scale: float = 1.0,
        constants: bool = False,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.inputs = positive_integer("inputs", inputs)
        self.redundancy = positive_integer("redundancy", redundancy)
        self.scale = positive_number("scale", scale)
        self.constants = bool(constants)
        if self.inputs == 1 and not self.constants:
            raise ValueError("inputs must be at least 2 unless constants=True, to have two numbers to compare")

        dtype = floating_dtype(dtype)
        operands = self.inputs + self.constants
        xavier = (2 / (operands + self.redundancy)) ** 0.5, (2 / (self.redundancy + 1)) ** 0.5

        def normal(*shape: int, std: float) -> nn.Parameter:
            drawn = torch.normal(0.0, std, shape, generator=generator, dtype=dtype)
            return nn.Parameter(drawn.to(device))

        self.v1 = normal(operands, self.redundancy, std=xavier[0])
        self.v2 = normal(operands, self.redundancy, std=xavier[0])
        self.w_sign = normal(self.redundancy, std=xavier[1])
        self.w_zero = normal(self.redundancy, std=xavier[1])
        self.bias = nn.Parameter(torch.zeros(self.redundancy, device=device, dtype=dtype))
        if self.constants:
            self.offset = nn.Parameter(torch.zeros(self.redundancy, device=device, dtype=dtype))

    @property
    def shift_invariant(self) -> bool:
        """Whether adding the same number to every input leaves the output unchanged: true without constants."""
        return not self.constants

    def _units(self, x: Real[Tensor, "*batch inputs"]) -> Float[Tensor, "redundancy rows"]:
        if self.constants:
            x = torch.cat([x, torch.zeros_like(x[..., :1])], dim=-1)
        operands = x.reshape(-1, x.shape[-1]).T  # (operands, rows)
        selection = self.v1.softmax(0) - self.v2.softmax(0)  # (operands, redundancy)
        # The weights of the distances sum to zero, so the reference has no gradient: it is detached.
        # It is chosen in a loop because indexing is slow if each member of an ensemble has different rows.
        most, constant = self.v1.argmax(0).unsqueeze(-1), operands.detach()
        reference = constant[:1]  # (redundancy, rows), once there is more than one operand
        for index in range(1, len(constant)):
            reference = torch.where(most == index, constant[index], reference)
        distance = operands.unsqueeze(1) - reference  # (operands, redundancy, rows)
        difference = (selection.unsqueeze(-1) * distance).sum(0)
        return difference - self.offset.unsqueeze(-1) if self.constants else difference

    def differences(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch redundancy"]:
        """Operand one minus operand two of every unit (Section 3.1), minus its offset if there are constants.

        The selections of a unit sum to one, so all numbers of a row may be measured from one of them. With the
        number that the unit selects most as the reference, large numbers are subtracted before they are weighed,
        and unequal integers stay unequal however large they are.
        """
        x = numbers_in(x, self.inputs)
        return self._units(x).T.reshape(*x.shape[:-1], self.redundancy)

    def logit(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch"]:
        """The logit z of the comparison, for losses on logits."""
        x = numbers_in(x, self.inputs)
        sign, zero = status_bits(self._units(x), self.scale)
        w_sign, w_zero, bias = (w.unsqueeze(-1) for w in (self.w_sign, self.w_zero, self.bias))
        return (w_sign * sign + w_zero * zero + bias).sum(0).reshape(x.shape[:-1])

    def forward(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch 2"]:
        """The comparison y and its negation, in that order. Both are sigmoids: 1 - y would lose digits near 1."""
        z = self.logit(x)
        return torch.stack([z.sigmoid(), (-z).sigmoid()], dim=-1)

    def __repr__(self) -> str:
        constants = ", constants=True" if self.constants else ""
        dtype = "" if self.v1.dtype == torch.float32 else f", dtype={self.v1.dtype}"
        return f"NSR({self.inputs}, redundancy={self.redundancy}, scale={self.scale}{constants}{dtype})"
