"""Section 4.7: a network learns to read digits, told only how pairs of them compare."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from nsr.batches import epochs
from nsr.data import COMPARISONS, Digits, mnist, small_digits
from nsr.errors import needs_extra
from nsr.nn import MLP, NSR, DigitClassifier, DigitComparison, Reader
from nsr.paper.spec import Cell, Experiment, ExperimentRecipe, Metrics, Profile, grid
from nsr.training import EXACT, LATER, LOSSES, PAPER, one_thread

SIZE = 50
"""Images in a batch; all their pairs are compared."""
LABELLED = 100
"""Training images whose digits are looked at to map the numbers that were read to digits, after training."""
BIN = 0.25
"""How wide the bins are in which the numbers that were read are counted, digit by digit."""
BINS = tuple(BIN * step for step in range(round(9 / BIN)))
"""Where each bin begins."""
MODELS = ("classifier", "mlp", "nsr")
SHOWN: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "all": lambda first, second: (first >= 0) & (second >= 0),
    "of 0 to 4": lambda first, second: (first <= 4) & (second <= 4),
    "3 apart": lambda first, second: (first - second).abs() <= 3,
}
"""Which pairs of digits are shown in training."""


@dataclass(frozen=True)
class DigitsCell(Cell):
    """Which model learns which comparison, from which images, and which of their pairs it is shown."""

    model: str
    comparison: str
    images: str
    pairs: str = "all"


@dataclass(frozen=True, kw_only=True)
class DigitsRecipe(ExperimentRecipe):
    """How a digit reader and a comparator are trained together, in batches."""

    scale: float = field(default=10.0, metadata=LATER)
    """Lambda of the register."""
    comparator_rate: float = field(default=1.0, metadata=LATER)
    """Learning rate of the comparator, in learning rates of the digit reader."""
    one_cycle: bool = field(default=False, metadata=LATER)
    """Raise and lower the learning rates in one cycle over all epochs, instead of keeping them constant."""
    balanced: bool = field(default=False, metadata=LATER)
    """Give the pairs for which the comparison holds the same total weight as the others: of ten pairs nine are
    unequal, and a network that calls all of them unequal is slow to leave that answer."""


def run_cell(cell: DigitsCell, recipe: DigitsRecipe, seeds: Sequence[int], data: Path | None = None) -> list[Metrics]:
    """Train one seed after the other, and test each on all pairs of each 50 test images after every epoch.

    ``equal`` and ``unequal`` are the accuracies on pairs of one digit and of two, ``shown`` and ``not shown`` those on
    the kinds of pairs that training shows and on the others. ``digits`` is the share of the test images whose digit is
    right: the classifier's own, or the number that was read, through a monotone map that 100 labelled images fix.
    """
    images = _load(cell.images, data)
    with one_thread():
        return [_run(cell, recipe, seed, images) for seed in seeds]


def after(epoch: int, what: str = "pairs") -> str:
    """The metric of an accuracy after an epoch."""
    return f"{what} after {epoch}"


def read_as(digit: int, start: float) -> str:
    """The metric of the share of the test images of a digit whose number lies in the bin that begins there."""
    return f"{digit} read from {start:g}"


def _run(cell: DigitsCell, recipe: DigitsRecipe, seed: int, data: Digits) -> Metrics:
    generator = torch.Generator().manual_seed(seed)
    module = _module(cell, recipe, data.side, generator)
    digits = data.train.labels
    examples = SHOWN[cell.pairs](digits, digits).nonzero().squeeze(-1)  # images that appear in some pair
    metrics = {"trained on": float(len(examples))}
    rates: dict[nn.Module, float] = {module.reader: recipe.learning_rate}
    if isinstance(module, DigitComparison):
        rates[module.comparator] = recipe.comparator_rate * recipe.learning_rate
    loss = _loss(cell, recipe, module, data)
    for epoch in epochs(rates, loss, examples, generator, number=recipe.epochs, size=SIZE, cycle=recipe.one_cycle):
        tested = _tested(cell, module, data)
        metrics[after(epoch)] = tested["accuracy"]
        if isinstance(module, DigitClassifier):
            metrics[after(epoch, "digits")] = tested["digits"]
    if isinstance(module, DigitComparison):
        tested |= _number_line(module.reader, data, examples, generator)
    return metrics | tested


def _module(
    cell: DigitsCell, recipe: DigitsRecipe, side: int, generator: torch.Generator
) -> DigitClassifier | DigitComparison:
    reader = Reader(side, generator=generator)
    if cell.model == "classifier":
        return DigitClassifier(reader)
    register = partial(NSR, scale=recipe.scale) if cell.model == "nsr" else MLP
    return DigitComparison(reader, register(2, generator=generator))


def _loss(
    cell: DigitsCell, recipe: DigitsRecipe, module: DigitClassifier | DigitComparison, data: Digits
) -> Callable[[Tensor], Tensor]:
    """The loss of a batch: over all of its pairs that are shown, or for a classifier over its digits."""

    def loss(batch: Tensor) -> Tensor:
        images, digits = data.standard(data.train.images[batch]), data.train.labels[batch]
        if isinstance(module, DigitClassifier):
            return functional.cross_entropy(module.logits(images), digits)
        pair = digits.unsqueeze(1), digits.unsqueeze(0)
        weight = SHOWN[cell.pairs](*pair).to(images.dtype)
        y = COMPARISONS[cell.comparison](*pair).to(images.dtype)
        if recipe.balanced:
            held, not_held = (weight * y).sum().clamp(min=1), (weight * (1 - y)).sum().clamp(min=1)
            weight = torch.where(y > 0, weight / held, weight / not_held)
        return (LOSSES[recipe.loss](module, images, y) * weight).sum() / weight.sum()

    return loss


@torch.no_grad()
def _tested(cell: DigitsCell, module: DigitClassifier | DigitComparison, data: Digits) -> dict[str, float]:
    """Accuracies on the pairs of each 50 test images, all of them and by kind; a classifier's on digits too."""
    compare, classified = COMPARISONS[cell.comparison], []
    pairs: dict[str, list[Tensor]] = defaultdict(list)
    for images, digits in zip(torch.split(data.test.images, SIZE), torch.split(data.test.labels, SIZE), strict=True):
        pair = digits.unsqueeze(1), digits.unsqueeze(0)
        if isinstance(module, DigitClassifier):
            guess = module(data.standard(images))
            classified.append(guess == digits)
            answer = compare(guess.unsqueeze(1), guess.unsqueeze(0))
        else:
            answer = module.logit(data.standard(images)) > 0
        right = answer == compare(*pair)
        kinds = {"accuracy": SHOWN["all"](*pair), "equal": pair[0] == pair[1], "unequal": pair[0] != pair[1]}
        if cell.pairs != "all":
            shown = SHOWN[cell.pairs](*pair)
            kinds |= {"shown": shown, "not shown": ~shown}
        for name, chosen in kinds.items():
            pairs[name].append(right[chosen])
    shares = {name: torch.cat(parts) for name, parts in pairs.items()} | (
        {"digits": torch.cat(classified)} if classified else {}
    )
    return {name: share.double().mean().item() for name, share in shares.items()}


