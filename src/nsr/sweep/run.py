"""Run items on an executor and hand out their records as they finish."""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, as_completed

from nsr.experiments import EXPERIMENTS
from nsr.sweep.plan import Item, Record


def run_item(item: Item) -> list[Record]:
    """One block of seeds, trained and measured: what a worker does."""
    experiment = EXPERIMENTS[item.experiment]
    began = time.perf_counter()
    measured = experiment.run(item.cell, item.recipe, item.seeds)
    seconds = (time.perf_counter() - began) / len(item.seeds)
    return [
        Record(item.experiment, experiment.revision, item.cell, item.recipe.name, item.profile, seed, metrics, seconds)
        for seed, metrics in zip(item.seeds, measured, strict=True)
    ]


def run(items: Iterable[Item], executor: Executor) -> Iterator[tuple[Item, list[Record]]]:
    """Submit everything, yield each block when it is done; what is still queued is dropped when one fails."""
    futures = {executor.submit(run_item, item): item for item in items}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
