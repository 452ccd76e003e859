"""What a variable may hold: real numbers as scalars, arrays and tensors, and a refusal of everything else."""

from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import torch

INT64 = 2**63 - 1


def plain(name: str, value: Any) -> Any:
    """A value as a Python number, a tensor or an array of int64, a float dtype or exact Python numbers."""
    if isinstance(value, torch.Tensor):
        return _tensor(name, value)
    array = np.asarray(value) if hasattr(value, "dtype") else np.asarray(value, dtype=object)
    if array.dtype.kind == "O":
        array = _elements(name, array)
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name!r} must hold numbers, got {array.dtype if array.ndim else repr(value)}")
    if array.dtype.kind == "f":
        _refuse_nan(name, int(np.isnan(array).sum()))
    if array.dtype == np.uint64 and array.size and int(array.max()) > INT64:
        array = array.astype(object)
    if array.dtype.kind in "biu":
        array = array.astype(np.int64, copy=False)
    return array if array.ndim else array.item()


def floats(value: Any) -> Any:
    """A Python number as a float, and an array as one of float64."""
    if not isinstance(value, np.ndarray):
        return nearest(value)
    if value.dtype.kind != "O":
        return value.astype(np.float64, copy=False)
    return np.array([nearest(each) for each in value.flat], dtype=np.float64).reshape(value.shape)


def nearest(value: Fraction | Decimal | float | int) -> float:
    """The float nearest to a number; beyond the largest float that is an infinity."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _tensor(name: str, value: torch.Tensor) -> torch.Tensor:
    if value.is_complex():
        raise ValueError(f"{name!r} must hold real numbers, got {value.dtype}")
    if value.is_floating_point():
        _refuse_nan(name, int(value.isnan().sum()))
        return value
    integers = value.to(torch.int64)
    if value.dtype == torch.uint64 and bool((integers < 0).any()):
        raise ValueError(f"{name!r} must hold integers that int64 can hold, or floats, got torch.uint64 beyond it")
    return integers


def _elements(name: str, array: np.ndarray) -> np.ndarray:
    """Python numbers as int64 where they fit it, as float64 where one of them is a float, else as they are."""
    elements = [each.item() if isinstance(each, np.generic) else each for each in array.flat]
    wrong = [each for each in elements if not isinstance(each, int | float | Fraction | Decimal)]
    if wrong:
        raise ValueError(f"{name!r} must hold numbers, got {wrong[0]!r}")
    _refuse_nan(name, sum(each.is_nan() if isinstance(each, Decimal) else each != each for each in elements))
    endless = [each for each in elements if isinstance(each, Decimal) and not each.is_finite()]
    if endless:
        raise ValueError(f"{name!r} must be finite where it holds Decimals, got {endless[0]}")
    exact = np.empty(len(elements), dtype=object)
    exact[:] = [int(each) if isinstance(each, bool) else each for each in elements]
    if any(isinstance(each, float) for each in elements):
        return floats(exact).reshape(array.shape)  # type: ignore[no-any-return]
    if all(isinstance(each, int) and abs(each) <= INT64 for each in elements):
        exact = exact.astype(np.int64)
    return exact.reshape(array.shape)


def _refuse_nan(name: str, count: int) -> None:
    if count:
        rows = "row" if count == 1 else "rows"
        raise ValueError(f"{name!r} holds NaN in {count} {rows}: NaN is neither less, equal nor greater")
