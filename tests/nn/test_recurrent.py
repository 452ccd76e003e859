import pytest
import torch

from nsr import MLP, NSR
from nsr.nn import RecurrentCount, RecurrentMinimum
from tests.reading.samples import written

LOOPS = {"minimum": RecurrentMinimum, "count": RecurrentCount}


def seeded(number: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(number)


def step_by_step(loop: str, gate, items: torch.Tensor) -> torch.Tensor:
    """One list, as the paper's figures draw the loop."""
    state = items[0] if loop == "minimum" else torch.zeros((), dtype=items.dtype)
    for item in items[1:]:
        if loop == "minimum":
            y = gate(torch.stack([state, item]))[0]
            state = y * state + (1 - y) * item
        else:
            state = state + gate(torch.stack([items[0], item]))[0]
    return state


@pytest.mark.parametrize("kind", [NSR, MLP])
@pytest.mark.parametrize("loop", LOOPS)
def test_it_is_the_loop_of_the_paper(loop, kind):
    module = LOOPS[loop](kind(2, generator=seeded(), dtype=torch.float64))
    x = torch.randint(-10, 10, (20, 6), generator=seeded(1)).double()
    expected = torch.stack([step_by_step(loop, module.gate, items) for items in x])
    torch.testing.assert_close(module(x), expected)
    assert module(x.reshape(4, 5, 6)).shape == (4, 5)
    assert torch.autograd.gradcheck(lambda x: module(x), (x[:3].clone().requires_grad_(),))


@pytest.mark.parametrize("loop", LOOPS)
def test_lists_of_different_lengths_and_of_length_one(loop):
    module = LOOPS[loop](NSR(2, generator=seeded(), dtype=torch.float64))
    x = torch.randint(-10, 10, (7, 9), generator=seeded(1)).double()
    lengths = torch.tensor([1, 2, 3, 5, 7, 8, 9])
    expected = torch.stack([module(items[:length]) for items, length in zip(x, lengths, strict=True)])
    torch.testing.assert_close(module(x, lengths), expected)
    alone = module(torch.tensor([[4.0]], dtype=torch.float64)).tolist()
    assert alone == ([4.0] if loop == "minimum" else [0.0])


def test_written_gates_find_the_minimum_and_count_far_away():
    lists = torch.randint(10**9, 10**9 + 6, (50, 30), generator=seeded(3))
    keep, same = written(2, (0, "<=", 1, 0.0)).double(), written(2, (0, "=", 1, 0.0), scale=10.0).double()
    assert torch.equal(RecurrentMinimum(keep)(lists).round(), lists.amin(-1).double())
    assert torch.equal(RecurrentCount(same)(lists).round(), (lists[:, 1:] == lists[:, :1]).sum(-1).double())


@pytest.mark.usefixtures("unchecked")
def test_errors_are_sentences_and_the_repr_is_the_constructor_call():
    module = RecurrentMinimum(NSR(2, generator=seeded()))
    assert repr(module) == "RecurrentMinimum(NSR(2, redundancy=10, scale=1.0))"
    with pytest.raises(ValueError, match=r"^gate must compare 2 numbers, got NSR\(3, redundancy=10, scale=1.0\)$"):
        RecurrentCount(NSR(3))
    with pytest.raises(
        ValueError, match=r"^x must hold lists of at least one number in its last axis, got shape \(3, 0\)$"
    ):
        module(torch.zeros(3, 0))
    with pytest.raises(
        ValueError, match=r"^lengths must be integers, one for each list \(3,\), got torch.int64 of shape"
    ):
        module(torch.zeros(3, 4), torch.tensor([1, 2]))


@pytest.mark.parametrize("bad", [0, 6])
def test_lengths_that_no_list_has_are_refused(bad):
    with pytest.raises(ValueError, match=rf"^lengths must be from 1 to 5, got {bad}$"):
        RecurrentMinimum(NSR(2))(torch.zeros(2, 5), torch.tensor([1, bad]))


@pytest.mark.parametrize("kind", [RecurrentMinimum, RecurrentCount])
def test_what_follows_a_list_has_no_gradient_either(kind):
    module = kind(NSR(2))
    x = torch.tensor([[1.0, 0.0, float("nan")], [1.0, 2.0, 3.0]])
    module(x, torch.tensor([2, 3])).sum().backward()
    assert module.gate.w_sign.grad.isfinite().all()
