"""How jobs of Slurm are asked for. ``test_slurm_daemons.py`` asks for them."""

import asyncio
import inspect
import itertools
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("dask_jobqueue", reason="needs the extra cluster")

from dask_jobqueue.core import Job, JobQueueCluster
from dask_jobqueue.slurm import SLURMJob
from distributed import Status

from nsr.errors import InputError
from nsr.paper.sweep import slurm
from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.run import NoWorkersError
from nsr.paper.sweep.slurm import arguments, make_slurm
from nsr.paper.sweep.walltime import lifetime, longest_block, seconds

CONFIG = ClusterConfig(
    executor="slurm",
    queue="cpu",
    account="maths",
    walltime="04:00:00",
    cores=8,
    memory="16GB",
    directives=("--exclude=node7",),
    skip_directives=("--mem",),
    prologue=("module load python",),
    options={"shebang": "#!/bin/sh"},
)


def test_the_script_of_a_job_has_what_was_asked_for():
    given = arguments(CONFIG)
    given.pop("scheduler_options")
    script = SLURMJob("tcp://10.0.0.1:8786", name="0", **given).job_script()
    for line in ("-p cpu", "-A maths", "-t 04:00:00", "--cpus-per-task=8", "--exclude=node7"):
        assert f"#SBATCH {line}\n" in script
    assert script.startswith("#!/bin/sh\n")
    assert "#SBATCH --mem" not in script
    assert "\nmodule load python\n" in script
    assert "--nthreads 1 " in script
    assert "--nworkers 8 " in script
    assert "--lifetime 13080s --lifetime-stagger 720s" in script


def test_a_job_without_a_walltime_has_no_lifetime():
    assert arguments(ClusterConfig(executor="slurm"))["worker_extra_args"] == []


@pytest.mark.parametrize("walltime", ["00:02:00", "00:30:00", "04:00:00", "2-00:00:00"])
def test_the_last_worker_leaves_before_slurm_ends_its_job(walltime):
    """dask-jobqueue 122 and 611: workers that Slurm ends are lost with what they were doing."""
    stay, _, stagger = lifetime(walltime)
    latest = int(stay[:-1]) + int(stagger[:-1])
    assert 0.75 * seconds(walltime) <= latest <= 0.81 * seconds(walltime) or seconds(walltime) - latest == 600


@pytest.mark.parametrize(
    ("walltime", "expected"),
    [
        ("1", 60),
        ("90", 5400),
        ("90:30", 5430),
        ("04:00:00", 14400),
        ("2-00:00:00", 172800),
        ("1-12", 129600),
        ("1-12:30", 131400),
    ],
)
def test_times_are_read_as_slurm_reads_them(walltime, expected):
    assert seconds(walltime) == expected


@pytest.mark.parametrize(("walltime", "text"), [("4h", "is not a time of Slurm"), ("0:59", "is less than a minute")])
def test_other_times_are_a_sentence(walltime, text):
    with pytest.raises(InputError, match=f"^walltime '{walltime}' {text}"):
        seconds(walltime)


def test_a_walltime_of_hundreds_of_digits_is_a_sentence():
    with pytest.raises(InputError, match=r"^walltime '9{99,199}.* is not a time of Slurm"):
        seconds("9" * 400)


def test_without_sbatch_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(slurm.shutil, "which", lambda _: None)
    with pytest.raises(InputError, match=r"^there is no sbatch here: run this on a machine from which jobs are"):
        make_slurm(CONFIG, lambda _: None)


