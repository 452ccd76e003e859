"""What is to be run: the items, each one cell, one recipe and a block of seeds, that have no result yet."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass

from nsr.paper.spec import Cell, Experiment, Metrics, Profile, Recipe, canonical_json

BLOCK = 100
"""Seeds in an item at most: enough to fill the vectors, few enough to lose to a power cut."""


@dataclass(frozen=True)
class Item:
    """A block of seeds of one cell: the unit of work, small enough to send to another process."""

    experiment: str
    cell: Cell
    recipe: Recipe
    profile: str
    seeds: tuple[int, ...]

    @property
    def key(self) -> str:
        """The item's name in the store: canonical JSON of all that it is."""
        return canonical_json(asdict(self))


@dataclass(frozen=True)
class Record:
    """One result: a seed of a cell, what it measured, and what that took."""

    experiment: str
    revision: int
    cell: Cell
    recipe: Recipe
    profile: str
    seed: int
    metrics: Metrics
    seconds: float
    """Its share of the seconds of its block."""
    memory: int
    """Peak memory of its worker in bytes."""
    environment: str
    """Versions and hardware, as canonical JSON."""


def plan(
    experiment: Experiment,
    profile: Profile,
    recipes: Iterable[str],
    seeds: Sequence[int],
    *,
    done: Collection[str] = (),
    keep: Callable[[Cell], bool] = lambda _: True,
    block: int = BLOCK,
) -> list[Item]:
    """The items of an experiment whose seeds are not among the identities that are ``done``."""
    items = []
    block = min(block, experiment.block or block)
    for name in recipes:
        recipe = profile.shorten(experiment.recipes[name])
        for cell in filter(keep, experiment.cells_of(name, profile)):
            missing = [seed for seed in seeds if experiment.identity(cell, recipe, profile, seed) not in done]
            for start in range(0, len(missing), block):
                part = tuple(missing[start : start + block])
                items.append(Item(experiment.name, cell, recipe, profile.name, part))
    return items
