"""What an experiment is: frozen values, from which the identity of every result follows."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from nsr.training import Recipe as Recipe

Metrics = Mapping[str, float]


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment. Each experiment adds its own fields."""


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
    run: Callable[[Any, Recipe, Sequence[int]], list[Metrics]]
    """Trains one cell for some seeds and measures each: one Metrics a seed."""
    published: Mapping[Cell, Metrics]
    """What the paper prints, where it prints numbers."""
    profiles: Mapping[str, Profile]
    block: int | None = None
    """How many seeds are run together at most, where they gain nothing from it."""
    cost: float = 1.0
    """How long a model's epoch takes, about, beside one of the comparisons: what the time left is told by."""
    prepare: Callable[[Any, Callable[[str], None]], None] = lambda _, __: None
    """Called with each cell before any worker starts, and with whom to tell of what takes long: fetches data once."""

    def cells_of(self, recipe: str, profile: Profile) -> tuple[Cell, ...]:
        """The cells that a recipe runs in a profile."""
        cells = self.cells + (self.beyond if recipe == "exact" else ())
        return tuple(cell for cell in cells if profile.keep(cell))

    def cell(self, fields: Mapping[str, Any]) -> Cell:
        """The cell with these fields, as they come back from a store."""
        return type(self.cells[0])(**fields)

    def identity(self, cell: Cell, recipe: Recipe, profile: Profile, seed: int) -> str:
        """The name of one result: canonical JSON of all that can change it."""
        return canonical_json(
            {
                "experiment": self.name,
                "revision": self.revision,
                "cell": asdict(cell),
                "recipe": profile.shorten(recipe).settings(),
                "profile": profile.name,
                "seed": seed,
            }
        )


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
