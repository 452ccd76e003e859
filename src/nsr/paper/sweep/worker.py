"""What a worker does with an item, wherever the worker is: check that it is the same program, then run."""

import functools
import os
import platform
import socket
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import nsr
from nsr.errors import InputError
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item, Record
from nsr.paper.sweep.environment import environment, peak_memory

T = TypeVar("T")


class MismatchError(InputError):
    """A worker has other versions than the process that sends it items. Nothing runs on it."""


class LostWorkerError(Exception):
    """The worker of an item went away. The item runs again elsewhere.

    Args:
        reason: What is known about it.
        blamed: Whether the item may be the cause. A worker that says goodbye, because its time is up or because it is
            preempted, blames nobody.
    """

    def __init__(self, reason: str, *, blamed: bool) -> None:
        super().__init__(reason)
        self.blamed = blamed


def run_item(item: Item) -> list[Record]:
    """Train and measure one block of seeds."""
    began = time.perf_counter()
    check_data(item)
    measured = EXPERIMENTS[item.experiment].run(item.cell, item.recipe, item.seeds, item.data)
    seconds = (time.perf_counter() - began) / len(item.seeds)
    return [
        Record(
            item.experiment,
            item.revision,
            item.cell,
            item.recipe,
            item.profile,
            seed,
            metrics,
            seconds,
            peak_memory(),
            environment(),
        )
        for seed, metrics in zip(item.seeds, measured, strict=True)
    ]


def check_data(item: Item) -> None:
    """Raise an InputError if the item needs a data folder that this machine does not have."""
    needed = item.data is not None and EXPERIMENTS[item.experiment].reads_data(item.cell)
    if needed and not Path(item.data or "").is_dir():
        raise InputError(
            f"there is no folder {item.data} on {socket.gethostname()}, where a worker needs it: "
            "name one with --data that all machines can read, or use --executor dask or slurm, which send the files"
        )


def run_checked(expected: Mapping[str, str], function: Callable[..., T], *arguments: Any) -> T:
    """Call a function, unless the versions here are not the expected ones."""
    check_versions(expected, f"the worker {os.getpid()} on {socket.gethostname()}")
    return function(*arguments)


def check_versions(expected: Mapping[str, str], who: str, found: Mapping[str, str] | None = None) -> None:
    """Raise a MismatchError if the versions that were found, by default those of this process, are others."""
    found = versions() if found is None else found
    other = [f"{name} {found.get(name, 'missing')} instead of {value}" for name, value in expected.items()]
    other = [text for text, name in zip(other, expected, strict=True) if found.get(name) != expected[name]]
    if other:
        raise MismatchError(f"{who} has {', '.join(other)}: install the same versions there")


@functools.cache
def versions() -> Mapping[str, str]:
    """What must be the same everywhere for records to be the same: versions, and the sources of nsr."""
    return {
        "nsr": version("neural-status-registers"),
        "sources of nsr": _digest(Path(nsr.__file__).parent),
        "torch": version("torch"),
        "numpy": version("numpy"),
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }


def _digest(folder: Path) -> str:
    """A short name for the program in a folder: two copies with the same version may differ."""
    total = sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".c", ".h"}:
            total.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:12]
