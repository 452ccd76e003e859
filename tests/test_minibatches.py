import itertools

import pytest
import torch
from torch import nn

from nsr.minibatches import PEAK, epochs, schedule


class Numbers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(()))


def trained(cycle: bool, number: int = 3, seed: int = 0) -> tuple[list[list[int]], list[float]]:
    """The batches of 7 examples, and how far each step moves: Adam moves by its rate while gradients stay the same."""
    module, batches, values = Numbers(), [], []

    def loss(batch: torch.Tensor) -> torch.Tensor:
        batches.append(batch.tolist())
        values.append(module.value.item())
        return -module.value

    generator = torch.Generator().manual_seed(seed)
    numbers = list(epochs({module: 0.1}, loss, torch.arange(7), generator, number=number, size=3, cycle=cycle))
    assert numbers == list(range(1, number + 1))
    values.append(module.value.item())
    return batches, [after - before for before, after in itertools.pairwise(values)]


def test_every_example_is_in_one_batch_of_an_epoch_and_epochs_differ_in_order():
    batches, _ = trained(cycle=False)
    assert [len(batch) for batch in batches] == [3, 3, 1] * 3
    orders = [[*batches[at], *batches[at + 1], *batches[at + 2]] for at in (0, 3, 6)]
    assert all(sorted(order) == list(range(7)) for order in orders)
    assert orders[0] != orders[1]
    assert trained(cycle=False)[0] == batches
    assert trained(cycle=False, seed=1)[0] != batches


def test_the_rate_is_constant_or_rises_for_a_quarter_and_falls_to_nothing():
    assert trained(cycle=False)[1] == pytest.approx([0.1] * 9, rel=1e-3)
    _, steps = trained(cycle=True, number=20)
    assert max(steps) == pytest.approx(0.1, rel=0.1)  # Adam's own momentum is part of the cycle
    assert 13 <= steps.index(max(steps)) <= 20  # of 60: a quarter, and what momentum lags behind
    assert steps[0] < 0.01
    assert steps[-1] < 0.001


def test_each_module_has_its_own_rate():
    slow, fast = Numbers(), Numbers()
    generator = torch.Generator().manual_seed(0)
    rates = {slow: 0.01, fast: 0.1}
    list(epochs(rates, lambda _: -slow.value - fast.value, torch.arange(4), generator, number=1, size=2, cycle=False))
    assert (slow.value.item(), fast.value.item()) == (pytest.approx(0.02, rel=1e-3), pytest.approx(0.2, rel=1e-3))


@pytest.mark.parametrize(("cycle", "steps"), [(False, 7), (True, 6), (True, 12), (True, 540), (True, 601)])
def test_the_schedule_is_that_of_torch(cycle, steps):
    rates, beta1 = schedule([0.1, 0.02], steps, cycle=cycle)
    slow, fast = Numbers(), Numbers()
    adam = torch.optim.Adam([{"params": [slow.value], "lr": 0.1}, {"params": [fast.value], "lr": 0.02}])
    one_cycle = torch.optim.lr_scheduler.OneCycleLR
    torch_schedule = one_cycle(adam, [0.1, 0.02], total_steps=steps, pct_start=PEAK) if cycle else None
    for step in range(steps):
        assert rates[:, step].tolist() == pytest.approx([group["lr"] for group in adam.param_groups], rel=1e-9)
        assert beta1[step].item() == pytest.approx(adam.param_groups[0]["betas"][0], rel=1e-12)
        adam.step()
        if torch_schedule is not None and step < steps - 1:
            torch_schedule.step()


def test_a_cycle_of_few_steps_has_rates():
    for steps in range(1, 5):  # too few for torch's
        rates, beta1 = schedule([0.1], steps, cycle=True)
        assert rates.isfinite().all()
        assert beta1.isfinite().all()
        assert (rates >= 0).all()
        assert (rates <= 0.1 + 1e-9).all()
