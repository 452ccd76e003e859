"""Training one module in mini-batches, for data that is too large for ``fit``."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn

PEAK = 0.25
"""The point of a cycle at which its learning rates peak, as a share of the training."""
START, END = 1 / 25, 1 / 25e4
"""The first and the last learning rate of a cycle, in highest ones: torch's defaults, as those below."""
BETA1, LOWEST_BETA1, HIGHEST_BETA1 = 0.9, 0.85, 0.95
"""Adam's beta1 if learning rates are constant, and its range in a cycle, in which it is lowest where they are highest.
"""


def epochs(
    rates: Mapping[nn.Module, float],
    loss: Callable[[Tensor], Tensor],
    examples: Tensor,
    generator: torch.Generator,
    *,
    number: int,
    size: int,
    cycle: bool,
) -> Iterator[int]:
    """Train in place with Adam, and yield the number of each epoch after it, so that the caller can measure.

    Args:
        rates: The modules to train and their learning rates.
        loss: The mean loss of a batch of examples.
        examples: Indices of the examples, from which batches are taken.
        generator: Shuffles the examples in each epoch.
        number: Number of epochs.
        size: Examples per batch; the last batch of an epoch may be smaller.
        cycle: Whether the learning rates rise to ``rates`` in the first quarter and then fall to zero, as in torch's
            ``OneCycleLR``. Otherwise they are constant.
    """
    groups = [{"params": list(module.parameters()), "lr": rate} for module, rate in rates.items()]
    adam = torch.optim.Adam(groups, fused=True)
    steps = number * -(-len(examples) // size)
    one_cycle = torch.optim.lr_scheduler.OneCycleLR
    schedule = one_cycle(adam, list(rates.values()), total_steps=steps, pct_start=PEAK) if cycle else None
    for epoch in range(1, number + 1):
        for batch in torch.split(shuffled(examples, generator), size):
            adam.zero_grad()
            loss(batch).backward()  # type: ignore[no-untyped-call]
            adam.step()
            if schedule is not None:
                schedule.step()
        yield epoch


def shuffled(examples: Tensor, generator: torch.Generator) -> Tensor:
    """The examples in a random order: those of an epoch."""
    return examples[torch.randperm(len(examples), generator=generator)]


def schedule(rates: Sequence[float], steps: int, *, cycle: bool) -> tuple[Tensor, Tensor]:
    """The learning rates (rates, steps) and Adam's beta1 (steps,) of all steps of ``epochs``, in float64."""
    highest = torch.tensor(rates, dtype=torch.float64).unsqueeze(1)
    if not cycle:
        return highest.expand(-1, steps), torch.full((steps,), BETA1, dtype=torch.float64)
    peak, last = PEAK * steps - 1, steps - 1
    step = torch.arange(steps, dtype=torch.float64)
    up = step < peak
    rising, falling = step / max(peak, 1), (step - peak) / (last - peak)

    def between(start: float, middle: float, end: float) -> Tensor:
        return torch.where(up, _cosine(start, middle, rising), _cosine(middle, end, falling))

    return highest * between(START, 1.0, END), between(HIGHEST_BETA1, LOWEST_BETA1, HIGHEST_BETA1)


def _cosine(start: float, end: float, share: Tensor) -> Tensor:
    return end + (start - end) / 2 * (1 + (torch.pi * share).cos())
