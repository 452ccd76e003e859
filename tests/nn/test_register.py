"""The register against what it must be: closed forms, exact facts, and errors."""

import copy
import math
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from nsr import NSR


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def register(inputs: int = 2, seed: int = 0, **options) -> NSR:
    return NSR(inputs, generator=generator(seed), **{"dtype": torch.float64, **options})


# Gradients


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_gradients_are_the_closed_forms_of_appendix_a(scale):
    nsr = register(3, redundancy=4, scale=scale)
    x = torch.tensor([0.3, -1.2, 0.7], dtype=torch.float64, requires_grad=True)
    y = nsr(x)[0]
    y.backward()

    p1, p2 = nsr.v1.detach().softmax(0), nsr.v2.detach().softmax(0)
    o1, o2 = x.detach() @ p1, x.detach() @ p2
    sign = torch.tanh(scale * (o1 - o2))
    zero = 1 - 2 * sign**2
    slope = (y * (1 - y)).item()
    sign_slope, zero_slope = scale * (1 - sign**2), -4 * scale * sign * (1 - sign**2)
    by_o1 = slope * (sign_slope * nsr.w_sign.detach() + zero_slope * nsr.w_zero.detach())

    close = {"rtol": 1e-10, "atol": 1e-14}
    torch.testing.assert_close(nsr.bias.grad, torch.full((4,), slope, dtype=torch.float64), **close)
    torch.testing.assert_close(nsr.w_sign.grad, slope * sign, **close)
    torch.testing.assert_close(nsr.w_zero.grad, slope * zero, **close)
    torch.testing.assert_close(nsr.v1.grad, by_o1 * p1 * (x.detach().unsqueeze(-1) - o1), **close)
    torch.testing.assert_close(nsr.v2.grad, -by_o1 * p2 * (x.detach().unsqueeze(-1) - o2), **close)
    torch.testing.assert_close(x.grad, (p1 - p2) @ by_o1, **close)


@pytest.mark.parametrize("constants", [False, True])
def test_gradcheck_and_gradgradcheck(constants):
    nsr = register(3, redundancy=2, constants=constants)
    names = [name for name, _ in nsr.named_parameters()]
    x = torch.randn(4, 3, dtype=torch.float64, generator=generator(5), requires_grad=True)

    def answer(x, *parameters):
        return torch.func.functional_call(nsr, dict(zip(names, parameters, strict=True)), (x,))

    inputs = (x, *(p.detach().clone().requires_grad_() for p in nsr.parameters()))
    assert gradcheck(answer, inputs)
    assert gradgradcheck(answer, inputs)


# Answers


def test_the_answer_and_its_negation_are_accurate_in_both_tails():
    nsr = register(redundancy=1, scale=100.0)
    with torch.no_grad():
        nsr.v1.copy_(torch.tensor([[40.0], [-40.0]]))
        nsr.v2.copy_(torch.tensor([[-40.0], [40.0]]))
        nsr.w_sign.fill_(1.0), nsr.w_zero.zero_(), nsr.bias.zero_()
        for z in (0.0, 1.0, 40.0, 300.0, 700.0):
            nsr.w_sign.fill_(z)
            yes, no = nsr(torch.tensor([1.0, 0.0], dtype=torch.float64)).tolist()
            small = math.exp(-z) / (1 + math.exp(-z))
            assert no == pytest.approx(small, rel=1e-13)
            assert yes == pytest.approx(1 / (1 + math.exp(-z)), rel=1e-15)
            no, yes = nsr(torch.tensor([0.0, 1.0], dtype=torch.float64)).tolist()
            assert no == pytest.approx(small, rel=1e-13)


@given(st.integers(0, 10_000))
def test_the_two_answers_sum_to_one(seed):
    nsr = register(3, seed)
    x = 5 * torch.randn(20, 3, dtype=torch.float64, generator=generator(seed))
    torch.testing.assert_close(nsr(x).sum(-1), torch.ones(20, dtype=torch.float64), rtol=0, atol=1e-15)


