"""The weighing register against what it must be: closed forms, sums of Python's integers, and errors."""

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from nsr import Ensemble
from nsr.nn import WeighingNSR


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def register(inputs: int = 3, units: int = 2, seed: int = 0, **options) -> WeighingNSR:
    weighing = WeighingNSR(inputs, units, generator=generator(seed), **{"dtype": torch.float64, **options})
    with torch.no_grad():
        weighing.offset.copy_(torch.randn(units, generator=generator(seed + 1), dtype=torch.float64))
    return weighing


def written(weights: list[list[float]], offsets: list[float], **options) -> WeighingNSR:
    weighing = WeighingNSR(len(weights[0]), len(weights), **options)
    with torch.no_grad():
        weighing.weight.copy_(torch.tensor(weights, dtype=torch.float64))
        weighing.offset.copy_(torch.tensor(offsets, dtype=torch.float64))
    return weighing


def numbers(*shape: int, seed: int = 5) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=generator(seed))


# The formula and its gradients


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("zero_bits", [False, True])
def test_bits_are_those_of_weighted_sums_minus_offsets(zero_bits, dtype):
    weighing, x = register(zero_bits=zero_bits, scale=0.5).to(dtype), numbers(7, 3).to(dtype)
    difference = torch.nn.functional.linear(x, weighing.weight, -weighing.offset)
    torch.testing.assert_close(weighing.differences(x), difference)
    sign = torch.tanh(0.5 * difference)
    expected = torch.cat([sign, 1 - 2 * sign**2], dim=-1) if zero_bits else sign
    torch.testing.assert_close(weighing(x), expected)
    assert weighing(x).dtype == dtype
    assert weighing.bits == expected.shape[-1]


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("scale", [1.0, 0.25, 10.0])
def test_gradients_are_the_closed_forms(scale, integers):
    weighing = register(3, 2, scale=scale, zero_bits=True)
    x = torch.tensor([2, -1, 3]) if integers else torch.tensor([0.3, -1.2, 0.7], dtype=torch.float64)
    into = torch.tensor([0.7, -1.3, 0.4, 2.0], dtype=torch.float64)  # the gradient of the bits
    if not integers:
        x.requires_grad_()
    weighing(x).backward(into)

    sign = torch.tanh(scale * (weighing.weight.detach() @ x.detach().double() - weighing.offset.detach()))
    slope = scale * (1 - sign**2)  # of the sign bit; that of the zero bit is -4 sign times as steep
    by_difference = into[:2] * slope + into[2:] * -4 * sign * slope
    close = {"rtol": 1e-10, "atol": 1e-13}
    torch.testing.assert_close(weighing.weight.grad, by_difference.unsqueeze(-1) * x.detach().double(), **close)
    torch.testing.assert_close(weighing.offset.grad, -by_difference, **close)
    if not integers:
        torch.testing.assert_close(x.grad, by_difference @ weighing.weight.detach(), **close)


@pytest.mark.parametrize("zero_bits", [False, True])
def test_gradcheck_and_gradgradcheck(zero_bits):
    weighing = register(zero_bits=zero_bits)

    def answer(x, weight, offset):
        return torch.func.functional_call(weighing, {"weight": weight, "offset": offset}, (x,))

    inputs = (numbers(4, 3).requires_grad_(), *(p.detach().clone().requires_grad_() for p in weighing.parameters()))
    assert gradcheck(answer, inputs)
    assert gradgradcheck(answer, inputs)


def test_gradgradcheck_with_integer_rows():
    weighing, x = register(), torch.tensor([[1, 2, 3], [-4, 0, 1]])
    parameters = tuple(p.detach().clone().requires_grad_() for p in weighing.parameters())

    def answer(weight, offset):
        return torch.func.functional_call(weighing, {"weight": weight, "offset": offset}, (x,))

    assert gradgradcheck(answer, parameters)


# Exactness

small, large = st.integers(-1000, 1000), st.integers(-(2**50), 2**50)


