"""What to run: items, each a cell, a recipe and a block of seeds without results."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nsr.errors import InputError
from nsr.paper.records import Item
from nsr.paper.spec import Cell, Experiment, Profile, Recipe

BLOCK = 100
"""The most seeds in one item: enough to fill vector registers, few enough to afford losing to a power cut."""
LONGEST = 600.0
"""The most seconds that an item may last by estimate: this much is lost when its worker is."""
WITHOUT_COMPILER = 10.0
"""How many times as long a seed takes at most where the native engine cannot be built. Blocks allow for it."""


def seconds_per_seed(experiment: Experiment[Any], cell: Cell, recipe: Recipe) -> float:
    """How long a seed takes on one core by estimate, which is a high one: models may stop before the last epoch."""
    return experiment.seconds(cell, recipe)


def plan(
    experiment: Experiment[Any],
    profile: Profile,
    recipes: Iterable[str],
    seeds: Sequence[int],
    *,
    done: Container[str] = (),
    keep: Callable[[Cell], bool] = lambda _: True,
    block: int = BLOCK,
    longest: float = LONGEST,
    data: Path | None = None,
) -> list[Item]:
    """The items of an experiment whose seeds are not among the identities that are ``done``.

    Raises an InputError if a single seed lasts longer than ``longest`` seconds, where that is less than usual: its
    workers would leave before it ends, over and over.
    """
    items = []
    for name in recipes:
        recipe = profile.shorten(experiment.recipes[name])
        for cell in filter(keep, experiment.cells_of(name, profile)):
            each = seconds_per_seed(experiment, cell, recipe)
            size = min(block, experiment.block or block, max(1, int(longest / WITHOUT_COMPILER / each)))
            item = Item(experiment.name, experiment.revision, cell, recipe, profile.name, seeds, data)
            stored = zip(seeds, item.each_identity(), strict=True)
            missing = [seed for seed, identity in stored if identity not in done]
            if missing and each > longest < LONGEST:
                raise InputError(
                    f"a seed of {experiment.name} takes about {each:.0f} s, and workers stay too short for more than "
                    f"{longest:.0f} s: ask for a longer walltime"
                )
            for start in range(0, len(missing), size):
                items.append(replace(item, seeds=_compact(missing[start : start + size])))
    return items


def _compact(seeds: list[int]) -> Sequence[int]:
    """The same seeds; as a range, which takes little memory, if none is left out."""
    consecutive = range(seeds[0], seeds[-1] + 1)
    return consecutive if len(consecutive) == len(seeds) else tuple(seeds)