@torch.no_grad()
def _number_line(reader: Reader, data: Digits, examples: Tensor, generator: torch.Generator) -> dict[str, float]:
    """What the reader makes of the test images of each digit, and how many digits are right once labels are shown.

    The map from numbers to digits is the monotone one of least squares (isotonic regression), rising or falling as the
    labelled images do: a network told only how digits compare may count downwards.
    """
    labelled = examples[torch.randperm(len(examples), generator=generator)[:LABELLED]]
    read, digits = reader(data.standard(data.train.images[labelled])).numpy(), data.train.labels[labelled].numpy()
    rising = bool(np.cov(read, digits)[0, 1] >= 0)
    with needs_extra("digits"):
        from sklearn.isotonic import IsotonicRegression
    fitted = IsotonicRegression(increasing=rising, out_of_bounds="clip")
    numbers = torch.cat([reader(data.standard(images)) for images in torch.split(data.test.images, SIZE)]).numpy()
    truth = data.test.labels.numpy()
    metrics = {"digits": float((fitted.fit(read, digits).predict(numbers).round() == truth).mean())}
    for digit in range(10):
        shares = np.histogram(numbers[truth == digit].clip(0, 9), (*BINS, 9))[0] / (truth == digit).sum()
        metrics |= {read_as(digit, start): round(float(share), 4) for start, share in zip(BINS, shares, strict=True)}
    return metrics


@cache
def _load(images: str, folder: Path | None, on_message: Callable[[str], None] = lambda _: None) -> Digits:
    return mnist(folder, tell=on_message) if images == "MNIST" else small_digits()


def prepare(cell: DigitsCell, data: Path | None, on_message: Callable[[str], None]) -> None:
    """Download the images of a cell, unless they are in the data folder."""
    _load(cell.images, data, on_message)


def _cells(images: str) -> tuple[Cell, ...]:
    return grid(DigitsCell, model=MODELS, comparison=(">",), images=(images,))


def _beyond(images: str) -> tuple[Cell, ...]:
    equal = grid(DigitsCell, model=MODELS, comparison=("=",), images=(images,))
    shown = [pairs for pairs in SHOWN if pairs != "all"]
    return equal + grid(DigitsCell, model=("mlp", "nsr"), comparison=(">",), images=(images,), pairs=shown)


def _on(images: str, **options: Any) -> Profile:
    return Profile(keep=lambda cell: cell.images == images, **options)


EXPERIMENT = Experiment(
    name="digits",
    title="Digits read from comparisons",
    section="4.7",
    shows="Digit comparisons",
    revision=2,
    cost=2000.0,
    cells=_cells("MNIST") + _cells("8x8"),
    beyond=_beyond("MNIST") + _beyond("8x8"),
    recipes={
        "paper": DigitsRecipe.based_on(PAPER, epochs=20),
        "exact": DigitsRecipe.based_on(
            EXACT,
            epochs=20,
            learning_rate=4e-3,
            patience=0,
            scale=3.0,
            comparator_rate=2.5,
            one_cycle=True,
            balanced=True,
        ),
    },
    run=run_cell,
    prepare=prepare,
    reads_data=lambda cell: cell.images == "MNIST",
    published={},
    profiles={
        "smoke": _on("8x8", name="smoke", seeds=1, epochs=2),
        "quick": _on("8x8", name="quick", seeds=2),
        "paper": _on("MNIST", name="paper", seeds=10),
    },
    block=1,
)
