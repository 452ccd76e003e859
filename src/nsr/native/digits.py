"""Steps of training on batches of images in C: all pairs of a batch are compared, or its images classified."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from nsr.native.library import library
from nsr.nn import MLP, NSR, DigitClassifier, DigitComparison, DigitReader

SIDES = (28, 8)
IMAGES = 50
"""Images of a batch; the last batch of an epoch may have fewer."""
CALL = 200 * IMAGES
"""Images per call, so that an interrupt does not have to wait."""
WIDTH = 16
CLASSES, UNITS, NEURONS = 10, 10, 20
LOSSES = {"mae": 0, "bce": 1}
NOISE = 4 * torch.finfo(torch.float32).eps
"""Rounding of a sum of terms of size 1."""
PARTS = ("weights", "mean", "square", "gradient")
"""What the state consists of: each part holds a number for every parameter."""


class Objective(ctypes.Structure):
    """The struct of the same name in digits.c."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("model", "loss", "balanced", "unused")),
        ("shown", ctypes.c_float * CLASSES**2),
        ("holds", ctypes.c_float * CLASSES**2),
        ("levels", ctypes.c_float * 256),
    )


class Pairs(NamedTuple):
    """How pairs are compared: tables by the digits of both images, (10, 10), and how their losses are weighed."""

    holds: Tensor
    """Whether the comparison holds."""
    shown: Tensor
    """Whether training shows the pair."""
    loss: str
    balanced: bool
    """Whether the pairs for which the comparison holds have the same total weight as the others."""


def steps_of(rates: Tensor, beta1: Tensor, scale: Tensor) -> Tensor:
    """One row for each step, as in the struct of that name in digits.c, in float64.

    From learning rates of reader and comparator (2, steps), Adam's beta1 (steps,) and lambda (steps,).
    """
    number = torch.arange(1, len(beta1) + 1, dtype=torch.float64)
    corrected = rates.double() / (1 - beta1.double() ** number)
    return torch.stack([*corrected, 1 - beta1, (1 - 0.999**number).rsqrt(), scale], dim=-1)


def supported(module: nn.Module) -> bool:
    """Whether a module has the sizes that are written in C, and there is a C compiler."""
    reader = getattr(module, "reader", None)
    if not isinstance(reader, DigitReader) or reader.side not in SIDES or library() is None:
        return False
    if any(parameter.dtype != torch.float32 or parameter.device.type != "cpu" for parameter in module.parameters()):
        return False
    if isinstance(module, DigitClassifier):
        return True
    comparator = getattr(module, "comparator", None)
    if isinstance(comparator, NSR):
        return comparator.redundancy == UNITS and not comparator.constants
    return isinstance(comparator, MLP) and comparator.hidden == NEURONS


