"""Rules in tables, side by side: this library's estimators, a tree, boosting, an MLP and symbolic regression.

Every contender fits the same random tables (``nsr.data.rule_table``) and answers fresh rows, in the same ranges and
in ranges 1,000 times as wide. A row is right where the label is, or where a number is within 1e-6 of its size. For
this library it is counted how often the rule was read back exactly: with the canonical form of the true one, or with
another that says the same on all rows. Labels are also flipped, and tables without a rule ask who claims one.
"""

import argparse
import json
import multiprocessing
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from contenders import CONTENDERS, LeftOutError
from learn_tables import markdown, print_tables
from rich.console import Console
from rich.progress import track
from rule_tables import LINES, RULELESS, RuleTable, rule_table

from nsr.errors import InputError, one_of

FLIPPED = 0.05
FLIPPED_LINES = tuple(LINES)[:4]


@dataclass(frozen=True)
class Case:
    """One table, and who learns it."""

    part: str
    line: str
    table: int
    flipped: float
    contenders: tuple[str, ...]

    def rng(self, use: int) -> np.random.Generator:
        """A generator of its own for the table (0), the rows near (1) and far (2), whichever lines are chosen."""
        return np.random.default_rng([[*LINES, *RULELESS].index(self.line), self.table, use])


@dataclass(frozen=True)
class Record:
    """What one contender made of one table. Shares are of the fresh rows; what was not measured is None."""

    part: str
    line: str
    table: int
    rows: int
    columns: int
    contender: str
    near: float | None = None
    far: float | None = None
    near_balanced: float | None = None
    """The mean over the classes of the share that is right."""
    far_balanced: float | None = None
    size: int | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    """The same on a machine that does nothing else."""
    claims: bool | None = None
    """Whether a program was given."""
    canonical: bool | None = None
    """Whether its canonical form is that of the true rule."""
    same: bool | None = None
    """Whether it says what the true rule says on all fresh rows, near and far."""
    rule: str | None = None
    left_out: str | None = None
    error: str | None = None


def cases(lines: list[str], tables: int, contenders: list[str]) -> list[Case]:
    """All tables of the chosen lines; those without a rule are for this library alone, twice as many at random."""
    chosen, ruled = tuple(contenders), [line for line in lines if line in LINES]
    noisy = [line for line in ruled if line in FLIPPED_LINES]
    found = [Case("rule", line, table, 0.0, chosen) for line in ruled for table in range(tables)]
    found += [Case("flipped", line, table, FLIPPED, chosen) for line in noisy for table in range(tables)]
    if "nsr" in contenders:
        for line in (line for line in lines if line in RULELESS):
            count = 2 * tables if line == "random" else tables
            found += [Case("no rule", line, table, 0.0, ("nsr",)) for table in range(count)]
    return found


def run(case: Case) -> list[dict[str, Any]]:
    """All contenders on one table, each on one thread. A failure is a record."""
    import pandas as pd
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    table = rule_table(case.line, case.rng(0), flipped=case.flipped)
    tests = {"near": table.near(case.rng(1)), "far": table.far(case.rng(2))}
    frames = {name: pd.DataFrame(dict(own.columns)) for name, own in {"train": table, **tests}.items()}
    records = []
    for name in case.contenders:
        about = (case.part, case.line, case.table, len(table.y), len(table.columns), name)
        with warnings.catch_warnings(), np.errstate(all="ignore"), threadpool_limits(1):
            warnings.simplefilter("ignore")
            try:
                record = Record(*about, **measure(name, table, tests, frames))
            except LeftOutError as why:
                record = Record(*about, left_out=str(why))
            except Exception as error:
                record = Record(*about, error=f"{type(error).__name__}: {error}")
        records.append(asdict(record))
    return records


def measure(name: str, table: RuleTable, tests: dict[str, RuleTable], frames: dict[str, Any]) -> dict[str, Any]:
    """Fit one contender and ask it about fresh rows."""
    contender = CONTENDERS[name]
    model = contender.make(table.line.kind)
    began, cpu_began = time.perf_counter(), time.process_time()
    model.fit(frames["train"], table.y)
    found: dict[str, Any] = {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu_began,
        "size": contender.size(model),
    }
    if table.rule is not None:
        for where, rows in tests.items():
            ok = right(model.predict(frames[where]), rows)
            found[where] = float(ok.mean())
            if table.classification:
                found[f"{where}_balanced"] = float(np.mean([ok[rows.y == label].mean() for label in np.unique(rows.y)]))
    return found | (read_back(model, table, tests, frames) if name == "nsr" else {})


def read_back(model: Any, table: RuleTable, tests: dict[str, RuleTable], frames: dict[str, Any]) -> dict[str, Any]:
    """Whether there is a program, and whether it is the true one. The text of a canonical form is unique."""
    program = model.program_
    if program is None:
        return {"claims": False, "canonical": False, "same": False, "rule": None}
    canonical = str(program) == table.rule
    same = table.rule is not None and all(right(program(frames[where]), rows).all() for where, rows in tests.items())
    return {"claims": True, "canonical": canonical, "same": same, "rule": str(program)}


def right(answers: Any, rows: RuleTable) -> np.ndarray:
    """Which rows are answered rightly."""
    answers = np.asarray(answers)
    if rows.classification:
        return np.asarray(answers == rows.y)
    return np.isclose(answers.astype(np.float64), rows.y, rtol=1e-6, atol=1e-9 * float(np.abs(rows.y).max()))


def answers(todo: list[Case], jobs: int) -> Iterator[list[dict[str, Any]]]:
    """The records of every case as they arrive, from processes of their own if there are several jobs."""
    if jobs == 1:
        yield from map(run, todo)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run, case) for case in todo]):
            yield future.result()


def main() -> None:
    """Measure, and print the tables."""
    known = [*LINES, *RULELESS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=10, help="tables of each line (default 10)")
    parser.add_argument("--lines", nargs="+", default=known, metavar="LINE", help=f"some of: {', '.join(known)}")
    parser.add_argument("--only", nargs="+", default=list(CONTENDERS), choices=CONTENDERS, help="some contenders alone")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, as they arrive")
    parser.add_argument("--markdown", action="store_true", help="print the table of the README as well")
    parser.add_argument(
        "--from", type=Path, dest="source", metavar="FILE", help="print what --json wrote, and learn nothing"
    )
    chosen = parser.parse_args()
    if chosen.source:
        show(json.loads(chosen.source.read_text()), chosen.markdown)
        return
    try:
        lines = [one_of("line", line, known) for line in chosen.lines]
    except InputError as wrong:
        parser.error(str(wrong))
    todo = cases(lines, chosen.tables, chosen.only)
    records: list[dict[str, Any]] = []
    progress = track(answers(todo, chosen.jobs), total=len(todo), console=Console(stderr=True), description="tables")
    for found in progress:
        records += found
        if chosen.json:
            draft = chosen.json.with_suffix(".part")
            draft.write_text("[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n")
            draft.replace(chosen.json)
    show(records, chosen.markdown)


def show(records: list[dict[str, Any]], as_markdown: bool) -> None:
    """Print the tables, perhaps those of the README too."""
    print_tables(records, Console(width=130))
    if as_markdown:
        print(markdown(records))


if __name__ == "__main__":
    main()
