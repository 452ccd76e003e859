"""Items on jobs of Slurm, each with Dask workers, through dask-jobqueue."""

import itertools
import math
import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from dask.utils import parse_bytes
from distributed.diagnostics.plugin import SchedulerPlugin

from nsr.errors import InputError, one_of, shortened
from nsr.paper.sweep.cluster_config import ClusterConfig, check_type
from nsr.paper.sweep.dask import CONTINUES, REPLACE_EVERY, close_cluster, first_cause, make_dask, on_cluster
from nsr.paper.sweep.executors import MakeExecutor, keeping_interrupts
from nsr.paper.sweep.run import NoWorkersError
from nsr.paper.sweep.walltime import lifetime

with keeping_interrupts():
    from dask_jobqueue.slurm import SLURMCluster, SLURMJob

Report = Callable[[str], None]
OWN_LINES = {
    "queue": "queue",
    "account": "account",
    "project": "account",
    "walltime": "walltime",
    "cores": "cores",
    "processes": "cores",
    "memory": "memory",
    "interface": "interface",
    "python": "python",
    "job_extra": "directives",
    "job_extra_directives": "directives",
    "header_skip": "skip_directives",
    "job_directives_skip": "skip_directives",
    "env_extra": "prologue",
    "job_script_prologue": "prologue",
    "n_workers": "workers",
    "dashboard_address": "dashboard",
}
"""Arguments of ``SLURMCluster``, and the lines of ``[cluster]`` that set them."""
OPTIONS: Mapping[str, Any] = {
    "config_name": str,
    "death_timeout": float,
    "host": str,
    "job_cpu": int,
    "job_mem": str,
    "job_name": str,
    "local_directory": str,
    "log_directory": str,
    "nanny": bool,
    "protocol": str,
    "scheduler_options": Mapping[str, Any],
    "security": bool,
    "shared_temp_directory": str,
    "shebang": str,
    "silence_logs": str | int,
    "worker_command": str,
    "worker_extra_args": Sequence[str],
}
"""The other arguments of ``SLURMCluster`` and their types. It checks few: jobs would end with what is wrong."""
MOST_EARLY = 3
"""So many times in a row jobs may end before their workers join, while there is no worker."""
IMPOSSIBLE = re.compile(
    r"Partition(Config|NodeLimit)|BadConstraints|Invalid(Account|QOS)|\w+(TimeLimit|NotAllowed)|\w+PerJob\w*"
)
"""Reasons of Slurm for a job that waits although nothing that ends could make it start."""
MOST_LOOKS = 3
"""So many times in a row all jobs may wait for such a reason. Slurm also gives it while nodes are down."""


def make_slurm(config: ClusterConfig, on_message: Report) -> MakeExecutor:
    """Executors with a scheduler in this process and workers in jobs of Slurm."""
    if shutil.which("sbatch") is None:
        raise InputError("there is no sbatch here: run this on a machine from which jobs are submitted to Slurm")
    lifetime(config.walltime)
    _check_memory(config.memory)
    _check_options(config.options)
    if config.interface is not None:
        one_of("interface", config.interface, [name for _, name in socket.if_nameindex()])
    make_dask(config, on_message)  # silences the log
    return partial(_submit_jobs, config, on_message)


def _submit_jobs(config: ClusterConfig, on_message: Report, workers: int) -> Executor:
    try:
        cluster = SLURMCluster(**arguments(config))
    except Exception as error:  # of dask-jobqueue about its options, or of a port that cannot be had
        raise InputError(f"the scheduler for Slurm cannot be started: {first_cause(error)}") from error
    jobs = Jobs(cluster, math.ceil(workers / config.cores), config.python or sys.executable, on_message)
    try:
        cluster.sync(jobs.submit)
    except RuntimeError as error:
        close_cluster(cluster)
        raise InputError(f"Slurm does not take the job: {_complaint(error)}") from error
    except BaseException:
        close_cluster(cluster)
        raise
    on_message(f"{jobs.count} jobs submitted to Slurm, each with {config.cores} workers")
    return on_cluster(cluster, config, on_message, jobs.keep)


class Joined(SchedulerPlugin):
    """The names of all workers that ever joined a scheduler."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Called by the scheduler for each new worker."""
        self.names.add(str(scheduler.workers[worker].name))


