"""Feed every loader with damaged and hostile files: no traceback, no hang, no more memory than a limit.

Inputs are mutations of good files and follow from the seed, the loader and a number alone. They are loaded in worker
processes, each input in at most 10 seconds and 1 GB; a worker that takes longer is killed.

    python benchmarks/attack.py                    # all inputs; exits with 1 if anything was found
    python benchmarks/attack.py --share 0.05       # fewer of each
    python benchmarks/attack.py --only store --keep runs/found
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from attack_loaders import LOADERS, Loader
from attack_mutations import mutate
from spread import add_options, config_of, spread

from nsr.paper.sweep.environment import environment

SECONDS, MEGABYTES = 10.0, 1000
"""The most that one input may take; seconds are those of the CPU, as the machine may have other work."""
ASLEEP = 300.0
"""Seconds after which an input that takes no CPU counts as hanging."""
MOST = 3000
"""Megabytes at which a worker is killed at once, so that the machine survives."""


@dataclass(frozen=True)
class Outcome:
    """What became of one input: loaded, refused, traceback, over memory, hang or crash."""

    loader: str
    number: int
    kind: str
    detail: str = ""
    seconds: float = 0.0
    """Of CPU."""
    megabytes: float = 0.0
    """More than before it."""


@dataclass
class Tally:
    """Counts of outcomes by loader, and what was found."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    found: list[Outcome] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """Of CPU, for all inputs of a loader."""
    slowest: dict[str, float] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        name = outcome.loader
        self.counts.setdefault(name, Counter())[outcome.kind] += 1
        self.seconds[name] = self.seconds.get(name, 0.0) + outcome.seconds
        self.slowest[name] = max(self.slowest.get(name, 0.0), outcome.seconds)
        self.largest[name] = max(self.largest.get(name, 0.0), outcome.megabytes)
        if outcome.kind not in ("loaded", "refused"):
            self.found.append(outcome)

    def total(self, *kinds: str) -> int:
        """Inputs of these kinds; of all by default."""
        return sum(n for counts in self.counts.values() for kind, n in counts.items() if not kinds or kind in kinds)

    def lines(self) -> Iterator[str]:
        """The counts as a table."""
        for name, counts in self.counts.items():
            yield f"{name:14} {counts.total():6,}  " + ", ".join(f"{n:,} {kind}" for kind, n in sorted(counts.items()))
        yield (
            f"{self.total():,} inputs: {self.total('traceback', 'crash')} tracebacks, {self.total('hang')} hangs over "
            f"{SECONDS:g} s, {self.total('over memory')} over {MEGABYTES:,} MB"
        )


def content_of(loader: Loader, number: int, seed: int) -> bytes:
    """An input; the first ones are the good files themselves and those that were written by hand."""
    given = [*loader.samples, *loader.hostile]
    if number < len(given):
        return given[number]
    rng = random.Random(f"{seed} {loader.name} {number}")
    return loader.change(loader.samples, rng) if loader.change else mutate(loader.samples, loader.tokens, rng)


def work(connection: Connection, seed: int) -> None:
    """Load what the other end asks for, and answer with an outcome."""
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        while (job := connection.recv()) is not None:
            loader, number = LOADERS[job[0]], job[1]
            folder = Path(name) / "input"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            content = content_of(loader, number, seed)
            memory, seconds = _reset_peak(), _cpu_seconds()
            kind, detail = _load(loader, folder, content)
            megabytes = (_peak() - memory) / 1000
            if megabytes > MEGABYTES:
                kind, detail = "over memory", f"{megabytes:.0f} MB"
            connection.send(Outcome(loader.name, number, kind, detail, _cpu_seconds() - seconds, megabytes))


def _cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _load(loader: Loader, folder: Path, content: bytes) -> tuple[str, str]:
    from nsr.errors import FailedError, InputError

    try:
        loader.load(folder, content)
    except (InputError, FailedError) as error:
        text = str(error)
        return ("refused", "") if len(text) < 1000 and text else ("traceback", f"an error of {len(text)} characters")
    except OSError as error:
        return ("refused", "") if error.filename else ("traceback", traceback.format_exc())
    except MemoryError:
        return "over memory", traceback.format_exc()
    except BaseException:
        return "traceback", traceback.format_exc()
    return "loaded", ""


def _reset_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """The most memory in use since the last reset, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