def test_the_logit_is_that_of_the_answer():
    nsr = register(4)
    x = torch.randn(7, 4, dtype=torch.float64, generator=generator(1))
    torch.testing.assert_close(nsr.logit(x).sigmoid(), nsr(x)[..., 0], rtol=0, atol=0)
    torch.testing.assert_close(nsr.logit(x), torch.logit(nsr(x)[..., 0]), rtol=1e-9, atol=1e-9)


integers = st.integers(-(2**51), 2**51)


@given(st.lists(integers, min_size=3, max_size=3), integers, st.integers(0, 50))
def test_adding_one_integer_to_every_input_changes_no_bit(row, shift, seed):
    nsr = register(3, seed)
    x = torch.tensor(row, dtype=torch.float64)
    assert torch.equal(nsr(x), nsr(x + shift))


@given(integers, integers, st.integers(0, 50))
def test_swapping_two_inputs_negates_the_differences_exactly(a, b, seed):
    nsr = register(2, seed)
    there, back = nsr.differences(torch.tensor([[a, b], [b, a]], dtype=torch.float64))
    assert torch.equal(there, -back)


@given(st.lists(integers, min_size=4, max_size=4), st.integers(0, 50))
def test_swapping_the_selections_negates_the_differences(row, seed):
    nsr, mirror = register(4, seed), register(4, seed)
    mirror.v1, mirror.v2 = mirror.v2, mirror.v1
    x = torch.tensor(row, dtype=torch.float64)
    reach = (max(row) - min(row)) * 1e-15
    torch.testing.assert_close(nsr.differences(x), -mirror.differences(x), rtol=1e-9, atol=reach)


# Exactness


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_unequal_integers_stay_unequal_up_to_2_53_with_soft_selections(dtype):
    rng = np.random.default_rng(0)
    wrong = 0
    for seed in range(10):
        nsr = register(2, seed, redundancy=10)
        n = rng.integers(-(2**53) + 10, 2**53 - 10, size=1000, endpoint=True)
        n[:2] = 2**53 - 10, -(2**53) + 10
        near = torch.tensor(n).unsqueeze(-1) + torch.arange(-5, 6)  # (1000, 11)
        pairs = torch.stack([torch.tensor(n).unsqueeze(-1).expand_as(near), near], dim=-1)
        selection = (nsr.v1.softmax(0) - nsr.v2.softmax(0))[0].sign()  # +1: the unit takes first minus second
        truth = (pairs[..., 0] - pairs[..., 1]).sign().unsqueeze(-1) * selection
        wrong += int((nsr.differences(pairs.to(dtype)).sign() != truth).sum())
    assert wrong == 0  # of 10 registers x 1000 numbers x 11 neighbours x 10 units


def test_the_naive_form_would_fail_there():
    nsr = register(2, 0)
    n = 2.0**53 - 10
    x = torch.tensor([n, n + 1], dtype=torch.float64)
    naive = x @ nsr.v1.softmax(0) - x @ nsr.v2.softmax(0)
    exact = nsr.differences(x)
    assert not torch.equal(naive.sign(), exact.sign())


def test_integers_are_compared_exactly_up_to_2_62_even_by_float32_weights():
    nsr = NSR(2, generator=generator())
    n = 2**62
    d = nsr.differences(torch.tensor([[n, n + 1], [n, n], [n, n - 1]]))
    assert torch.equal(d[0], -d[2])
    assert (d[0] != 0).all()
    assert (d[1] == 0).all()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32])
def test_narrow_integers_do_not_wrap_around(dtype):
    nsr = register()
    x = torch.tensor([[0, 100], [100, 0], [120, 5]])
    assert torch.equal(nsr(x.to(dtype)), nsr(x))
    signed = torch.tensor([[-100, 100]])
    if dtype.is_signed:
        assert torch.equal(nsr(signed.to(dtype)), nsr(signed))


