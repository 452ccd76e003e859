"""Break a sweep on Dask and Slurm in every way that others have reported, and compare what it stored in the end.

Everything runs on loopback: a scheduler, workers that are started again when they end, as a batch system would do, and
a sweep of blocks of one seed. After each fault the records must be those of a run without faults, byte for byte.

    python benchmarks/cluster_faults.py                       # all faults; exits with 1 if one of them cost a record
    python benchmarks/cluster_faults.py --only kill-worker --times 3
"""

import argparse
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loopback_slurm import PARTITION, Slurm, _free_port, end_process, why_not

COLUMNS = "identity, experiment, revision, cell, recipe, profile, seed, metrics, environment"
"""Of a record, without what it took and when: these must be the same bytes."""
SWEEP = """
import json, sys
from pathlib import Path
from nsr.paper.commands import reproduce
from nsr.paper.sweep import run
from nsr.paper.sweep.choice import choose_executor
from nsr.paper.sweep.cluster_config import read_config

def report(text):
    print(text, file=sys.stderr, flush=True)

if __name__ == "__main__":
    out, config, request = Path(sys.argv[1]), read_config(Path(sys.argv[2])), json.loads(sys.argv[3])
    if sys.argv[4:]:
        import cluster_faults
        run.run_item = getattr(cluster_faults, sys.argv[4])
    result = reproduce(**request, workers=2, out=out, make_executor=choose_executor(config, report))
    sys.exit(1 if result.failed else 0)
"""
REQUEST = {
    "names": ["comparisons"],
    "profile": "quick",
    "recipe": "paper",
    "seeds": 40,
    "only": {"model": ["nsr"]},
    "block": 1,
}
"""240 blocks of one seed."""
SILENCE = 10
"""Seconds without a heartbeat after which a worker is lost; on a busy machine a few are nothing unusual."""
LIMIT = 1800.0
"""Seconds after which a sweep that has not ended is one that hangs."""


def hang_once(item):  # type: ignore[no-untyped-def]
    """Run an item, but hang when the first one of all comes for the first time. Runs on a worker."""
    from nsr.paper.sweep.worker import run_item

    try:
        with Path(os.environ["NSR_HANG"]).open("x"):
            pass
    except FileExistsError:
        return run_item(item)
    time.sleep(3600)
    return []


def run_slowly(item):  # type: ignore[no-untyped-def]
    """Run an item after a second, so that a sweep lasts longer than a walltime. Runs on a worker."""
    from nsr.paper.sweep.worker import run_item

    time.sleep(1)
    return run_item(item)


@contextmanager
def connected(out: Path) -> Iterator[sqlite3.Connection]:
    """The store of a folder, to read."""
    with closing(sqlite3.connect(f"file:{out / 'nsr.sqlite'}?mode=ro", uri=True, timeout=20)) as connection:
        yield connection


def records(out: Path) -> list[tuple]:
    """What a folder holds, in the order of the identities."""
    with connected(out) as connection:
        return connection.execute(f"SELECT {COLUMNS} FROM results ORDER BY identity").fetchall()


