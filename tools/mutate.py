"""Change one expression of the code at a time and see whether a test fails: the mutation score of a random sample.

A mutant that no test notices has survived: either a test is missing, or the mutant computes the same, which has to be
judged by reading it. Each mutant runs in a copy of the sources, so that nothing here is touched, and only the tests
run that reach the changed line, the quick ones first: a coverage map, collected once, names them. Tests of `make test`
alone count, those of a PostgreSQL server do not, and those of a mutant end after ``--budget`` seconds of them, so the
score is a lower bound.

    python tools/mutate.py --sample 150 --json runs/mutants.jsonl            # of all parts below
    python tools/mutate.py --parts reading program --sample 20 --seed 1
    python tools/mutate.py --again runs/mutants.jsonl --json runs/again.jsonl   # its survivors, after a new test
    python tools/mutate.py --sample 60 --seed 1 --without runs/mutants.jsonl --json runs/fresh.jsonl
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from mutants import Mutant, mutants  # noqa: E402

PARTS = {
    "nn": "nn",
    "training": "training.py",
    "reading": "reading",
    "program": "program",
    "sweep": "paper/sweep",
}
"""What is changed, below src/nsr."""
TESTS = ("nn", "reading", "program", "paper/sweep", "native", "paper/test_commands.py", "learn")
TESTS += tuple(f"test_{name}.py" for name in ("training", "ensemble", "adam", "minibatches", "doctests", "errors"))
"""What may notice, below tests."""
LOADED = ("torch", "numpy", "pandas", "scipy.optimize", "hypothesis.strategies", "jaxtyping", "beartype")
"""Imported once, before processes are forked for the mutants; the package itself is not."""
WORK = ROOT / "runs" / "mutants"
"""The copy of the sources, with its bytecode, and the coverage map, for the next time."""
OPTIONS = ["-q", "-x", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported already


@dataclass(frozen=True)
class Limits:
    """Bounds on the tests of one mutant."""

    budget: float
    """Seconds that they take without the change."""

    def cpu(self, seconds: float) -> float:
        """CPU seconds after which tests that usually take so long are stopped: the change made a loop endless."""
        return 3 * seconds + 20

    def wall(self, seconds: float) -> float:
        """Likewise, for a process that waits."""
        return 8 * seconds + 60


class Covered:
    """Pytest plugin: which lines each test runs, and how long it takes."""

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage
        self.seconds: dict[str, float] = {}
        self.others: set[str] = set()
        """Tests that do not pass: one that fails without a change would notice every one."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run one test in its own context."""
        self.coverage.switch_context(item.nodeid)
        began = time.perf_counter()
        result = yield
        self.seconds[item.nodeid] = time.perf_counter() - began
        self.coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what does not pass."""
        if not report.passed:
            self.others.add(report.nodeid)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what needs a server."""
        items[:] = [item for item in items if "postgres" not in getattr(item, "fixturenames", ())]


class Chosen:
    """Pytest plugin: run these tests in this order, and keep the name of the first that fails."""

    def __init__(self, names: Sequence[str], folder: Path) -> None:
        self.rank = {name: number for number, name in enumerate(names)}
        self.folder = folder
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select and sort."""
        items[:] = sorted((item for item in items if item.nodeid in self.rank), key=lambda item: self.rank[item.nodeid])
        assert str(sys.modules["nsr"].__file__).startswith(str(self.folder)), "the tests would run the unchanged code"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a failure."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Likewise where a module of tests cannot even be imported."""
        if report.failed and not self.failed:
            self.failed = f"import of {report.nodeid}"


