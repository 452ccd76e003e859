"""What an experiment is: frozen values, from which the identity of every result follows."""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Self

from nsr.paper.cells import C, Metric, Summary
from nsr.paper.cells import Cell as Cell
from nsr.paper.cells import Metrics as Metrics
from nsr.paper.claims import Claim
from nsr.paper.figures import Figure
from nsr.paper.tables import Table
from nsr.training import LATER
from nsr.training import Recipe as Recipe


@dataclass(frozen=True, kw_only=True)
class ExperimentRecipe(Recipe):
    """A recipe of an experiment that chooses more than how to train. Experiments add fields."""

    test_program: bool = field(default=False, metadata=LATER)
    """Test the program that was read instead of the trained model, where it can be read."""
    baseline_factor: int = field(default=1, metadata=LATER)
    """How many times as many epochs the MLP is trained, where it needs more to fit the training data."""

    def of_model(self, model: str) -> Self:
        """The recipe for one of the models that are compared."""
        return replace(self, epochs=self.epochs * self.baseline_factor) if model == "mlp" else self

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
    """Maximum number of epochs; None: as many as the recipe has."""
    keep: Callable[[Any], bool] = lambda _: True
    """Whether a cell runs; by default all do."""

    def shorten(self, recipe: Recipe) -> Recipe:
        """The recipe with at most this profile's epochs."""
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
class Experiment(Generic[C]):
    """A subsection of the paper's Section 4: its grid, its wiring and its published numbers."""

    name: str
    title: str
    section: str
    shows: str
    """The table or figure of the paper."""
    revision: int
    """Raised when a change of protocol moves a number, so that old and new results never mix."""
    cells: tuple[C, ...]
    recipes: Mapping[str, Recipe]
    beyond_recipes: tuple[str, ...] = ("exact",)
    """The recipes under which ``beyond`` runs."""
    beyond: tuple[C, ...] = ()
    """Cells that are not in the paper."""
    run: Callable[[C, Any, Sequence[int], Path | None], list[Metrics]]
    """Trains a cell under a recipe for several seeds, and measures each seed. The last argument is the folder with
    data files that the user named; experiments that draw their data from the seed ignore it."""
    published: Mapping[C, Metrics]
    """What the paper prints, where it prints numbers."""
    profiles: Mapping[str, Profile]
    metrics: tuple[Metric, ...]
    """What ``run`` measures."""
    question: str = ""
    """What was asked, in one sentence."""
    description: str
    """What the page says about the experiment: what is learned, how it is tested, what the paper says."""
    claims: Callable[[Sequence[Summary[C]]], Sequence[Claim]] = lambda _: ()
    """What the paper says with ours beside it: the verdicts of the page."""
    answer: Callable[[Sequence[Summary[C]]], Iterable[Figure]] = lambda _: ()
    """The panels of the figure that answers the question, with the paper's result in them; none without summaries."""
    key: str = ""
    """How to read that figure."""
    tables: Callable[[Sequence[Summary[C]]], Sequence[Table]]
    """The tables that the terminal and the page show; none without summaries."""
    figures: Callable[[Sequence[Summary[C]]], Iterable[Figure]] = lambda _: ()
    """Further figures, folded away on the page; none without summaries."""
    block: int | None = None
    """Maximum number of seeds in one item, where training them together gains nothing."""
    seconds: Callable[[C, Any], float] = lambda _, recipe: 1e-5 * recipe.epochs
    """About how long one core takes for a seed of a cell under a recipe, training and measuring, as in the committed
    records. The time left and the size of blocks depend on it."""
    prepare: Callable[[C, Path | None, Callable[[str], None]], None] = lambda *_: None
    """Called with each cell, the data folder and a message callback before any worker starts: downloads data once."""
    reads_data: Callable[[Any], bool] = lambda _: False
    """Whether a cell reads files from the data folder."""

    def cells_of(self, recipe: str, profile: Profile) -> tuple[C, ...]:
        """The cells that run under a recipe in a profile."""
        cells = self.cells + (self.beyond if recipe in self.beyond_recipes else ())
        return tuple(cell for cell in cells if profile.keep(cell))

    def cell(self, fields: Mapping[str, Any]) -> C:
        """The cell with these fields, as they come back from a store."""
        return type(self.cells[0])(**fields)

    def recipe(self, fields: Mapping[str, Any]) -> Recipe:
        """The recipe with these fields, as they come back from a store."""
        return type(next(iter(self.recipes.values())))(**fields)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values, equal text. NaN and infinity raise ValueError."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def grid(kind: Callable[..., C], **axes: Sequence[Any]) -> tuple[C, ...]:
    """Every combination of the axes as a cell, the last axis running fastest."""
    return tuple(kind(**dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values()))


def printed_row(base: int, train: float, *magnitudes: float) -> Metrics:
    """A row of the paper's tables: training accuracy, then base^2, base^3 and so on; the last repeats to base^13."""
    filled = magnitudes + magnitudes[-1:] * (12 - len(magnitudes))
    return {"train": train} | {f"{base}^{power}": value for power, value in enumerate(filled, start=2)}
