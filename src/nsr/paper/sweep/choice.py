"""Which executor: ``local``, ``dask``, ``slurm``, or MODULE:FUNCTION, a callable that returns one."""

import inspect
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from pkgutil import resolve_name

from nsr.errors import InputError, needs_extra, one_of, shortened
from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.executors import MakeExecutor, keeping_interrupts, local

Report = Callable[[str], None]


def choose_executor(config: ClusterConfig, on_message: Report = lambda _: None) -> MakeExecutor:
    """What makes the executor of a configuration."""
    if ":" in config.executor:
        return from_function(config.executor)
    make: Callable[[ClusterConfig, Report], MakeExecutor] = _EXECUTORS[
        one_of("executor", config.executor, [*_EXECUTORS, "MODULE:FUNCTION"])
    ]
    return make(config, on_message)


def from_function(name: str) -> MakeExecutor:
    """A callable from its name, such as ``mpi4py.futures:MPIPoolExecutor``.

    It is called with the number of workers if it takes an argument. Modules are also found in the current folder.
    """
    quoted = shortened(repr(name))
    try:
        sys.path.insert(0, str(Path.cwd()))
        try:
            with keeping_interrupts():
                function = resolve_name(name)
        finally:
            sys.path.pop(0)
    except Exception as error:  # importing a module runs it, so that anything may go wrong
        raise InputError(f"executor {quoted} cannot be imported: {_described(error)}") from error
    if not callable(function):
        raise InputError(f"executor {quoted} is not a function that returns a concurrent.futures.Executor")

    def make(workers: int) -> Executor:
        try:
            with keeping_interrupts():
                executor = function(workers) if _takes_an_argument(function) else function()
        except Exception as error:
            raise InputError(f"{shortened(name)} made no executor: {_described(error)}") from error
        if not isinstance(executor, Executor):
            returned = f"{shortened(name)} returned {type(executor).__name__}"
            raise InputError(f"{returned}, which is not a concurrent.futures.Executor")
        return executor

    return make


def _described(error: Exception) -> str:
    """The text of an error, after its name where that says more."""
    text = shortened(str(error))
    return text if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {text}"


def _takes_an_argument(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind(1)
    except (TypeError, ValueError):
        return False
    return True


def _local(_: ClusterConfig, __: Report) -> MakeExecutor:
    return local


def _dask(config: ClusterConfig, on_message: Report) -> MakeExecutor:
    with needs_extra("cluster"):
        from nsr.paper.sweep.dask import make_dask
    return make_dask(config, on_message)


def _slurm(config: ClusterConfig, on_message: Report) -> MakeExecutor:
    with needs_extra("cluster"):
        from nsr.paper.sweep.slurm import make_slurm
    return make_slurm(config, on_message)


_EXECUTORS: Mapping[str, Callable[[ClusterConfig, Report], MakeExecutor]] = {
    "local": _local,
    "dask": _dask,
    "slurm": _slurm,
}
