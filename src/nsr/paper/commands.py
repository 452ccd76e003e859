"""One function per command: ``nsr reproduce``, ``results`` and ``report``. Read this first."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nsr.errors import InputError, at_least, between, needs_extra, one_of
from nsr.files import check_writable, reject_nul
from nsr.paper import archive
from nsr.paper.cells import Summary
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record
from nsr.paper.selection import RECIPES, choose, data_folder, selector
from nsr.paper.spec import PROFILES, Experiment
from nsr.paper.summaries import largest_profile, summarise, summarise_groups
from nsr.paper.sweep.damage import Damaged
from nsr.paper.sweep.executors import MakeExecutor, local
from nsr.paper.sweep.plan import BLOCK, LONGEST, plan
from nsr.paper.sweep.run import Observer, Sweep
from nsr.paper.sweep.store import FILE, Failure, Store

MOST_SEEDS = 1_000_000
"""How many seeds of a cell can be asked for."""


@dataclass(frozen=True)
class Reproduction:
    """What a run did, and the summaries of what is stored now."""

    summaries: Mapping[str, list[Summary[Any]]]
    """Of the requested experiments, in the requested profile."""
    ran: int
    """Items that were missing and ran."""
    failed: list[Item]


def reproduce(
    names: Sequence[str] = (),
    *,
    profile: str = "quick",
    recipe: str = "both",
    seeds: int | None = None,
    only: Mapping[str, Sequence[str]] = MappingProxyType({}),
    workers: int | None = None,
    block: int = BLOCK,
    longest: float = LONGEST,
    out: Path = Path("runs"),
    data: Path | None = None,
    html: Path | None = None,
    make_executor: MakeExecutor = local,
    observer: Observer | None = None,
    on_message: Callable[[str], None] = lambda _: None,
) -> Reproduction:
    """Run what is missing of the paper's experiments, all of them by default, and summarise the results.

    Args:
        names: Experiments to run.
        profile: How much of each to run: ``smoke``, ``quick`` or ``paper``.
        recipe: How models are trained: ``paper``, ``exact`` or ``both``.
        seeds: Number of seeds, instead of the profile's.
        only: For fields of the cells, the values to keep: ``{"model": ["nsr"], "comparison": [">"]}``.
        workers: Number of processes, by default one for each core.
        block: The most seeds to train together. It does not change any number.
        longest: The most seconds that a block may last by estimate, as where workers leave after a while.
        out: Folder of the store.
        data: Folder with the MNIST files. Default: the one named by NSR_DATA; otherwise they are downloaded.
        html: Also write the page to this file: these experiments in this profile, the others in their largest one.
        make_executor: Makes an executor with the given number of workers; local processes by default.
        observer: Notified of the plan and of each finished item; see ``nsr.cli.sweep_progress``.
        on_message: Called with a line about each download.
    """
    chosen = choose(names, only)
    one_of("profile", profile, PROFILES)
    recipes = RECIPES[one_of("recipe", recipe, RECIPES)]
    workers = at_least(1, "workers", (os.cpu_count() or 1) if workers is None else workers)
    at_least(1, "block", block)
    if seeds is not None:
        between("seeds", seeds, 1, MOST_SEEDS)
    data = data_folder(data, chosen, recipes, profile)
    if html is not None:
        with needs_extra("reproduce"):
            from nsr.paper.report import page

    with closing(Store(out)) as store:
        items: list[Item] = []
        for experiment in chosen:
            size = experiment.profiles[profile]
            done, numbers = store.lookup(), range(seeds or size.seeds)
            limited = partial(plan, block=block, longest=longest)
            items += limited(experiment, size, recipes, numbers, done=done, keep=selector(only), data=data)
        for name, cell in dict.fromkeys((item.experiment, item.cell) for item in items):
            EXPERIMENTS[name].prepare(cell, data, on_message)
        workers = min(workers, len(items))
        failed = Sweep(store, lambda: make_executor(workers), workers, observer or Observer()).run(items)
        groups = store.groups()
        store.check_present()

    asked = {experiment.name: profile for experiment in chosen}
    summaries = {
        name: summarise_groups(experiment, groups.get(name, []), asked.get(name))
        for name, experiment in EXPERIMENTS.items()
    }
    if html is not None:
        page.write_page(html, summaries)
    return Reproduction({name: summaries[name] for name in asked}, len(items), failed)


def results(names: Sequence[str] = (), *, out: Path = Path("runs")) -> dict[str, list[Summary[Any]]]:
    """Summaries of what a folder holds, for the largest profile of each experiment that has results."""
    return _summaries(out, choose(names, {}))


def failures(out: Path = Path("runs")) -> list[Failure]:
    """What failed in a folder and has not succeeded since."""
    with closing(_existing_store(out)) as store:
        return store.failures()


def verify(out: Path = Path("runs")) -> tuple[int, list[Damaged]]:
    """How many records a folder holds, and the damaged ones among them."""
    with closing(_existing_store(out)) as store:
        return store.verify()


def repair(out: Path = Path("runs"), *, on_message: Callable[[str], None] = lambda _: None) -> list[Damaged]:
    """Drop the damaged records of a folder, so that they run again; returns them. See ``Store.repair``."""
    with closing(_existing_store(out)) as store:
        return store.repair(on_message)


def export(folder: Path, names: Sequence[str] = (), *, out: Path = Path("runs")) -> list[Path]:
    """Write the records of the largest profile of each experiment as CSV; returns the files."""
    largest = {}
    for name, records in _records(out, names).items():
        profile = largest_profile(EXPERIMENTS[name], records)
        largest[name] = [record for record in records if record.profile == profile]
    return archive.write(folder, largest)


def report(
    *,
    out: Path = Path("runs"),
    exported: Path | None = None,
    html: Path | None = None,
    figures: Path | None = None,
) -> Path:
    """Write the page from the records of a store, or of a folder that ``export`` wrote; returns the page."""
    html = html or out / "report.html"
    reject_nul(html)
    if html.parent.is_dir():  # it is made otherwise
        check_writable(html)
    if figures is not None and figures.exists() and not figures.is_dir():
        raise InputError(f"{figures} is a file: name a folder for the figures")
    if exported:
        summaries = {name: summarise(EXPERIMENTS[name], kept) for name, kept in archive.read(exported).items()}
    else:
        summaries = _summaries(out, EXPERIMENTS.values())
    with needs_extra("reproduce"):
        from nsr.paper.report import page
    try:
        page.write_page(html, summaries)
        if figures:
            page.write_figures(figures, summaries)
    except KeyError as missing:
        if exported is None:
            raise
        raise InputError(f"the exported results in {exported} are incomplete: no row has a {missing}") from missing
    return html


def _summaries(out: Path, experiments: Iterable[Experiment[Any]]) -> dict[str, list[Summary[Any]]]:
    with closing(_existing_store(out)) as store:
        groups = store.groups()
    return {each.name: summarise_groups(each, groups.get(each.name, [])) for each in experiments}


def _records(out: Path, names: Sequence[str]) -> dict[str, list[Record]]:
    with closing(_existing_store(out)) as store:
        return {experiment.name: store.records(experiment) for experiment in choose(names, {})}


def _existing_store(out: Path) -> Store:
    if not (out / FILE).exists():
        raise InputError(f"there are no results in {out}: run nsr reproduce first, or name another folder with --out")
    return Store(out)
