import time

import numpy as np
import pytest
import torch

from nsr.learn.networks import MOST_ROWS, Inputs, _logits, _network, _start, rows_to_train_on, train_networks
from nsr.learn.proposals import propose
from tests.learn.samples import integers, labelled


@pytest.mark.parametrize("n_classes", [2, 5])
def test_all_members_at_once_give_what_each_network_gives(n_classes):
    rows = labelled(integers(50, 3), np.arange(50) % n_classes, n_classes)
    inputs = Inputs.of(rows)
    parameters = _start(4, 3, 1 if n_classes == 2 else n_classes, torch.Generator().manual_seed(0))
    x = torch.from_numpy(inputs(rows.columns.x)).float()
    together = _logits(parameters, x, 3.0)
    for member in range(4):
        net = _network([value[member] for value in parameters], inputs, n_classes, 3.0).net
        alone = net.logit(x.double()).reshape(50, -1)
        assert together[member].numpy() == pytest.approx(alone.detach().numpy(), abs=1e-5)


def test_the_logits_of_two_classes_are_opposite():
    rows = labelled(integers(40, 2), np.arange(40) % 2)
    (network, *_) = train_networks(rows, Inputs.of(rows), 1, np.random.default_rng(0), deadline=time.monotonic())
    logits = network.logits(rows.columns.x)
    assert logits.shape == (40, 2)
    assert logits[:, 0] == pytest.approx(-logits[:, 1])


def test_inputs_are_standardised_and_logarithms_are_of_positive_columns():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.uniform(1, 9, 200), rng.normal(size=200), np.full(200, 3.0), rng.integers(0, 9, 200)])
    rows = labelled(x, np.arange(200) % 2)
    plain = Inputs.of(rows)
    assert plain.names == ("a", "b", "d")  # c is constant
    seen = plain(rows.columns.x)
    assert seen.mean(0) == pytest.approx(0, abs=1e-12)
    assert seen.std(0) == pytest.approx(1)
    logarithms = Inputs.of(rows, logarithms=True)
    assert logarithms.names == ("a", "d")  # b has negative numbers
    assert logarithms.select(rows.columns.x)[:, 0] == pytest.approx(np.log(x[:, 0]))
    assert logarithms.select(rows.columns.x)[:, 1].min() == pytest.approx(np.log(0.5))  # 0 is taken for half of 1


def test_a_network_proposes_the_sum_that_decides():
    x = integers(400, 4, low=0, high=60)
    rows = labelled(x, x[:, 0] + x[:, 1] > x[:, 2])
    networks = train_networks(rows, Inputs.of(rows), 16, np.random.default_rng(0))
    sums = {atom.weights for network in networks[:3] for atom in propose(network, rows).atoms}
    assert (("a", 1), ("b", 1), ("c", -1)) in sums
    unit = next(iter(networks[0].units(rows.columns.x).values()))
    assert unit.influence > 0.5
    ratios = unit.weights[:3] / unit.weights[0]
    assert ratios == pytest.approx([1, 1, -1], rel=0.2)


def test_the_same_generator_trains_the_same_networks():
    rows = labelled(integers(100, 3), np.arange(100) % 3, 3)
    one, two = (train_networks(rows, Inputs.of(rows), 2, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(one[0].logits(rows.columns.x), two[0].logits(rows.columns.x))


def test_rare_classes_are_trained_on_in_full():
    classes = np.where(np.arange(5_000) < 30, 1, 0)
    rows = labelled(integers(5_000, 2), classes)
    chosen = rows_to_train_on(rows, np.random.default_rng(0))
    assert len(chosen) == MOST_ROWS
    assert classes[chosen].sum() == 30
