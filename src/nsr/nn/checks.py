"""Argument checks shared by the layers: each raises a ValueError that names the argument."""

import contextlib
import math
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nsr.errors import reject_masked


def positive_integer(name: str, value: object, *, least: int = 1) -> int:
    """``value`` as an int of at least 1, or of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def positive_number(name: str, value: object) -> float:
    """``value`` as a finite float above 0."""
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


def real_tensor(name: str, values: Any) -> Tensor:
    """``values`` as a tensor of real numbers. Lists, arrays and data frames are copied, tensors are returned as is."""
    tensor = values if isinstance(values, Tensor) else torch.from_numpy(_plain_array(name, values))
    if tensor.is_complex() or tensor.dtype == torch.uint64:
        raise ValueError(f"{name} must hold real numbers, and integers that fit int64, got {tensor.dtype}")
    return tensor


def _plain_array(name: str, values: Any) -> np.ndarray:
    """A contiguous copy in a dtype that torch can take over."""
    reject_masked(name, values)
    try:
        array = np.array(values, order="C")
    except ValueError:
        raise ValueError(f"{name} must have the same number of values in each row") from None
    if array.dtype.kind == "f" and not hasattr(values, "dtype") and (np.abs(array) >= 2.0**63).any():
        array = np.array(values, dtype=object)  # numpy rounds a list such as [2**63, 1] to floats
    if array.dtype.kind == "O" and not any(isinstance(value, str) for value in array.flat):
        integers = all(isinstance(value, Integral) for value in array.flat)  # nullable columns of pandas, fractions
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            array = array.astype(np.int64 if integers else np.float64)
    if array.dtype == np.uint64:
        array = array.astype(np.int64 if (array < 2**63).all() else np.uint64)  # also of type ulonglong
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    if array.dtype.kind not in "biufc":
        raise ValueError(f"{name} must hold numbers that fit int64 or float64, got an array of dtype {array.dtype}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def numbers_in(x: Any, inputs: int, *, name: str = "x") -> Tensor:
    """``x`` as a tensor with ``inputs`` real numbers in its last axis; integers of any width become int64."""
    numbers = real_tensor(name, x)
    if numbers.dim() == 0 or numbers.shape[-1] != inputs:
        raise ValueError(f"{name} must have {inputs} numbers in its last axis, got shape {tuple(numbers.shape)}")
    return numbers if numbers.is_floating_point() else numbers.to(torch.int64)


def lists_in(x: Any) -> Tensor:
    """``x`` as a tensor with lists of at least one number in its last axis."""
    lists = real_tensor("x", x)
    if lists.dim() == 0 or lists.shape[-1] == 0:
        raise ValueError(f"x must hold lists of at least one number in its last axis, got shape {tuple(lists.shape)}")
    return lists


def lengths_of(x: Tensor, lengths: Any) -> Tensor | None:
    """``lengths`` as a tensor with one length for each list of ``x``; None stays None."""
    if lengths is None:
        return None
    numbers = real_tensor("lengths", lengths)
    if numbers.shape != x.shape[:-1] or numbers.is_floating_point():
        raise ValueError(
            f"lengths must be integers, one for each list {tuple(x.shape[:-1])}, "
            f"got {numbers.dtype} of shape {tuple(numbers.shape)}"
        )
    if not torch.compiler.is_compiling():
        outside = (numbers < 1) | (numbers > x.shape[-1])
        with contextlib.suppress(RuntimeError):  # values cannot be inspected inside vmap
            if outside.any():
                raise ValueError(f"lengths must be from 1 to {x.shape[-1]}, got {int(numbers[outside][0])}")
    return numbers