def in_child(work: Any, folder: Path, cpu: float, wall: float) -> tuple[Any, str]:
    """What a function returns in a forked process that imports the package from a folder; None and why if it ended."""
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 5))
        log = os.open(folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.path.insert(0, str(folder))
        os.environ["PYTHONPATH"] = str(folder)
        try:
            answer.write_text(json.dumps(work()))
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(0)
    began = time.monotonic()
    ended, status = 0, 0
    while not ended and time.monotonic() - began - _seconds_in_queue(child) < wall:
        time.sleep(0.05)
        ended, status = os.waitpid(child, os.WNOHANG)
    _end_group(child)
    if not ended:
        os.waitpid(child, 0)
        return None, "time ran out"
    if os.WIFSIGNALED(status):
        return None, "time ran out" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "crash"
    return (json.loads(answer.read_text()), "") if answer.exists() else (None, "crash")


def _seconds_in_queue(process: int) -> float:
    """How long a process could have run but for others: on a busy machine that is most of the time."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _end_group(group: int) -> None:
    """End what a child has started and left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def copy_sources(folder: Path) -> None:
    """The package in a folder; files that are the same stay, with their bytecode."""
    package = ROOT / "src" / "nsr"
    for path in (folder / "nsr").rglob("*.py"):
        if not (package / path.relative_to(folder / "nsr")).exists():
            path.unlink()
    for path in package.rglob("*"):
        target = folder / "nsr" / path.relative_to(package)
        if path.is_file() and "__pycache__" not in path.parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != path.read_bytes():
                shutil.copy2(path, target)
            else:
                shutil.copystat(path, target)


# The coverage map: for each file of tests the tests with their seconds, and for each line of the sources its tests.


def coverage_map(folder: Path) -> dict[str, Any]:
    """The map of all files of tests; those that have not changed since the last time are not run again."""
    kept = folder.parent / "map.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    sources = _digest(sorted((ROOT / "src" / "nsr").rglob("*.py")))
    if known.get("sources") != sources:
        known = {"sources": sources, "tests": {}}
    for path in _files_of_tests():
        name = str(path.relative_to(ROOT))
        digest = _digest([path])
        if known["tests"].get(name, {}).get("digest") == digest:
            continue
        began = time.perf_counter()
        found, why = in_child(lambda name=name: _trace(name, folder), folder, 900, 900)
        if found is None:
            print(f"{name}: no map: {why}", flush=True)
            found = {"seconds": {}, "lines": {}}
        known["tests"][name] = found | {"digest": digest}
        print(f"{name}: {len(found['seconds'])} tests, {time.perf_counter() - began:.1f} s", flush=True)
        kept.write_text(json.dumps(known))
    return known["tests"]


def _files_of_tests() -> Iterator[Path]:
    for name in TESTS:
        place = ROOT / "tests" / name
        yield from [place] if place.is_file() else sorted(place.rglob("test_*.py"))


def _digest(files: Iterable[Path]) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _trace(name: str, folder: Path) -> dict[str, Any]:
    os.environ["COVERAGE_CORE"] = "ctrace"
    from coverage import Coverage

    coverage = Coverage(data_file=None, config_file=False, include=[f"{folder}/nsr/*"], messages=False)
    plugin = Covered(coverage)
    coverage.start()
    pytest.main([option for option in OPTIONS if option != "-x"] + [name], plugins=[plugin])
    coverage.stop()
    data = coverage.get_data()
    seconds = {test: value for test, value in plugin.seconds.items() if test not in plugin.others}
    order = {test: number for number, test in enumerate(seconds)}
    lines: dict[str, dict[int, list[int]]] = {}
    for file in data.measured_files():
        by_line = data.contexts_by_lineno(file)
        lines[str(Path(file).relative_to(folder / "nsr"))] = {
            line: [order[test] for test in tests if test in order] for line, tests in by_line.items()
        }
    return {"seconds": seconds, "lines": lines}


def tests_for(mutant: Mutant, known: Mapping[str, Any], budget: float) -> tuple[list[str], list[str], float]:
    """The tests that reach a mutant: those of the file of the same name, the others, and their seconds without it.

    A line that the import runs is reached by every test of its file. What no test reaches in this process may run in
    another one: then all tests of the file of the same name count.
    """
    own = str(Path("tests") / Path(mutant.file).parent / f"test_{Path(mutant.file).name}")
    reached: dict[str, set[int]] = {}
    for name, each in known.items():
        lines = each["lines"].get(mutant.file, {})
        wanted = range(mutant.first, mutant.last + 1) if mutant.in_function else lines
        reached[name] = {test for line in wanted for test in lines.get(str(line), ())}
    if not any(reached.values()) and own in known:
        reached[own] = set(range(len(known[own]["seconds"])))
    chosen: dict[str, list[str]] = {}
    total = 0.0

    def cost(name: str) -> float:
        seconds = list(known[name]["seconds"].values())
        return sum(seconds[test] for test in reached[name])

    for name in sorted((name for name in reached if reached[name]), key=lambda name: (name != own, cost(name))):
        tests = list(known[name]["seconds"])
        for test in sorted((tests[number] for number in reached[name]), key=known[name]["seconds"].get):
            if total + known[name]["seconds"][test] > budget:
                break
            total += known[name]["seconds"][test]
            chosen.setdefault(name, []).append(test)
    first = chosen.pop(own, [])
    return first, [test for tests in chosen.values() for test in tests], total


# One mutant.


def outcome(mutant: Mutant, known: Mapping[str, Any], folder: Path, limits: Limits) -> tuple[str, str]:
    """Whether it was killed or survived, or no test reaches it; and which test failed."""
    first, others, seconds = tests_for(mutant, known, limits.budget)
    if not first and not others:
        return "not reached", ""
    target = folder / "nsr" / mutant.file
    source, times = target.read_bytes(), target.stat()
    target.write_bytes(mutant.applied(source))
    os.utime(target, (times.st_atime, times.st_mtime + 1000))  # so that the bytecode of the original does not count
    try:
        for tests in (first, others):
            if tests:
                bounds = limits.cpu(seconds), limits.wall(seconds)
                failed, why = in_child(lambda tests=tests: _run(tests, folder), folder, *bounds)
                if failed or failed is None:
                    return "killed", failed or why
    finally:
        target.write_bytes(source)
        os.utime(target, (times.st_atime, times.st_mtime))
    return "survived", ""


def _run(tests: Sequence[str], folder: Path) -> str:
    """The first test that fails."""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    plugin = Chosen(tests, folder)
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    code = pytest.main([*OPTIONS, *files], plugins=[plugin])
    return plugin.failed or ("" if code in (0, 5) else f"pytest ends with {code}")


def score(records: Sequence[Mapping[str, Any]]) -> str:
    """Killed of those that are not equivalent, in all and for each part."""
    from nsr.paper.cells import wilson

    lines = []
    for part in (None, *PARTS):
        counted = [r for r in records if part in (None, r["part"]) and not r.get("equivalent")]
        if counted:
            killed = sum(record["outcome"] == "killed" for record in counted)
            low, high = wilson(killed, len(counted))
            share = f"{killed / len(counted):.3f} (95 % interval {low:.3f} to {high:.3f})"
            lines.append(f"{part or 'all'}: killed {killed} of {len(counted)}: {share}")
    return "\n".join(lines)


def drawn(
    parts: Sequence[str], sample: int, seed: int, left_out: Sequence[Mapping[str, Any]]
) -> list[tuple[str, Mutant]]:
    """As many mutants of each part, or all that a part has."""
    seen = {(r["file"], r["before"], r["after"], r["start"]) for r in left_out}
    found = []
    for number, part in enumerate(parts):
        package = ROOT / "src" / "nsr"
        place = package / PARTS[part]
        files = [place] if place.is_file() else sorted(place.rglob("*.py"))
        every = [each for file in files for each in mutants(file, package)]
        fresh = [each for each in every if (each.file, each.before, each.after, each.start) not in seen]
        random.Random(f"{seed} {part}").shuffle(fresh)
        wanted = sample // len(parts) + (number < sample % len(parts))
        found += [(part, each) for each in fresh[:wanted]]
        print(f"{part}: {min(wanted, len(fresh))} of {len(every)} mutants", flush=True)
    return found


def _read(path: Path | None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path else []


def main() -> None:
    """Draw a sample, run it, and print the score and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--sample", type=int, default=50, help="mutants in all, as many of each part (default 50)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=15.0, help="seconds of tests for one mutant (default 15)")
    parser.add_argument("--without", type=Path, help="draw none that this file has")
    parser.add_argument("--again", type=Path, help="run the survivors of this file, if not equivalent")
    parser.add_argument("--json", type=Path, help="append a line for each mutant")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of the copy; two runs at once need two")
    chosen = parser.parse_args()
    limits = Limits(chosen.budget)
    for name in LOADED:
        importlib.import_module(name)
    folder = chosen.work.absolute() / "copy"
    copy_sources(folder)
    known = coverage_map(folder)
    if chosen.again:
        fields = Mutant.__dataclass_fields__
        left = [r for r in _read(chosen.again) if r["outcome"] != "killed" and not r.get("equivalent")]
        sample = [(r["part"], Mutant(**{name: r[name] for name in fields})) for r in left]
    else:
        sample = drawn(chosen.parts, chosen.sample, chosen.seed, _read(chosen.without))
    records = []
    for number, (part, mutant) in enumerate(sample, 1):
        began = time.perf_counter()
        result, by = outcome(mutant, known, folder, limits)
        record = {"seed": chosen.seed, "part": part, **asdict(mutant), "outcome": result, "by": by}
        record["seconds"] = round(time.perf_counter() - began, 1)
        records.append(record)
        print(f"{number} {mutant.file}:{mutant.line} {mutant.before} -> {mutant.after}: {result} {by}", flush=True)
        if chosen.json:
            with chosen.json.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record) + "\n")
    print(score(records))


if __name__ == "__main__":
    main()
