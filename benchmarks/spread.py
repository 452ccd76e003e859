"""The options ``--executor``, ``--scheduler`` and ``--cluster`` of the benchmarks: where their work runs.

The executors are those of ``nsr reproduce``. Workers on other machines must find the folder
``benchmarks`` in PYTHONPATH.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

from nsr.paper.sweep.choice import choose_executor
from nsr.paper.sweep.cluster_config import ClusterConfig, read_config
from nsr.paper.sweep.run import MAX_CRASHES, shut_down
from nsr.paper.sweep.worker import LostWorkerError


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of every benchmark that can run elsewhere."""
    parser.add_argument("--executor", help="local (default), dask, slurm or MODULE:FUNCTION, as in nsr reproduce")
    parser.add_argument("--scheduler", help="address of a Dask scheduler")
    parser.add_argument(
        "--cluster", type=Path, metavar="FILE", help="file with a table [cluster], as in docs/cluster.md"
    )


def config_of(options: argparse.Namespace, longest: float) -> ClusterConfig | None:
    """Where to run; None for processes of this machine. ``longest`` is how many seconds a call may take."""
    config = read_config(options.cluster, executor=options.executor, scheduler=options.scheduler)
    return None if config.executor == "local" else replace(config, hang=longest)


def spread(
    config: ClusterConfig, workers: int, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Each call with its result as it arrives, or with its error. A lost worker is a retry, at most three times."""
    executor = choose_executor(config, lambda text: print(text, file=sys.stderr, flush=True))(workers)
    losses: Counter[tuple[Any, ...]] = Counter()
    queue, running = list(reversed(calls)), dict[Future[Any], tuple[Any, ...]]()
    try:
        while queue or running:
            capacity = getattr(executor, "capacity", lambda: (workers, workers))()[0]
            while queue and len(running) < capacity:
                call = queue.pop()
                running[executor.submit(function, *call)] = call
            done, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
                call, error = running.pop(future), future.exception()
                if isinstance(error, LostWorkerError):
                    losses[call] += error.blamed
                    if losses[call] < MAX_CRASHES:
                        queue.append(call)
                        continue
                yield call, future.result() if error is None else error
    finally:
        shut_down(executor)
