import importlib
import itertools
import platform

import pytest
import torch
from torch.nn import functional

from nsr.data import COMPARISONS
from nsr.minibatches import epochs, schedule
from nsr.native import digits as native
from nsr.native.digits import DigitTraining, Pairs, disagreement, steps_of, supported
from nsr.native.library import library
from nsr.nn import MLP, NSR, DigitClassifier, DigitComparison, DigitReader
from nsr.paper.experiments.digits import SHOWN

library_module = importlib.import_module("nsr.native.library")
needs_compiler = pytest.mark.skipif(library() is None, reason="there is no C compiler, or NSR_NATIVE is 0")
LEVELS = torch.linspace(-1, 2, 256)
DIGIT = torch.arange(10)
TABLE = DIGIT.unsqueeze(1), DIGIT.unsqueeze(0)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def module_of(model: str, side: int = 8, **options):
    reader = DigitReader(side, generator=seeded())
    if model == "classifier":
        return DigitClassifier(reader)
    return DigitComparison(reader, {"nsr": NSR, "mlp": MLP}[model](2, generator=seeded(1), **options))


def images_of(side: int, number: int = 120) -> tuple[torch.Tensor, torch.Tensor]:
    pixels = torch.randint(256, (number, side, side), generator=seeded(2)).to(torch.uint8)
    return pixels, torch.randint(10, (number,), generator=seeded(3))


def in_torch(module, images, digits, pairs: Pairs):
    """The loss of a batch, written down again, in float64."""
    exact = module.double()

    def loss(batch: torch.Tensor) -> torch.Tensor:
        x, d = LEVELS[images[batch].long()].double(), digits[batch]
        if isinstance(exact, DigitClassifier):
            return functional.cross_entropy(exact.logits(x), d)
        y, weight = (table[d][:, d].double() for table in (pairs.holds, pairs.shown))
        if pairs.balanced:
            held, rest = weight * y, weight * (1 - y)
            weight = held / held.sum().clamp(min=1) + rest / rest.sum().clamp(min=1)
        z = exact.logit(x)
        rows = (z.sigmoid() - y).abs() if pairs.loss == "mae" else functional.softplus(z) - z * y
        return (rows * weight).sum() / weight.sum()

    return loss


def pairs_of(comparison: str = ">", shown: str = "all", loss: str = "bce", balanced: bool = True) -> Pairs:
    return Pairs(COMPARISONS[comparison](*TABLE), SHOWN[shown](*TABLE), loss, balanced)


CASES = [
    *itertools.product(["nsr", "mlp"], [">", "="], ["all", "3 apart"], ["mae", "bce"], [False, True]),
    ("classifier", ">", "all", "bce", False),
    ("nsr", "<=", "of 0 to 4", "bce", True),
]


@needs_compiler
@pytest.mark.parametrize("side", [8, 28])
@pytest.mark.parametrize(("model", "comparison", "shown", "loss", "balanced"), CASES)
def test_loss_and_gradients_are_those_of_torch_in_float64(side, model, comparison, shown, loss, balanced):
    images, digits = images_of(side)
    options = {"scale": 3.0} if model == "nsr" else {}
    module, pairs = module_of(model, side, **options), pairs_of(comparison, shown, loss, balanced)
    with torch.no_grad():  # untrained, all numbers are 4.5: sharper classes make them differ
        module.reader.classes.weight.mul_(8)
    training = DigitTraining.of(module, images, digits, LEVELS, pairs)
    steps = steps_of(torch.full((2, 1), 1e-3), torch.tensor([0.9]), torch.tensor([3.0]))
    for number in (50, 37):  # the last batch of an epoch may be smaller
        batch = torch.randperm(len(images), generator=seeded(4))[:number]
        training.load()
        (actual,) = training.train(batch, steps)
        exact = module_of(model, side, **options)
        exact.load_state_dict(module.state_dict())
        expected = in_torch(exact, images, digits, pairs)(batch)
        expected.backward()
        assert actual.item() == pytest.approx(expected.item(), rel=1e-5)
        # rounding of sums that cancel: balanced weights and mae leave next to nothing of an untrained network's
        largest = max(parameter.grad.abs().max().item() for parameter in exact.parameters())
        for name, gradient in training.part("gradient").items():
            wanted = exact.get_parameter(name).grad
            assert wanted.abs().max() > 0, name
            assert torch.allclose(gradient.double(), wanted, rtol=1e-4, atol=1e-6 * largest + 3e-8), name