@dataclass(frozen=True, eq=False)
class DigitTraining:
    """A module in training: its weights, gradients and Adam's moments, which ``train`` changes in place.

    Images are pixels (uint8), and ``levels`` the 256 values that the network takes for them.
    """

    module: DigitClassifier | DigitComparison
    images: Tensor
    digits: Tensor
    objective: Objective
    state: Tensor
    batch: Tensor

    @classmethod
    def of(
        cls,
        module: DigitClassifier | DigitComparison,
        images: Tensor,
        digits: Tensor,
        levels: Tensor,
        pairs: Pairs | None = None,
    ) -> "DigitTraining | None":
        """Prepare training from the weights of a module; None where only torch can train it."""
        if not supported(module) or (pairs is not None and pairs.loss not in LOSSES):
            return None
        objective = Objective(levels=(ctypes.c_float * 256)(*levels.tolist()))
        if isinstance(module, DigitComparison):
            assert pairs is not None
            objective.model = 1 if isinstance(module.comparator, NSR) else 2
            objective.loss, objective.balanced = LOSSES[pairs.loss], int(pairs.balanced)
            objective.holds[:] = pairs.holds.float().flatten().tolist()
            objective.shown[:] = pairs.shown.float().flatten().tolist()
        side = module.reader.side
        state, batch = (_function(f"digits_{what}_size", side, ctypes.c_long)() // 4 for what in ("state", "batch"))
        training = cls(
            module,
            images.to(torch.uint8).contiguous(),
            digits.to(torch.uint8).contiguous(),
            objective,
            torch.zeros(len(PARTS), state // len(PARTS)),
            torch.zeros(batch),
        )
        training.load()
        return training

    def part(self, name: str) -> dict[str, Tensor]:
        """The weights, a moment, or the gradient of the last step, by parameter, as views of the state."""
        return _views(self.module, self.state[PARTS.index(name)])

    @torch.no_grad()
    def load(self) -> None:
        """Take the weights of the module, with Adam's moments zero."""
        self.state.zero_()
        for name, view in self.part("weights").items():
            view.copy_(self.module.get_parameter(name))

    @torch.no_grad()
    def save(self) -> None:
        """Set the weights of the module."""
        for name, view in self.part("weights").items():
            self.module.get_parameter(name).copy_(view)

    def train(self, order: Tensor, steps: Tensor) -> Tensor:
        """One step for each 50 images of ``order``, in this order; returns the loss of each batch before its step.

        ``steps`` are the rows of ``steps_of`` for these batches.
        """
        order = order.to(torch.int64).contiguous()
        if len(order) and not 0 <= int(order.min()) <= int(order.max()) < len(self.images):
            raise ValueError(f"order must be indices of the {len(self.images)} images")
        rows = steps.to(torch.float32).contiguous()
        losses = torch.zeros(-(-len(order) // IMAGES))
        if len(rows) != len(losses):
            raise ValueError(f"steps must be {len(losses)}, one for each batch, got {len(rows)}")
        train = _function("digits_train", self.module.reader.side)
        for start in range(0, len(order), CALL):
            images, first = order[start : start + CALL], start // IMAGES
            train(
                *self._addresses(self.images, self.digits, images),
                ctypes.c_int64(len(images)),
                *_pointers(rows[first:], losses[first:]),
            )
        return losses

    def test(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the classes (images, 10), and of all pairs of each 50 images (images, 50); empty for a classifier.

        The rows of an incomplete last batch have columns without meaning.
        """
        images = images.to(torch.uint8).contiguous()
        comparator = getattr(self.module, "comparator", None)
        classes = torch.zeros(len(images), CLASSES)
        pairs = torch.zeros(0 if comparator is None else len(images), IMAGES)
        _function("digits_test", self.module.reader.side)(
            *self._addresses(images),
            ctypes.c_int64(len(images)),
            ctypes.c_float(getattr(comparator, "scale", 0.0)),
            *_pointers(classes, pairs),
        )
        return classes, pairs

    def _addresses(self, *tensors: Tensor) -> Sequence[ctypes.c_void_p]:
        objective = ctypes.c_void_p(ctypes.addressof(self.objective))
        return [*_pointers(self.state, self.batch), objective, *_pointers(*tensors)]


def disagreement(training: DigitTraining, loss: Callable[[Tensor], Tensor], batch: Tensor, steps: Tensor) -> str | None:
    """Train on one batch, and compare loss, gradients and updates with torch's: the first difference, in words.

    Nothing changes in the end. Three digits must agree, relative to the largest entry of a tensor, beside rounding:
    gradients cancel if a network is right as often as wrong. Steps follow from the moments of the same step: where
    a gradient is close to zero, rounding decides its sign, and with it the direction of a step of full size.
    """
    module, parts = training.module, {name: training.part(name) for name in PARTS}
    reader_rate, comparator_rate, momentum, correction, _ = steps[0].tolist()
    module.zero_grad()
    wanted = loss(batch)
    wanted.backward()  # type: ignore[no-untyped-call]
    compared = [("the loss", training.train(batch, steps)[0], wanted.detach(), 1.0)]
    for name, parameter in module.named_parameters():
        value, gradient = parameter.detach(), parameter.grad
        assert gradient is not None
        rate = reader_rate if name.startswith("reader.") else comparator_rate
        step = rate * parts["mean"][name] / (parts["square"][name].sqrt() * correction + 1e-8)
        compared += [
            (f"the gradient of {name}", parts["gradient"][name], gradient, 1.0),
            (f"the first moment of {name}", parts["mean"][name], momentum * gradient, momentum),
            (f"the second moment of {name}", parts["square"][name], 0.001 * gradient.square(), 0.001),
            (f"the step of {name}", value - parts["weights"][name], step, float(value.abs().max())),
        ]
    difference = next(filter(None, (_difference(*row) for row in compared)), None)
    module.zero_grad()
    training.load()
    return difference


def _difference(what: str, actual: Tensor, expected: Tensor, terms: float) -> str | None:
    largest = float(expected.abs().max())
    off = float((actual - expected).abs().nan_to_num(nan=torch.inf).max())
    return f"{what} is off by {off:g}, of {largest:g}" if off > 1e-3 * largest + NOISE * terms else None


def _views(module: DigitClassifier | DigitComparison, flat: Tensor) -> dict[str, Tensor]:
    """The parameters of a module as views of one part of the state, in the order of the struct in digits_reader.h."""
    reader, views, start = module.reader, {}, 0

    def take(*shape: int) -> Tensor:
        nonlocal start
        size = torch.Size(shape).numel()
        start += size
        return flat[start - size : start].view(shape)

    for name, layer in reader.named_children():
        outputs, inputs = layer.get_parameter("weight").shape
        width = max(WIDTH, outputs)  # the ten classes take a vector of 16 numbers
        views[f"reader.{name}.weight"] = take(inputs, width)[:, :outputs].T
        views[f"reader.{name}.bias"] = take(width)[:outputs]
    if isinstance(module, DigitComparison):
        for name, parameter in module.comparator.named_parameters():
            width = WIDTH * -(-(parameter.shape or (1,))[-1] // WIDTH)
            padded = take(*parameter.shape[:-1], width)
            views[f"comparator.{name}"] = padded[..., : parameter.shape[-1]] if parameter.shape else padded[0]
    return views


def _function(name: str, side: int, result: type | None = None) -> Any:
    built = library()
    assert built is not None
    function: Any = getattr(built, f"{name}_{side}")
    function.restype = result
    return function


def _pointers(*tensors: Tensor) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
