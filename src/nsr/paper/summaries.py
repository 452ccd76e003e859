"""From records to summaries, one for each cell and recipe of one profile."""

import math
from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Generic

from nsr.errors import InputError
from nsr.paper.cells import C, Metrics, SeedValues, Summary
from nsr.paper.records import Record
from nsr.paper.spec import Experiment

REMEMBERED = 1000
"""How many different metrics a group recognises; more are kept twice when they come again."""


class Group(Generic[C]):
    """The results of one cell under one recipe and profile. Seeds with equal metrics share them.

    Args:
        cell: The cell.
        recipe: Name of the recipe.
        profile: Name of the profile.
        read: Makes metrics of what ``add`` is given.
    """

    def __init__(self, cell: C, recipe: str, profile: str, read: Callable[[Any], Metrics] = dict) -> None:
        self.cell, self.recipe, self.profile, self.read = cell, recipe, profile, read
        self.names: tuple[str, ...] = ()
        self.environments: set[str] = set()
        self._rows: list[array[float]] = []
        self._known: dict[Hashable, int] = {}
        self._seeds, self._positions, self._seconds = array("q"), array("q"), array("d")
        self._memory = 0

    def add(self, seed: int, metrics: Hashable, seconds: float, memory: int) -> None:
        """Add the result of a seed. Equal metrics are recognised if they are equal objects before they are read."""
        position = self._known.get(metrics)
        if position is None:
            position = self._add_row(metrics)
        self._seeds.append(seed)
        self._positions.append(position)
        self._seconds.append(seconds)
        if memory > self._memory:
            self._memory = memory

    def _add_row(self, metrics: Hashable) -> int:
        measured = self.read(metrics)
        self.names = self.names or tuple(measured)
        if differing := measured.keys() ^ set(self.names):
            raise InputError(
                f"results of {self.cell}, recipe {self.recipe}, profile {self.profile} differ in what was measured: "
                f"only some have {min(differing)!r}"
            )
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[metrics] = len(self._rows)
        self._rows.append(array("d", [measured[name] for name in self.names]))
        return len(self._rows) - 1

    def summary(self, experiment: Experiment[C]) -> Summary[C]:
        """The summary over the seeds, in their order."""
        kinds = {metric.name: metric.kind for metric in experiment.metrics}
        unlisted = [name for name in self.names if name not in kinds]
        if unlisted:
            raise InputError(f"experiment {experiment.name} measures {unlisted[0]!r}, which its metrics do not list")
        in_order = sorted(zip(self._seeds, self._positions, strict=True), key=itemgetter(0))
        return Summary(
            cell=self.cell,
            recipe=self.recipe,
            profile=self.profile,
            values=SeedValues(self.names, self._rows, [position for _, position in in_order]),
            accuracies=tuple(name for name in self.names if kinds[name] == "accuracy"),
            seconds=math.fsum(self._seconds),
            memory=self._memory,
            published=experiment.published.get(self.cell, {}),
            environments=frozenset(self.environments),
        )


def largest_profile(experiment: Experiment[Any], present: Iterable[Record | Group[Any]]) -> str | None:
    """The largest profile that has records: paper, else quick, else smoke; None without records."""
    profiles = {each.profile for each in present}
    return next((name for name in reversed(list(experiment.profiles)) if name in profiles), None)


def summarise(experiment: Experiment[C], records: Iterable[Record], profile: str | None = None) -> list[Summary[C]]:
    """One summary for each cell and recipe that has records in a profile; see ``summarise_groups``."""
    groups: dict[tuple[Any, ...], Group[Any]] = {}
    for record in records:
        key = record.cell, record.recipe.name, record.profile
        group = groups.setdefault(key, Group(*key))
        group.add(record.seed, tuple(record.metrics.items()), record.seconds, record.memory)
        group.environments.add(record.environment)
    return summarise_groups(experiment, list(groups.values()), profile)


def summarise_groups(
    experiment: Experiment[C], groups: Sequence[Group[C]], profile: str | None = None
) -> list[Summary[C]]:
    """One summary for each cell and recipe that has results in a profile, in the order of the experiment.

    Args:
        experiment: Whose results they are.
        groups: Results of any profile.
        profile: Which profile; by default the largest one that has results.
    """
    profile = profile or largest_profile(experiment, groups)
    chosen: Mapping[tuple[str, C], Group[C]] = {
        (group.recipe, group.cell): group for group in groups if group.profile == profile
    }
    return [
        chosen[recipe, cell].summary(experiment)
        for recipe in experiment.recipes
        for cell in experiment.cells + experiment.beyond
        if (recipe, cell) in chosen
    ]
