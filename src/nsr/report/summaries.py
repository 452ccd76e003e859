"""Records into summaries: the mean over seeds as the paper reports it, and how many seeds were perfect."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from nsr.experiments.spec import Cell, Experiment, Metrics
from nsr.sweep.plan import Record


@dataclass(frozen=True)
class Summary:
    """One cell under one recipe, over its seeds."""

    cell: Cell
    recipe: str
    profile: str
    seeds: int
    metrics: Metrics
    """Means over the seeds."""
    perfect: int
    """Seeds whose every accuracy is 1."""
    seconds: float
    published: Metrics

    @property
    def perfect_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the share of perfect seeds."""
        return wilson(self.perfect, self.seeds)

    def as_json(self) -> dict[str, Any]:
        """The row that ``--json`` prints."""
        low, high = self.perfect_interval
        return asdict(self.cell) | {
            "recipe": self.recipe,
            "profile": self.profile,
            "seeds": self.seeds,
            "metrics": dict(self.metrics),
            "perfect": {"seeds": self.perfect, "share": self.perfect / self.seeds, "interval": [low, high]},
            "seconds": self.seconds,
            "published": dict(self.published),
        }


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share."""
    z = 1.959963984540054
    share, spread = successes / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    reach = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def summarise(experiment: Experiment, records: Iterable[Record]) -> list[Summary]:
    """One summary for each cell and recipe that has records, in the order of the experiment."""
    groups: dict[tuple[str, Cell], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.recipe, record.cell].append(record)
    return [
        _summary(experiment, cell, recipe, groups[recipe, cell])
        for recipe in experiment.recipes
        for cell in experiment.cells
        if (recipe, cell) in groups
    ]


def _summary(experiment: Experiment, cell: Cell, recipe: str, records: list[Record]) -> Summary:
    names = list(records[0].metrics)
    accuracies = [name for name in names if name != "epochs"]
    return Summary(
        cell=cell,
        recipe=recipe,
        profile=records[0].profile,
        seeds=len(records),
        metrics={name: fmean(record.metrics[name] for record in records) for name in names},
        perfect=sum(all(record.metrics[name] == 1 for name in accuracies) for record in records),
        seconds=sum(record.seconds for record in records),
        published=experiment.published.get(cell, {}),
    )