def test_a_huge_bystander_does_not_blur_a_hard_selection():
    nsr = NSR(3, redundancy=1, generator=generator())
    with torch.no_grad():
        nsr.v1.copy_(torch.tensor([[-200.0], [200.0], [-200.0]]))
        nsr.v2.copy_(torch.tensor([[-200.0], [-200.0], [200.0]]))
    d = nsr.differences(torch.tensor([1e6, 0.002, 0.001]))
    assert d.item() == pytest.approx(0.001, rel=1e-4)


@pytest.mark.parametrize("column", range(3))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_in_a_row_is_nan_for_that_row_only_and_infinity_keeps_to_its_row(value, column):
    nsr = register(3)
    x = torch.randn(5, 3, dtype=torch.float64, generator=generator(3))
    clean = nsr(x)
    x[2, column] = value
    answer = nsr(x)
    if math.isnan(value):
        assert answer[2].isnan().all()
    others = torch.tensor([0, 1, 3, 4])
    assert torch.equal(answer[others], clean[others])


# Constants


def test_constants_compare_a_number_with_a_learned_one():
    nsr = register(1, redundancy=1, constants=True)
    with torch.no_grad():
        nsr.v1.copy_(torch.tensor([[50.0], [-50.0]]))
        nsr.v2.copy_(torch.tensor([[-50.0], [50.0]]))
        nsr.offset.fill_(37.5)
    x = torch.tensor([[37.0], [37.5], [38.0], [2.0**53]], dtype=torch.float64)
    assert nsr.differences(x).flatten().tolist() == [-0.5, 0.0, 0.5, 2.0**53 - 37.5]


def test_constants_keep_large_numbers_apart():
    nsr = register(2, redundancy=1, constants=True)
    with torch.no_grad():
        nsr.v1.copy_(torch.tensor([[50.0], [-50.0], [-50.0]]))
        nsr.v2.copy_(torch.tensor([[-50.0], [50.0], [-50.0]]))
        nsr.offset.fill_(12.0)
    n = 2.0**53 - 100
    x = torch.tensor([[n + 11, n], [n + 12, n], [n + 13, n]], dtype=torch.float64)
    assert nsr.differences(x).flatten().tolist() == [-1.0, 0.0, 1.0]


def test_a_shift_matters_with_constants_only():
    assert register(2).shift_invariant
    nsr = register(2, constants=True)
    assert not nsr.shift_invariant
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert not torch.allclose(nsr(x), nsr(x + 5))


# Shapes, dtypes, round trips


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,), (3, 0), (2, 3, 4)])
def test_any_leading_shape(batch, constants):
    nsr = register(3, constants=constants)
    x = torch.randn(*batch, 3, dtype=torch.float64, generator=generator(2))
    assert nsr(x).shape == (*batch, 2)
    assert nsr.logit(x).shape == batch
    assert nsr.differences(x).shape == (*batch, 10)
    flat = nsr(x.reshape(-1, 3)).reshape(*batch, 2)
    assert torch.equal(nsr(x), flat)


