"""The battery: rules in tables, with labels flipped, and tables without a rule, for this library and others.

Every contender fits the same random tables and answers 4,000 fresh rows, half in the same ranges and half in ranges
1,000 times as wide. A rule is read back if it gives the true answers on all of them and z3 does not disprove it
(``read_back.py``). For tables without a rule, it is counted how many rules are claimed and how many of them are false.

Records are appended to the file of ``--json`` as they arrive, one JSON object a line; a rerun does what is missing.
While developing: python benchmarks/learn.py --lines sum --tables 2 --contenders nsr
"""

import argparse
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from contenders import CONTENDERS, LeftOutError
from learn_report import markdown, print_tables
from no_rule_tables import RULELESS, no_rule_table
from read_back import FALSE_CLAIM, names_the_truth, read_back, right
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rule_lines import LINES
from rule_tables import rule_table
from spread import add_options, config_of, spread

from nsr.errors import InputError, one_of
from nsr.paper.sweep.cluster_config import ClusterConfig

BATTERY_SEED, DEVELOPMENT_SEED = 6011, 1
"""The tables of the battery come from the first, and are for reporting only; rules are tried out on others."""
TABLES = 10
FLIPPED = 0.05
PARTS = ("rule", "flipped", "no-rule")
REPORT_EVERY = 60.0
"""Seconds between lines about the progress if there is no terminal."""


@dataclass(frozen=True)
class Case:
    """One table, and who learns it."""

    part: str
    line: str
    table: int
    contender: str
    seed: int

    def rng(self, use: int) -> np.random.Generator:
        """A generator for the table (0), the rows near (1) and far (2), whichever lines are chosen."""
        return np.random.default_rng([self.seed, zlib.crc32(self.line.encode()), self.table, use])


@dataclass(frozen=True)
class Record:
    """What one contender made of one table. Shares are of the fresh rows; what was not measured is None."""

    part: str
    line: str
    table: int
    contender: str
    seed: int
    rows: int
    columns: int
    kind: str
    truth: str | None = None
    """The true rule."""
    near: float | None = None
    far: float | None = None
    near_balanced: float | None = None
    """The mean over the classes of the share that is right."""
    far_balanced: float | None = None
    size: int | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    """Of all threads of the process."""
    rule: str | None = None
    """What was claimed, if anything."""
    origin: str | None = None
    """What proposed its comparisons, as the evidence says."""
    reason: str | None = None
    """Why nothing was."""
    read_back: bool | None = None
    proof: str | None = None
    exempt: list[str] = field(default_factory=list)
    """Border cases named by the evidence that no row of the table shows."""
    counterexample: str | None = None
    not_distinguished: list[str] = field(default_factory=list)
    """Pairs of comparisons of which the evidence says that the rows fit both, that of the rule first."""
    truth_named: bool = False
    """Whether a rule that is not the true one names the true comparison there. It does not count as read back."""
    wrong: float | None = None
    """Share of fresh rows on which a claimed rule is wrong."""
    false_claim: bool | None = None
    left_out: str | None = None
    error: str | None = None


def cases(
    lines: Sequence[str], tables: int | None, parts: Sequence[str], contenders: Sequence[str], seed: int
) -> list[Case]:
    """All tables of the chosen lines, by table first, so that a run that is stopped has some of every line.

    Tables without a rule are for contenders that can claim one.
    """
    todo = []
    for part in parts:
        if part == "no-rule":
            counts = {name: kind.tables for name, kind in RULELESS.items() if name in lines}
            chosen = [name for name in contenders if name == "nsr"]
        else:
            ruled = [name for name in lines if name in LINES and (part == "rule" or LINES[name].kind != "number")]
            counts, chosen = dict.fromkeys(ruled, TABLES), list(contenders)
        found = [
            Case(part, line, table, name, seed)
            for line, count in counts.items()
            for table in range(count if tables is None else tables)
            for name in chosen
        ]
        todo += sorted(found, key=lambda case: case.table)
    return todo


