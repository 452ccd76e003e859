"""The stories end to end. Read this file first: what a command does is a function here."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from types import MappingProxyType

from nsr.experiments import EXPERIMENTS
from nsr.experiments.spec import PROFILES, Cell, Experiment
from nsr.progress import Quiet
from nsr.refusals import at_least, one_of
from nsr.report.summaries import Summary, summarise
from nsr.sweep import executors
from nsr.sweep.plan import Item, Record, plan
from nsr.sweep.run import run

RECIPES: Mapping[str, tuple[str, ...]] = {"paper": ("paper",), "exact": ("exact",), "both": ("paper", "exact")}


@dataclass(frozen=True)
class Reproduction:
    """What ``reproduce`` measured: a list of summaries for each experiment."""

    summaries: Mapping[str, list[Summary]]

    def experiments(self) -> list[tuple[Experiment, list[Summary]]]:
        """Each experiment with its summaries."""
        return [(EXPERIMENTS[name], summaries) for name, summaries in self.summaries.items()]


def reproduce(
    names: Sequence[str] = (),
    *,
    profile: str = "quick",
    recipe: str = "both",
    seeds: int | None = None,
    only: Mapping[str, Sequence[str]] = MappingProxyType({}),
    workers: int | None = None,
    executor: Executor | None = None,
    watch: Quiet | None = None,
) -> Reproduction:
    """Run experiments of the paper, all of them by default, and summarise them.

    Args:
        names: Which experiments.
        profile: How much of each: ``smoke``, ``quick`` or ``paper``.
        recipe: How models are trained: ``paper``, ``exact`` or ``both``.
        seeds: How many seeds, instead of the profile's number.
        only: For fields of the cells, the values to keep: ``{"model": ["nsr"], "comparison": [">"]}``.
        workers: How many processes, one for each core by default.
        executor: Where to run instead of local processes. It is shut down at the end.
        watch: Told of the plan and of each finished item; see ``nsr.progress``.
    """
    chosen = [EXPERIMENTS[one_of("experiment", name, EXPERIMENTS)] for name in names or EXPERIMENTS]
    one_of("profile", profile, PROFILES)
    recipes = RECIPES[one_of("recipe", recipe, RECIPES)]
    seeds = None if seeds is None else at_least(1, "seeds", seeds)
    workers = at_least(1, "workers", (os.cpu_count() or 1) if workers is None else workers)

    items: list[Item] = []
    for experiment in chosen:
        size = experiment.profiles[profile]
        cells = select(experiment.cells, only)
        items += plan(experiment, size, cells, recipes, range(size.seeds if seeds is None else seeds))
    records: list[Record] = []
    executor = executor or executors.local(min(workers, len(items)))
    watch = watch or Quiet()
    watch.planned(items)
    try:
        for item, block in run(items, executor):
            records += block
            watch.finished(item, block)
    finally:
        watch.close()
    return Reproduction({e.name: summarise(e, [r for r in records if r.experiment == e.name]) for e in chosen})


def select(cells: Sequence[Cell], only: Mapping[str, Sequence[str]]) -> list[Cell]:
    """The cells whose fields have one of the values asked for; a value that no cell has is refused."""
    kept = list(cells)
    for field, values in only.items():
        known = dict.fromkeys(str(getattr(cell, field)) for cell in cells)
        wanted = {one_of(field, value, known) for value in values}
        kept = [cell for cell in kept if not wanted or str(getattr(cell, field)) in wanted]
    return kept
