"""Logic over bits, and rules learned end to end: closed forms, truth tables, seeds trained alone, and errors."""

import copy
import itertools
import math
import pickle

import pytest
import torch
from torch import nn
from torch.autograd import gradcheck, gradgradcheck
from torch.nn import functional

from nsr import Ensemble, Recipe, Rows, fit
from nsr.adam import adam_corrections, adam_step
from nsr.nn import Logic, RuleNet
from nsr.training import one_thread

CLASSES = pytest.mark.parametrize("classes", [2, 3, 5])


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def logic(classes: int = 2, seed: int = 0, **options) -> Logic:
    return with_biases(Logic(4, 3, classes, generator=generator(seed), **{"dtype": torch.float64, **options}))


def net(classes: int = 2, seed: int = 0, **options) -> RuleNet:
    return with_biases(RuleNet(3, 4, 2, classes, generator=generator(seed), **{"dtype": torch.float64, **options}))


def with_biases(module):
    """Biases and offsets start at zero, where a mistake in them does not show."""
    for number, (name, parameter) in enumerate(module.named_parameters()):
        if "bias" in name or "offset" in name:
            nn.init.normal_(parameter, generator=generator(number))
    return module


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=generator(5))


def functional_form(module):
    """The module as a function of its input and its parameters, and these."""
    names = [name for name, _ in module.named_parameters()]

    def answer(x, *parameters):
        return torch.func.functional_call(module, dict(zip(names, parameters, strict=True)), (x,))

    return answer, tuple(p.detach().clone().requires_grad_() for p in module.parameters())


# Logic


@CLASSES
def test_logic_is_the_network_that_torch_builds_from_its_layers(classes):
    layer, bits = logic(classes), numbers(7, 4)
    reference = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1 if classes == 2 else classes)).double()
    reference.load_state_dict(dict(zip(reference.state_dict(), layer.state_dict().values(), strict=True)))
    expected = reference(bits)[:, 0] if classes == 2 else reference(bits)
    torch.testing.assert_close(layer(bits), expected, rtol=1e-13, atol=1e-15)


def test_one_hidden_unit_counts():
    layer = Logic(5, 1)
    with torch.no_grad():
        layer.hidden_weight.fill_(9.0), layer.hidden_bias.zero_()  # the sum of five bits is odd: 3 of 5 is positive
        layer.output_weight.fill_(1.0), layer.output_bias.zero_()
    bits = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=5)))
    assert torch.equal(layer(bits) > 0, (bits > 0).sum(-1) >= 3)


@CLASSES
def test_gradcheck_and_gradgradcheck_of_logic(classes):
    answer, parameters = functional_form(logic(classes))
    inputs = (numbers(3, 4).requires_grad_(), *parameters)
    assert gradcheck(answer, inputs)
    assert gradgradcheck(answer, inputs)


@CLASSES
@pytest.mark.parametrize("batch", [(), (0,), (5,), (2, 3)])
def test_any_leading_shape(batch, classes):
    rows = numbers(*batch, 4)
    assert logic(classes)(rows).shape == (batch if classes == 2 else (*batch, classes))
    assert net(classes)(rows[..., :3]).shape == (*batch, classes)
    assert net(classes)(rows[..., :3].long()).shape == (*batch, classes)


# Rules


@CLASSES
@pytest.mark.parametrize("zero_bits", [False, True])
def test_a_rule_is_logic_over_the_bits_of_a_register(classes, zero_bits):
    rule, x = net(classes, zero_bits=zero_bits, scale=2.0), numbers(6, 3)
    assert rule.logic.inputs == (8 if zero_bits else 4)
    assert torch.equal(rule.logit(x), rule.logic(rule.register(x)))
    z = rule.logit(x)
    expected = torch.stack([z.sigmoid(), 1 - z.sigmoid()], dim=-1) if classes == 2 else z.softmax(-1)
    torch.testing.assert_close(rule(x), expected, rtol=1e-14, atol=1e-15)
    torch.testing.assert_close(rule(x).sum(-1), torch.ones(6, dtype=torch.float64))