def count(out: Path) -> int:
    """How many records there are by now."""
    try:
        with connected(out) as connection:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def child_processes(parent: int) -> list[int]:
    """The Dask workers among the children of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == parent:
                found += [int(entry.name)] if b"spawn_main" in (entry / "cmdline").read_bytes() else []
        except OSError:
            continue
    return found


class Loopback:
    """A scheduler, workers that are started again when they end, and a sweep; all of it ends with this object."""

    def __init__(
        self, folder: Path, *, workers: int = 2, worker_options: Sequence[str] = (), function: str | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.options, self.function = folder, list(worker_options), function
        self.port = _free_port()
        self.environment = with_functions({**os.environ, "NSR_HANG": str(folder / "hung"), "OMP_NUM_THREADS": "1"})
        self.config = folder / "cluster.toml"
        self.config.write_text(
            f'[cluster]\nexecutor = "dask"\nscheduler = "tcp://127.0.0.1:{self.port}"\n'
            f"silence = {SILENCE}\nhang = {20 if function == 'hang_once' else 600}\npatience = 60\n"
        )
        self.log = (folder / "log.txt").open("ab")
        self.restarts = 0
        self._stopping = threading.Event()
        self.scheduler = self._start_scheduler()
        self.workers = [self._start_worker() for _ in range(workers)]
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    def __enter__(self) -> "Loopback":
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._supervisor.join()
        for process in [*self.workers, self.scheduler]:
            stop(process)
        self.log.close()

    def _start_scheduler(self) -> subprocess.Popen[bytes]:
        return self._dask("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def _start_worker(self) -> subprocess.Popen[bytes]:
        fixed = (
            "--host",
            "127.0.0.1",
            "--nthreads",
            "1",
            "--memory-limit",
            "0",
            "--no-dashboard",
            "--death-timeout",
            "60",
        )
        local = ("--local-directory", str(self.folder / "space"))
        return self._dask("worker", f"tcp://127.0.0.1:{self.port}", *fixed, *local, *self.options)

    def _dask(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words]
        return subprocess.Popen(command, env=self.environment, stdout=self.log, stderr=self.log, start_new_session=True)

    def _supervise(self) -> None:
        while not self._stopping.wait(0.2):
            if self.scheduler.poll() is not None:
                self.scheduler = self._start_scheduler()
            for number, worker in enumerate(self.workers):
                if worker.poll() is not None:
                    self.restarts += 1
                    self.workers[number] = self._start_worker()

    def sweep(self, out: Path) -> subprocess.Popen[bytes]:
        """Start the parent."""
        return start_sweep(out, self.config, self.environment, self.log, function=self.function)

    def worker_process(self, rng: random.Random) -> int | None:
        """The process of a worker, below its nanny."""
        found = [child for worker in self.workers for child in child_processes(worker.pid)]
        return rng.choice(found) if found else None


def with_functions(environment: dict[str, str]) -> dict[str, str]:
    """An environment in which the functions of this file can be imported."""
    paths = [str(Path(__file__).resolve().parent), environment.get("PYTHONPATH", "")]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def start_sweep(out: Path, config: Path, environment: dict[str, str], log, *, function=None, request=None):  # type: ignore[no-untyped-def]
    """Start the parent of a sweep; ``function`` is one of this file that runs the items."""
    words = [str(out), str(config), json.dumps(request or REQUEST), *([function] if function else [])]
    return subprocess.Popen([sys.executable, "-c", SWEEP, *words], env=environment, stdout=log, stderr=log)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that was started here, and what it started."""
    children = child_processes(process.pid)
    end_process(process)
    for child in children:
        try:
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(child, signal.SIGKILL)
        except OSError:
            continue


def finish(process: subprocess.Popen[bytes]) -> int:
    """Wait for a sweep to end; one that hangs is ended and counts as failed."""
    try:
        return process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return -1


def during(process: subprocess.Popen[bytes], out: Path, times: int, act: Callable[[], bool], total: int) -> int:
    """Act while the sweep runs, spread over its records; returns how often ``act`` did something."""
    acted = 0
    while process.poll() is None and acted < times:
        if count(out) > acted * total * 0.8 / times and act():
            acted += 1
        time.sleep(0.05)
    return acted


@dataclass(frozen=True)
class Result:
    """What became of a fault."""

    fault: str
    times: int
    lost: int
    """How often the sweep reported a lost worker or scheduler."""
    restarts: int
    """Of the scheduler's workers, or jobs of Slurm after the first two."""
    seconds: float
    code: int
    records: int
    same: bool

    def __str__(self) -> str:
        verdict = f"same {self.records} records" if self.same and not self.code else "DIFFERENT"
        return (
            f"{self.fault:16} {self.times:3} times, {self.lost:2} losses reported, {self.restarts:2} restarts, "
            f"{self.seconds:5.0f} s: {verdict}"
        )


def losses(log: Path) -> int:
    """How often a sweep reported that it lost something."""
    text = log.read_text(errors="replace")
    return text.count("blocks run again") + text.count("is lost; waiting")