def test_an_empty_batch_can_be_trained_on():
    nsr = register(2)
    nsr(torch.empty(0, 2, dtype=torch.float64)).sum().backward()
    assert (nsr.v1.grad == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_parameters_and_answers_have_the_dtype_asked_for(dtype):
    nsr = register(2, dtype=dtype)
    assert {p.dtype for p in nsr.parameters()} == {dtype}
    assert nsr(torch.tensor([1.0, 2.0], dtype=dtype)).dtype == dtype
    assert nsr(torch.tensor([1, 2])).dtype == dtype


def test_float64_rows_are_answered_in_float64_by_float32_weights():
    nsr = NSR(2, generator=generator())
    n = 2.0**53 - 2
    x = torch.tensor([[n, n + 1], [n, n]], dtype=torch.float64)
    assert nsr(x).dtype == torch.float64
    assert (nsr.differences(x)[0] != 0).all()


def test_the_paper_counts_81_parameters_the_text_gives_70():
    assert sum(p.numel() for p in NSR(2).parameters()) == 70


def test_initialisation_is_xavier_normal():
    nsr = NSR(30, redundancy=4000, generator=generator())
    for weight, fans in ((nsr.v1, 4030), (nsr.v2, 4030), (nsr.w_sign, 4001), (nsr.w_zero, 4001)):
        assert weight.std().item() == pytest.approx((2 / fans) ** 0.5, rel=0.05)
    assert (nsr.bias == 0).all()


def test_a_generator_makes_construction_repeatable_and_leaves_the_global_seed_alone():
    before = torch.get_rng_state()
    one, two = register(3, 7), register(3, 7)
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not torch.equal(one.v1, register(3, 8).v1)


def test_without_a_generator_it_follows_torch_manual_seed():
    with torch.random.fork_rng():
        torch.manual_seed(3)
        one = NSR(2)
        torch.manual_seed(3)
        assert torch.equal(one.v1, NSR(2).v1)


def test_state_dict_pickle_and_deepcopy_round_trips():
    nsr = register(3, constants=True)
    x = torch.randn(6, 3, dtype=torch.float64, generator=generator(9))
    loaded = register(3, seed=1, constants=True)
    loaded.load_state_dict(nsr.state_dict())
    for other in (loaded, pickle.loads(pickle.dumps(nsr)), copy.deepcopy(nsr)):
        assert torch.equal(other(x), nsr(x))
        assert repr(other) == repr(nsr)


@pytest.mark.parametrize(
    "call",
    [
        "NSR(2, redundancy=10, scale=1.0)",
        "NSR(5, redundancy=1, scale=0.001)",
        "NSR(1, redundancy=3, scale=2.5, constants=True)",
        "NSR(2, redundancy=10, scale=1.0, dtype=torch.float64)",
    ],
)
def test_repr_is_the_constructor_call(call):
    assert repr(eval(call, {"NSR": NSR, "torch": torch})) == call


# Errors


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"inputs": 0}, "inputs must be at least 1, got 0"),
        ({"inputs": -3}, "inputs must be at least 1, got -3"),
        ({"inputs": 2.5}, "inputs must be an integer, got 2.5"),
        ({"inputs": True}, "inputs must be an integer, got True"),
        ({"inputs": 1}, "inputs must be at least 2 unless constants=True, to have two numbers to compare"),
        ({"redundancy": 0}, "redundancy must be at least 1, got 0"),
        ({"redundancy": -1}, "redundancy must be at least 1, got -1"),
        ({"scale": 0}, "scale must be positive and finite, got 0"),
        ({"scale": -1.0}, "scale must be positive and finite, got -1.0"),
        ({"scale": math.nan}, "scale must be positive and finite, got nan"),
        ({"scale": math.inf}, "scale must be positive and finite, got inf"),
        ({"scale": "1"}, "scale must be a number, got '1'"),
        ({"dtype": torch.int64}, "dtype must be a floating-point dtype such as torch.float64, got torch.int64"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_arguments_are_errors_in_a_sentence(arguments, text):
    with pytest.raises(ValueError) as error:
        NSR(**{"inputs": 2} | arguments)
    assert str(error.value) == text


@pytest.mark.parametrize("shape", [(), (3,), (4, 3), (2, 0)])
@pytest.mark.usefixtures("unchecked")
def test_a_wrong_last_axis_is_an_error_in_a_sentence(shape):
    with pytest.raises(ValueError) as error:
        register(2)(torch.zeros(shape))
    assert str(error.value) == f"x must have 2 numbers in its last axis, got shape {shape}"


@pytest.mark.usefixtures("unchecked")
def test_integers_beyond_int64_are_errors_in_a_sentence():
    with pytest.raises(ValueError, match="^x must hold real numbers, and integers that fit int64, got torch.uint64$"):
        register(2)(torch.zeros(2, dtype=torch.uint64))


@pytest.mark.usefixtures("unchecked")
def test_complex_numbers_are_errors_in_a_sentence():
    with pytest.raises(
        ValueError, match="^x must hold real numbers, and integers that fit int64, got torch.complex64$"
    ):
        register(2)(torch.zeros(2, dtype=torch.complex64))