def test_the_gradient_of_a_weight_is_the_closed_form():
    rule, x = net(scale=2.0), numbers(3)
    rule.logit(x).backward()
    sign = torch.tanh(2.0 * (rule.register.weight @ x - rule.register.offset)).detach()
    layer = rule.logic
    hidden = torch.tanh(layer.hidden_weight @ sign + layer.hidden_bias).detach()
    by_bit = (layer.output_weight[0] * (1 - hidden**2)) @ layer.hidden_weight
    by_difference = (by_bit * 2.0 * (1 - sign**2)).detach()
    torch.testing.assert_close(rule.register.weight.grad, by_difference.outer(x), rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(rule.register.offset.grad, -by_difference, rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(layer.output_weight.grad[0], hidden, rtol=1e-10, atol=1e-14)


@CLASSES
@pytest.mark.parametrize("zero_bits", [False, True])
def test_gradcheck_and_gradgradcheck_of_a_rule(classes, zero_bits):
    answer, parameters = functional_form(net(classes, zero_bits=zero_bits))
    inputs = (numbers(2, 3).requires_grad_(), *parameters)
    assert gradcheck(answer, inputs)
    assert gradgradcheck(answer, inputs)


def test_the_negation_is_accurate_in_the_tail():
    rule = net()
    with torch.no_grad():
        rule.logic.output_weight.zero_(), rule.logic.output_bias.fill_(300.0)
    assert rule(numbers(3))[1].item() == pytest.approx(math.exp(-300), rel=1e-12, abs=0)


# Ensembles and round trips


def xor_rows(rows: int = 60, inputs: int = 4) -> Rows:
    x = torch.randn(rows, inputs, generator=generator(1))
    return Rows.of(x, (x[:, 0] > x[:, 1]) ^ (x[:, 2] > x[:, 3]))


def weights(module: nn.Module) -> torch.Tensor:
    return nn.utils.parameters_to_vector(module.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("sizes", "rows"), [((20, 6, 6), 60), ((4, 1, 2), 39)])  # a matrix product fails at the second
def test_a_member_is_its_seed_trained_alone_to_the_last_bit(sizes, rows, dtype):
    def build(g):
        return RuleNet(*sizes, zero_bits=True, generator=g, dtype=dtype)

    recipe = Recipe(loss="bce", epochs=20, learning_rate=0.02, check_every=20)
    data, alone = xor_rows(rows, sizes[0]), build(generator(3))
    fit(alone, data, recipe)
    assert not torch.equal(weights(alone), weights(build(generator(3))))
    for seeds in ([3], [9, 3], range(5), range(17)):
        block = Ensemble(build, seeds)
        fit(block, data, recipe)
        assert torch.equal(weights(block.member(3)), weights(alone)), len(block)


@pytest.mark.outer
@pytest.mark.compiled
@pytest.mark.usefixtures("unchecked")
def test_compiled_training_agrees_with_eager_to_rounding():
    recipe = Recipe(loss="bce", epochs=20, learning_rate=0.02, check_every=20)
    results = []
    for engine in ("eager", "compiled"):
        block = Ensemble(lambda g: RuleNet(4, 3, 2, zero_bits=True, generator=g), range(3))
        assert fit(block, xor_rows(), recipe, engine=engine).engine == engine
        results.append(weights(block.member(1)))
    torch.testing.assert_close(*results, rtol=1e-3, atol=1e-4)


@CLASSES
def test_members_answer_as_they_do_alone(classes):
    block = Ensemble(lambda g: RuleNet(3, 4, 2, classes, generator=g), range(5))
    for x in (numbers(6, 3), numbers(6, 3).float(), torch.randint(-9, 9, (6, 3), generator=generator(2))):
        assert torch.equal(block(x), torch.stack([block.member(seed)(x) for seed in range(5)]))
    wide = block.to(torch.float64)
    torch.testing.assert_close(wide(numbers(6, 3)), block(numbers(6, 3)), rtol=1e-12, atol=1e-14)


@CLASSES
def test_state_dict_pickle_and_deepcopy_round_trips(classes):
    rule, x = net(classes, scale=0.3), numbers(6, 3)
    loaded = net(classes, seed=1)
    loaded.load_state_dict(rule.state_dict())
    for other in (loaded, pickle.loads(pickle.dumps(rule)), copy.deepcopy(rule)):
        assert torch.equal(other(x), rule(x))
        assert repr(other) == repr(rule)


def test_a_generator_makes_construction_repeatable_and_leaves_the_global_seed_alone():
    before = torch.get_rng_state()
    one, two, other = (RuleNet(3, 4, 2, generator=generator(seed)) for seed in (7, 7, 8))
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(weights(one), weights(two))
    assert not torch.equal(one.logic.hidden_weight, other.logic.hidden_weight)


def test_initialisation_is_xavier_normal():
    layer = Logic(100, 300, 50, generator=generator())
    assert layer.hidden_weight.std().item() == pytest.approx((2 / 400) ** 0.5, rel=0.05)
    assert layer.output_weight.std().item() == pytest.approx((2 / 350) ** 0.5, rel=0.05)
    assert (layer.hidden_bias == 0).all()
    assert (layer.output_bias == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_parameters_and_answers_have_the_dtype_asked_for(dtype):
    rule = RuleNet(3, 4, 2, dtype=dtype)
    assert {p.dtype for p in rule.parameters()} == {dtype}
    assert rule(torch.zeros(2, 3, dtype=dtype)).dtype == dtype
    assert rule(torch.zeros(2, 3, dtype=torch.int64)).dtype == dtype
    assert rule(torch.zeros(2, 3, dtype=torch.float64)).dtype == torch.float64


@pytest.mark.parametrize(
    "call",
    [
        "Logic(6, 4, classes=2)",
        "Logic(6, 4, classes=7, dtype=torch.float64)",
        "RuleNet(20, 6, 4, classes=2, scale=1.0)",
        "RuleNet(20, 6, 4, classes=3, scale=0.1, zero_bits=True, dtype=torch.float64)",
    ],
)
def test_repr_is_the_constructor_call(call):
    assert repr(eval(call, {"Logic": Logic, "RuleNet": RuleNet, "torch": torch})) == call


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"inputs": 0}, "inputs must be at least 1, got 0"),
        ({"units": 0}, "units must be at least 1, got 0"),
        ({"hidden": 2.5}, "hidden must be an integer, got 2.5"),
        ({"classes": 1}, "classes must be at least 2, got 1"),
        ({"classes": 0}, "classes must be at least 2, got 0"),
        ({"scale": -1.0}, "scale must be positive and finite, got -1.0"),
        ({"dtype": torch.int64}, "dtype must be a floating-point dtype such as torch.float64, got torch.int64"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_arguments_are_errors_in_a_sentence(arguments, text):
    with pytest.raises(ValueError) as error:
        RuleNet(**{"inputs": 2, "units": 3, "hidden": 2} | arguments)
    assert str(error.value) == text


@pytest.mark.usefixtures("unchecked")
def test_a_wrong_last_axis_is_an_error_in_a_sentence():
    with pytest.raises(ValueError, match=r"^x must have 3 numbers in its last axis, got shape \(5, 2\)$"):
        net()(torch.zeros(5, 2))
    with pytest.raises(ValueError, match=r"^bits must have 4 numbers in its last axis, got shape \(5, 2\)$"):
        logic()(torch.zeros(5, 2))


# Rules that are learned end to end

INPUTS = 10
RULES = {
    "xor": lambda x: ((x[:, 0] > x[:, 1]) ^ (x[:, 2] > x[:, 3])).long(),
    "at least 3 of 5": lambda x: ((x[:, :5] > 0.2).sum(-1) >= 3).long(),
    "first that holds": lambda x: torch.where(x[:, 0] > x[:, 1], 0, torch.where(x[:, 2] + x[:, 3] > 0, 1, 2)),
}


class SparseLoss(nn.Module):
    """Cross-entropy, and a pull of all weights of the register to zero."""

    def __init__(self, module: RuleNet) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = self.module.logit(x)
        if self.module.logic.classes == 2:
            loss = functional.binary_cross_entropy_with_logits(z, y.to(z.dtype))
        else:
            loss = functional.cross_entropy(z, y)
        return loss + 0.005 * self.module.register.weight.abs().sum()


def learned(rule, *, units: int = 6, epochs: int = 600, sharpest: float = 10.0) -> RuleNet:
    """The best of 8 seeds by their loss on 1,000 rows, trained while the scale rises from 1."""
    x = torch.randn(1000, INPUTS, generator=generator(0))
    y = rule(x)
    members = Ensemble(lambda g: RuleNet(INPUTS, units, 6, int(y.max()) + 1, generator=g), range(8))
    loss = SparseLoss(members.template)
    parameters = {f"module.{name}": value for name, value in members.parameters.items()}
    first, second = ({name: torch.zeros_like(value) for name, value in parameters.items()} for _ in range(2))
    state, scale = (parameters, first, second), members.buffers["register.scale"]
    buffers, shared, per_member = {"module.register.scale": scale}, (x.mT.contiguous().mT,), (y.expand(8, -1),)
    with one_thread():
        for epoch, correction in enumerate(adam_corrections(0.02, epochs)):
            scale.fill_(sharpest ** (epoch / epochs))
            state, losses = adam_step(loss, {}, state, buffers, correction, shared, per_member)
    members.parameters = {name.removeprefix("module."): value for name, value in state[0].items()}
    return members.member(int(losses.argmin()))


def accuracy(model: RuleNet, rule) -> float:
    """On rows that were not trained on."""
    x = torch.randn(10_000, INPUTS, generator=generator(1))
    answer = model(x)
    predicted = (answer[:, 0] > 0.5).long() if model.logic.classes == 2 else answer.argmax(-1)
    return (predicted == rule(x)).double().mean().item()


@pytest.mark.outer
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", RULES)
def test_rules_are_learned_end_to_end(name):
    rule = RULES[name]
    assert accuracy(learned(rule), rule) > 0.96
    assert accuracy(learned(rule, epochs=1), rule) < 0.8
    assert accuracy(learned(rule, units=1), rule) < 0.9  # no single sum has all that these rules compare


@pytest.mark.outer
@pytest.mark.usefixtures("unchecked")
def test_a_learned_xor_has_the_weights_of_its_comparisons_and_is_exact_once_they_are_rounded():
    model = learned(RULES["xor"])
    register, sizes = model.register, model.register.weight.detach().abs().amax(-1, keepdim=True)
    used = sizes[:, 0] > 0.1 * sizes.max()
    with torch.no_grad():
        rounded = torch.where(used.unsqueeze(-1), (register.weight / sizes).round(), 0)
        register.weight.copy_(rounded)
        register.offset.copy_(torch.where(used, (register.offset / sizes[:, 0]).round(), register.offset))
    found = {tuple(row.tolist()) for row in rounded[used]}
    zeros = (0,) * (INPUTS - 4)
    assert found <= {(*row, *zeros) for row in ((1, -1, 0, 0), (-1, 1, 0, 0), (0, 0, 1, -1), (0, 0, -1, 1))}
    x = torch.randint(-(2**61), 2**61, (10_000, INPUTS), generator=generator(2))
    apart = torch.tensor([-2, -1, 1, 2])[torch.randint(4, (10_000, 2), generator=generator(3))]
    x[:, [1, 3]] = x[:, [0, 2]] + apart
    assert torch.equal((model.logic(register.status(x)) > 0).long(), RULES["xor"](x))
