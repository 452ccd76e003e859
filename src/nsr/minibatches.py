"""Training one module in mini-batches, for data that is too large for ``fit``."""

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor, nn

PEAK = 0.25
"""The point of a cycle at which its learning rates peak, as a share of the training."""


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
        for batch in torch.split(examples[torch.randperm(len(examples), generator=generator)], size):
            adam.zero_grad()
            loss(batch).backward()  # type: ignore[no-untyped-call]
            adam.step()
            if schedule is not None:
                schedule.step()
        yield epoch
