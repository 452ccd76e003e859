"""A cell of an experiment, what is measured in it, and the summary of its seeds."""

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, Generic, Literal, TypeVar

import numpy as np

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


class SeedValues(Mapping[str, tuple[float, ...]]):
    """For each metric, one value per seed. Seeds with equal values in all metrics share them.

    Args:
        names: The metrics.
        rows: Their values, a row for each set of values that occurs.
        positions: For each seed, the position of its row.
    """

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[float]], positions: Sequence[int]) -> None:
        self._columns = dict(zip(names, np.array(rows, dtype=np.float64).T, strict=True))
        self._positions = np.array(positions, dtype=np.int64)
        self._seeds_of_row = np.bincount(self._positions, minlength=len(rows))

    @classmethod
    def of(cls, values: Mapping[str, Sequence[float]]) -> "SeedValues":
        """The same values."""
        if isinstance(values, cls):
            return values
        rows = list(zip(*values.values(), strict=True))
        return cls(list(values), rows, range(len(rows)))

    def __getitem__(self, name: str) -> tuple[float, ...]:
        return tuple(self._columns[name][self._positions].tolist())

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(self._positions)

    def replaced(self, by: Mapping[str, str]) -> "SeedValues":
        """The same, with the values of other metrics for some of the metrics."""
        changed = copy.copy(self)
        changed._columns = self._columns | {name: self._columns[other] for name, other in by.items()}
        return changed

    def mean(self, name: str) -> float:
        """The mean over the seeds, computed as ``statistics.fmean`` does: rounded once."""
        column, counts = self._columns[name], self._seeds_of_row
        with np.errstate(over="ignore"):
            high = column.astype(np.float32).astype(np.float64)  # 24 bits: products with counts are exact
        if not np.isfinite(high).all():
            return fmean(self[name])
        return math.fsum([*(high * counts), *((column - high) * counts)]) / self.seeds

    def deviation(self, names: Iterable[str]) -> float | None:
        """Standard deviation over the seeds of their means over several metrics; None for a single seed."""
        if self.seeds == 1:
            return None
        values, counts = np.mean([self._columns[name] for name in names], axis=0), self._seeds_of_row
        values = values - values[0]  # exactly 0 where all are equal
        return math.sqrt(counts @ (values - counts @ values / self.seeds) ** 2 / (self.seeds - 1))

    def count_perfect(self, names: Iterable[str]) -> int:
        """Number of seeds at which every named metric is 1."""
        perfect = np.ones(len(self._seeds_of_row), dtype=bool)
        for name in names:
            perfect &= self._columns[name] == 1
        return int(self._seeds_of_row[perfect].sum())


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
        return self._seed_values.seeds

    @cached_property
    def _seed_values(self) -> SeedValues:
        return SeedValues.of(self.values)

    @property
    def soft(self) -> "Summary[C] | None":
        """The same with what the trained models reach, where their programs are tested; None where they are not."""
        soft = {name.removeprefix(SOFT): name for name in self.values if name.startswith(SOFT)}
        return replace(self, values=self._seed_values.replaced(soft)) if soft else None

    @cached_property
    def metrics(self) -> Metrics:
        """Means over the seeds."""
        return {name: self._seed_values.mean(name) for name in self.values}

    def mean(self, names: Iterable[str]) -> float:
        """Mean over several metrics and the seeds."""
        return fmean(self.metrics[name] for name in names)

    def deviation(self, names: Iterable[str]) -> float | None:
        """Standard deviation over the seeds of their means over several metrics; None for a single seed."""
        return self._seed_values.deviation(names)

    def perfect(self, *names: str) -> int:
        """Number of seeds at which every named metric is 1; every accuracy by default."""
        return self._seed_values.count_perfect(names or self.accuracies)

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
