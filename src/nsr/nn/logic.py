"""Logic over the bits of a register, learned end to end with it: goes beyond Section 3."""

import torch
from torch import Tensor, nn

from nsr.nn.checks import floating_dtype, numbers_in, positive_integer
from nsr.nn.shapes import ArrayLike, Float, Real
from nsr.nn.weighing import WeighingNSR, weighted_sums


class Logic(nn.Module):
    """A logic layer over status bits: one hidden tanh layer and a linear output. It goes beyond Section 3.

    A hidden unit can be any threshold of its bits, such as "and", "or" or "at least 3 of 5"; two of them make xor.

    Args:
        inputs: Bits per row.
        hidden: Hidden units.
        classes: 2 gives one logit per row, as ``NSR.logit`` does; more give one logit for each class.

    >>> logic = Logic(2, 2, generator=torch.Generator().manual_seed(0))
    >>> logic
    Logic(2, 2, classes=2)
    >>> with torch.no_grad():  # a xor b: "a or b" and not "a and b"
    ...     _ = logic.hidden_weight.fill_(9.0), logic.hidden_bias.copy_(torch.tensor([9.0, -9.0]))
    ...     _ = logic.output_weight.copy_(torch.tensor([[1.0, -1.0]])), logic.output_bias.fill_(-1.0)
    >>> logic([[-1, -1], [-1, 1], [1, -1], [1, 1]]) > 0
    tensor([False,  True,  True, False])
    """

    def __init__(
        self,
        inputs: int,
        hidden: int,
        classes: int = 2,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.inputs = positive_integer("inputs", inputs)
        self.hidden = positive_integer("hidden", hidden)
        self.classes = positive_integer("classes", classes, least=2)
        dtype = floating_dtype(dtype)
        outputs = 1 if self.classes == 2 else self.classes

        def xavier(fan_out: int, fan_in: int) -> nn.Parameter:
            std = (2 / (fan_in + fan_out)) ** 0.5
            return nn.Parameter(torch.normal(0.0, std, (fan_out, fan_in), generator=generator, dtype=dtype))

        self.hidden_weight = xavier(self.hidden, self.inputs)
        self.hidden_bias = nn.Parameter(torch.zeros(self.hidden, dtype=dtype))
        self.output_weight = xavier(outputs, self.hidden)
        self.output_bias = nn.Parameter(torch.zeros(outputs, dtype=dtype))

    def forward(self, bits: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*logits"]:
        """One logit per row, or one for each class in the last axis if there are more than two."""
        bits = numbers_in(bits, self.inputs, name="bits")
        dtype = torch.promote_types(bits.dtype, self.hidden_weight.dtype)
        columns = bits.reshape(-1, self.inputs).T.to(dtype)
        hidden = (weighted_sums(self.hidden_weight.to(dtype), columns) + self.hidden_bias.unsqueeze(-1)).tanh()
        logits = weighted_sums(self.output_weight.to(dtype), hidden) + self.output_bias.unsqueeze(-1)
        shape = bits.shape[:-1] if self.classes == 2 else (*bits.shape[:-1], self.classes)
        return logits.T.reshape(shape)

    def __repr__(self) -> str:
        dtype = "" if self.hidden_weight.dtype == torch.float32 else f", dtype={self.hidden_weight.dtype}"
        return f"Logic({self.inputs}, {self.hidden}, classes={self.classes}{dtype})"


class RuleNet(nn.Module):
    """A weighing register and logic over its bits, for rules over several comparisons. It goes beyond Section 3.

    ``register`` (a ``WeighingNSR``) forms sums of the inputs and compares each with a constant, ``logic`` (a
    ``Logic``) combines the bits. Xor, counts such as "at least 3 of 5" and several classes can be learned end to end,
    many seeds at once in an ``Ensemble``. Raise the scale during training, so that the bits become sharp.

    Args:
        inputs: Numbers per row.
        units: Comparisons.
        hidden: Hidden units of the logic.
        classes: 2 for a rule that holds or does not, more to choose one of several.
        scale: Sharpness of the bits at the start; a buffer of the register, ``net.register.scale``.
        zero_bits: Let the logic use the zero bits too.

    >>> net = RuleNet(3, 4, 2, generator=torch.Generator().manual_seed(0))
    >>> net
    RuleNet(3, 4, 2, classes=2, scale=1.0)
    >>> net([[1, 2, 3], [3, 2, 1]]).shape  # for each row the rule and its negation, as NSR gives them
    torch.Size([2, 2])
    >>> RuleNet(3, 4, 2, classes=5)([[1, 2, 3], [3, 2, 1]]).shape  # for each row the probability of each class
    torch.Size([2, 5])
    """

    def __init__(
        self,
        inputs: int,
        units: int,
        hidden: int,
        classes: int = 2,
        *,
        scale: float = 1.0,
        zero_bits: bool = False,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.register = WeighingNSR(inputs, units, scale=scale, zero_bits=zero_bits, generator=generator, dtype=dtype)
        self.logic = Logic(self.register.bits, hidden, classes, generator=generator, dtype=dtype)
        self.inputs = self.register.inputs

    def logit(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*logits"]:
        """One logit per row, or one for each class in the last axis if there are more than two."""
        logits: Tensor = self.logic(self.register(x))
        return logits

    def forward(self, x: Real[Tensor, "*batch inputs"] | ArrayLike) -> Float[Tensor, "*batch classes"]:
        """For two classes the rule and its negation, in that order, as in ``NSR``; else a probability per class."""
        z = self.logit(x)
        return torch.stack([z.sigmoid(), (-z).sigmoid()], dim=-1) if self.logic.classes == 2 else z.softmax(-1)

    def __repr__(self) -> str:
        register, logic = self.register, self.logic
        zero_bits = ", zero_bits=True" if register.zero_bits else ""
        dtype = "" if register.weight.dtype == torch.float32 else f", dtype={register.weight.dtype}"
        sizes = f"{self.inputs}, {register.units}, {logic.hidden}, classes={logic.classes}"
        return f"RuleNet({sizes}, scale={register.scale.item()}{zero_bits}{dtype})"
