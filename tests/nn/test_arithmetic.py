import copy
import math
import pickle

import pytest
import torch
from torch.autograd import gradcheck

from nsr import NAU


def unit(inputs: int = 3, outputs: int = 2, **options) -> NAU:
    generator = torch.Generator().manual_seed(0)
    return NAU(inputs, outputs, generator=generator, **{"dtype": torch.float64, **options})


def test_it_is_a_linear_map_with_weights_clamped_to_one():
    nau = unit(bias=True)
    with torch.no_grad():
        nau.weight.copy_(torch.tensor([[3.0, -0.5, 0.0], [-7.0, 1.0, 0.25]]))
        nau.bias.copy_(torch.tensor([4.0, 0.0]))
    x = torch.tensor([10.0, 2.0, 8.0], dtype=torch.float64)
    assert nau(x).tolist() == [10 - 1 + 4, -10 + 2 + 2]


def test_sums_with_integer_weights_are_exact_far_away():
    nau = unit(2, 1)
    with torch.no_grad():
        nau.weight.copy_(torch.tensor([[1.0, -1.0]]))
    assert nau(torch.tensor([2.0**53 - 1, 2.0**53 - 4], dtype=torch.float64)).item() == 3


def test_the_penalty_is_zero_at_integer_weights_and_largest_between():
    nau = unit(5, 1)
    with torch.no_grad():
        nau.weight.copy_(torch.tensor([[-1.0, 0.0, 1.0, 0.5, -0.75]]))
    assert nau.sparsity().item() == pytest.approx((0.5 + 0.25) / 5)
    nau.sparsity().backward()
    assert nau.weight.grad[0, 3].abs() <= 1 / 5
    assert nau.weight.grad[0, 4].item() == pytest.approx(1 / 5)  # downhill leads to -1


def test_outside_weights_come_back():
    nau = unit(2, 1)
    with torch.no_grad():
        nau.weight.copy_(torch.tensor([[5.0, -0.5]]))
    nau.clamp_()
    assert nau.weight.tolist() == [[1.0, -0.5]]


def test_gradcheck():
    nau = unit(bias=True)
    x = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    assert gradcheck(nau, (x,))


@pytest.mark.parametrize("batch", [(), (0,), (2, 3)])
def test_any_leading_shape(batch):
    assert unit()(torch.zeros(*batch, 3)).shape == (*batch, 2)


def test_integers_are_converted():
    assert torch.equal(unit()(torch.tensor([1, 2, 3])), unit()(torch.tensor([1.0, 2.0, 3.0])))


def test_it_starts_inside_its_reach():
    weight = unit(300, 100).weight
    assert weight.abs().max() <= (6 / 400) ** 0.5
    assert unit(1, 1).weight.abs() <= 0.5


def test_round_trips():
    nau = unit(bias=True)
    x = torch.ones(3)
    for other in (pickle.loads(pickle.dumps(nau)), copy.deepcopy(nau)):
        assert torch.equal(other(x), nau(x))
    call = "NAU(3, 2, bias=True, dtype=torch.float64)"
    assert repr(nau) == repr(eval(call, {"NAU": NAU, "torch": torch})) == call


@pytest.mark.usefixtures("unchecked")
def test_wrong_arguments_are_errors():
    with pytest.raises(ValueError, match="^inputs must be at least 1, got 0$"):
        NAU(0)
    with pytest.raises(ValueError, match="^outputs must be at least 1, got -2$"):
        NAU(1, -2)
    with pytest.raises(ValueError, match="^x must have 3 numbers in its last axis, got shape"):
        unit()(torch.tensor([math.pi]))