def start_process() -> None:
    """One thread each. A process ends soon after the one that started it, also if that was killed."""
    import torch

    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def run(case: Case, time_limit: int) -> dict[str, Any]:
    """One contender on one table. A failure is a record."""
    import pandas as pd
    from threadpoolctl import threadpool_limits

    if case.part == "no-rule":
        table = no_rule_table(case.line, case.rng(0), table=case.table)
        fresh = {"near": table.near(case.rng(1))}
    else:
        table = rule_table(case.line, case.rng(0), flipped=FLIPPED if case.part == "flipped" else 0.0)
        fresh = {"near": table.near(case.rng(1)), "far": table.far(case.rng(2))}
    frames = {name: pd.DataFrame(dict(rows.columns)) for name, rows in {"train": table, **fresh}.items()}
    about = {
        **asdict(case),
        "rows": len(table.y),
        "columns": len(table.columns),
        "kind": table.kind,
        "truth": table.rule,
    }
    limited = threading.current_thread() is threading.main_thread()  # elsewhere the executor ends what hangs
    if limited:
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(time_limit)
    with warnings.catch_warnings(), np.errstate(all="ignore"), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            record = Record(**about, **measure(case.contender, table, fresh, frames))
        except LeftOutError as why:
            record = Record(**about, left_out=str(why))
        except Exception as error:
            record = Record(**about, error=f"{type(error).__name__}: {error}"[:500])
        finally:
            if limited:
                signal.alarm(0)
    return asdict(record)


def _too_long(*_: Any) -> None:
    raise TimeoutError("the time limit of a table")


def measure(name: str, table: Any, fresh: dict[str, Any], frames: dict[str, Any]) -> dict[str, Any]:
    """Fit one contender and ask it about fresh rows."""
    contender = CONTENDERS[name]
    model = contender.make(table.kind)
    began, cpu_began = time.perf_counter(), time.process_time()
    model.fit(frames["train"], table.y)
    found: dict[str, Any] = {
        "seconds": round(time.perf_counter() - began, 3),
        "cpu_seconds": round(time.process_time() - cpu_began, 3),
        "size": contender.size(model),
    }
    if table.rule is not None:
        for where, rows in fresh.items():
            ok = right(model.predict(frames[where]), rows)
            found[where] = float(ok.mean())
            if table.classification:
                shares = [ok[rows.y == label].mean() for label in np.unique(rows.y)]
                found[f"{where}_balanced"] = float(np.mean(shares))
    return found | (claim(model, table, fresh) if contender.has_rules else {})


def claim(model: Any, table: Any, fresh: dict[str, Any]) -> dict[str, Any]:
    """What an estimator of this library claims, and whether it is true."""
    program = model.program_
    if program is None:
        return {"read_back": False, "false_claim": False, "reason": model.evidence_.reason}
    wrong = float(np.mean([not ok for rows in fresh.values() for ok in right(program(rows.columns), rows)]))
    found = {"rule": model.rule_, "origin": model.evidence_.origin, "wrong": wrong}
    if table.rule is None:
        return {**found, "read_back": False, "false_claim": wrong > FALSE_CLAIM}
    evidence = model.evidence_
    result = read_back(program, evidence.not_covered, table, list(fresh.values()))
    return {
        **found,
        "not_distinguished": list(evidence.not_distinguished),
        "truth_named": not result.ok and names_the_truth(evidence.not_distinguished, table, list(fresh.values())),
        "read_back": result.ok,
        "proof": result.proof,
        "exempt": list(result.exempt),
        "counterexample": result.counterexample,
    }