def kill_worker(at: Loopback, out: Path, times: int, total: int, rng: random.Random) -> tuple[int, int]:
    """kill -9 of the process of a worker; its nanny starts another."""
    process = at.sweep(out)

    def act() -> bool:
        child = at.worker_process(rng)
        if child is None:
            return False
        time.sleep(rng.uniform(0, 0.3))
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    return during(process, out, times, act, total), finish(process)


def kill_nanny(at: Loopback, out: Path, times: int, total: int, rng: random.Random) -> tuple[int, int]:
    """kill -9 of a worker with its nanny, as when a machine is lost."""
    process = at.sweep(out)

    def act() -> bool:
        worker = rng.choice(at.workers)
        if worker.poll() is not None or not child_processes(worker.pid):
            return False
        os.killpg(worker.pid, signal.SIGKILL)
        return True

    return during(process, out, times, act, total), finish(process)


def kill_scheduler(at: Loopback, out: Path, times: int, total: int, rng: random.Random) -> tuple[int, int]:
    """kill -9 of the scheduler, with all that it knew."""
    process = at.sweep(out)

    def act() -> bool:
        time.sleep(rng.uniform(0, 0.3))
        at.scheduler.kill()
        time.sleep(3)
        return True

    return during(process, out, times, act, total), finish(process)


def kill_parent(at: Loopback, out: Path, times: int, total: int, rng: random.Random) -> tuple[int, int]:
    """kill -9 of the sweep itself, and the same command again."""
    for number in range(times):
        process = at.sweep(out)
        while process.poll() is None and count(out) <= number * total * 0.8 / times:
            time.sleep(0.05)
        time.sleep(rng.uniform(0, 0.5))
        process.kill()
        process.wait()
    return times, finish(at.sweep(out))


def stop_worker(at: Loopback, out: Path, times: int, total: int, rng: random.Random) -> tuple[int, int]:
    """SIGSTOP of a worker and its nanny: to the others its network is gone. It goes on after three times the limit."""
    stopped = 3 * SILENCE
    process = at.sweep(out)

    def act() -> bool:
        worker = rng.choice(at.workers)
        if worker.poll() is not None or not child_processes(worker.pid):
            return False
        os.killpg(worker.pid, signal.SIGSTOP)
        threading.Timer(stopped, go_on, (worker.pid,)).start()
        time.sleep(2 * SILENCE)
        return True

    return during(process, out, times, act, total), finish(process)


