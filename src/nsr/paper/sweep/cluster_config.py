"""Where a sweep runs: the options of ``nsr reproduce``, and a file for what nobody wants to type (``nsr.toml``)."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, get_args, get_origin

from nsr.errors import InputError, one_of, shortened

FILE = "nsr.toml"
TABLE = "cluster"
LARGEST, LONGEST_LINE = 100_000, 2000
"""Characters of a file, and of a line of it."""
MOST = 100_000
"""Workers, and cores of a job, that can be asked for."""
SLURM_ONLY = {
    "queue": "--queue",
    "account": "--account",
    "walltime": "--walltime",
    "cores": "--cores",
    "memory": "--memory",
    "directives": "--directive",
}
"""Fields that mean something to Slurm alone, and their options."""


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """Each field is a line of the table ``[cluster]`` of the file; those of Slurm are passed on to dask-jobqueue."""

    executor: str = "local"
    """``local``, ``dask``, ``slurm``, or MODULE:FUNCTION, which returns a ``concurrent.futures.Executor``."""
    workers: int | None = None
    """Number of items that run at once, by default one for each core of this machine."""
    scheduler: str | None = None
    """Address of a Dask scheduler; without one, it is started on this machine."""
    dashboard: str = "127.0.0.1:0"
    """Where the dashboard listens; port 0 is any that is free."""
    queue: str | None = None
    """Partition of Slurm."""
    account: str | None = None
    walltime: str | None = None
    """Of a job of Slurm, such as "04:00:00". Workers leave before it ends."""
    cores: int = 1
    """Of a job of Slurm, each with a worker."""
    memory: str = "2GB"
    """Of a job of Slurm."""
    directives: Sequence[str] = ()
    """Further lines of #SBATCH, such as "--exclude=node7"."""
    skip_directives: Sequence[str] = ()
    """Lines of #SBATCH to leave out, such as "--mem"."""
    interface: str | None = None
    """Network interface between the workers and this machine, such as "ib0"."""
    prologue: Sequence[str] = ()
    """Shell commands before a worker starts, such as "module load python"."""
    python: str | None = None
    """The Python of the workers, by default this one."""
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Further arguments of ``dask_jobqueue.SLURMCluster``."""
    silence: float = 60.0
    """Seconds without a heartbeat after which a worker counts as lost."""
    hang: float = 3600.0
    """Seconds with one item after which a worker counts as lost."""
    patience: float = 300.0
    """Seconds to wait for a scheduler that went away."""

    def __post_init__(self) -> None:
        for name in ("workers", "cores"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, got {_quoted(value)}")
            if value is not None and value > MOST:
                raise InputError(f"{name} must be at most {MOST:,}, got {_quoted(value)}")
        for name in ("silence", "hang", "patience"):
            if not getattr(self, name) > 0:  # also what is not a number
                raise InputError(f"{name} must be more than 0 seconds, got {getattr(self, name)}")
        _check_dashboard(self.dashboard)
        if self.scheduler and self.executor != "dask":
            raise InputError(f"a scheduler is for --executor dask, not for {self.executor}")


def read_config(file: Path | None = None, **options: Any) -> ClusterConfig:
    """The configuration of a file, by default ``nsr.toml`` if there is one; options that are not None count more."""
    config = ClusterConfig(**_read(file)) if file or Path(FILE).is_file() else ClusterConfig()
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    if "scheduler" in given and "executor" not in given and config.executor == "local":
        given["executor"] = "dask"
    if given.get("executor") not in (None, config.executor) and "scheduler" not in given:
        given["scheduler"] = config.scheduler if given["executor"] == "dask" else None
    config = replace(config, **given)
    useless = [option for name, option in SLURM_ONLY.items() if name in given]
    if useless and config.executor != "slurm":
        raise InputError(f"{useless[0]} is for --executor slurm, not for {shortened(config.executor)}")
    return config


def _check_dashboard(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535 or any(letter.isspace() for letter in host):
        raise InputError(
            f"dashboard {_quoted(address)} is not an address and a port up to 65535: write it as in 127.0.0.1:8787"
        )


def _read(file: Path | None) -> dict[str, Any]:
    path = file or Path(FILE)
    try:
        with path.open(encoding="utf-8") as opened:
            content = tomllib.loads(_checked(opened.read(LARGEST + 1)))
    except OSError as error:
        raise InputError(f"cannot read the cluster file {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, an integer of too many digits, or too deep
        raise InputError(f"{path} is not TOML: {shortened(str(error))}") from None
    if content and TABLE not in content:
        raise InputError(
            f"{path} has no table [{TABLE}], in which the options of a cluster stand; it has {_quoted(min(content))}"
        )
    others = sorted(set(content) - {TABLE})
    if others:
        raise InputError(f"{path} has {_quoted(others[0])} beside the table [{TABLE}], which is all that is read there")
    table = content.get(TABLE, {})
    known = {each.name: each for each in fields(ClusterConfig)}
    for name, value in table.items() if isinstance(table, dict) else ():
        one_of(f"field of [{TABLE}] in {path}:", name, known)
        check_type(name, value, known[name].type, f"in {path}")
    if not isinstance(table, dict):
        raise InputError(f"{TABLE} in {path} must be a table, as in [{TABLE}]")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}


def _checked(text: str) -> str:
    """Text that tomllib may read: a key of many parts takes memory with their square."""
    if len(text) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} characters")
    if any(len(line) > LONGEST_LINE for line in text.splitlines()):
        raise ValueError(f"a line has more than {LONGEST_LINE:,} characters")
    return text


def _quoted(value: Any) -> str:
    try:
        return shortened(repr(value))
    except (ValueError, RecursionError):  # an integer of too many digits, or tables that are nested too deep
        return "this"


def check_type(name: str, value: Any, kind: Any, where: str) -> None:
    """Raise an InputError if a value of TOML is of another type."""
    kinds = [each for each in (get_args(kind) if isinstance(kind, UnionType) else (kind,)) if each is not NoneType]
    if not any(_fits(value, each) for each in kinds):
        wanted = " or ".join(_NAMES[get_origin(each) or each] for each in kinds)
        raise InputError(f"{name} = {_quoted(value)} {where} is not {wanted}")


def _fits(value: Any, kind: Any) -> bool:
    if get_origin(kind) is Sequence:
        return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    if get_origin(kind) is Mapping:
        return isinstance(value, Mapping)
    return isinstance(value, (int, float) if kind is float else kind) and isinstance(value, bool) == (kind is bool)


_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Sequence: "a list of texts",
    Mapping: "a table",
}
