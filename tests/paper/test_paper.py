"""Numbers the paper prints that do not come from training: the weights of Appendix E."""

import pytest
import torch

from nsr import MLP, NSR
from nsr.data import COMPARISONS, all_pairs
from nsr.nn.bits import exact_bits, status_bits

# Weights of sign bit and zero bit, and bias, with operand one x1 and operand two x2.
NSR_WEIGHTS = {
    ">": (100, 0, -50),
    "<=": (-100, 0, 50),
    "<": (-100, -100, 50),
    ">=": (100, 100, -50),
    "=": (0, 100, -50),
    "!=": (0, -100, 50),
}

# V (2 x 2), hidden biases, H, bias. The paper's hidden unit one has weights V11 and V21.
MLP_WEIGHTS = {
    ">": ((100, 0, -100, 0), (-50, -50), (100, 0), -50),
    "<=": ((100, 0, -100, 0), (50, -50), (-100, 0), 50),
    "<": ((-100, 0, 100, 0), (-50, -50), (100, 0), -50),
    ">=": ((-100, 0, 100, 0), (-50, -50), (-100, 0), 50),
    "=": ((100, -100, -100, 100), (-50, -50), (-100, -100), 50),
    "!=": ((100, -100, -100, 100), (-50, -50), (100, 100), -50),
}
RIGHT_LESS_OR_EQUAL = ((100, 0, -100, 0), (-50, -50), (-100, 0), 50)


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_nsr_weights_of_the_appendix_are_right_for_the_bits_of_a_cpu(comparison):
    w_sign, w_zero, bias = NSR_WEIGHTS[comparison]
    rows = all_pairs(comparison)
    sign, zero = exact_bits((rows.x[:, 0] - rows.x[:, 1]).double(), off=0.0)
    assert torch.equal(w_sign * sign + w_zero * zero + bias > 0, rows.y > 0.5)


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_with_relaxed_bits_two_of_its_rows_fail_from_a_difference_of_two(comparison):
    w_sign, w_zero, bias = NSR_WEIGHTS[comparison]
    rows = all_pairs(comparison)
    difference = (rows.x[:, 0] - rows.x[:, 1]).double()
    sign, zero = status_bits(difference)
    wrong = (w_sign * sign + w_zero * zero + bias > 0) != (rows.y > 0.5)
    expected = difference >= 2 if comparison in ("<", ">=") else torch.zeros_like(wrong)
    assert torch.equal(wrong, expected)


@pytest.mark.parametrize("comparison", ["=", "!=", ">", "<="])
def test_the_register_itself_runs_the_rows_that_hold(comparison):
    w_sign, w_zero, bias = NSR_WEIGHTS[comparison]
    nsr = NSR(2, redundancy=1, dtype=torch.float64)
    with torch.no_grad():
        nsr.v1.copy_(torch.tensor([[100.0], [0.0]]))
        nsr.v2.copy_(torch.tensor([[0.0], [100.0]]))
        nsr.w_sign.fill_(w_sign), nsr.w_zero.fill_(w_zero), nsr.bias.fill_(bias)
    rows = all_pairs(comparison)
    assert torch.equal(nsr(rows.x)[:, 0] > 0.5, rows.y > 0.5)


def appendix_mlp(v, hidden_bias, h, bias) -> MLP:
    mlp = MLP(2, hidden=2, dtype=torch.float64)
    with torch.no_grad():
        mlp.v.copy_(torch.tensor(v).reshape(2, 2)), mlp.bias_v.copy_(torch.tensor(hidden_bias))
        mlp.h.copy_(torch.tensor(h)), mlp.bias.fill_(bias)
    return mlp


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_mlp_weights_of_the_appendix_but_the_row_for_less_or_equal_computes_less(comparison):
    computed = "<" if comparison == "<=" else comparison
    rows = all_pairs(computed)
    assert torch.equal(appendix_mlp(*MLP_WEIGHTS[comparison])(rows.x)[:, 0] > 0.5, rows.y > 0.5)


def test_a_right_row_for_less_or_equal():
    rows = all_pairs("<=")
    assert torch.equal(appendix_mlp(*RIGHT_LESS_OR_EQUAL)(rows.x)[:, 0] > 0.5, rows.y > 0.5)
