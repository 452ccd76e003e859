"""Values that variables may hold, and errors for all others."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nsr.program.values import as_plain, floats, nearest_float


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3),
        (True, 1),
        (2.5, 2.5),
        (10**30, 10**30),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Decimal("0.1")),
        (np.True_, 1),
        (np.int8(-3), -3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float32(0.5), 0.5),
        (np.array(7), 7),
        (np.array(10**30, dtype=object), 10**30),
        (math.inf, math.inf),
    ],
)
def test_a_single_number_is_a_python_number(value, number):
    got = as_plain("a", value)
    assert got == number
    assert type(got) is type(number)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([1, 2], "int64"),
        ((True, False), "int64"),
        (range(3), "int64"),
        ([1, 2.5], "float64"),
        ([2**63, -1], "object"),
        ([Fraction(1, 2), 1], "object"),
        ([Decimal(1)], "object"),
        ([np.int8(1), np.float32(2.5)], "float64"),
        (np.array([1, 2], dtype=object), "int64"),
        (np.array([True]), "int64"),
        (np.array([200], dtype=np.uint8), "int64"),
        (np.array([2**63 - 1], dtype=np.uint64), "int64"),
        (np.array([2**63], dtype=np.uint64), "object"),
        (np.array([0.5], dtype=np.float16), "float16"),
        (np.array([], dtype=np.uint64), "int64"),
        (pd.Series([1, 2]), "int64"),
        (pd.Series([1.0, math.inf]), "float64"),
        (pd.Series([1, 2], dtype="Int64"), "int64"),
        (pd.Series([True, False]), "int64"),
    ],
)
def test_many_numbers_become_an_array_that_holds_them_exactly(value, dtype):
    got = as_plain("a", value)
    assert isinstance(got, np.ndarray)
    assert got.dtype == dtype
    assert got.tolist() == list(value)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.int64, torch.uint64])
def test_integers_of_tensors_are_int64(dtype):
    got = as_plain("a", torch.tensor([0, 1]).to(dtype))
    assert got.dtype == torch.int64
    assert got.tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_of_floats_keep_their_dtype(dtype):
    assert as_plain("a", torch.ones(2, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize(
    ("value", "exact"), [(10**400, math.inf), (Fraction(-(10**400), 3), -math.inf), (Decimal("1e400"), math.inf)]
)
def test_beyond_the_largest_float_the_nearest_is_infinite(value, exact):
    assert nearest_float(value) == exact
    assert floats(np.array([value], dtype=object)).tolist() == [exact]


@given(st.fractions())
def test_no_float_is_nearer_than_the_nearest(value):
    near = nearest_float(value)
    for neighbour in (math.nextafter(near, -math.inf), math.nextafter(near, math.inf)):
        assert abs(Fraction(near) - value) <= abs(Fraction(neighbour) - value)


NAN = math.nan
END = ": NaN is neither less, equal nor greater"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (NAN, f"'a' holds NaN in 1 row{END}"),
        (np.float32(NAN), f"'a' holds NaN in 1 row{END}"),
        (Decimal("NaN"), f"'a' holds NaN in 1 row{END}"),
        (Decimal("sNaN"), f"'a' holds NaN in 1 row{END}"),
        (np.array([1.0, NAN, NAN]), f"'a' holds NaN in 2 rows{END}"),
        (np.array([[1.0, NAN], [NAN, NAN]], dtype=np.float16), f"'a' holds NaN in 3 rows{END}"),
        ([1, NAN, Decimal("NaN")], f"'a' holds NaN in 2 rows{END}"),
        (torch.tensor([NAN, 0.0, NAN]), f"'a' holds NaN in 2 rows{END}"),
        (pd.Series([1.0, None]), f"'a' holds NaN in 1 row{END}"),
        (Decimal("Infinity"), "'a' must be finite where it holds Decimals, got Infinity"),
        ("abc", "'a' must hold numbers, got 'abc'"),
        (None, "'a' must hold numbers, got None"),
        (1j, "'a' must hold numbers, got 1j"),
        (np.complex128(1j), "'a' must hold numbers, got np.complex128(1j)"),
        (np.array([1j]), "'a' must hold numbers, got complex128"),
        (np.array(["x"]), "'a' must hold numbers, got <U1"),
        (np.array([1, "x"], dtype=object), "'a' must hold numbers, got 'x'"),
        (np.array(["2026-01-01"], dtype="datetime64[D]"), "'a' must hold numbers, got datetime64[D]"),
        (pd.Series(["x", "y"]), "'a' must hold numbers, got 'x'"),
        ([[1], [2, 3]], "'a' must hold numbers, got [1]"),
        (torch.tensor([1j]), "'a' must hold real numbers, got torch.complex64"),
        (
            torch.tensor([-1]).view(torch.uint64),
            "'a' must hold floats or integers that fit int64, got larger integers in torch.uint64",
        ),
    ],
)
def test_errors_for_values_that_are_not_numbers(value, text):
    with pytest.raises(ValueError) as error:
        as_plain("a", value)
    assert str(error.value) == text
