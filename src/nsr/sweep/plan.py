"""What is to be run: items of one cell, one recipe and a block of seeds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nsr.experiments.spec import Cell, Experiment, Metrics, Profile, Recipe


@dataclass(frozen=True)
class Item:
    """A block of seeds of one cell: the unit of work, small enough to send to another process."""

    experiment: str
    cell: Cell
    recipe: Recipe
    profile: str
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Record:
    """One result: a seed of a cell, what it measured, and its share of the seconds of its block."""

    experiment: str
    revision: int
    cell: Cell
    recipe: str
    profile: str
    seed: int
    metrics: Metrics
    seconds: float


def plan(
    experiment: Experiment,
    profile: Profile,
    cells: Sequence[Cell],
    recipes: Iterable[str],
    seeds: Sequence[int],
    *,
    block: int = 100,
) -> list[Item]:
    """The items of some cells of an experiment, in blocks of at most ``block`` seeds."""
    blocks = [tuple(seeds[start : start + block]) for start in range(0, len(seeds), block)]
    return [
        Item(experiment.name, cell, profile.shorten(experiment.recipes[recipe]), profile.name, part)
        for recipe in recipes
        for cell in cells
        for part in blocks
    ]