@given(
    st.lists(small, min_size=3, max_size=3),
    st.lists(large, min_size=3, max_size=3),
    st.sampled_from([torch.float32, torch.float64]),
    st.integers(-1, 1),
)
def test_integers_with_integer_weights_are_summed_exactly(weights, row, dtype, more):
    weights, row = [*weights, -1], [*row, sum(w * n for w, n in zip(weights, row, strict=True)) + more]
    weighing = written([weights], [7], dtype=dtype, zero_bits=True)
    assert weighing.differences(torch.tensor(row)).tolist() == [-more - 7]
    assert weighing.status(torch.tensor([*row[:3], row[3] - 7])).tolist() == [-more, 1 if more == 0 else -1]


def test_floats_would_not_be():
    weighing, row = written([[3, -1]], [0], dtype=torch.float64), [2**60 + 1, 3 * 2**60 + 2]
    assert weighing.differences(torch.tensor(row)).item() == 1
    assert weighing.differences(torch.tensor(row, dtype=torch.float64)).item() != 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_offsets_between_integers_keep_the_sign_exact(dtype):
    weighing, n = written([[1, -1], [1, 0]], [0.5, 0.25], dtype=dtype), 2**61
    x = torch.tensor([[n, n], [n + 1, n], [n, n + 1], [1, 0]])
    assert weighing.status(x)[:, 0].tolist() == [-1, 1, -1, 1]
    assert weighing.differences(x)[-1].tolist() == [0.5, 0.75]


word, weight = st.integers(-(2**63), 2**63 - 1), st.integers(-(2**32) + 1, 2**32 - 1)


@given(st.lists(weight, min_size=2, max_size=2), st.lists(word, min_size=2, max_size=2), st.integers(-5, 5))
def test_sums_may_overflow_on_the_way_to_a_difference_that_fits(weights, row, more):
    # Each product is undone by one of another input, except for the last number.
    weights, row = [*weights, *(-w for w in weights), 1], [*row, *row, more]
    assert written([weights], [0]).differences(torch.tensor(row)).tolist() == [more]


@given(st.lists(weight, min_size=3, max_size=3), st.lists(word, min_size=3, max_size=3), st.integers(-(2**61), 2**61))
def test_differences_are_those_of_python_integers(weights, row, offset):
    weighing = written([weights], [offset], dtype=torch.float64)
    truth = sum(w * n for w, n in zip(weights, row, strict=True)) - int(weighing.offset.item())
    difference = weighing.differences(torch.tensor(row)).item()
    assert difference == (float(truth) if abs(truth) < 2**61 else pytest.approx(float(truth), rel=1e-4))


@pytest.mark.parametrize(
    ("row", "offset", "difference"),
    [
        ([2**61 + 300, 2**61], 0, 300),  # 512 in floats
        ([2**61 + 2**60, 0], 2**61, 2**60),  # while the sum of both is beyond 2^62
    ],
)
def test_a_difference_that_fits_is_exact_although_floats_are_far_off(row, offset, difference):
    weighing = written([[1, -1]], [offset], dtype=torch.float64)
    assert weighing.differences(torch.tensor(row)).tolist() == [difference]


def test_differences_that_do_not_fit_int64_do_not_wrap_around():
    n = 2**62
    weighing = written([[2, 2], [-3, -3], [2.0**70, 0], [1e300, 1e300]], [0, 0, 0, 0], dtype=torch.float64)
    assert weighing.differences(torch.tensor([n, n])).tolist() == [2.0**64, -6 * 2.0**62, 2.0**132, 2e300 * n]
    assert weighing.differences(torch.tensor([-(2**63), 0]))[0].item() == -(2.0**64)
    assert written([[2.0**70, -(2.0**69)]], [0]).differences(torch.tensor([1, 2])).item() == 0


