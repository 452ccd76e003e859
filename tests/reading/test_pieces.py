"""Sums read from a NAU: integer weights, and the constant that rows or the bias give."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr.nn import NAU
from nsr.reading.columns import Columns
from nsr.reading.pieces import integer_weights, learned_constant, read_branch


def sums(weights, bias=None) -> NAU:
    nau = NAU(len(weights[0]), len(weights), bias=bias is not None, dtype=torch.float64)
    nau.requires_grad_(False)
    nau.weight.copy_(torch.tensor(weights))
    if bias is not None:
        nau.bias.copy_(torch.tensor(bias))
    return nau


def test_weights_are_rounded_within_the_bounds_of_a_nau():
    assert integer_weights(sums([[0.0, 0.0], [1.7, -3.0]]), 1).tolist() == [1, -1]
    assert integer_weights(sums([[0.51, -0.49]]), 0).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("bias", "constant"), [(3.99, 4), (3.98, 4), (3.979, "3.98"), (4.019, 4), (4.03, "4.03"), (-2.985, -3), (0.015, 0)]
)
def test_the_learned_constant_is_the_simplest_number_within_a_fiftieth(bias, constant):
    assert learned_constant(sums([[0.0], [0.0]], [7.0, bias]), 1) == Fraction(constant)
    assert learned_constant(sums([[0.0]]), 0) == 0


def test_rows_decide_the_constant_where_there_are_answers():
    x = torch.tensor([[1, 5], [2, 3], [4, 4], [7, 1]])
    columns, chosen = Columns(x, ("a", "b")), np.array([True, True, True, False])
    y = np.array([1.0 - 5 + 4, 2 - 3 + 4, 99, 0])  # most of the chosen rows say 4
    nau = sums([[0.9, -0.8]], [0.3])
    assert str(read_branch(nau, 0, columns, chosen, y)) == "a - b + 4"
    assert str(read_branch(nau, 0, columns, chosen, None)) == "a - b + 0.3"
    assert str(read_branch(nau, 0, columns, np.zeros(4, bool), y)) == "a - b + 0.3"


def test_with_floats_the_constant_is_the_simplest_up_to_rounding():
    x = torch.tensor([[0.1, 0.7], [0.2, 0.4], [1.3, 0.5]], dtype=torch.float64)
    columns, chosen = Columns(x, ("a", "b")), np.ones(3, bool)
    y = (x[:, 0] + x[:, 1] + 2.5).numpy() + np.array([0, 4e-16, -4e-16])
    assert str(read_branch(sums([[1.0, 1.0]]), 0, columns, chosen, y)) == "a + b + 2.5"


def test_where_floats_do_not_agree_on_a_constant_it_is_the_median_of_what_is_left():
    x = torch.tensor([[0.25], [0.5], [0.75], [1.5]], dtype=torch.float64)
    y = x[:, 0].numpy() + np.array([0.0, 0.0, 1.0, 1.0])
    assert str(read_branch(sums([[1.0]]), 0, Columns(x, ("a",)), np.ones(4, bool), y)) == "a + 0.5"
    y = x[:, 0].numpy() + np.array([7.0, 2.0, 2.0, 2.0])  # one row is wrong
    assert str(read_branch(sums([[1.0]]), 0, Columns(x, ("a",)), np.ones(4, bool), y)) == "a + 2"


@pytest.mark.parametrize("rounding", [2.0**-51, -(2.0**-51)])
def test_the_simplest_constant_is_found_on_either_side_of_the_median(rounding):
    x = torch.tensor([[0.25], [0.5], [0.75]], dtype=torch.float64)
    y = x[:, 0].numpy() + 2.5 + rounding
    assert str(read_branch(sums([[1.0]]), 0, Columns(x, ("a",)), np.ones(3, bool), y)) == "a + 2.5"