def go_on(group: int) -> None:
    """Let processes that were stopped run again, if they have not ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGCONT)


def hang_worker(at: Loopback, out: Path, times: int, total: int, rng: random.Random) -> tuple[int, int]:  # noqa: ARG001
    """An item that does not come to an end on its first worker."""
    return 1, finish(at.sweep(out))


def lifetime(at: Loopback, out: Path, times: int, total: int, rng: random.Random) -> tuple[int, int]:  # noqa: ARG001
    """Workers that leave after some seconds, over and over."""
    before = at.restarts
    code = finish(at.sweep(out))
    return at.restarts - before, code


FAULTS: dict[str, tuple[Callable[..., tuple[int, int]], int, dict]] = {
    "kill-worker": (kill_worker, 20, {}),
    "kill-nanny": (kill_nanny, 5, {}),
    "kill-scheduler": (kill_scheduler, 3, {}),
    "kill-parent": (kill_parent, 5, {}),
    "network": (stop_worker, 2, {}),
    "hang": (hang_worker, 1, {"function": "hang_once"}),
    "lifetime": (
        lifetime,
        1,
        {"function": "run_slowly", "worker_options": ("--lifetime", "20s", "--lifetime-stagger", "4s")},
    ),
}


def try_fault(name: str, expected: list[tuple], folder: Path, *, times: int | None = None, seed: int = 0) -> Result:
    """One fault, as often as it says, in a sweep of its own."""
    act, usual, options = FAULTS[name]
    began, out = time.monotonic(), folder / name / "runs"
    with Loopback(folder / name, **options) as at:
        done, code = act(at, out, times or usual, len(expected), random.Random(seed))
        restarts = at.restarts
    found, seconds = records(out), round(time.monotonic() - began, 1)
    return Result(name, done, losses(folder / name / "log.txt"), restarts, seconds, code, len(found), found == expected)


SLURM_FAULTS = {
    "scancel": "",
    "slurm-lifetime": 'walltime = "00:01:00"\nskip_directives = ["--mem"]',
    "slurm-walltime": 'directives = ["--time=00:01:00"]\nskip_directives = ["--mem", "-t"]',
}
"""Lines of the cluster file. Workers of the second leave before the walltime; those of the third do not know it, and
Slurm ends their jobs."""


def slurm_config(folder: Path, lines: str = "", silence: float = SILENCE) -> Path:
    """A file for a sweep on the loopback Slurm."""
    file = folder / "slurm.toml"
    lines = lines or 'skip_directives = ["--mem"]'
    file.write_text(
        f'[cluster]\nexecutor = "slurm"\nqueue = "{PARTITION}"\ninterface = "lo"\nmemory = "1GB"\n{lines}\n'
        f'silence = {silence}\n[cluster.options]\nlog_directory = "{folder}"\n'
    )
    return file


def try_slurm(name: str, expected: list[tuple], folder: Path, *, times: int = 3) -> Result:
    """scancel of jobs, or a walltime of a minute, in a sweep on a Slurm of one node that lasts more than two."""
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    began, out, cancelled = time.monotonic(), folder / "runs", set[str]()
    with ExitStack() as stack:
        slurm = stack.enter_context(Slurm(folder / "slurm"))
        log = stack.enter_context((folder / "log.txt").open("ab"))
        config = slurm_config(folder, SLURM_FAULTS[name])
        function = None if name == "scancel" else "run_slowly"
        process = start_sweep(out, config, with_functions(slurm.environment), log, function=function)
        seen = set[str]()

        def act() -> bool:
            seen.update(jobs := slurm.jobs())
            fresh = [job for job in jobs if job not in cancelled]
            if not fresh:
                return False
            cancelled.add(fresh[0])
            slurm.call("scancel", fresh[0])
            return True

        if name == "scancel":
            during(process, out, times, act, len(expected))
        while process.poll() is None and time.monotonic() - began < LIMIT:
            seen.update(slurm.jobs())
            time.sleep(1)
        code = finish(process)
    found, restarts = records(out), len(seen) - 2
    times, seconds = len(cancelled) if name == "scancel" else restarts, round(time.monotonic() - began, 1)
    return Result(name, times, losses(folder / "log.txt"), restarts, seconds, code, len(found), found == expected)


def undisturbed(folder: Path, request: dict | None = None) -> list[tuple]:
    """The records of a run on this machine without faults."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "local.toml"
    config.write_text('[cluster]\nexecutor = "local"\n')
    with (folder / "log.txt").open("ab") as log:
        process = start_sweep(folder / "runs", config, dict(os.environ), log, request=request)
        if finish(process):
            raise RuntimeError((folder / "log.txt").read_text())
    return records(folder / "runs")


def main() -> None:
    """Print a line for each fault."""
    names = [*FAULTS, *SLURM_FAULTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--times", type=int, help="how often, instead of the usual number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="append a line for each fault")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = undisturbed(folder / "undisturbed")
        print(f"undisturbed: {len(expected)} records", flush=True)
        for fault in options.only:
            if fault in SLURM_FAULTS and (reason := why_not()):
                print(f"{fault:16} left out: {reason}", flush=True)
                continue
            if fault in SLURM_FAULTS:
                result = try_slurm(fault, expected, folder, times=options.times or 3)
            else:
                result = try_fault(fault, expected, folder, times=options.times, seed=options.seed)
            results.append(result)
            print(result, flush=True)
            if options.json:
                with options.json.open("a") as file:
                    file.write(json.dumps(result.__dict__) + "\n")
            if not result.same or result.code:
                print((folder / fault / "log.txt").read_text(errors="replace")[-3000:])
    sys.exit(0 if all(result.same and not result.code for result in results) else 1)


if __name__ == "__main__":
    main()
