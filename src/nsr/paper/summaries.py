"""Records into summaries: the mean over seeds as the paper reports it, and how many seeds were perfect."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean, stdev
from typing import Any

from nsr.paper.records import Record
from nsr.paper.spec import Cell, Experiment, Metrics

NOT_ACCURACY = {"epochs", "read", "1000 digits", "100,000 elements", "100 digits", "trained on"}


def is_accuracy(name: str) -> bool:
    """Whether a metric is a share of right answers."""
    return name not in NOT_ACCURACY and not name.startswith("error ") and " read from " not in name


@dataclass(frozen=True, eq=False)
class Summary:
    """One cell under one recipe and profile, over its seeds."""

    cell: Cell
    recipe: str
    profile: str
    values: Mapping[str, tuple[float, ...]]
    """For each metric, one value a seed."""
    seconds: float
    memory: int
    published: Metrics

    @property
    def seeds(self) -> int:
        """How many seeds there are."""
        return len(next(iter(self.values.values())))

    @cached_property
    def metrics(self) -> Metrics:
        """Means over the seeds."""
        return {name: fmean(values) for name, values in self.values.items()}

    def mean(self, names: Iterable[str]) -> float:
        """Mean over several metrics and the seeds."""
        return fmean(self.metrics[name] for name in names)

    def perfect(self, *names: str) -> int:
        """Seeds at which every named accuracy is 1; all accuracies by default."""
        columns = [self.values[name] for name in names or filter(is_accuracy, self.values)]
        return sum(all(value == 1 for value in row) for row in zip(*columns, strict=True))

    def as_json(self) -> dict[str, Any]:
        """The row that ``--json`` prints."""
        perfect = self.perfect()
        return asdict(self.cell) | {
            "recipe": self.recipe,
            "profile": self.profile,
            "seeds": self.seeds,
            "metrics": dict(self.metrics),
            "perfect": {
                "seeds": perfect,
                "share": perfect / self.seeds,
                "interval": list(wilson(perfect, self.seeds)),
            },
            "seconds": self.seconds,
            "memory": self.memory,
            "published": dict(self.published),
        }


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share."""
    z = 1.959963984540054
    share, spread = successes / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    reach = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """A 95 % interval of a mean over seeds, from their standard error, within [0, 1]."""
    mean, z = fmean(values), 1.959963984540054
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return max(0.0, mean - z * error), min(1.0, mean + z * error)


def summarise(experiment: Experiment, records: Iterable[Record], profile: str | None = None) -> list[Summary]:
    """One summary for each cell and recipe that has records in a profile, in the order of the experiment.

    Without a profile, the largest one that has records: paper, else quick, else smoke.
    """
    groups: dict[tuple[str, str, Cell], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.profile, record.recipe.name, record.cell].append(record)
    present = [name for name in experiment.profiles if any(key[0] == name for key in groups)]
    profile = profile or (present[-1] if present else "")
    return [
        _summary(experiment, cell, recipe, profile, groups[profile, recipe, cell])
        for recipe in experiment.recipes
        for cell in experiment.cells + experiment.beyond
        if (profile, recipe, cell) in groups
    ]


def _summary(experiment: Experiment, cell: Cell, recipe: str, profile: str, records: list[Record]) -> Summary:
    records = sorted(records, key=lambda record: record.seed)
    return Summary(
        cell=cell,
        recipe=recipe,
        profile=profile,
        values={name: tuple(record.metrics[name] for record in records) for name in records[0].metrics},
        seconds=sum(record.seconds for record in records),
        memory=max(record.memory for record in records),
        published=experiment.published.get(cell, {}),
    )
