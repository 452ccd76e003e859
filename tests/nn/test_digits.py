import re

import pytest
import torch
from torch.nn import functional

from nsr import MLP, NSR
from nsr.data import COMPARISONS
from nsr.nn import DigitClassifier, DigitComparison, DigitReader
from nsr.nn.digits import CHANNELS, FIRST, SECOND, all_pairs_of
from tests.reading.samples import written

COMPARATORS = {
    "nsr": lambda g: NSR(2, scale=3.0, generator=g),
    "constants": lambda g: NSR(2, constants=True, generator=g),
    "mlp": lambda g: MLP(2, generator=g),
}


def seeded(number: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(number)


def images(number: int, side: int) -> torch.Tensor:
    return torch.rand(number, side, side, generator=seeded(1))


def convolved(reader: DigitReader, x: torch.Tensor) -> torch.Tensor:
    """The reader with the convolutions of torch."""
    patch, step = FIRST[reader.side]
    first = reader.first.weight.view(CHANNELS[0], 1, patch, patch)
    x = functional.conv2d(x.unsqueeze(1), first, reader.first.bias, stride=step).relu()
    second = reader.second.weight.view(CHANNELS[1], SECOND, SECOND, CHANNELS[0]).permute(0, 3, 1, 2)
    x = functional.conv2d(x, second, reader.second.bias, stride=SECOND).relu()
    return reader.classes(reader.hidden(x.permute(0, 2, 3, 1).flatten(1)).relu())


@pytest.mark.parametrize("side", FIRST)
def test_a_reader_is_two_convolutions_and_two_layers_and_reads_its_expected_digit(side):
    reader, x = DigitReader(side, generator=seeded()), images(3, side)
    torch.testing.assert_close(reader.logits(x), convolved(reader, x))
    expected = sum(digit * share for digit, share in enumerate(convolved(reader, x).softmax(-1).unbind(-1)))
    torch.testing.assert_close(reader(x), expected)
    assert ((reader(x) >= 0) & (reader(x) <= 9)).all()


@pytest.mark.parametrize("side", FIRST)
@pytest.mark.parametrize("comparator", COMPARATORS.values(), ids=COMPARATORS)
def test_all_pairs_of_a_batch_are_what_the_comparator_gives_for_each_with_the_same_gradients(side, comparator):
    module = DigitComparison(DigitReader(side, generator=seeded()), comparator(seeded(2)))
    x = images(6, side)
    answers = module(x)
    assert answers.shape == (6, 6, 2)
    for i in range(6):
        for j in range(6):
            pair = torch.cat([module.reader(x[i : i + 1]), module.reader(x[j : j + 1])])
            torch.testing.assert_close(answers[i, j], module.comparator(pair))
    both = module.reader(x.repeat_interleave(6, 0)), module.reader(x.repeat(6, 1, 1))
    slow = module.comparator.logit(torch.stack(both, dim=-1)).square().mean()
    parameters = list(module.parameters())
    gradients = torch.autograd.grad(module.logit(x).square().mean(), parameters)
    for gradient, expected in zip(gradients, torch.autograd.grad(slow, parameters), strict=True):
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-6)
        assert gradient.abs().sum() > 0


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_a_written_register_compares_what_is_read(comparison):
    module = DigitComparison(DigitReader(8), written(2, (0, comparison, 1, 0.0), scale=10.0))
    digits = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0])
    module.reader.forward = lambda _: digits
    holds = COMPARISONS[comparison](digits.unsqueeze(1), digits.unsqueeze(0))
    assert torch.equal(module.logit(images(5, 8)) > 0, holds)
    assert torch.equal(all_pairs_of(digits)[1, 4], torch.tensor([1.0, 5.0]))


def test_a_classifier_is_the_same_network_and_predicts_the_likeliest_digit():
    classifier = DigitClassifier(DigitReader(8, generator=seeded()))
    x = images(4, 8)
    assert torch.equal(classifier.logits(x), classifier.reader.logits(x))
    assert torch.equal(classifier(x), classifier.logits(x).argmax(-1))
    assert repr(classifier) == "DigitClassifier(DigitReader(8))"


def test_weights_come_from_the_generator_alone():
    before = torch.get_rng_state()
    one, other = DigitReader(28, generator=seeded(3)), DigitReader(28, generator=seeded(3))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert one.first.weight.abs().max() <= 1 / 5


@pytest.mark.usefixtures("unchecked")
def test_errors_are_sentences_and_the_repr_is_the_constructor_call():
    module = DigitComparison(DigitReader(8), NSR(2))
    assert repr(module) == "DigitComparison(DigitReader(8), NSR(2, redundancy=10, scale=1.0))"
    with pytest.raises(ValueError, match=r"^side must be one of 8, 28, got 10$"):
        DigitReader(10)
    with pytest.raises(ValueError, match=r"^images must be \(images, 8, 8\), got shape \(3, 28, 28\)$"):
        module(torch.zeros(3, 28, 28))
    with pytest.raises(ValueError, match=r"^images must be \(images, 8, 8\), got shape \(8, 8\)$"):
        module.logit(torch.zeros(8, 8))
    with pytest.raises(ValueError, match=re.escape("comparator must compare 2 numbers, got NSR(3, redundancy=10")):
        DigitComparison(DigitReader(8), NSR(3))


@pytest.mark.compiled
@pytest.mark.usefixtures("unchecked")
def test_compiled_it_answers_and_learns_the_same():
    module = DigitComparison(DigitReader(8, generator=seeded()), NSR(2, scale=3.0, generator=seeded(1)))
    # Captured and differentiated as one graph; that C++ for it gives the same is torch's business, and slow to try.
    compiled, x = torch.compile(module, fullgraph=True, backend="aot_eager"), images(6, 8)
    torch.testing.assert_close(compiled(x), module(x))
    gradients = [
        torch.autograd.grad(m(x)[..., 0].square().mean(), list(module.parameters())) for m in (compiled, module)
    ]
    for gradient, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-6)
