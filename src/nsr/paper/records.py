"""What runs and what is kept: items, records, and the identity that says whether a result already exists."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nsr.paper.spec import Cell, Experiment, Metrics, Recipe, canonical_json


def identity(experiment: str, revision: int, cell: Cell, recipe: Recipe, profile: str, seed: int) -> str:
    """The name of one result: canonical JSON of everything that can change it."""
    return f"{_all_but_the_seed(experiment, revision, cell, recipe, profile)}{seed}}}"


def _all_but_the_seed(experiment: str, revision: int, cell: Cell, recipe: Recipe, profile: str) -> str:
    """The identity up to the seed, which is last in the order of the keys."""
    known = {"experiment": experiment, "revision": revision, "cell": asdict(cell), "recipe": recipe.settings()}
    return canonical_json({**known, "profile": profile, "seed": 0})[: -len("0}")]


@dataclass(frozen=True, slots=True)
class Item:
    """A block of seeds of one cell: the unit of work, small enough to send to another process."""

    experiment: str
    revision: int
    cell: Cell
    recipe: Recipe
    """As the profile shortens it."""
    profile: str
    seeds: Sequence[int]
    """A range or a tuple."""
    data: Path | None = None
    """Folder with data files, if the user named one. It does not change any number."""

    @property
    def key(self) -> str:
        """The item's name in the store."""
        return canonical_json(
            {
                "experiment": self.experiment,
                "cell": asdict(self.cell),
                "recipe": asdict(self.recipe),
                "profile": self.profile,
                "seeds": list(self.seeds),
            }
        )

    @property
    def identities(self) -> tuple[str, ...]:
        """Identities of its results, one for each seed."""
        return tuple(self.each_identity())

    def each_identity(self) -> Iterator[str]:
        """The same one after the other, for an item of a million seeds."""
        prefix = _all_but_the_seed(self.experiment, self.revision, self.cell, self.recipe, self.profile)
        return (f"{prefix}{seed}}}" for seed in self.seeds)


@dataclass(frozen=True)
class Record:
    """One result: a seed of a cell, what was measured, and what it took."""

    experiment: str
    revision: int
    cell: Cell
    recipe: Recipe
    """As the profile shortens it."""
    profile: str
    seed: int
    metrics: Metrics
    seconds: float
    """Its share of the seconds of its block."""
    memory: int
    """Peak memory of its worker in bytes."""
    environment: str
    """Versions and hardware, as canonical JSON."""

    @property
    def identity(self) -> str:
        """Its name in the store."""
        return identity(self.experiment, self.revision, self.cell, self.recipe, self.profile, self.seed)

    def is_current(self, experiment: Experiment[Any]) -> bool:
        """Whether the experiment would train it in the same way today."""
        profile, recipe = experiment.profiles.get(self.profile), experiment.recipes.get(self.recipe.name)
        return (
            self.revision == experiment.revision
            and profile is not None
            and recipe is not None
            and self.recipe == profile.shorten(recipe)
        )


def identities(records: Sequence[Record]) -> Iterator[str]:
    """The identity of each record, quickly: the records of a block share the objects of their cell and recipe."""
    known: dict[tuple[Any, ...], str] = {}
    for record in records:
        parts = record.experiment, record.revision, record.cell, record.recipe, record.profile
        key = tuple(map(id, parts))
        if key not in known:
            known[key] = _all_but_the_seed(*parts)
        yield f"{known[key]}{record.seed}}}"


_ONCE_IMPLIED: Mapping[tuple[str, str], Mapping[str, Any]] = MappingProxyType(
    {
        ("piecewise", "exact"): {"test_program": True},
        ("redundancy", "exact"): {"test_program": True},
        ("recurrent", "exact"): {"test_program": True},
        ("shortest_paths", "exact"): {"test_program": True, "equal_weights": True},
        ("digits", "exact"): {"scale": 3.0, "comparator_rate": 2.5, "one_cycle": True, "balanced": True},
    }
)
"""Fields that experiments used to derive from a recipe's name, by experiment and name."""


def complete_recipe(experiment: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a stored recipe, with those added that its name used to imply."""
    return {**_ONCE_IMPLIED.get((experiment, stored["name"]), {}), **stored}
