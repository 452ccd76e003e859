"""Refusals at the door, each in one sentence, shared by the layers."""

import contextlib
import math
from numbers import Integral, Real

import torch
from torch import Tensor


def positive_integer(name: str, value: object) -> int:
    """``value`` as an int of at least 1, or a ValueError that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
    return int(value)


def positive_number(name: str, value: object) -> float:
    """``value`` as a finite float above 0, or a ValueError that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def floating_dtype(dtype: torch.dtype | None) -> torch.dtype:
    """The dtype of a layer's parameters: ``dtype``, or torch's default."""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise ValueError(f"dtype must be a floating-point dtype such as torch.float64, got {dtype}")
    return dtype


def numbers_in(x: Tensor, inputs: int) -> Tensor:
    """``x`` when its last axis holds ``inputs`` real numbers; integers of any width come back as int64."""
    if x.dim() == 0 or x.shape[-1] != inputs:
        raise ValueError(f"x must have {inputs} numbers in its last axis, got shape {tuple(x.shape)}")
    if x.is_complex():
        raise ValueError(f"x must hold real numbers, which complex ones are not, got {x.dtype}")
    if x.dtype == torch.uint64:
        raise ValueError("x must hold integers that int64 can hold, or floats, got torch.uint64")
    return x if x.is_floating_point() else x.to(torch.int64)


def lengths_of(x: Tensor, lengths: Tensor | None) -> Tensor | None:
    """``lengths`` when there is one for each list of ``x``; lists without elements are refused."""
    if x.dim() == 0 or x.shape[-1] == 0:
        raise ValueError(f"x must hold lists of at least one number in its last axis, got shape {tuple(x.shape)}")
    if lengths is not None and (lengths.shape != x.shape[:-1] or lengths.is_floating_point()):
        raise ValueError(
            f"lengths must be integers, one for each list {tuple(x.shape[:-1])}, "
            f"got {lengths.dtype} of shape {tuple(lengths.shape)}"
        )
    if lengths is not None and not torch.compiler.is_compiling():
        outside = (lengths < 1) | (lengths > x.shape[-1])
        with contextlib.suppress(RuntimeError):  # inside vmap nobody can look at numbers
            if outside.any():
                raise ValueError(f"lengths must be from 1 to {x.shape[-1]}, got {int(lengths[outside][0])}")
    return lengths
