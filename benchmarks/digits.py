"""Section 4.7 on one core, side by side: a batch whose images are read once, or both of every pair; training in C.

The second table has the microseconds per image of training steps, by torch and in C: reading, comparing, gradients and
Adam. Each figure is the least of several rounds, and the rounds of both contenders alternate, so that a machine that
slows down for a while slows both. Time is that of the processor, without what other programs take.
"""

import argparse
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn import functional

from nsr.native.digits import DigitTraining, Pairs, steps_of
from nsr.nn import MLP, NSR, DigitClassifier, DigitComparison, DigitReader
from nsr.training import cross_entropy

AT_LEAST = 20
"""How many times faster reading each image once has to be."""
LEVELS = torch.linspace(-0.5, 3, 256)
"""What the network takes for each pixel value."""


def each_once(module: DigitComparison, images: Tensor, y: Tensor) -> Tensor:
    """The loss over all pairs after one reading of each image."""
    return cross_entropy(module, images, y).mean()


def both_of_every_pair(module: DigitComparison, images: Tensor, y: Tensor) -> Tensor:
    """The same loss with two readings for every pair, as a network that takes two images has it."""
    first = images.repeat_interleave(len(images), 0)
    second = images.repeat(len(images), 1, 1)
    pairs = torch.stack([module.reader(first), module.reader(second)], dim=-1)
    return cross_entropy(module.comparator, pairs, y.flatten()).mean()


def seconds(loss: Callable[..., Tensor], module: DigitComparison, images: Tensor, y: Tensor) -> float:
    """How long the loss and its gradients take."""
    module.zero_grad()
    began = time.process_time()
    loss(module, images, y).backward()
    return time.process_time() - began


def steps_in_torch(module: DigitClassifier | DigitComparison, images: Tensor, digits: Tensor) -> Callable[[], None]:
    """Train on all batches, as in ``nsr.minibatches``."""
    adam = torch.optim.Adam(module.parameters(), fused=True)

    def train() -> None:
        for x, d in zip(LEVELS[images.long()].split(50), digits.split(50), strict=True):
            adam.zero_grad()
            if isinstance(module, DigitClassifier):
                functional.cross_entropy(module.logits(x), d).backward()
            else:
                cross_entropy(module, x, (d.unsqueeze(1) > d).float()).mean().backward()
            adam.step()

    return train


def steps_in_c(module: DigitClassifier | DigitComparison, images: Tensor, digits: Tensor) -> Callable[[], None] | None:
    """The same steps in C; None without a compiler."""
    digit = torch.arange(10)
    pairs = Pairs(digit.unsqueeze(1) > digit, torch.ones(10, 10), "bce", balanced=False)
    training = DigitTraining.of(module, images, digits, LEVELS, pairs)
    if training is None:
        return None
    number = -(-len(images) // 50)
    steps = steps_of(torch.full((2, number), 1e-3), torch.full((number,), 0.9), torch.full((number,), 3.0))

    def train() -> None:
        training.train(torch.arange(len(images)), steps)

    return train


def processor_seconds(work: Callable[[], None]) -> float:
    """How long it takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


def training_table(side: int, rounds: int) -> Table:
    """Microseconds per image, by torch and in C, for every model."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (1000, side, side), generator=generator).to(torch.uint8)
    digits = torch.randint(10, (1000,), generator=generator)
    table = Table("training, us per image", "torch", "C", "times faster", box=None)
    for model in ("classifier", "mlp", "nsr"):
        works = []
        for steps in (steps_in_torch, steps_in_c):
            reader = DigitReader(side, generator=torch.Generator().manual_seed(1))
            register = NSR(2, scale=3.0, generator=generator) if model == "nsr" else MLP(2, generator=generator)
            module = DigitClassifier(reader) if model == "classifier" else DigitComparison(reader, register)
            works.append(steps(module, images, digits))
        if works[1] is None:
            table.add_row(model, "", "no compiler", "")
            continue
        times = [[processor_seconds(work) for work in works] for _ in range(rounds)]
        slow, fast = map(min, zip(*times, strict=True))
        table.add_row(model, f"{slow * 1e3:.1f}", f"{fast * 1e3:.1f}", f"{slow / fast:.1f}")
    return table


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--images", type=int, default=50, help="images in the batch (default 50)")
    options.add_argument("--side", type=int, default=28, help="pixels along their side, 28 or 8 (default 28)")
    options.add_argument("--rounds", type=int, default=9, help="rounds, of which the least counts (default 9)")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    module = DigitComparison(DigitReader(chosen.side, generator=generator), NSR(2, scale=3.0, generator=generator))
    images = torch.rand(chosen.images, chosen.side, chosen.side, generator=generator)
    digits = torch.randint(10, (chosen.images,), generator=generator)
    y = (digits.unsqueeze(1) > digits).float()

    contenders = {"both images of every pair": both_of_every_pair, "each image once": each_once}
    losses = [loss(module, images, y).item() for loss in contenders.values()]
    assert abs(losses[0] - losses[1]) < 1e-5, losses
    rounds = [[seconds(loss, module, images, y) for loss in contenders.values()] for _ in range(chosen.rounds)]
    slow, fast = map(min, zip(*rounds, strict=True))

    table = Table(f"{chosen.images} images, {chosen.images**2:,} pairs", "ms", "times faster", "loss", box=None)
    for name, least, loss in zip(contenders, (slow, fast), losses, strict=True):
        table.add_row(name, f"{least * 1e3:,.1f}", f"{slow / least:.0f}", f"{loss:.6f}")
    Console(width=100).print(table, training_table(chosen.side, chosen.rounds), sep="\n\n")
    if (chosen.images, chosen.side) == (50, 28) and slow / fast < AT_LEAST:
        raise SystemExit(f"reading each image once must be at least {AT_LEAST} times faster, was {slow / fast:.1f}")


if __name__ == "__main__":
    main()
