import math

import pytest
import torch

from nsr.nn.bits import exact_bits, status_bits

DIFFERENCES = torch.tensor([-1e300, -2.0, -1.0, 0.0, 1.0, 2.0, 1e300], dtype=torch.float64)


def test_relaxed_bits_are_the_formulas_of_section_3_2():
    sign, zero = status_bits(torch.tensor([0.0, 0.5, 1.0, -1.0], dtype=torch.float64))
    # A vectorised tanh rounds differently from CPU to CPU: a few units in the last place.
    assert sign.tolist() == pytest.approx([0.0, math.tanh(0.5), math.tanh(1), -math.tanh(1)], rel=1e-15, abs=0)
    assert sign[0] == 0
    assert zero[0] == 1
    assert zero[1].item() == pytest.approx(0.57, abs=0.005)  # the paper's value
    # The paper says about -0.17 here; its own formula gives -0.160.
    assert zero[2].item() == pytest.approx(-0.1600513, abs=1e-7)


@pytest.mark.parametrize("scale", [1e-3, 1 / 3, 3.0, 1e3])
def test_lambda_rescales_the_difference(scale):
    d = torch.linspace(-3, 3, 13, dtype=torch.float64)
    for rescaled, plain in zip(status_bits(d, scale), status_bits(scale * d), strict=True):
        assert torch.equal(rescaled, plain)


def test_exact_bits_are_where_the_relaxed_ones_end():
    sign, zero = exact_bits(DIFFERENCES)
    assert sign.tolist() == [-1, -1, -1, -1, 1, 1, 1]
    assert zero.tolist() == [-1, -1, -1, 1, -1, -1, -1]
    far = DIFFERENCES.abs() != 0
    for exact, relaxed in zip((sign, zero), status_bits(DIFFERENCES, 1e3), strict=True):
        assert torch.equal(exact[far], relaxed[far])


def test_exact_bits_of_a_cpu_are_zero_when_off():
    sign, zero = exact_bits(DIFFERENCES, off=0.0)
    assert sign.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert zero.tolist() == [0, 0, 0, 1, 0, 0, 0]


def test_nan_has_no_bits():
    for bits in (*status_bits(torch.tensor([math.nan])), *exact_bits(torch.tensor([math.nan]))):
        assert bits.isnan().all()


def test_a_tiny_difference_keeps_its_sign():
    d = torch.tensor([1e-300, -1e-300], dtype=torch.float64)
    assert status_bits(d)[0].tolist() == [1e-300, -1e-300]