@needs_compiler
@pytest.mark.parametrize("model", ["classifier", "mlp", "nsr"])
@pytest.mark.parametrize("cycle", [False, True])
def test_an_epoch_of_steps_is_that_of_torch(model, cycle):
    """120 images, three batches an epoch, the last of 20; rates and momentum follow torch's schedule."""
    images, digits = images_of(8)
    module, other, pairs = module_of(model), module_of(model), pairs_of()
    training = DigitTraining.of(module, images, digits, LEVELS, pairs)
    rates = [1e-3, 4e-3]
    learning_rates, beta1 = schedule(rates, 6, cycle=cycle)
    steps = steps_of(learning_rates, beta1, torch.ones(6))
    generator = seeded(5)
    orders = [torch.randperm(120, generator=generator) for _ in range(2)]
    losses = torch.cat([training.train(order, steps[3 * at : 3 * at + 3]) for at, order in enumerate(orders)])
    training.save()

    expected, loss = [], in_torch(other, images, digits, pairs)

    def recorded(batch: torch.Tensor) -> torch.Tensor:
        expected.append(loss(batch))
        return expected[-1]

    parts = dict(zip(other.children(), rates, strict=False))
    list(epochs(parts, recorded, torch.arange(120), seeded(5), number=2, size=50, cycle=cycle))
    assert losses.tolist() == pytest.approx([value.item() for value in expected], rel=1e-5)
    for name, parameter in module.named_parameters():
        assert torch.allclose(parameter.double(), other.get_parameter(name), atol=2e-5), name


@needs_compiler
@pytest.mark.parametrize("side", [8, 28])
@pytest.mark.parametrize("model", ["classifier", "mlp", "nsr"])
def test_logits_of_classes_and_pairs_are_those_of_the_module(side, model):
    images, digits = images_of(side)
    module = module_of(model, side)
    if model == "nsr":
        module.comparator.scale = 2.0
    classes, pairs = DigitTraining.of(module, images, digits, LEVELS, pairs_of()).test(images)
    x = LEVELS[images.long()]
    assert torch.allclose(classes, module.reader.logits(x), atol=1e-5)
    if model == "classifier":
        assert len(pairs) == 0
        return
    for actual, batch in zip(pairs.split(50), x.split(50), strict=True):
        assert torch.allclose(actual[:, : len(batch)], module.logit(batch), atol=1e-4)


@needs_compiler
def test_each_call_of_many_images_is_the_same_as_few(monkeypatch):
    images, digits = images_of(8)
    learned = []
    for call in (native.CALL, 50):
        monkeypatch.setattr(native, "CALL", call)
        module = module_of("nsr")
        training = DigitTraining.of(module, images, digits, LEVELS, pairs_of())
        steps = steps_of(torch.full((2, 3), 1e-2), torch.full((3,), 0.9), torch.linspace(1, 5, 3))
        learned.append((training.train(torch.arange(120), steps), training.state.clone()))
    assert torch.equal(learned[0][0], learned[1][0])
    assert torch.equal(learned[0][1], learned[1][1])


OTHER_CPUS = {"AVX2": ["-mavx2", "-mfma", "-mno-avx512f"], "without vectors of its own": []}