def test_fractional_weights_of_integers_are_those_of_floats():
    weighing, x = register(5, 4), torch.randint(-1000, 1000, (50, 5), generator=generator(3))
    torch.testing.assert_close(weighing.differences(x), weighing.differences(x.double()), rtol=1e-12, atol=1e-10)
    narrow = WeighingNSR(5, 4, generator=generator())
    torch.testing.assert_close(narrow.differences(x), narrow.differences(x.double()).float())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32])
def test_narrow_integers_do_not_wrap_around(dtype):
    weighing = written([[100, 100, 100]], [1])
    x = torch.tensor([[1, 1, 0], [1, 1, 1]])
    assert weighing.differences(x.to(dtype)).flatten().tolist() == [199, 299]


# Hard bits


def test_the_exact_bits_are_the_limit_of_the_relaxed_ones():
    weighing = register(4, 6, zero_bits=True)
    x = torch.randint(-5, 6, (200, 4), generator=generator(2))
    with torch.no_grad():
        weighing.weight.round_(), weighing.offset.round_()
        weighing.scale.fill_(100.0)
    assert {*weighing.status(x).flatten().tolist()} == {-1, 0, 1}
    torch.testing.assert_close(weighing.status(x), weighing(x), rtol=0, atol=1e-15)


def test_exact_bits_have_a_truth_table():
    weighing = written([[1, -1], [1, 1]], [0, 2], zero_bits=True)
    table = weighing.status([[1, 1], [2, 1], [0, 1]]).tolist()  # signs of a - b and a + b - 2, then both zero bits
    assert table == [[0, 0, 1, 1], [1, 1, -1, -1], [-1, -1, -1, -1]]


@pytest.mark.parametrize("column", range(3))
def test_nan_in_a_row_is_nan_for_that_row_only(column):
    weighing, x = register(zero_bits=True), numbers(5, 3)
    clean, exact = weighing(x), weighing.status(x)
    x[2, column] = math.nan
    assert weighing(x)[2].isnan().all()
    assert weighing.status(x)[2].isnan().all()
    others = torch.tensor([0, 1, 3, 4])
    assert torch.equal(weighing(x)[others], clean[others])
    assert torch.equal(weighing.status(x)[others], exact[others])


def test_nan_weights_are_nan_for_integers_too():
    weighing = written([[math.nan, 1], [1, 1]], [0, 0])
    assert weighing.status([[1, 2]]).isnan().tolist() == [[True, False]]


# The scale


def test_the_scale_is_a_buffer_that_may_change():
    weighing, x = register(), numbers(4, 3)
    weighing.scale.fill_(3.0)
    assert torch.equal(weighing(x), torch.tanh(3.0 * weighing.differences(x)))
    assert repr(weighing) == "WeighingNSR(3, 2, scale=3.0, dtype=torch.float64)"
    assert weighing.state_dict()["scale"].item() == 3.0
    assert "scale" not in dict(weighing.named_parameters())


def test_each_member_of_an_ensemble_may_have_its_scale():
    block = Ensemble(lambda g: WeighingNSR(3, 2, generator=g), range(3))
    x = numbers(4, 3).float()
    block.buffers["scale"].copy_(torch.tensor([1.0, 2.0, 5.0]))
    for seed, scale in enumerate([1.0, 2.0, 5.0]):
        alone = WeighingNSR(3, 2, scale=scale, generator=generator(seed))
        assert torch.equal(block(x)[seed], alone(x))
        assert repr(block.member(seed)) == repr(alone)


