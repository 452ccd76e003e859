"""One function per command: ``nsr reproduce``, ``results`` and ``report``. Read this first."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType

from nsr.errors import InputError, at_least, needs_extra, one_of
from nsr.paper import archive
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.spec import PROFILES, Cell, Experiment
from nsr.paper.summaries import Summary, summarise
from nsr.paper.sweep import executors
from nsr.paper.sweep.plan import BLOCK, Item, Record, plan
from nsr.paper.sweep.run import Observer, Sweep
from nsr.paper.sweep.store import FILE, Failure, Store

RECIPES: Mapping[str, tuple[str, ...]] = {"paper": ("paper",), "exact": ("exact",), "both": ("paper", "exact")}


@dataclass(frozen=True)
class Reproduction:
    """What a run did, and the summaries of what is stored now."""

    summaries: Mapping[str, list[Summary]]
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
    out: Path = Path("runs"),
    data: Path | None = None,
    start: Callable[[int], Executor] = executors.local,
    observer: Observer | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Reproduction:
    """Run what is missing of the paper's experiments, all of them by default, and summarise what is there.

    Args:
        names: Which experiments.
        profile: How much of each: ``smoke``, ``quick`` or ``paper``.
        recipe: How models are trained: ``paper``, ``exact`` or ``both``.
        seeds: How many seeds, instead of the profile's number.
        only: For fields of the cells, the values to keep: ``{"model": ["nsr"], "comparison": [">"]}``.
        workers: How many processes, one for each core by default.
        block: How many seeds are trained together at most. It changes no number.
        out: The folder of the store.
        data: A folder with the files of MNIST, instead of the one that NSR_DATA names or of a download.
        start: Makes an executor of some workers; local processes by default.
        watch: Told of the plan and of each finished item; see ``nsr.cli.progress``.
        tell: Told of each download.
    """
    chosen = choose(names, only)
    one_of("profile", profile, PROFILES)
    recipes = RECIPES[one_of("recipe", recipe, RECIPES)]
    seeds = None if seeds is None else at_least(1, "seeds", seeds)
    workers = at_least(1, "workers", (os.cpu_count() or 1) if workers is None else workers)
    at_least(1, "block", block)
    if data is not None and not os.path.isdir(data):  # noqa: PTH112  also says no of names that are too long
        raise InputError(f"there is no folder {data}: --data names the folder with the files of MNIST")
    planned = (cell for e in chosen for name in recipes for cell in e.cells_of(name, e.profiles[profile]))
    if data is not None and not any(getattr(cell, "images", None) == "MNIST" for cell in planned):
        raise InputError("nothing of this run reads MNIST, so --data is not needed: digits --profile paper does")

    store = Store(out)
    try:
        items: list[Item] = []
        for experiment in chosen:
            size = experiment.profiles[profile]
            numbers = range(size.seeds if seeds is None else seeds)
            done, keep = store.done(experiment), selector(only)
            items += plan(experiment, size, recipes, numbers, done=done, keep=keep, block=block)
        failed: list[Item] = []
        with _data_from(data):
            for name, cell in dict.fromkeys((item.experiment, item.cell) for item in items):
                EXPERIMENTS[name].prepare(cell, tell)
            if items:
                workers = min(workers, len(items))
                failed = Sweep(store, lambda: start(workers), workers, observer or Observer()).run(items)
        summaries = {
            experiment.name: summarise(experiment, store.records(experiment), profile) for experiment in chosen
        }
    finally:
        store.close()
    return Reproduction(summaries, len(items), failed)


@contextmanager
def _data_from(folder: Path | None) -> Iterator[None]:
    """The folder as NSR_DATA, which the processes that are started meanwhile inherit."""
    before = os.environ.get("NSR_DATA")
    if folder is not None:
        os.environ["NSR_DATA"] = str(folder.resolve())
    try:
        yield
    finally:
        os.environ.pop("NSR_DATA", None)
        if before is not None:
            os.environ["NSR_DATA"] = before


def stored(names: Sequence[str] = (), *, out: Path = Path("runs")) -> dict[str, list[Summary]]:
    """Summaries of what a folder holds, of the largest profile that each experiment has results of."""
    return {name: summarise(EXPERIMENTS[name], records) for name, records in _records(out, names).items()}


def report(
    *,
    out: Path = Path("runs"),
    exported: Path | None = None,
    html: Path | None = None,
    figures: Path | None = None,
) -> Path:
    """Write the page from the records of a store, or of a folder that ``export`` wrote; where it is."""
    records = archive.read(exported) if exported else _records(out, ())
    with needs_extra("reproduce"):
        from nsr.paper.report import page
    html = html or out / "report.html"
    page.write_page(html, records)
    if figures:
        page.write_figures(figures, records)
    return html


def export(folder: Path, names: Sequence[str] = (), *, out: Path = Path("runs")) -> list[Path]:
    """Write the records of the largest profile of each experiment as CSV; the files."""
    records = _records(out, names)
    for name, some in records.items():
        present = [profile for profile in EXPERIMENTS[name].profiles if any(r.profile == profile for r in some)]
        records[name] = [record for record in some if record.profile == present[-1]] if present else []
    return archive.write(folder, records)


def _records(out: Path, names: Sequence[str]) -> dict[str, list[Record]]:
    if not (out / FILE).exists():
        raise InputError(f"there are no results in {out}: run nsr reproduce first, or name another folder with --out")
    store = Store(out)
    try:
        return {experiment.name: store.records(experiment) for experiment in choose(names, {})}
    finally:
        store.close()


def failures(out: Path = Path("runs")) -> list[Failure]:
    """What failed in a folder and has not succeeded since."""
    store = Store(out)
    try:
        return store.failures()
    finally:
        store.close()


def choose(names: Sequence[str], only: Mapping[str, Sequence[str]]) -> list[Experiment]:
    """The experiments named, or all whose cells have the fields asked for; unknown names and values are refused."""
    named = [EXPERIMENTS[one_of("experiment", name, EXPERIMENTS)] for name in names]
    chosen = [e for e in named or EXPERIMENTS.values() if all(field in _fields(e) for field in only)]
    if not chosen:
        raise InputError(f"no experiment named has cells with {' and '.join(only)}")
    for field, values in only.items():
        known = dict.fromkeys(str(getattr(cell, field)) for e in chosen for cell in e.cells + e.beyond)
        for value in values:
            one_of(field, value, known)
    return chosen


def selector(only: Mapping[str, Sequence[str]]) -> Callable[[Cell], bool]:
    """Whether a cell has one of the values asked for in every field."""
    return lambda cell: all(str(getattr(cell, field)) in values for field, values in only.items())


def _fields(experiment: Experiment) -> set[str]:
    return {field.name for field in fields(experiment.cells[0])}
