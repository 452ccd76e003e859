"""Section 4.7: a network learns to read digits from comparisons of pairs alone."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from statistics import stdev
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nsr.data import COMPARISONS, Digits, mnist, small_digits
from nsr.errors import needs_extra
from nsr.html.charts import Band, Chart, Line, Square, Value, number_axis
from nsr.minibatches import epochs, schedule, shuffled
from nsr.native.digits import DigitTraining, Pairs, disagreement, steps_of
from nsr.nn import MLP, NSR, DigitClassifier, DigitComparison, DigitReader
from nsr.paper.cells import Summary, by_recipe, metrics
from nsr.paper.claims import MARGIN, Claim, Ours, between, over
from nsr.paper.figures import Figure
from nsr.paper.spec import Cell, Experiment, ExperimentRecipe, Metrics, Profile, grid
from nsr.paper.tables import Columns, Table, plural, run_of
from nsr.training import EXACT, LATER, LOSSES, PAPER, one_thread

SIZE = 50
"""Images in a batch; all their pairs are compared."""
LABELLED = 100
"""Number of training images whose labels are used, after training, to map the numbers that were read to digits."""
BIN = 0.25
"""Width of the bins of the histograms of the numbers that were read."""
BINS = tuple(BIN * step for step in range(round(9 / BIN)))
"""Lower edges of the bins."""
EPOCHS = 20
SMALL = 8
"""Pixels along the side of the small images."""
MODELS = ("classifier", "mlp", "nsr")
SHOWN: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "all": lambda first, second: (first >= 0) & (second >= 0),
    "of 0 to 4": lambda first, second: (first <= 4) & (second <= 4),
    "3 apart": lambda first, second: (first - second).abs() <= 3,
}
"""Pairs of digits that training shows."""


@dataclass(frozen=True)
class DigitsCell(Cell):
    """Which model learns which comparison, from which images, and which of their pairs training shows."""

    model: str
    comparison: str
    images: str
    pairs: str = "all"


@dataclass(frozen=True, kw_only=True)
class DigitsRecipe(ExperimentRecipe):
    """How a digit reader and a comparator are trained together, in batches."""

    scale: float = field(default=10.0, metadata=LATER)
    """Lambda of the register."""
    starts: int = field(default=1, metadata=LATER)
    """Networks that are trained for each comparison of a seed; the one with the least loss in its last epoch, on the
    training images, is tested. Training may read two digits as the same number, and does not leave that any more."""
    first_scale: float = field(default=0.0, metadata=LATER)
    """Lambda in the first step, from which it changes evenly to ``scale``; 0: it is ``scale`` in every step."""
    selection: float = field(default=0.0, metadata=LATER)
    """For =: added at first to the logits with which all units select the first number, minus the second."""
    order_selection: float = field(default=0.0, metadata=LATER)
    """The same for >, in cells whose training hides distances. From about 17 the softmax is 1 and 0, and selections
    stay as they are. A unit that hardly selects is far from saturated at the distances shown, and may turn the answer
    round beyond them; where all are shown, it makes no difference."""
    order_scale: float = field(default=0.0, metadata=LATER)
    """For > in the same cells: ``scale``; 0: that itself."""
    zero_bit: float = field(default=0.0, metadata=LATER)
    """For =: added at first to the weights of the zero bits."""
    comparator_rate: float = field(default=1.0, metadata=LATER)
    """Learning rate of the comparator, in learning rates of the digit reader."""
    small_rate: float = field(default=0.0, metadata=LATER)
    """Learning rate of the digit reader for the images of 8x8 pixels, of which an epoch has only 27 batches; 0:
    ``learning_rate``."""
    one_cycle: bool = field(default=False, metadata=LATER)
    """Raise and lower the learning rates in one cycle over all epochs, instead of keeping them constant."""
    balanced: bool = field(default=False, metadata=LATER)
    """Give the pairs for which the comparison holds the same total weight as the others: of ten pairs nine are
    unequal, and a network that calls all of them unequal is slow to leave that answer."""

    def of_cell(self, cell: DigitsCell) -> "DigitsRecipe":
        """The recipe without the settings that are meant for other cells."""
        return self if hides_distances(cell) else replace(self, order_selection=0.0, order_scale=0.0)

    def last_scale(self, comparison: str) -> float:
        """Lambda in the last step."""
        return self.scale if comparison == "=" else self.order_scale or self.scale


def run_cell(cell: DigitsCell, recipe: DigitsRecipe, seeds: Sequence[int], data: Path | None = None) -> list[Metrics]:
    """Train one seed after the other, and test each on all pairs of each 50 test images after every epoch.

    ``equal`` and ``unequal`` are the accuracies on pairs of one digit and of two, ``shown`` and ``not shown`` those on
    the pairs that training shows and on the others. ``digits`` is the share of the test images whose digit is
    right: that of the classifier, or the number that was read, through a monotone map fitted to 100 labelled images.
    """
    images = _load(cell.images, data)
    with one_thread():
        return [run_on(cell, recipe.of_cell(cell), seed, images) for seed in seeds]


def hides_distances(cell: DigitsCell) -> bool:
    """Whether training shows two digits, but no pair of them."""
    first, second = torch.arange(10).unsqueeze(1), torch.arange(10).unsqueeze(0)
    shown = SHOWN[cell.pairs]
    return bool((shown(first, first) & shown(second, second) & ~shown(first, second)).any())


def after(epoch: int, what: str = "pairs") -> str:
    """The metric of an accuracy after an epoch."""
    return f"{what} after {epoch}"


def read_as(digit: int, start: float) -> str:
    """The metric of the share of the test images of a digit whose number lies in the bin that begins there."""
    return f"{digit} read from {start:g}"


def run_on(cell: DigitsCell, recipe: DigitsRecipe, seed: int, data: Digits) -> Metrics:
    """Train one seed on these images, whatever the cell names; of several starts, keep that of the least loss."""
    generator = torch.Generator().manual_seed(seed)
    number = 1 if cell.model == "classifier" else recipe.starts
    starts = [_start(cell, recipe, data, generator) for _ in range(number)]
    return min(starts, key=lambda start: start[0])[1]


def _start(
    cell: DigitsCell, recipe: DigitsRecipe, data: Digits, generator: torch.Generator
) -> tuple[float, dict[str, float]]:
    """Train a network; its mean loss on the training images in the last epoch, and what was measured."""
    module = _module(cell, recipe, data.side, generator)
    digits = data.train.labels
    examples = SHOWN[cell.pairs](digits, digits).nonzero().squeeze(-1)  # images that appear in a pair
    metrics = {"trained on": float(len(examples))}
    for epoch, loss, logits in _epochs(cell, recipe, module, data, examples, generator):
        last, tested = loss, _tested(cell, logits, data)
        metrics[after(epoch)] = tested["accuracy"]
        if isinstance(module, DigitClassifier):
            metrics[after(epoch, "digits")] = tested["digits"]
    if isinstance(module, DigitComparison):
        tested |= _number_line(module.reader, data, examples, generator)
    return last, metrics | tested


Logits = Callable[[Tensor], Sequence[Tensor]]
"""The logits of the classes of each 50 images, or those of all of their pairs."""


def _epochs(
    cell: DigitsCell,
    recipe: DigitsRecipe,
    module: DigitClassifier | DigitComparison,
    data: Digits,
    examples: Tensor,
    generator: torch.Generator,
) -> Iterator[tuple[int, float, Logits]]:
    """Train in place, in C where that is possible; yields each epoch's number, mean loss, and what tests after it."""
    rate = (recipe.small_rate if data.side == SMALL else 0) or recipe.learning_rate
    rates = [rate, recipe.comparator_rate * rate]
    loss, training = _loss(cell, recipe, module, data), _in_c(cell, recipe, module, data)
    per_epoch, cycle = -(-len(examples) // SIZE), recipe.one_cycle
    learning_rates, beta1 = schedule(rates, recipe.epochs * per_epoch, cycle=cycle)
    last = recipe.last_scale(cell.comparison)
    scales = torch.linspace(recipe.first_scale or last, last, len(beta1), dtype=torch.float64)
    steps = steps_of(learning_rates, beta1, scales)
    rescale(module, scales[0].item())
    if training is None or not _agree(training, loss, examples[:SIZE], steps[:1]):
        annealing = iter(scales.tolist())
        losses: list[Tensor] = []
        parts = dict(zip(module.children(), rates, strict=False))  # the reader, and the comparator if there is one

        def annealed(batch: Tensor) -> Tensor:
            rescale(module, next(annealing))
            value = loss(batch)
            losses.append(value.detach())
            return value

        for epoch in epochs(parts, annealed, examples, generator, number=recipe.epochs, size=SIZE, cycle=cycle):
            yield epoch, torch.stack(losses).mean().item(), partial(_torch_logits, module, data)
            losses.clear()
        return
    for epoch in range(1, recipe.epochs + 1):
        now = training.train(shuffled(examples, generator), steps[(epoch - 1) * per_epoch : epoch * per_epoch])
        training.save()
        rescale(module, scales[epoch * per_epoch - 1].item())
        yield epoch, now.double().mean().item(), partial(_c_logits, training)


def rescale(module: DigitClassifier | DigitComparison, scale: float) -> None:
    """Set lambda of a register."""
    if isinstance(module, DigitComparison) and isinstance(module.comparator, NSR):
        module.comparator.scale = scale


def _in_c(
    cell: DigitsCell, recipe: DigitsRecipe, module: DigitClassifier | DigitComparison, data: Digits
) -> DigitTraining | None:
    """Training in C, unless that cannot train the module or there is no compiler."""
    digit = torch.arange(10)
    pair = digit.unsqueeze(1), digit.unsqueeze(0)
    holds, shown = COMPARISONS[cell.comparison](*pair), SHOWN[cell.pairs](*pair)
    levels = data.standard(torch.arange(256, dtype=torch.uint8))
    pairs = Pairs(holds, shown, recipe.loss, recipe.balanced)
    return DigitTraining.of(module, data.train.images, data.train.labels, levels, pairs)


def _agree(training: DigitTraining, loss: Callable[[Tensor], Tensor], batch: Tensor, steps: Tensor) -> bool:
    """Whether a step in C is that of torch; else there is a warning."""
    difference = disagreement(training, loss, batch, steps)
    if difference is not None:
        warnings.warn(f"{training.module!r} is trained by torch, because in C {difference}", stacklevel=2)
    return difference is None


@torch.no_grad()
def _torch_logits(module: DigitClassifier | DigitComparison, data: Digits, images: Tensor) -> Sequence[Tensor]:
    logits = module.logits if isinstance(module, DigitClassifier) else module.logit
    return [logits(data.standard(batch)) for batch in torch.split(images, SIZE)]


def _c_logits(training: DigitTraining, images: Tensor) -> Sequence[Tensor]:
    classes, pairs = training.test(images)
    if isinstance(training.module, DigitClassifier):
        return torch.split(classes, SIZE)
    return [batch[:, : len(batch)] for batch in torch.split(pairs, SIZE)]


def _module(
    cell: DigitsCell, recipe: DigitsRecipe, side: int, generator: torch.Generator
) -> DigitClassifier | DigitComparison:
    reader = DigitReader(side, generator=generator)
    if cell.model == "classifier":
        return DigitClassifier(reader)
    if cell.model == "mlp":
        return DigitComparison(reader, MLP(2, generator=generator))
    equality = cell.comparison == "="
    register = NSR(2, scale=recipe.last_scale(cell.comparison), generator=generator)
    selection = recipe.selection if equality else recipe.order_selection
    with torch.no_grad():
        register.v1[0].add_(selection)
        register.v2[1].add_(selection)
        register.w_zero.add_(recipe.zero_bit if equality else 0.0)
    return DigitComparison(reader, register)


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


def _tested(cell: DigitsCell, logits: Logits, data: Digits) -> dict[str, float]:
    """Accuracies on the pairs of each 50 test images, all of them and by kind; a classifier's on digits too."""
    compare, classified = COMPARISONS[cell.comparison], []
    pairs: dict[str, list[Tensor]] = defaultdict(list)
    for output, digits in zip(logits(data.test.images), torch.split(data.test.labels, SIZE), strict=True):
        pair = digits.unsqueeze(1), digits.unsqueeze(0)
        if cell.model == "classifier":
            guess = output.argmax(-1)
            classified.append(guess == digits)
            answer = compare(guess.unsqueeze(1), guess.unsqueeze(0))
        else:
            answer = output > 0
        right = answer == compare(*pair)
        groups = {"accuracy": SHOWN["all"](*pair), "equal": pair[0] == pair[1], "unequal": pair[0] != pair[1]}
        if cell.pairs != "all":
            shown = SHOWN[cell.pairs](*pair)
            groups |= {"shown": shown, "not shown": ~shown}
        for name, chosen in groups.items():
            pairs[name].append(right[chosen])
    shares = {name: torch.cat(parts) for name, parts in pairs.items()} | (
        {"digits": torch.cat(classified)} if classified else {}
    )
    return {name: share.double().mean().item() for name, share in shares.items()}


@torch.no_grad()
def _number_line(reader: DigitReader, data: Digits, examples: Tensor, generator: torch.Generator) -> dict[str, float]:
    """Histogram of the numbers read in the test images of each digit, and the share of digits that are right."""
    labelled = examples[torch.randperm(len(examples), generator=generator)[:LABELLED]]
    digits_of = _number_map(reader(data.standard(data.train.images[labelled])), data.train.labels[labelled])
    numbers = torch.cat([reader(data.standard(images)) for images in torch.split(data.test.images, SIZE)]).numpy()
    truth = data.test.labels.numpy()
    metrics = {"digits": float((digits_of(numbers) == truth).mean())}
    for digit in range(10):
        shares = np.histogram(numbers[truth == digit].clip(0, 9), (*BINS, 9))[0] / (truth == digit).sum()
        metrics |= {read_as(digit, start): round(float(share), 4) for start, share in zip(BINS, shares, strict=True)}
    return metrics


def _number_map(numbers: Tensor, digits: Tensor) -> Callable[[np.ndarray], np.ndarray]:
    """The map from numbers to digits that labelled training images determine; it never sees a test image.

    The monotone map of least squares (isotonic regression), rising or falling as the labelled images do: a network
    that learns from comparisons alone may count downwards.
    """
    with needs_extra("digits"):
        from sklearn.isotonic import IsotonicRegression
    rising = bool(np.cov(numbers.numpy(), digits.numpy())[0, 1] >= 0)
    fitted = IsotonicRegression(increasing=rising, out_of_bounds="clip").fit(numbers.numpy(), digits.numpy())
    return lambda read: np.round(fitted.predict(read))


@cache
def _load(images: str, folder: Path | None, on_message: Callable[[str], None] = lambda _: None) -> Digits:
    return mnist(folder, on_message=on_message) if images == "MNIST" else small_digits()


def prepare(cell: DigitsCell, data: Path | None, on_message: Callable[[str], None]) -> None:
    """Download the images of a cell, unless they are in the data folder."""
    _load(cell.images, data, on_message)


def _cells(images: str) -> tuple[DigitsCell, ...]:
    return grid(DigitsCell, model=MODELS, comparison=(">",), images=(images,))


def _beyond(images: str) -> tuple[DigitsCell, ...]:
    equal = grid(DigitsCell, model=MODELS, comparison=("=",), images=(images,))
    shown = [pairs for pairs in SHOWN if pairs != "all"]
    return equal + grid(DigitsCell, model=("mlp", "nsr"), comparison=(">",), images=(images,), pairs=shown)


def _on(images: str, **options: Any) -> Profile:
    return Profile(keep=lambda cell: cell.images == images, **options)


DESCRIPTION = (
    "A small convolutional network reads each of 50 images as a number, class probabilities times [0, 1, ..., 9], and "
    "a register, or an MLP, compares every pair of the 50 numbers: the only labels are the results of the comparison. "
    "Accuracies are over all pairs of each 50 test images; beside them is what the same network reaches on the same "
    "pairs when it is trained on the digits themselves. A pair may be an image and itself. For = one pair in nine is "
    "equal, and a model that always answers unequal is right on 0.886 of the pairs of MNIST: so equal and unequal "
    "pairs are also shown separately, and 'balanced' is their mean. Profile paper learns from the 60,000 images of "
    "MNIST, the others from the 1,347 images of 8x8 pixels that come with scikit-learn. Beyond the paper: the digit "
    "is recovered from the number read, through a monotone map (isotonic regression, rounded) that 100 labelled "
    "training images determine after training; the number lines show histograms of the numbers that the first seed "
    "read in the test images of each digit; and models trained only on pairs of the digits 0 to 4, or only on pairs "
    "up to 3 apart, are tested on all pairs (a network that never saw a 5 cannot recover more than half of the "
    "digits). Under recipe exact each seed trains two networks and keeps the one with the lower loss on the training "
    "images, and settings were chosen on a split of the training images. A network may count downwards, "
    "and for = in any order. The paper prints curves and no numbers to compare ours with."
)
ROWS: Mapping[str, tuple[str, Sequence[str]]] = {
    ">": (">", ["accuracy"]),
    "digits": (">", ["digits"]),
    "=": ("=", ["accuracy"]),
    "equal pairs": ("=", ["equal"]),
    "unequal pairs": ("=", ["unequal"]),
    "balanced": ("=", ["equal", "unequal"]),
}
"""Rows of the tables: the comparison, and the metrics whose mean each shows."""
SUBSET_ROWS = {"all pairs": "accuracy", "shown": "shown", "not shown": "not shown", "digits": "digits"}
"""Rows of the table of models trained on a subset of the pairs, and the metric of each."""
SUBSETS = {"of 0 to 4": "of 0 to 4", "3 apart": "up to 3 apart"}
LINES = {
    ("nsr", "pairs"): ("blue", "NSR"),
    ("mlp", "pairs"): ("orange", "MLP"),
    ("classifier", "pairs"): ("green", "classifier"),
    ("classifier", "digits"): ("green", "digits"),
}
"""Whose accuracy on what: the paper's colour and the label."""
NAMES = {">": "greater", "=": "equal"}
"""Names of the comparisons in files."""
NUMBER_LINES = (("nsr", ">"), ("mlp", ">"), ("nsr", "="))


def tables(summaries: Sequence[Summary[DigitsCell]]) -> list[Table]:
    """The ends of the curves as numbers, then the models trained on a subset of the pairs."""
    complete = [_table(shown) for shown in by_recipe(_on_all_pairs(summaries)).values()]
    subsets = [summary for summary in summaries if summary.cell.pairs != "all"]
    return [*complete, _subset_table(subsets)] if subsets else complete


def _on_all_pairs(summaries: Sequence[Summary[DigitsCell]]) -> list[Summary[DigitsCell]]:
    return [summary for summary in summaries if summary.cell.pairs == "all"]


def _table(summaries: Sequence[Summary[DigitsCell]]) -> Table:
    first, last = summaries[0], summaries[-1]
    images = max(summary.metrics["trained on"] for summary in summaries)
    rows = []
    for label, (comparison, names) in ROWS.items():
        cells = {model: DigitsCell(model, comparison, first.cell.images) for model in MODELS}
        columns = Columns.of(cells, summaries)
        if columns.present:  # = is beyond the paper: recipe paper has no results for it
            rows.append(columns.means(label, names))
    return Table(
        title=f"Digit comparisons: recipe {first.recipe}, {images:,.0f} images of {first.cell.images}, "
        f"{plural(first.seeds, 'seed')}, {last.cell.model.upper()} {last.seconds / last.seeds:.0f} s per seed",
        corner="pairs",
        columns=MODELS,
        rows=tuple(rows),
    )


def _subset_table(summaries: Sequence[Summary[DigitsCell]]) -> Table:
    cells = {f"{s.cell.model.upper()} {SUBSETS[s.cell.pairs]}": s.cell for s in summaries}
    columns = Columns.of(cells, summaries)
    return Table(
        title=f"Digit comparisons: trained on a subset of the pairs, {run_of(summaries)}",
        corner="pairs",
        columns=columns.names,
        rows=tuple(columns.means(label, [metric]) for label, metric in SUBSET_ROWS.items()),
    )


def claims(summaries: Sequence[Summary[DigitsCell]]) -> list[Claim]:
    """What the paper says about its curves, then accuracies; it prints no numbers."""
    greater = [summary for summary in _on_all_pairs(summaries) if summary.cell.comparison == ">"]

    def accuracy(model: str, metric: str = "accuracy") -> dict[str, Ours]:
        return over([summary for summary in greater if summary.cell.model == model], [metric])

    nsr, mlp = accuracy("nsr"), accuracy("mlp")
    reference = accuracy("classifier", "digits")
    par = Claim("NSR", "accuracy on pairs minus that of the MLP", "on par", between(nsr, mlp), (-MARGIN, MARGIN), True)
    below = between(nsr, reference)
    lower = Claim("NSR", "accuracy on pairs minus digits classified", "lower", below, (-1.0, 0.0), True)
    return [
        par,
        lower,
        Claim("NSR", "accuracy on pairs", "", nsr),
        Claim("MLP", "accuracy on pairs", "", mlp),
        Claim("CNN", "digits classified", "", reference),
        Claim("NSR", "digits recovered from what was read", "", accuracy("nsr", "digits")),
    ]


def answer(summaries: Sequence[Summary[DigitsCell]]) -> Iterator[Figure]:
    """Accuracy over the epochs as in the paper's figure, with one standard deviation shaded."""
    yield from _over_all_epochs(summaries, ">", [("nsr", "pairs"), ("mlp", "pairs"), ("classifier", "digits")])


def figures(summaries: Sequence[Summary[DigitsCell]]) -> Iterator[Figure]:
    """The same for =, then the number lines of the first seed."""
    yield from _over_all_epochs(summaries, "=", [("nsr", "pairs"), ("mlp", "pairs"), ("classifier", "pairs")])
    for recipe, shown in by_recipe(_on_all_pairs(summaries)).items():
        present = {(summary.cell.model, summary.cell.comparison): summary for summary in shown}
        for model, comparison in NUMBER_LINES:
            if (model, comparison) in present:
                title = f"The number line of {model.upper()} {comparison}, recipe {recipe}, first seed"
                name = f"digits-{recipe}-{model}-{NAMES[comparison]}-line"
                yield name, title, _histograms(present[model, comparison])


def _over_all_epochs(
    summaries: Sequence[Summary[DigitsCell]], comparison: str, lines: Sequence[tuple[str, str]]
) -> Iterator[Figure]:
    for recipe, shown in by_recipe(_on_all_pairs(summaries)).items():
        present = {s.cell.model: s for s in shown if s.cell.comparison == comparison}
        marks: list[Line | Band] = []
        for model, what in lines:
            if model in present:
                points = list(_over_epochs(present[model], what))
                hue, label = LINES[model, what]
                marks.append(Band([(epoch, low, high) for epoch, _, low, high in points], hue))
                marks.append(Line([(epoch, mean) for epoch, mean, _, _ in points], hue, label))
        if marks:
            lowest = min(point[1] for mark in marks for point in mark.points)
            ticks = (0.9, 0.95, 1.0) if lowest >= 0.85 else (0.5, 0.75, 1.0) if lowest >= 0.4 else (0.0, 0.5, 1.0)
            y = number_axis("accuracy", ticks, low=min(lowest, ticks[0]) - 0.005, high=1.005)
            x = number_axis("epoch", (1, 5, 10, 15, 20))
            title = f"Pairs {comparison}, {run_of(shown)}: one standard deviation shaded"
            yield f"digits-{recipe}-{NAMES[comparison]}", title, Chart(x, y, marks)


def _over_epochs(summary: Summary[DigitsCell], what: str) -> Iterator[tuple[Value, float, float, float]]:
    """Epoch, mean accuracy, and one standard deviation below and above."""
    for epoch in range(1, EPOCHS + 1):
        values = summary.values.get(after(epoch, what))
        if values is None:  # a profile may have fewer epochs
            return
        mean, deviation = summary.metrics[after(epoch, what)], stdev(values) if len(values) > 1 else 0.0
        yield epoch, mean, max(0.0, mean - deviation), min(1.0, mean + deviation)


def _histograms(summary: Summary[DigitsCell]) -> Chart:
    """For each digit a histogram of the numbers that were read in its images, one above the other."""
    shares = {(digit, start): summary.values[read_as(digit, start)][0] for digit in range(10) for start in BINS}
    highest = max(shares.values())
    bars = [
        Square(
            (start, start + BIN),
            (digit, digit + 0.95 * share / highest),
            "blue" if digit % 2 else "green",
            text=f"{share:.1%} of the images of {digit} read as {start:g} to {start + BIN:g}",
        )
        for (digit, start), share in shares.items()
        if share
    ]
    return Chart(number_axis("number read", range(10)), number_axis("digit shown", range(10), high=10), bars)


def _seconds(cell: DigitsCell, recipe: DigitsRecipe) -> float:
    """Two starts take twice as long, except for the classifier, which has one."""
    starts = 1 if cell.model == "classifier" else recipe.starts
    return recipe.epochs * starts * (0.8 if cell.images == "MNIST" else 8e-3)


EXPERIMENT = Experiment(
    name="digits",
    title="Digits read from comparisons",
    section="4.7",
    shows="Digit comparisons",
    revision=3,
    seconds=_seconds,
    cells=_cells("MNIST") + _cells("8x8"),
    beyond=_beyond("MNIST") + _beyond("8x8"),
    recipes={
        "paper": DigitsRecipe.based_on(PAPER, epochs=EPOCHS),
        "exact": DigitsRecipe.based_on(
            EXACT,
            epochs=EPOCHS,
            learning_rate=2e-3,
            small_rate=16e-3,
            patience=0,
            first_scale=1.0,
            scale=5.0,
            selection=3.0,
            zero_bit=1.0,
            order_selection=20.0,
            order_scale=2.5,
            comparator_rate=2.5,
            one_cycle=True,
            balanced=True,
            starts=2,
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
    metrics=metrics(
        accuracy=[
            *(after(epoch, what) for epoch in range(1, EPOCHS + 1) for what in ("pairs", "digits")),
            *("accuracy", "equal", "unequal", "shown", "not shown", "digits"),
        ],
        share=[read_as(digit, start) for digit in range(10) for start in BINS],
        count=["trained on"],
    ),
    question="Can a register teach the network below it to read digits, from comparisons of pairs alone?",
    description=DESCRIPTION,
    claims=claims,
    answer=answer,
    key=(
        "Accuracy on all pairs of the test images, and of the digit classifier on the digits, as in the paper's "
        "figure; the paper says that the NSR is on par with the MLP and that both stay below the classifier."
    ),
    tables=tables,
    figures=figures,
)
