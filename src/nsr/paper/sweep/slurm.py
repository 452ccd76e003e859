"""Items on jobs of Slurm, each with Dask workers, through dask-jobqueue."""

import math
import re
import shutil
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

from nsr.errors import InputError, shortened
from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.dask import close_cluster, make_dask, on_cluster
from nsr.paper.sweep.executors import MakeExecutor, keeping_interrupts
from nsr.paper.sweep.plan import LONGEST

with keeping_interrupts():
    from dask_jobqueue.slurm import SLURMCluster

Report = Callable[[str], None]


def make_slurm(config: ClusterConfig, on_message: Report) -> MakeExecutor:
    """Executors with a scheduler in this process and workers in jobs of Slurm."""
    if shutil.which("sbatch") is None:
        raise InputError("there is no sbatch here: run this on a machine from which jobs are submitted to Slurm")
    lifetime(config.walltime)
    make_dask(config, on_message)  # silences the log
    return partial(_submit_jobs, config, on_message)


def _submit_jobs(config: ClusterConfig, on_message: Report, workers: int) -> Executor:
    cluster = SLURMCluster(**arguments(config))
    jobs = math.ceil(workers / config.cores)

    async def submit() -> None:
        cluster.scale(jobs=jobs)
        await cluster._correct_state()  # so that what sbatch has to say is not lost

    try:
        cluster.sync(submit)
    except RuntimeError as error:
        close_cluster(cluster)
        messages = re.findall(r"sbatch: error: (.*)", str(error)) or [str(error)]
        raise InputError(f"Slurm does not take the job: {messages[-1].strip()}") from error
    except BaseException:
        close_cluster(cluster)
        raise
    on_message(f"{jobs} jobs submitted to Slurm, each with {config.cores} workers")
    return on_cluster(cluster, config, on_message, jobs * config.cores)


def arguments(config: ClusterConfig) -> dict[str, Any]:
    """What ``SLURMCluster`` is called with: a process with one thread for each core."""
    extra = [] if config.walltime is None else ["--lifetime", *lifetime(config.walltime)]
    given = {
        "queue": config.queue,
        "account": config.account,
        "walltime": config.walltime,
        "interface": config.interface,
        "python": config.python,
    }
    return {
        **{name: value for name, value in given.items() if value is not None},
        "cores": config.cores,
        "processes": config.cores,
        "memory": config.memory,
        "job_extra_directives": list(config.directives),
        "job_directives_skip": list(config.skip_directives),
        "job_script_prologue": list(config.prologue),
        "worker_extra_args": extra,
        "scheduler_options": {"dashboard_address": config.dashboard},
        **config.options,
    }


def lifetime(walltime: str | None) -> list[str]:
    """How long a worker stays, and by how much they differ, so that all have left before Slurm ends the jobs."""
    if walltime is None:
        return []
    total = seconds(walltime)
    stagger = total // 20
    margin = min(LONGEST, total / 5)
    return [f"{math.floor(total - margin - stagger)}s", "--lifetime-stagger", f"{stagger}s"]


def seconds(walltime: str) -> int:
    """Seconds of a time as Slurm writes it: minutes, minutes:seconds, [days-]hours:minutes:seconds, days-hours."""
    match = re.fullmatch(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?", walltime)
    if not match:
        raise InputError(
            f"walltime {shortened(repr(walltime))} is not a time of Slurm: write hours:minutes:seconds, as in 04:00:00"
        )
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is None and len(numbers) < 3:
        numbers.insert(0, 0)
    hours, minutes, rest = (*numbers, 0, 0)[:3]
    total = ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + rest
    if total < 60:
        raise InputError(f"walltime {walltime!r} is less than a minute")
    return total
