import copy
import math
import pickle

import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from nsr import MLP


def network(inputs: int = 2, seed: int = 0, **options) -> MLP:
    generator = torch.Generator().manual_seed(seed)
    return MLP(inputs, generator=generator, **{"dtype": torch.float64, **options})


def test_it_has_the_papers_81_parameters():
    assert sum(p.numel() for p in MLP(2).parameters()) == 81


def test_it_is_the_network_that_torch_builds_from_its_own_layers():
    mlp = network(3)
    reference = nn.Sequential(nn.Linear(3, 20), nn.Sigmoid(), nn.Linear(20, 1), nn.Sigmoid()).double()
    with torch.no_grad():
        reference[0].weight.copy_(mlp.v.T), reference[0].bias.copy_(mlp.bias_v)
        reference[2].weight.copy_(mlp.h.unsqueeze(0)), reference[2].bias.copy_(mlp.bias)
    x = torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(mlp(x)[..., :1], reference(x), rtol=1e-13, atol=1e-15)


def test_it_starts_as_linear_layers_do():
    mlp = network(4, hidden=400)
    for weight, fan_in in ((mlp.v, 4), (mlp.bias_v, 4), (mlp.h, 400)):
        reach = fan_in**-0.5
        assert weight.abs().max() <= reach
        assert weight.std().item() == pytest.approx(reach / 3**0.5, rel=0.1)


def test_gradcheck():
    mlp = network(2, hidden=3)
    x = torch.randn(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    assert gradcheck(mlp, (x,))


@pytest.mark.parametrize("batch", [(), (0,), (5,), (2, 3)])
def test_it_has_the_registers_interface(batch):
    mlp = network(3)
    x = torch.randn(*batch, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert mlp(x).shape == (*batch, 2)
    assert mlp.logit(x).shape == batch
    torch.testing.assert_close(mlp(x).sum(-1), torch.ones(batch, dtype=torch.float64))
    assert torch.equal(mlp(torch.tensor([1, 2, 3])), mlp(torch.tensor([1.0, 2.0, 3.0])))


def test_round_trips():
    mlp = network()
    x = torch.tensor([1.0, 2.0])
    for other in (pickle.loads(pickle.dumps(mlp)), copy.deepcopy(mlp)):
        assert torch.equal(other(x), mlp(x))
    call = "MLP(2, hidden=20, dtype=torch.float64)"
    assert repr(mlp) == repr(eval(call, {"MLP": MLP, "torch": torch})) == call


@pytest.mark.usefixtures("unchecked")
def test_wrong_arguments_are_errors():
    with pytest.raises(ValueError, match="^hidden must be at least 1, got 0$"):
        MLP(2, hidden=0)
    with pytest.raises(ValueError, match=r"^x must have 2 numbers in its last axis, got shape \(3,\)$"):
        network()(torch.zeros(3))
    assert network()(torch.tensor([math.nan, 0.0])).isnan().all()
