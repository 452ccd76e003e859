"""From records to summaries, one for each cell and recipe of one profile."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from nsr.paper.cells import C, Cell, Summary
from nsr.paper.records import Record
from nsr.paper.spec import Experiment


def largest_profile(experiment: Experiment[Any], records: Iterable[Record]) -> str | None:
    """The largest profile that has records: paper, else quick, else smoke; None without records."""
    present = {record.profile for record in records}
    return next((name for name in reversed(list(experiment.profiles)) if name in present), None)


def summarise(experiment: Experiment[C], records: Sequence[Record], profile: str | None = None) -> list[Summary[C]]:
    """One summary for each cell and recipe that has records in a profile, in the order of the experiment.

    Args:
        experiment: Whose records they are.
        records: Records of any profile.
        profile: Which profile; by default the largest one that has records.
    """
    profile = profile or largest_profile(experiment, records)
    groups: dict[tuple[str, Cell], list[Record]] = defaultdict(list)
    for record in records:
        if record.profile == profile:
            groups[record.recipe.name, record.cell].append(record)
    return [
        _summary(experiment, cell, groups[recipe, cell])
        for recipe in experiment.recipes
        for cell in experiment.cells + experiment.beyond
        if (recipe, cell) in groups
    ]


def _summary(experiment: Experiment[C], cell: C, records: Sequence[Record]) -> Summary[C]:
    records = sorted(records, key=lambda record: record.seed)
    names = list(records[0].metrics)
    kinds = {metric.name: metric.kind for metric in experiment.metrics}
    unlisted = [name for name in names if name not in kinds]
    if unlisted:
        raise ValueError(f"experiment {experiment.name} measures {unlisted[0]!r}, which its metrics do not list")
    return Summary(
        cell=cell,
        recipe=records[0].recipe.name,
        profile=records[0].profile,
        values={name: tuple(record.metrics[name] for record in records) for name in names},
        accuracies=tuple(name for name in names if kinds[name] == "accuracy"),
        seconds=sum(record.seconds for record in records),
        memory=max(record.memory for record in records),
        published=experiment.published.get(cell, {}),
        environments=frozenset(record.environment for record in records),
    )
