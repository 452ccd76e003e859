import copy

import pytest
import torch

from nsr import MLP, NSR
from nsr.nn import Piecewise


def seeded(number: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(number)


@pytest.mark.parametrize("gate", [NSR, MLP])
def test_the_gate_weighs_the_two_arms(gate):
    module = Piecewise(gate(3, generator=seeded(), dtype=torch.float64), generator=seeded(1), dtype=torch.float64)
    x = torch.randn(7, 3, generator=seeded(2), dtype=torch.float64)
    y = module.gate(x)[:, 0]
    first, second = x @ module.arms.weight.T.unbind(1)[0], x @ module.arms.weight.T.unbind(1)[1]
    torch.testing.assert_close(module(x), y * first + (1 - y) * second)


def test_any_batch_and_integer_rows():
    module = Piecewise(NSR(2, generator=seeded()))
    for shape in ((), (4,), (2, 3), (0,)):
        assert module(torch.zeros(*shape, 2)).shape == shape
        assert module(torch.zeros(*shape, 2, dtype=torch.int64)).shape == shape


def test_gradients_reach_the_gate_and_both_arms():
    module = Piecewise(NSR(3, generator=seeded(), dtype=torch.float64), generator=seeded(1), dtype=torch.float64)
    x = torch.randn(5, 3, generator=seeded(2), dtype=torch.float64)
    module(x).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in module.parameters())
    assert torch.autograd.gradcheck(lambda x: module(x), (x.requires_grad_(),))


def test_its_repr_is_the_constructor_call_and_its_randomness_the_generators():
    module = Piecewise(NSR(2, generator=seeded(3)), generator=seeded(4))
    assert repr(module) == "Piecewise(NSR(2, redundancy=10, scale=1.0))"
    again = Piecewise(NSR(2, generator=seeded(3)), generator=seeded(4))
    assert all(torch.equal(a, b) for a, b in zip(module.parameters(), again.parameters(), strict=True))
    other = copy.deepcopy(module)
    other.load_state_dict(again.state_dict())
    assert module.inputs == 2
