"""Training in mini-batches, for data that is too large for ``fit``: one module, one pass over the data an epoch."""

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor, nn

PEAK = 0.25
"""When the learning rates of a cycle are highest, in parts of the training."""


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
    """Train in place with Adam, and come back after each epoch with its number, for the caller to measure.

    Args:
        rates: What to train, each module with its learning rate.
        loss: The mean loss of some examples.
        examples: The numbers by which the loss knows its examples.
        generator: Shuffles the examples anew in each epoch.
        number: How many epochs.
        size: Examples in a batch; the last one of an epoch may have fewer.
        cycle: Let the learning rates rise to these in the first quarter and fall to nothing after it, as torch's
            ``OneCycleLR`` does; else they are constant.
    """
    groups = [{"params": list(module.parameters()), "lr": rate} for module, rate in rates.items()]
    adam = torch.optim.Adam(groups, fused=True)
    steps = number * -(-len(examples) // size)
    one_cycle = torch.optim.lr_scheduler.OneCycleLR
    schedule = one_cycle(adam, list(rates.values()), total_steps=steps, pct_start=PEAK) if cycle else None
    for epoch in range(1, number + 1):
        for batch in torch.split(examples[torch.randperm(len(examples), generator=generator)], size):
            adam.zero_grad()
            loss(batch).backward()  # type: ignore[no-untyped-call]
            adam.step()
            if schedule is not None:
                schedule.step()
        yield epoch