class Jobs:
    """The jobs of a cluster, of which there are always so many: dask-jobqueue keeps those in mind that have ended.

    Args:
        cluster: Of dask-jobqueue, without jobs.
        count: How many jobs there are to be.
        python: The Python of the workers, for messages.
        on_message: Called with a line about jobs that ended early or that Slurm does not take.
    """

    def __init__(self, cluster: Any, count: int, python: str, on_message: Report) -> None:
        self.cluster, self.count, self.python, self.on_message = cluster, count, python, on_message
        self.joined = Joined()
        self.joined_before = 0
        self.early = 0
        """How many times in a row jobs ended before their workers joined, and no worker joined meanwhile."""
        self.waits = 0
        """How many times in a row all jobs waited for what will not come."""
        self.reported: set[str] = set()
        """Reasons for which jobs wait."""
        self.next = time.monotonic()
        self.numbers = itertools.count()
        cluster.scheduler.add_plugin(self.joined)

    async def submit(self) -> None:
        """Submit as many jobs as are missing."""
        wanted = self.cluster.worker_spec
        while len(wanted) < self.count:
            wanted[self.cluster._new_worker_name(next(self.numbers))] = self.cluster.new_spec
        await self.cluster._correct_state()

    async def keep(self) -> None:
        """Replace jobs that have ended, and report why others wait.

        Jobs that end over and over before their workers join end the sweep, and so do jobs that can never start.
        """
        if time.monotonic() < self.next:
            return
        jobs = dict(self.cluster.workers)
        queued = await _queued()
        if queued is None:
            return
        self._report_waiting([queued[job.job_id] for job in jobs.values() if job.job_id in queued])
        ended = {name: job for name, job in jobs.items() if job.job_id not in queued}
        await self._judge([job for name, job in ended.items() if job.job_id and not self._has_joined(str(name))])
        for name in ended:
            self.cluster.worker_spec.pop(name, None)
        try:
            await self.submit()
        except RuntimeError as error:
            self.on_message(f"Slurm does not take a job at present: {_complaint(error)}")

    def _has_joined(self, name: str) -> bool:
        """Whether a worker of a job did; one of many has a number after the name of its job."""
        return any(each == name or each.rpartition("-")[0] == name for each in self.joined.names)

    def _report_waiting(self, reasons: list[str | None]) -> None:
        """Report each reason for which jobs wait once; one that no time will mend ends a sweep without workers."""
        waiting = [reason for reason in reasons if reason not in (None, "None")]
        text = ", ".join(sorted({*waiting}))
        hopeless = reasons and all(reason and IMPOSSIBLE.fullmatch(reason) for reason in reasons)
        self.waits = self.waits + 1 if hopeless and not self.cluster.scheduler.workers else 0
        if self.waits >= MOST_LOOKS:
            raise NoWorkersError(
                f"Slurm cannot start the jobs and gives {text} as the reason: ask for fewer cores, less memory, "
                f"a shorter walltime, or another queue or account; {CONTINUES}"
            )
        if not self.reported.issuperset(waiting):
            self.reported.update(waiting)
            self.on_message(
                f"{len(waiting)} of {self.count} jobs wait in the queue of Slurm, which gives as the reason: {text}"
            )

    async def _judge(self, early: list[Any]) -> None:
        """Report jobs that ended before their workers joined, and wait longer each time."""
        if len(self.joined.names) > self.joined_before:
            self.joined_before, self.early = len(self.joined.names), 0
        if not early:
            return
        self.early += 1
        self.next = time.monotonic() + REPLACE_EVERY * 2 ** min(self.early, 4)
        text = await _how_it_ended(early[-1].job_id)
        if self.early >= MOST_EARLY and not self.cluster.scheduler.workers:
            raise NoWorkersError(
                f"{text}, as others before it: check that {self.python} runs on the nodes and that they can reach "
                f"{self.cluster.scheduler.address}; {CONTINUES}"
            )
        self.on_message(f"{text}; {len(early)} such jobs are submitted again")


async def _queued() -> dict[str, str | None] | None:
    """The jobs that wait, each with the reason, and those that run; None if Slurm does not say."""
    try:
        lines = await SLURMJob._call(["squeue", "--noheader", "--format=%A %t %r", f"--user={os.getuid()}"])
    except (OSError, RuntimeError):
        return None
    jobs = (line.split(maxsplit=2) for line in lines.splitlines())
    return {number: reason if state == "PD" else None for number, state, reason in jobs}


async def _how_it_ended(number: str) -> str:
    """What Slurm knows about a job that ended before its worker joined."""
    text = f"job {number} of Slurm ended before its worker joined"
    try:
        about = await SLURMJob._call(["scontrol", "show", "job", number])
    except (OSError, RuntimeError):  # it forgets jobs after some minutes
        return text
    found = dict(re.findall(r"(JobState|ExitCode|StdOut)=(\S+)", about))
    known = {"": found.get("JobState"), "exit code ": found.get("ExitCode"), "output in ": found.get("StdOut")}
    return f"{text} ({', '.join(name + value for name, value in known.items() if value)})"


def _complaint(error: RuntimeError) -> str:
    """The last thing that sbatch said."""
    errors: list[str] = re.findall(r"sbatch: error: (.*)", str(error))
    others: list[str] = re.findall(r"sbatch: (.*)", str(error))
    return errors[-1].strip() if errors else others[0].strip() if others else first_cause(error)


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
        **config.options,
        "worker_extra_args": [*extra, *config.options.get("worker_extra_args", ())],
        "scheduler_options": {"dashboard_address": config.dashboard, **config.options.get("scheduler_options", {})},
    }


def _check_memory(memory: str) -> None:
    try:
        fits = parse_bytes(memory) >= 1
    except ValueError:
        fits = False
    if not fits:
        raise InputError(f"memory {shortened(repr(memory))} is not an amount of memory: write it as in 16GB")


def _check_options(options: Mapping[str, Any]) -> None:
    """Refuse what dask-jobqueue does not know, what is of another type, and what has a line of its own."""
    for name, value in options.items():
        if name in OWN_LINES:
            raise InputError(f"{name} of [cluster.options] has a line of its own in [cluster]: write {OWN_LINES[name]}")
        one_of("argument of dask_jobqueue.SLURMCluster in [cluster.options]:", name, OPTIONS)
        check_type(name, value, OPTIONS[name], "of [cluster.options]")
        if name == "scheduler_options" and "dashboard_address" in value:
            raise InputError("scheduler_options of [cluster.options] is not a table without dashboard_address")