def test_a_wrong_walltime_is_refused_before_anything_is_started(monkeypatch):
    monkeypatch.setattr(slurm.shutil, "which", lambda _: "/usr/bin/sbatch")
    with pytest.raises(InputError, match=r"^walltime '4h' is not a time of Slurm"):
        make_slurm(replace(CONFIG, walltime="4h"), lambda _: None)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"memory": "lots"}, "memory 'lots' is not an amount of memory: write it as in 16GB"),
        ({"memory": "0GB"}, "memory '0GB' is not an amount of memory: write it as in 16GB"),
        ({"interface": "nope0"}, "unknown interface 'nope0': choose from .*lo"),
        (
            {"options": {"log_dir": "x"}},
            r"unknown argument of dask_jobqueue.SLURMCluster in \[cluster.options\]: 'log_dir",
        ),
        ({"options": {"cores": 3}}, r"cores of \[cluster.options\] has a line of its own in \[cluster\]: write cores"),
        ({"options": {"processes": 3}}, r"processes of \[cluster.options\] has a line of its own .*: write cores"),
        ({"options": {"env_extra": []}}, r"env_extra of \[cluster.options\] has a line of its own .*: write prologue"),
        (
            {"options": {"worker_extra_args": "--x"}},
            r"worker_extra_args = '--x' of \[cluster.options\] is not a list of texts$",
        ),
        (
            {"options": {"worker_extra_args": ["--x", 1]}},
            r"worker_extra_args = \['--x', 1\] of .* is not a list of texts$",
        ),
        ({"options": {"nanny": "no"}}, r"nanny = 'no' of \[cluster.options\] is not true or false$"),
        ({"options": {"job_cpu": True}}, r"job_cpu = True of \[cluster.options\] is not a whole number$"),
        ({"options": {"death_timeout": "soon"}}, r"death_timeout = 'soon' of \[cluster.options\] is not a number$"),
        ({"options": {"shebang": 5}}, r"shebang = 5 of \[cluster.options\] is not a text$"),
        (
            {"options": {"silence_logs": []}},
            r"silence_logs = \[\] of \[cluster.options\] is not a text or a whole number$",
        ),
        ({"options": {"scheduler_options": 3}}, r"scheduler_options = 3 of \[cluster.options\] is not a table$"),
        (
            {"options": {"scheduler_options": {"dashboard_address": ""}}},
            "scheduler_options of .* without dashboard_addr",
        ),
    ],
)
def test_what_is_wrong_is_a_sentence_before_anything_is_started(monkeypatch, given, text):
    monkeypatch.setattr(slurm.shutil, "which", lambda _: "/usr/bin/sbatch")
    with pytest.raises(InputError, match=f"^{text}"):
        make_slurm(replace(CONFIG, **given), lambda _: None)


def test_the_types_of_all_arguments_of_dask_jobqueue_are_known():
    calls = (JobQueueCluster.__init__, SLURMJob.__init__, Job.__init__)
    arguments = {name for call in calls for name in inspect.signature(call).parameters}
    ours = {"self", "loop", "asynchronous", "scheduler", "name", "job_cls", "scheduler_cls"}
    assert (
        arguments - ours - {"extra", "job_kwargs", "base_class_kwargs"} == slurm.OPTIONS.keys() | slurm.OWN_LINES.keys()
    )


def test_options_of_the_right_types_are_taken(monkeypatch):
    monkeypatch.setattr(slurm.shutil, "which", lambda _: "/usr/bin/sbatch")
    options = {"nanny": True, "job_cpu": 4, "death_timeout": 60, "silence_logs": 40, "worker_extra_args": ["--x"]}
    make_slurm(replace(CONFIG, options={**options, "scheduler_options": {"port": 1}}), lambda _: None)


def test_options_are_added_to_what_is_set_here():
    options = {"worker_extra_args": ["--x"], "scheduler_options": {"port": 1}, "log_directory": "logs"}
    given = arguments(replace(CONFIG, options=options))
    assert given["worker_extra_args"] == ["--lifetime", *lifetime("04:00:00"), "--x"]
    assert given["scheduler_options"] == {"dashboard_address": "127.0.0.1:0", "port": 1}
    assert given["log_directory"] == "logs"


def test_a_scheduler_that_cannot_be_started_is_a_sentence(monkeypatch):
    def fails(**_):
        try:
            raise OSError("no\nport")
        except OSError as error:
            raise RuntimeError("Cluster failed to start") from error

    monkeypatch.setattr(slurm, "SLURMCluster", fails)
    with pytest.raises(InputError, match=r"^the scheduler for Slurm cannot be started: no port$"):
        slurm._submit_jobs(CONFIG, lambda _: None, 1)


