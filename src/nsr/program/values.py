"""Values of variables: real numbers as scalars, arrays and tensors. Anything else is rejected with a ValueError."""

from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import torch

from nsr.errors import reject_masked

INT64 = 2**63 - 1


def as_plain(name: str, value: Any) -> Any:
    """Convert a value to a Python number, a tensor, or an array of int64, of floats or of exact Python numbers."""
    if isinstance(value, torch.Tensor):
        return _tensor(name, value)
    reject_masked(repr(name), value)
    array = np.asarray(value) if hasattr(value, "dtype") else np.asarray(value, dtype=object)
    if array.dtype.kind == "O":
        array = _elements(name, array)
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name!r} must hold numbers, got {array.dtype if array.ndim else repr(value)}")
    if array.dtype.kind == "f":
        _reject_nan(name, int(np.isnan(array).sum()))
    if array.dtype == np.uint64 and array.size and int(array.max()) > INT64:
        array = array.astype(object)
    if array.dtype.kind in "biu":
        array = array.astype(np.int64, copy=False)
    return array if array.ndim else array.item()


def floats(value: Any) -> Any:
    """Convert a Python number to a float, and an array to float64."""
    if not isinstance(value, np.ndarray):
        return nearest_float(value)
    if value.dtype.kind != "O":
        return value.astype(np.float64, copy=False)
    return np.array([nearest_float(number) for number in value.flat], dtype=np.float64).reshape(value.shape)


def nearest_float(value: Fraction | Decimal | float | int) -> float:
    """Round a number to the nearest float; numbers beyond the largest float become infinite."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _tensor(name: str, value: torch.Tensor) -> torch.Tensor:
    if value.is_complex():
        raise ValueError(f"{name!r} must hold real numbers, got {value.dtype}")
    if value.is_floating_point():
        _reject_nan(name, int(value.isnan().sum()))
        return value
    integers = value.to(torch.int64)
    if value.dtype == torch.uint64 and bool((integers < 0).any()):
        raise ValueError(f"{name!r} must hold floats or integers that fit int64, got larger integers in torch.uint64")
    return integers


def _elements(name: str, array: np.ndarray) -> np.ndarray:
    """Convert Python numbers to float64 if one of them is a float, to int64 if all fit, and otherwise keep them."""
    elements = [element.item() if isinstance(element, np.generic) else element for element in array.flat]
    _check_elements(name, elements)
    exact = np.empty(len(elements), dtype=object)
    exact[:] = [int(element) if isinstance(element, bool) else element for element in elements]
    if any(isinstance(element, float) for element in elements):
        return floats(exact).reshape(array.shape)  # type: ignore[no-any-return]
    if all(isinstance(element, int) and abs(element) <= INT64 for element in elements):
        exact = exact.astype(np.int64)
    return exact.reshape(array.shape)


def _check_elements(name: str, elements: list[Any]) -> None:
    wrong = [element for element in elements if not isinstance(element, int | float | Fraction | Decimal)]
    if wrong:
        reject_masked(repr(name), wrong[0])
        raise ValueError(f"{name!r} must hold numbers, got {wrong[0]!r}")
    _reject_nan(name, sum(e.is_nan() if isinstance(e, Decimal) else e != e for e in elements))
    infinite = [element for element in elements if isinstance(element, Decimal) and not element.is_finite()]
    if infinite:
        raise ValueError(f"{name!r} must be finite where it holds Decimals, got {infinite[0]}")


def _reject_nan(name: str, count: int) -> None:
    if count:
        rows = "row" if count == 1 else "rows"
        raise ValueError(f"{name!r} holds NaN in {count} {rows}: NaN is neither less, equal nor greater")
