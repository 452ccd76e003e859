"""What an experiment is: frozen values, from which the identity of every result follows."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from nsr.training import LATER
from nsr.training import Recipe as Recipe

Metrics = Mapping[str, float]


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment. Each experiment adds its own fields."""


@dataclass(frozen=True, kw_only=True)
class ExperimentRecipe(Recipe):
    """A recipe of an experiment that chooses more than how to train. Each experiment adds its own fields."""

    test_program: bool = field(default=False, metadata=LATER)
    """Test the program that was read instead of the trained model, where it can be read."""

    @classmethod
    def based_on(cls, recipe: Recipe, **changes: Any) -> Self:
        """A recipe with these changes, and with the fields of this class."""
        return cls(**(asdict(recipe) | changes))


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How much of an experiment runs."""

    name: str
    seeds: int
    epochs: int | None = None
    """At most so many epochs, where a recipe has more."""
    keep: Callable[[Any], bool] = lambda _: True
    """Which cells run; all by default."""

    def shorten(self, recipe: Recipe) -> Recipe:
        """The recipe within this profile's epochs."""
        return recipe if self.epochs is None else replace(recipe, epochs=min(recipe.epochs, self.epochs))


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(name="smoke", seeds=2, epochs=50),
        Profile(name="quick", seeds=10),
        Profile(name="paper", seeds=100),
    )
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """A subsection of the paper's Section 4: its grid, its wiring and its published numbers."""

    name: str
    title: str
    section: str
    shows: str
    """The table or figure of the paper."""
    revision: int
    """Raised when a change of protocol moves a number, so that old and new results never mix."""
    cells: tuple[Cell, ...]
    recipes: Mapping[str, Recipe]
    beyond: tuple[Cell, ...] = ()
    """Further cells that the paper has not, run under recipe ``exact`` alone."""
    run: Callable[[Any, Any, Sequence[int], Path | None], list[Metrics]]
    """Trains a cell under a recipe for several seeds, and measures each seed. The last argument is the folder with
    data files that the user named; experiments that draw their data from the seed ignore it."""
    published: Mapping[Cell, Metrics]
    """What the paper prints, where it prints numbers."""
    profiles: Mapping[str, Profile]
    block: int | None = None
    """How many seeds are run together at most, where they gain nothing from it."""
    cost: float = 1.0
    """How long a model's epoch takes, about, beside one of the comparisons: what the time left is told by."""
    prepare: Callable[[Any, Path | None, Callable[[str], None]], None] = lambda *_: None
    """Called with each cell, the data folder and a message callback before any worker starts: downloads data once."""
    reads_data: Callable[[Any], bool] = lambda _: False
    """Whether a cell reads files from the data folder."""

    def cells_of(self, recipe: str, profile: Profile) -> tuple[Cell, ...]:
        """The cells that a recipe runs in a profile."""
        cells = self.cells + (self.beyond if recipe == "exact" else ())
        return tuple(cell for cell in cells if profile.keep(cell))

    def cell(self, fields: Mapping[str, Any]) -> Cell:
        """The cell with these fields, as they come back from a store."""
        return type(self.cells[0])(**fields)

    def recipe(self, fields: Mapping[str, Any]) -> Recipe:
        """The recipe with these fields, as they come back from a store."""
        return type(next(iter(self.recipes.values())))(**fields)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values, equal text. NaN and infinity are refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def grid(kind: Callable[..., Cell], **axes: Sequence[Any]) -> tuple[Cell, ...]:
    """Every combination of the axes as a cell, the last axis running fastest."""
    return tuple(kind(**dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values()))


def printed_row(base: int, train: float, *magnitudes: float) -> Metrics:
    """A row of the paper's tables: training accuracy, then base^2, base^3 and so on; the last one stands to base^13."""
    filled = magnitudes + magnitudes[-1:] * (12 - len(magnitudes))
    return {"train": train} | {f"{base}^{power}": value for power, value in enumerate(filled, start=2)}
