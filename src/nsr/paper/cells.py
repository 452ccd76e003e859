"""A cell of an experiment, what is measured in it, and the summary of its seeds."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, Generic, Literal, TypeVar

Z_95 = 1.959963984540054
"""The standard normal quantile of a 95 % interval."""

Metrics = Mapping[str, float]
"""What was measured: the value of each metric, by name."""


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment. Each experiment adds its own fields."""


C = TypeVar("C", bound=Cell)
K = TypeVar("K")

Kind = Literal["accuracy", "error", "flag", "count", "share", "soft"]
"""accuracy: share of right answers; error: distance from them, 0 is best; flag: 1 or 0; count: epochs, images; share:
part of something that is neither right nor wrong; soft: what the trained model reaches where its program is tested."""
SOFT = "soft "
"""Before the name of a metric: the same for the trained model, where its program is tested."""


@dataclass(frozen=True)
class Metric:
    """A number that an experiment measures for each seed, and what kind of number it is."""

    name: str
    kind: Kind


def metrics(
    *,
    accuracy: Iterable[str] = (),
    error: Iterable[str] = (),
    flag: Iterable[str] = (),
    count: Iterable[str] = (),
    share: Iterable[str] = (),
    soft: Iterable[str] = (),
) -> tuple[Metric, ...]:
    """Metrics of an experiment, by kind; ``soft`` are names of metrics that are also measured for the soft model."""
    names: dict[Kind, Iterable[str]] = {
        "accuracy": accuracy,
        "error": error,
        "flag": flag,
        "count": count,
        "share": share,
        "soft": [SOFT + name for name in soft],
    }
    return tuple(Metric(name, kind) for kind, group in names.items() for name in group)


@dataclass(frozen=True, eq=False)
class Summary(Generic[C]):
    """One cell under one recipe and profile, over its seeds."""

    cell: C
    recipe: str
    profile: str
    values: Mapping[str, tuple[float, ...]]
    """For each metric, one value per seed."""
    accuracies: tuple[str, ...]
    """Names of the metrics of kind accuracy."""
    seconds: float
    memory: int
    """Peak memory of a worker in bytes."""
    published: Metrics
    environments: frozenset[str] = frozenset()
    """Versions and hardware of its records, each as JSON."""

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(next(iter(self.values.values())))

    @property
    def soft(self) -> "Summary[C] | None":
        """The same with what the trained models reach, where their programs are tested; None where they are not."""
        values = {name.removeprefix(SOFT): values for name, values in self.values.items() if name.startswith(SOFT)}
        return replace(self, values={**self.values, **values}) if values else None

    @cached_property
    def metrics(self) -> Metrics:
        """Means over the seeds."""
        return {name: fmean(values) for name, values in self.values.items()}

    def mean(self, names: Iterable[str]) -> float:
        """Mean over several metrics and the seeds."""
        return fmean(self.metrics[name] for name in names)

    def perfect(self, *names: str) -> int:
        """Number of seeds at which every named metric is 1; every accuracy by default."""
        columns = [self.values[name] for name in names or self.accuracies]
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


def grouped(summaries: Iterable[Summary[C]], key: Callable[[Summary[C]], K]) -> dict[K, list[Summary[C]]]:
    """Summaries by a key, such as their recipe, in the order in which the keys appear."""
    groups: dict[K, list[Summary[C]]] = {}
    for summary in summaries:
        groups.setdefault(key(summary), []).append(summary)
    return groups


def by_recipe(summaries: Iterable[Summary[C]]) -> dict[str, list[Summary[C]]]:
    """Summaries by their recipe."""
    return grouped(summaries, lambda summary: summary.recipe)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share."""
    share, spread = successes / trials, Z_95 * Z_95 / trials
    middle = (share + spread / 2) / (1 + spread)
    reach = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return max(0.0, middle - reach), min(1.0, middle + reach)
