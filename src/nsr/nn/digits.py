"""Section 4.7: read images of digits as numbers and compare these; only the comparison is supervised."""

import torch
from torch import Tensor, nn

from nsr.nn.baselines import MLP
from nsr.nn.bits import status_bits
from nsr.nn.checks import real_tensor
from nsr.nn.register import NSR
from nsr.nn.shapes import ArrayLike, Float, Int

DIGITS = 10
FIRST = {8: (3, 1), 28: (5, 2)}
"""Side of the patches of the first convolution and the step between them, by the side of the images."""
CHANNELS, SECOND, HIDDEN = (16, 32), 3, 64
"""Channels of both convolutions; side and step of the patches of the second; hidden units before the classes."""


class DigitReader(nn.Module):
    """A small convolutional network that reads a digit: class probabilities times [0, 1, ..., 9] (Section 4.7).

    Two convolutions, a hidden layer and ten classes with ReLUs between them. Patches are cut out and multiplied as the
    rows of one matrix, which takes half the time of ``torch.nn.Conv2d`` on a CPU.

    Args:
        side: Pixels along the side of an image: 28, as in MNIST, or 8.
    """

    digits: Tensor

    def __init__(self, side: int, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        if side not in FIRST:
            raise ValueError(f"side must be one of {', '.join(map(str, FIRST))}, got {side}")
        self.side = side
        self.patch, self.step = FIRST[side]
        self.across = ((side - self.patch) // self.step + 1) // SECOND  # patches of the second convolution
        self.first = _linear(self.patch**2, CHANNELS[0], generator)
        self.second = _linear(SECOND**2 * CHANNELS[0], CHANNELS[1], generator)
        self.hidden = _linear(self.across**2 * CHANNELS[1], HIDDEN, generator)
        self.classes = _linear(HIDDEN, DIGITS, generator)
        self.register_buffer("digits", torch.arange(DIGITS, dtype=self.classes.weight.dtype), persistent=False)

    def logits(self, images: Float[Tensor, "images side side"] | ArrayLike) -> Float[Tensor, "images 10"]:
        """The logits of the ten classes."""
        images = real_tensor("images", images)
        if images.dim() != 3 or images.shape[1:] != (self.side, self.side):
            raise ValueError(f"images must be (images, {self.side}, {self.side}), got shape {tuple(images.shape)}")
        patches = images.unfold(1, self.patch, self.step).unfold(2, self.patch, self.step)
        x = self.first(patches.reshape(-1, self.patch**2)).relu()  # one row per patch, one column per channel
        x = x.view(-1, self.across, SECOND, self.across, SECOND, CHANNELS[0]).transpose(2, 3)
        x = self.second(x.reshape(-1, SECOND**2 * CHANNELS[0])).relu()
        x = self.hidden(x.view(len(images), -1)).relu()
        logits: Tensor = self.classes(x)
        return logits

    def forward(self, images: Float[Tensor, "images side side"] | ArrayLike) -> Float[Tensor, " images"]:
        """The number read in each image, between 0 and 9."""
        return self.logits(images).softmax(-1) @ self.digits

    def __repr__(self) -> str:
        return f"DigitReader({self.side})"


class DigitComparison(nn.Module):
    """Read each image of a batch once and compare all pairs: 50 readings for 2,500 pairs (Section 4.7)."""

    def __init__(self, reader: DigitReader, comparator: NSR | MLP) -> None:
        super().__init__()
        if comparator.inputs != 2:
            raise ValueError(f"comparator must compare 2 numbers, got {comparator!r}")
        self.reader = reader
        self.comparator = comparator

    def logit(self, images: Float[Tensor, "images side side"] | ArrayLike) -> Float[Tensor, "images images"]:
        """The logit for all pairs, with the first image along the rows and the second along the columns."""
        numbers = self.reader(images)
        if isinstance(self.comparator, NSR) and not self.comparator.constants:
            return register_logits(self.comparator, numbers)
        return self.comparator.logit(all_pairs_of(numbers))

    def forward(self, images: Float[Tensor, "images side side"] | ArrayLike) -> Float[Tensor, "images images 2"]:
        """The comparison of all pairs and its negation."""
        z = self.logit(images)
        return torch.stack([z.sigmoid(), (-z).sigmoid()], dim=-1)

    def __repr__(self) -> str:
        return f"DigitComparison({self.reader!r}, {self.comparator!r})"


class DigitClassifier(nn.Module):
    """The same network trained on the digits themselves: the paper's reference (Section 4.7)."""

    def __init__(self, reader: DigitReader) -> None:
        super().__init__()
        self.reader = reader

    def logits(self, images: Float[Tensor, "images side side"] | ArrayLike) -> Float[Tensor, "images 10"]:
        """The logits of the ten digits."""
        return self.reader.logits(images)

    def forward(self, images: Float[Tensor, "images side side"] | ArrayLike) -> Int[Tensor, " images"]:
        """The most likely digit of each image."""
        return self.logits(images).argmax(-1)

    def __repr__(self) -> str:
        return f"DigitClassifier({self.reader!r})"


def all_pairs_of(numbers: Float[Tensor, " n"]) -> Float[Tensor, "n n 2"]:
    """All pairs of numbers, with the first along the rows and the second along the columns."""
    first = numbers.unsqueeze(1).expand(-1, len(numbers))
    return torch.stack([first, first.T], dim=-1)


def register_logits(register: NSR, numbers: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """``NSR.logit`` of all pairs, computed from their differences in half the time.

    Both selections of a unit sum to one, so the weights of the first and the second number are opposite.
    """
    weight = (register.v1.softmax(0) - register.v2.softmax(0))[0]
    difference = weight[:, None, None] * (numbers.unsqueeze(1) - numbers)  # (redundancy, n, n)
    sign, zero = status_bits(difference.flatten(1), register.scale)
    z = register.w_sign @ sign + register.w_zero @ zero + register.bias.sum()
    return z.view(len(numbers), len(numbers))


def _linear(inputs: int, outputs: int, generator: torch.Generator | None) -> nn.Linear:
    """A layer initialised as in ``torch.nn.Linear``, from a given generator."""
    layer = nn.Linear(inputs, outputs, device="meta").to_empty(device="cpu")  # else the global generator is used too
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -(inputs**-0.5), inputs**-0.5, generator=generator)
    return layer