@pytest.mark.compiled
@pytest.mark.usefixtures("unchecked")
def test_a_changed_scale_is_not_compiled_again():
    weighing, x = register(), numbers(4, 3)
    torch._dynamo.reset()
    fast = torch.compile(weighing, fullgraph=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for scale in (1.0, 2.5, 10.0):
            weighing.scale.fill_(scale)
            torch.testing.assert_close(fast(x), torch.tanh(scale * weighing.differences(x)), rtol=1e-12, atol=1e-14)


# Shapes, dtypes, round trips


@pytest.mark.parametrize("zero_bits", [False, True])
@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,), (3, 0)])
def test_any_leading_shape(batch, zero_bits):
    weighing, x = register(3, 2, zero_bits=zero_bits), numbers(*batch, 3)
    for rows in (x, x.long()):
        assert weighing(rows).shape == weighing.status(rows).shape == (*batch, 2 + 2 * zero_bits)
        assert weighing.differences(rows).shape == (*batch, 2)
    if len(batch) == 2 and batch[1]:
        assert torch.equal(weighing(x)[1, 2], weighing(x[1, 2]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_parameters_and_answers_have_the_dtype_asked_for(dtype):
    weighing = WeighingNSR(2, 3, dtype=dtype)
    assert {p.dtype for p in weighing.parameters()} == {dtype}
    assert weighing(torch.tensor([1.0, 2.0], dtype=dtype)).dtype == dtype
    assert weighing(torch.tensor([1, 2])).dtype == dtype
    assert weighing(torch.tensor([1.0, 2.0], dtype=torch.float64)).dtype == torch.float64


def test_it_converts_as_modules_do():
    weighing, x = WeighingNSR(2, 3, scale=0.1, generator=generator()), torch.tensor([1.0, 2.0])
    torch.testing.assert_close(weighing.double()(x.double()).float(), weighing.float()(x))


def test_initialisation_is_xavier_normal():
    weighing = WeighingNSR(100, 400, generator=generator())
    assert weighing.weight.std().item() == pytest.approx((2 / 500) ** 0.5, rel=0.05)
    assert (weighing.offset == 0).all()


def test_a_generator_makes_construction_repeatable_and_leaves_the_global_seed_alone():
    before = torch.get_rng_state()
    one, two = (WeighingNSR(3, 2, generator=generator(7)) for _ in range(2))
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(one.weight, two.weight)
    assert not torch.equal(one.weight, WeighingNSR(3, 2, generator=generator(8)).weight)


def test_state_dict_pickle_and_deepcopy_round_trips():
    weighing, x = register(scale=0.3), numbers(6, 3)
    loaded = register(seed=1)
    loaded.load_state_dict(weighing.state_dict())
    for other in (loaded, pickle.loads(pickle.dumps(weighing)), copy.deepcopy(weighing)):
        assert torch.equal(other(x), weighing(x))
        assert repr(other) == repr(weighing)


@pytest.mark.parametrize(
    "call",
    [
        "WeighingNSR(20, 6, scale=1.0)",
        "WeighingNSR(1, 1, scale=0.1, zero_bits=True)",
        "WeighingNSR(5, 3, scale=2.5, zero_bits=True, dtype=torch.float64)",
    ],
)
def test_repr_is_the_constructor_call(call):
    assert repr(eval(call, {"WeighingNSR": WeighingNSR, "torch": torch})) == call


# Errors


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"inputs": 0}, "inputs must be at least 1, got 0"),
        ({"inputs": 2.5}, "inputs must be an integer, got 2.5"),
        ({"units": 0}, "units must be at least 1, got 0"),
        ({"units": True}, "units must be an integer, got True"),
        ({"scale": 0}, "scale must be positive and finite, got 0"),
        ({"scale": math.inf}, "scale must be positive and finite, got inf"),
        ({"scale": "1"}, "scale must be a number, got '1'"),
        ({"dtype": torch.int64}, "dtype must be a floating-point dtype such as torch.float64, got torch.int64"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_arguments_are_errors_in_a_sentence(arguments, text):
    with pytest.raises(ValueError) as error:
        WeighingNSR(**{"inputs": 2, "units": 3} | arguments)
    assert str(error.value) == text


@pytest.mark.parametrize("method", ["differences", "forward", "status"])
@pytest.mark.parametrize("shape", [(), (3,), (4, 3), (2, 0)])
@pytest.mark.usefixtures("unchecked")
def test_a_wrong_last_axis_is_an_error_in_a_sentence(shape, method):
    with pytest.raises(ValueError) as error:
        getattr(register(2), method)(torch.zeros(shape))
    assert str(error.value) == f"x must have 2 numbers in its last axis, got shape {shape}"