@needs_compiler
@pytest.mark.outer
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the options are those of x86-64")
@pytest.mark.parametrize("cpu", OTHER_CPUS)
def test_numbers_are_the_same_on_every_cpu(cpu, tmp_path, monkeypatch):
    """Other CPUs have other tiles in registers; sums have the same order."""
    results = []
    for options in (library_module.MACHINE, OTHER_CPUS[cpu]):
        monkeypatch.setattr(library_module, "MACHINE", tuple(options))
        monkeypatch.setattr(library_module, "SECONDS", 1000)  # on a busy machine
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        library.cache_clear()
        numbers = []
        for model, side in (("classifier", 28), ("mlp", 8), ("nsr", 28)):
            images, digits = images_of(side)
            training = DigitTraining.of(module_of(model, side), images, digits, LEVELS, pairs_of())
            steps = steps_of(torch.full((2, 3), 1e-2), torch.full((3,), 0.9), torch.linspace(1, 5, 3))
            numbers += [training.train(torch.arange(120), steps), training.state.flatten()]
            numbers += [logits.flatten() for logits in training.test(images)]
        results.append(torch.cat(numbers))
    monkeypatch.undo()
    library.cache_clear()
    assert len(list((tmp_path / "nsr").glob("*.so"))) == 2
    assert torch.equal(*results)


@needs_compiler
def test_a_wrong_step_is_noticed_and_nothing_is_changed():
    images, digits = images_of(8)
    module = module_of("nsr")
    before = {name: value.clone() for name, value in module.state_dict().items()}
    training = DigitTraining.of(module, images, digits, LEVELS, pairs_of())
    steps, batch = steps_of(torch.full((2, 1), 1e-3), torch.tensor([0.9]), torch.ones(1)), torch.arange(50)

    def loss(factor: float = 1.0, weight: float = 0.0):
        x, d = LEVELS[images[batch].long()], digits[batch]
        y = (d.unsqueeze(1) > d).float()
        held = y / y.sum() + (1 - y) / (1 - y).sum()
        rows = functional.binary_cross_entropy_with_logits(module.logit(x), y, reduction="none")
        return factor * (rows * held).sum() / 2 + weight * module.comparator.w_sign[3]

    assert disagreement(training, lambda _: loss(), batch, steps) is None
    assert disagreement(training, lambda _: loss(1.01), batch, steps).startswith("the loss is off by ")
    described = disagreement(
        training, lambda _: loss(weight=4e-3) - 4e-3 * module.comparator.w_sign[3].detach(), batch, steps
    )
    assert described.startswith("the gradient of comparator.w_sign is off by 0.00")
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert all(torch.equal(value, before[name]) for name, value in training.part("weights").items())
    assert not training.state[1:].any()


def test_other_modules_are_left_to_torch(monkeypatch):
    images, digits = images_of(8)
    for module in (
        module_of("nsr", redundancy=5),
        module_of("nsr", constants=True),
        module_of("mlp", hidden=8),
        module_of("mlp").double(),
    ):
        assert not supported(module)
        assert DigitTraining.of(module, images, digits, LEVELS, pairs_of()) is None
    squared = pairs_of()._replace(loss="mse")
    assert DigitTraining.of(module_of("nsr"), images, digits, LEVELS, squared) is None
    monkeypatch.setattr(native, "library", lambda: None)
    assert not supported(module_of("nsr"))


@needs_compiler
def test_indices_and_steps_that_do_not_fit_are_refused():
    images, digits = images_of(8)
    training = DigitTraining.of(module_of("nsr"), images, digits, LEVELS, pairs_of())
    steps = steps_of(torch.full((2, 1), 1e-3), torch.tensor([0.9]), torch.ones(1))
    with pytest.raises(ValueError, match="order must be indices of the 120 images"):
        training.train(torch.tensor([0, 120]), steps)
    with pytest.raises(ValueError, match="steps must be 2, one for each batch, got 1"):
        training.train(torch.arange(51), steps)
