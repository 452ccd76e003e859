"""What to run: items, each a cell, a recipe and a block of seeds without results."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nsr.paper.records import Item
from nsr.paper.spec import Cell, Experiment, Profile

BLOCK = 100
"""The most seeds in one item: enough to fill vector registers, few enough to afford losing to a power cut."""


def plan(
    experiment: Experiment[Any],
    profile: Profile,
    recipes: Iterable[str],
    seeds: Sequence[int],
    *,
    done: Collection[str] = (),
    keep: Callable[[Cell], bool] = lambda _: True,
    block: int = BLOCK,
    data: Path | None = None,
) -> list[Item]:
    """The items of an experiment whose seeds are not among the identities that are ``done``."""
    items = []
    block = min(block, experiment.block or block)
    for name in recipes:
        recipe = profile.shorten(experiment.recipes[name])
        for cell in filter(keep, experiment.cells_of(name, profile)):
            item = Item(experiment.name, experiment.revision, cell, recipe, profile.name, tuple(seeds), data)
            missing = [seed for seed, identity in zip(seeds, item.identities, strict=True) if identity not in done]
            for start in range(0, len(missing), block):
                items.append(replace(item, seeds=tuple(missing[start : start + block])))
    return items