def answers(
    todo: Sequence[Case], jobs: int, time_limit: int, config: ClusterConfig | None = None
) -> Iterator[dict[str, Any]]:
    """The record of every case as it arrives, from processes of this machine unless a cluster is given."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if config is not None:
        for (case, _), answer in spread(config, jobs, run, [(case, time_limit) for case in todo]):
            yield answer if isinstance(answer, dict) else asdict(_lost(case, answer))
        return
    if jobs == 1:
        start_process()
        yield from (run(case, time_limit) for case in todo)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=start_process) as pool:
        futures = [pool.submit(run, case, time_limit) for case in todo]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _lost(case: Case, error: BaseException) -> Record:
    """The record of a case that came to no end on a cluster."""
    reason = f"{type(error).__name__}: {error}"[:500]
    return Record(**asdict(case), rows=0, columns=0, kind="unknown", error=reason)


def key(record: dict[str, Any]) -> tuple[Any, ...]:
    """What a record is of."""
    return tuple(record[name] for name in ("part", "line", "table", "contender", "seed"))


def read(file: Path) -> list[dict[str, Any]]:
    """The records of a file, the last of each case; a last line that was cut off is ignored."""
    if file.read_bytes()[:1] == b"[":
        raise InputError(f"{file} holds records of the first edition of the battery; choose another file")
    found = {}
    for line in file.read_text().splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[key(record)] = record
    return list(found.values())


def measure_all(
    todo: list[Case], file: Path | None, jobs: int, time_limit: int, config: ClusterConfig | None = None
) -> list[dict[str, Any]]:
    """The records of all cases: those in the file, but for errors, and new ones, which are appended to it."""
    wanted = {key(asdict(case)) for case in todo}
    before = [record for record in read(file) if key(record) in wanted] if file and file.exists() else []
    records = {key(record): record for record in before if not record["error"]}
    missing = [case for case in todo if key(asdict(case)) not in records]
    console = Console(stderr=True)
    columns = (TextColumn("tables"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    began = reported = time.monotonic()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("tables", total=len(missing))
        for done, record in enumerate(answers(missing, jobs, time_limit, config), start=1):
            records[key(record)] = record
            progress.advance(bar)
            if file:
                _append(file, record)
            now = time.monotonic()
            if not console.is_terminal and now - reported > REPORT_EVERY:
                left = (now - began) / done * (len(missing) - done)
                print(f"{done} of {len(missing)} fits, about {left / 60:.0f} minutes left", file=sys.stderr, flush=True)
                reported = now
    return list(records.values())


def _append(file: Path, record: dict[str, Any]) -> None:
    cut_off = file.exists() and file.stat().st_size and not file.read_bytes().endswith(b"\n")
    with file.open("a") as out:
        out.write(("\n" if cut_off else "") + json.dumps(record) + "\n")


def options() -> argparse.ArgumentParser:
    """The command line."""
    usual = [name for name, contender in CONTENDERS.items() if not contender.optional]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", nargs="+", metavar="LINE", help=f"some of: {', '.join([*LINES, *RULELESS])}")
    parser.add_argument("--tables", type=int, help=f"tables of each line (default {TABLES}, 300 without a rule)")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS, help="some parts (default all)")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=usual, help="default all but gplearn")
    parser.add_argument(
        "--seed",
        type=int,
        help=f"default {BATTERY_SEED}, that of the battery, or {DEVELOPMENT_SEED} with --lines or --tables",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--time-limit", type=int, default=900, metavar="SECONDS", help="for each table (default 900)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="append records there, and do what is missing")
    parser.add_argument("--markdown", action="store_true", help="print the tables of docs/battery.md as well")
    parser.add_argument(
        "--from", type=Path, dest="source", metavar="FILE", help="print what --json wrote, and learn nothing"
    )
    add_options(parser)
    return parser


def main() -> None:
    """Measure, and print the tables."""
    parser = options()
    chosen = parser.parse_args()
    if chosen.source:
        records = read(chosen.source)
    else:
        known = {**LINES, **RULELESS}
        try:
            lines = [one_of("line", line, known) for line in chosen.lines or known]
        except InputError as wrong:
            parser.error(str(wrong))
        developing = chosen.lines is not None or chosen.tables is not None
        seed = chosen.seed if chosen.seed is not None else DEVELOPMENT_SEED if developing else BATTERY_SEED
        todo = cases(lines, chosen.tables, chosen.part, chosen.contenders, seed)
        print(f"{len(todo)} fits, seed {seed}", file=sys.stderr)
        if chosen.json:
            chosen.json.parent.mkdir(parents=True, exist_ok=True)
        try:
            config = config_of(chosen, longest=chosen.time_limit + 60)
            records = measure_all(todo, chosen.json, chosen.jobs, chosen.time_limit, config)
        except InputError as wrong:
            parser.error(str(wrong))
    print_tables(records, Console(width=150))
    if chosen.markdown:
        print(markdown(records))


if __name__ == "__main__":
    main()