class Cluster:
    """Keeps what it is asked for."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.calls: list[object] = []
        self.error = error

        self.worker_spec: dict[str, object] = {}
        self.workers: dict[str, SimpleNamespace] = {}
        self.new_spec = "spec"
        self.plugins: list[slurm.Joined] = []
        self.scheduler = SimpleNamespace(add_plugin=self.plugins.append, workers={}, address="tcp://here:1")
        self.numbers = itertools.count(1)

    def _new_worker_name(self, number: int) -> str:
        return f"w-{number}"

    async def _correct_state(self) -> None:
        self.calls.append(sorted(self.worker_spec))
        self.workers = {
            name: self.workers.get(name) or SimpleNamespace(job_id=str(next(self.numbers))) for name in self.worker_spec
        }
        if self.error is not None:
            raise self.error

    def sync(self, function) -> None:
        asyncio.run(function())

    def close(self) -> None:
        self.calls.append("closed")
        raise AssertionError("some jobs never ran")


@pytest.mark.parametrize(
    ("workers", "cores", "jobs"), [(1, 1, 1), (7, 1, 7), (8, 8, 1), (9, 8, 2), (16, 8, 2), (1, 8, 1)]
)
def test_jobs_have_workers_enough(monkeypatch, workers, cores, jobs):
    cluster, messages = Cluster(), []
    monkeypatch.setattr(slurm, "SLURMCluster", lambda **_: cluster)
    monkeypatch.setattr(slurm, "on_cluster", lambda *arguments: arguments)
    config = ClusterConfig(executor="slurm", **({} if cores == 1 else {"cores": cores}))
    made = slurm._submit_jobs(config, messages.append, workers)
    assert made[:3] == (cluster, config, messages.append)
    assert made[3].__self__.count == jobs
    assert cluster.calls == [[f"w-{number}" for number in range(jobs)]]
    assert messages == [f"{jobs} jobs submitted to Slurm, each with {cores} workers"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sbatch: error: first\nsbatch: error: the last one \nstdout: x", "the last one"),
        ("sbatch is not there", "sbatch is not there"),
        ("stderr:\nsbatch: unrecognized option '--x'\nTry \"sbatch --help\"", "unrecognized option '--x'"),
        ("no\nluck", "no luck"),
    ],
)
def test_a_cluster_without_jobs_is_closed(monkeypatch, text, expected):
    cluster = Cluster(RuntimeError(text))
    monkeypatch.setattr(slurm, "SLURMCluster", lambda **_: cluster)
    with pytest.raises(InputError, match=rf"^Slurm does not take the job: {expected}$"):
        slurm._submit_jobs(CONFIG, lambda _: None, 1)
    assert cluster.calls == [["w-0"], "closed"]
    assert cluster.status is Status.closed


def test_a_cluster_is_closed_when_ctrl_c_comes_while_jobs_are_submitted(monkeypatch):
    cluster = Cluster(KeyboardInterrupt())
    monkeypatch.setattr(slurm, "SLURMCluster", lambda **_: cluster)
    with pytest.raises(KeyboardInterrupt):
        slurm._submit_jobs(CONFIG, lambda _: None, 1)
    assert cluster.status is Status.closed


def test_what_sbatch_says_is_passed_on_and_nothing_else_is_said(monkeypatch, tmp_path, caplog):
    sbatch = tmp_path / "sbatch"
    sbatch.write_text("#!/bin/sh\necho 'sbatch: error: invalid partition specified: cpu' >&2\nexit 1\n")
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    config = ClusterConfig(executor="slurm", queue="cpu", interface="lo")
    with pytest.raises(InputError, match=r"^Slurm does not take the job: invalid partition specified: cpu$"):
        make_slurm(config, lambda _: None)(1)
    assert caplog.records == []


def test_ctrl_c_stays_what_it_was_when_the_packages_of_slurm_are_imported():
    """dask-jobqueue has it end the process with 0."""
    script = (
        "import signal; before = signal.getsignal(signal.SIGINT); import nsr.paper.sweep.slurm; "
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


class Queue:
    """The jobs that Slurm has, a reason for all of them if they wait, and a clock."""

    def __init__(self) -> None:
        self.reason = ""
        self.now, self.jobs, self.about = 100.0, list[str](), "JobState=FAILED ExitCode=127:0\n StdOut=/x/slurm-9.out"

    async def call(self, command: list[str]) -> str:
        if command[0] == "scontrol":
            return self.about
        assert "--format=%A %t %r" in command
        return "\n".join(f"{job} PD {self.reason}" if self.reason else f"{job} R None" for job in self.jobs)


@pytest.fixture
def queue(monkeypatch) -> Queue:
    made = Queue()
    monkeypatch.setattr(slurm.SLURMJob, "_call", made.call)
    monkeypatch.setattr(slurm, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


def keep(jobs: slurm.Jobs, queue: Queue, seconds: float = 1000.0) -> None:
    queue.now += seconds
    asyncio.run(jobs.keep())


def test_jobs_that_ended_are_replaced_and_others_stay(queue):
    """dask-jobqueue keeps the jobs in mind that have ended, and submits no others."""
    cluster, messages = Cluster(), []
    jobs = slurm.Jobs(cluster, 2, "/python", messages.append)
    asyncio.run(jobs.submit())
    jobs.joined.names |= {"w-0", "w-1"}
    queue.jobs = ["2"]
    keep(jobs, queue)
    assert sorted(cluster.worker_spec) == ["w-1", "w-2"]
    assert sorted(job.job_id for job in cluster.workers.values()) == ["2", "3"]
    assert messages == []
    queue.jobs = ["2", "3"]
    keep(jobs, queue)
    assert sorted(cluster.worker_spec) == ["w-1", "w-2"]


def test_jobs_that_end_three_times_before_their_workers_join_end_the_sweep_with_a_sentence(queue):
    cluster, messages = Cluster(), []
    jobs = slurm.Jobs(cluster, 2, "/python", messages.append)
    asyncio.run(jobs.submit())
    keep(jobs, queue)
    keep(jobs, queue)
    text = "of Slurm ended before its worker joined (FAILED, exit code 127:0, output in /x/slurm-9.out)"
    assert messages == [f"job {number} {text}; 2 such jobs are submitted again" for number in (2, 4)]
    expected = rf"^job 6 {re.escape(text)}, as others before it: check that /python runs on .* reach tcp://here:1; "
    with pytest.raises(NoWorkersError, match=expected):
        keep(jobs, queue)


def test_early_ends_are_counted_anew_when_a_worker_joins_and_do_not_end_a_sweep_that_has_workers(queue):
    cluster, messages = Cluster(), []
    jobs = slurm.Jobs(cluster, 1, "/python", messages.append)
    asyncio.run(jobs.submit())
    for _ in range(2):
        keep(jobs, queue)
    jobs.joined.names.add("other")
    for _ in range(2):
        keep(jobs, queue)
    cluster.scheduler.workers["other"] = object()
    keep(jobs, queue)
    assert len(messages) == 5


def test_after_early_ends_jobs_are_submitted_less_often(queue):
    cluster = Cluster()
    jobs = slurm.Jobs(cluster, 1, "/python", lambda _: None)
    asyncio.run(jobs.submit())
    keep(jobs, queue)
    keep(jobs, queue, 19)
    assert len(cluster.calls) == 2
    keep(jobs, queue, 1)
    assert len(cluster.calls) == 3


def test_a_worker_of_a_job_with_many_counts_as_joined(queue):
    cluster, messages = Cluster(), []
    jobs = slurm.Jobs(cluster, 1, "/python", messages.append)
    asyncio.run(jobs.submit())
    worker = SimpleNamespace(name="w-0-3")
    cluster.plugins[0].add_worker(SimpleNamespace(workers={"tcp://a": worker}), "tcp://a")
    keep(jobs, queue)
    assert (sorted(cluster.worker_spec), messages) == (["w-1"], [])


def test_jobs_stay_when_slurm_does_not_say_which_there_are_and_refusals_are_reported(queue, monkeypatch):
    cluster, messages = Cluster(), []
    jobs = slurm.Jobs(cluster, 1, "/python", messages.append)
    asyncio.run(jobs.submit())

    async def fails(command):
        raise RuntimeError("Unable to contact slurm controller")

    with monkeypatch.context() as patched:
        patched.setattr(slurm.SLURMJob, "_call", fails)
        keep(jobs, queue)
    assert sorted(cluster.worker_spec) == ["w-0"]
    jobs.joined.names.add("w-0")
    cluster.error = RuntimeError("sbatch: error: too many jobs\n")
    keep(jobs, queue)
    assert messages == ["Slurm does not take a job at present: too many jobs"]


LIMIT = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"


@pytest.mark.parametrize("reason", ["Resources", "Priority", "QOSMaxJobsPerUserLimit", "AssocGrpCpuLimit", LIMIT])
def test_why_jobs_wait_in_a_busy_queue_is_reported_once(queue, reason):
    cluster, messages = Cluster(), []
    jobs = slurm.Jobs(cluster, 2, "/python", messages.append)
    asyncio.run(jobs.submit())
    queue.jobs, queue.reason = ["1", "2", "77"], "None"  # Slurm has not looked at them yet; the last is somebody else's
    keep(jobs, queue)
    assert messages == []
    queue.reason = reason
    for _ in range(9):
        keep(jobs, queue)
    text = "2 of 2 jobs wait in the queue of Slurm, which gives as the reason: "
    assert messages == [text + reason]
    queue.reason = "ReqNodeNotAvail, UnavailableNodes:node7"
    keep(jobs, queue)
    assert messages == [text + reason, text + queue.reason]
    assert len(cluster.calls) == 12


@pytest.mark.parametrize(
    "reason",
    [
        "PartitionConfig",
        "PartitionNodeLimit",
        "PartitionTimeLimit",
        "QOSTimeLimit",
        "BadConstraints",
        "InvalidQOS",
        "AccountNotAllowed",
        "AssocMaxCpuPerJobLimit",
        "QOSMaxMemoryPerJob",
    ],
)
def test_jobs_that_slurm_cannot_start_end_the_sweep_with_its_reason(queue, reason):
    cluster, messages = Cluster(), []
    jobs = slurm.Jobs(cluster, 1, "/python", messages.append)
    asyncio.run(jobs.submit())
    queue.jobs, queue.reason = ["1"], reason
    keep(jobs, queue)
    keep(jobs, queue)
    assert messages == [f"1 of 1 jobs wait in the queue of Slurm, which gives as the reason: {reason}"]
    with pytest.raises(
        NoWorkersError, match=f"^Slurm cannot start the jobs and gives {reason} as the reason: .* kept, and"
    ):
        keep(jobs, queue)


def test_jobs_that_slurm_cannot_start_end_no_sweep_that_has_workers_or_whose_nodes_come_back(queue):
    cluster = Cluster()
    jobs = slurm.Jobs(cluster, 1, "/python", lambda _: None)
    asyncio.run(jobs.submit())
    queue.jobs = ["1"]
    for reasons in ("PartitionConfig", "PartitionConfig", "Resources", "PartitionConfig", "PartitionConfig", ""):
        queue.reason = reasons
        keep(jobs, queue)
    cluster.scheduler.workers["other"] = object()
    queue.reason = "PartitionConfig"
    for _ in range(9):
        keep(jobs, queue)


@pytest.mark.parametrize(("walltime", "expected"), [(None, 600.0), ("04:00:00", 600.0), ("00:01:00", 22.5)])
def test_a_block_takes_at_most_half_of_the_stay_of_a_worker(walltime, expected):
    assert longest_block(walltime) == expected