class Worker:
    """A process that loads inputs, one at a time."""

    def __init__(self, seed: int) -> None:
        self.connection, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=work, args=(theirs, seed), daemon=True)
        self.process.start()
        theirs.close()
        self.job: tuple[str, int] | None = None
        self.began = self.cpu_before = 0.0
        self.started = False

    def give(self, job: tuple[str, int] | None) -> None:
        """Send a job; None ends it."""
        self.job, self.began, self.cpu_before = job, time.monotonic(), self.cpu()
        self.connection.send(job)

    def is_late(self) -> bool:
        """Whether its input takes too long; its first input may wait for imports."""
        more = 0 if self.started else 60
        return self.cpu() - self.cpu_before > SECONDS + more or time.monotonic() - self.began > ASLEEP + more

    def cpu(self) -> float:
        """Seconds of CPU that the process has taken."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_too_large(self) -> bool:
        """Whether it holds so much memory that it must be killed."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except OSError:
            return False
        return pages * resource.getpagesize() > MOST * 10**6

    def stop(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def attack(
    jobs: Sequence[tuple[str, int]],
    *,
    seed: int,
    workers: int = 2,
    on_outcome: Callable[[Outcome], None] = lambda _: None,
) -> Tally:
    """Load all inputs, each named by its loader and its number."""
    for name in {name for name, _ in jobs}:
        _ = LOADERS[name].samples  # a mistake in one of them would end every worker
    tally, queue = Tally(), list(reversed(jobs))
    running = [Worker(seed) for _ in range(min(workers, len(queue)))]
    for worker in running:
        worker.give(queue.pop())
    while running:
        ready = wait([worker.connection for worker in running], timeout=0.2)
        for worker in list(running):
            outcome: Any = None
            if worker.connection in ready:
                try:
                    outcome = worker.connection.recv()
                    worker.started = True
                except EOFError:
                    worker.process.join()
                    outcome = Outcome(*worker.job, "crash", f"the worker ended with {worker.process.exitcode}")
            elif worker.is_late():
                outcome = Outcome(*worker.job, "hang")
            elif worker.is_too_large():
                outcome = Outcome(*worker.job, "over memory", "killed")
            if outcome is None:
                continue
            tally.add(outcome)
            on_outcome(outcome)
            if outcome.kind in ("crash", "hang") or outcome.detail == "killed":
                worker.stop()
                running.remove(worker)
                worker = Worker(seed)
                running.append(worker)
            if queue:
                worker.give(queue.pop())
            else:
                worker.stop()
                running.remove(worker)
    return tally


def attack_elsewhere(
    config: Any, jobs: Sequence[tuple[str, int]], *, seed: int, workers: int, on_outcome: Callable[[Outcome], None]
) -> Tally:
    """The same on a cluster: a worker gets a hundred inputs at a time, and loads them in processes of its own."""
    shares = [tuple(jobs[start : start + 100]) for start in range(0, len(jobs), 100)]
    tally = Tally()
    for (_, share, _), found in spread(config, workers, run_share, [(__file__, share, seed) for share in shares]):
        if isinstance(found, BaseException):
            found = [(*share[0], "crash", f"and the {len(share)} inputs from here on: {found}")]
        for each in found:
            tally.add(outcome := Outcome(*each))
            on_outcome(outcome)
    return tally


def run_share(script: str, share: Sequence[tuple[str, int]], seed: int) -> list[list[Any]]:
    """Load some inputs in a process of its own, whose children may be killed. Runs on a worker."""
    import json
    import subprocess
    import sys

    command = [sys.executable, script, "--seed", str(seed), "--workers", "1", "--share-of-inputs", json.dumps(share)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def print_share(share: str, seed: int) -> None:
    """Print the outcome of each of some inputs as a line of JSON."""

    def on_outcome(outcome: Outcome) -> None:
        print(json.dumps(list(asdict(outcome).values())), flush=True)

    attack([(name, number) for name, number in json.loads(share)], seed=seed, workers=1, on_outcome=on_outcome)


def commit() -> str:
    """The commit of the code, with a "+" if files differ from it; "" where there is no repository."""
    asked = (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
    run = partial(subprocess.run, cwd=Path(__file__).parent, capture_output=True, check=False, text=True)
    head, changed = (run(["git", *words]).stdout.strip() for words in asked)
    return f"{head}+" if changed else head


def jobs_of(names: Sequence[str], share: float) -> list[tuple[str, int]]:
    """A share of the inputs of each loader, in an order in which every part of an attack has some of each."""
    jobs = [(name, number) for name in names for number in range(max(1, round(share * LOADERS[name].inputs)))]
    random.Random(0).shuffle(jobs)
    return jobs


def main() -> None:
    """Print the counts and what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=LOADERS, default=list(LOADERS))
    parser.add_argument("--number", type=int, help="only this input")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="write the inputs that were found into this folder")
    parser.add_argument("--json", type=Path, help="append the counts as a line")
    parser.add_argument("--share-of-inputs", help=argparse.SUPPRESS)
    add_options(parser)
    options = parser.parse_args()
    if options.share_of_inputs:
        print_share(options.share_of_inputs, options.seed)
        return
    began = time.monotonic()
    jobs = jobs_of(options.only, options.share)
    if options.number is not None:
        jobs = [(name, options.number) for name in options.only]

    done: list[Outcome] = []

    def on_outcome(outcome: Outcome) -> None:
        done.append(outcome)
        if len(done) % 1000 == 0:
            print(f"{len(done):,} of {len(jobs):,}", file=sys.stderr, flush=True)
        if outcome.kind in ("loaded", "refused"):
            return
        print(f"{outcome.loader} {outcome.number}: {outcome.kind}\n{outcome.detail[-3000:]}", flush=True)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            content = content_of(LOADERS[outcome.loader], outcome.number, options.seed)
            (options.keep / f"{outcome.loader}-{outcome.number}").write_bytes(content)

    config = config_of(options, longest=100 * ASLEEP)
    run = attack if config is None else partial(attack_elsewhere, config)
    try:
        run(jobs, seed=options.seed, workers=options.workers, on_outcome=on_outcome)
    except KeyboardInterrupt:
        print(f"interrupted after {len(done):,} of {len(jobs):,} inputs")
    tally = Tally()
    for outcome in sorted(done, key=lambda each: options.only.index(each.loader)):
        tally.add(outcome)
    print(*tally.lines(), sep="\n")
    minutes = round((time.monotonic() - began) / 60, 1)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_minutes = round((cpu.ru_utime + cpu.ru_stime) / 60, 1)
    print(f"seed {options.seed}, {minutes} minutes, {cpu_minutes} of CPU")
    if options.json:
        record = {
            "seed": options.seed,
            "commit": commit(),
            "minutes": minutes,
            "cpu_minutes": cpu_minutes,
            "inputs": tally.total(),
            "planned": len(jobs),
            "found": len(tally.found),
            "counts": tally.counts,
            "cpu_seconds": {name: round(each, 1) for name, each in tally.seconds.items()},
            "slowest_seconds": {name: round(each, 2) for name, each in tally.slowest.items()},
            "largest_megabytes": {name: round(each) for name, each in tally.largest.items()},
            "environment": json.loads(environment()),
        }
        with options.json.open("a") as file:
            file.write(json.dumps(record) + "\n")
    sys.exit(1 if tally.found or len(done) < len(jobs) else 0)


if __name__ == "__main__":
    main()
