"""Milliseconds for one step on a batch of 50 images, side by side on one core: each read once, or both of every pair.

Each figure is the least of several rounds, and the rounds of both contenders alternate, so that a machine that slows
down for a while slows both.
"""

import argparse
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from nsr.nn import NSR, DigitComparison, DigitReader
from nsr.training import cross_entropy

AT_LEAST = 20
"""How many times faster reading each image once has to be."""


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
    began = time.perf_counter()
    loss(module, images, y).backward()
    return time.perf_counter() - began


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
    Console(width=100).print(table)
    if (chosen.images, chosen.side) == (50, 28) and slow / fast < AT_LEAST:
        raise SystemExit(f"reading each image once must be at least {AT_LEAST} times faster, was {slow / fast:.1f}")


if __name__ == "__main__":
    main()
