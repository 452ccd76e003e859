"""Change one expression of the code at a time and see whether a test fails: the mutation score of a random sample.

A mutant that no test notices has survived: either a test is missing, or the mutant computes the same, which has to be
judged by reading it. Each mutant runs in a copy of the sources, so that nothing here is touched.

    python tools/mutate.py --sample 60 --json runs/mutants.jsonl            # of all parts below
    python tools/mutate.py --parts reading program --sample 20 --seed 1
"""

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from nsr.paper.cells import wilson

ROOT = Path(__file__).parents[1]
PARTS = {
    "nn": ("nn", ["tests/nn"]),
    "training": ("training.py", ["tests/test_training.py", "tests/test_ensemble.py"]),
    "reading": ("reading", ["tests/reading"]),
    "program": ("program", ["tests/program"]),
    "sweep": ("paper/sweep", ["tests/paper/sweep"]),
}
"""What is changed, below src/nsr, and the tests that should notice, besides the file of tests of the same name."""
COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
COMPARED |= {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


@dataclass(frozen=True)
class Mutant:
    """A changed expression."""

    file: str
    """Below src/nsr."""
    line: int
    before: str
    after: str
    start: int
    end: int
    """Where it stands, in bytes."""


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    ignored = set(_ignored(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or id(node) in ignored:
            continue
        for changed in _changes(node):
            end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
            yield Mutant(
                file=str(path.relative_to(ROOT / "src" / "nsr")),
                line=node.lineno,
                before=ast.unparse(node),
                after=ast.unparse(changed),
                start=starts[node.lineno - 1] + node.col_offset,
                end=starts[end_line - 1] + end_column,
            )


def _ignored(tree: ast.AST) -> Iterator[int]:
    """Annotations, texts and what is inside them, decorators and assertions: no behaviour that a test should pin."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts += [node.returns, *node.decorator_list]
        if isinstance(node, ast.ClassDef):
            parts += [*node.decorator_list, *node.bases]
        if isinstance(node, ast.JoinedStr | ast.Assert | ast.Raise):
            parts.append(node)
        for part in parts:
            yield from (id(inner) for inner in ast.walk(part)) if part is not None else ()


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        yield _with(node, ops=[COMPARED[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield _with(node, op=COMPUTED[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield _with(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield ast.Constant(2 * node.value + 1)


def _with(node: ast.expr, **changes: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def tests_for(part: str, file: str, *, only_own: bool) -> list[list[str]]:
    """Files of tests in the order in which they run: those of the same name first."""
    own = _own(file)
    first = [[str(own.relative_to(ROOT))]] if own.exists() else []
    return first if only_own and first else [*first, PARTS[part][1]]


def _own(file: str) -> Path:
    return ROOT / "tests" / Path(file).parent / f"test_{Path(file).name}"


def survives(mutant: Mutant, tests: list[list[str]], folder: Path, limit: float) -> tuple[bool | None, str]:
    """Whether no test fails, and which one did; None where the time ran out, which decides nothing."""
    target = folder / "nsr" / mutant.file
    source = target.read_bytes()
    target.write_bytes(source[: mutant.start] + f"({mutant.after})".encode() + source[mutant.end :])
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "-n", "0"]
    try:
        for files in tests:
            run = [sys.executable, "-m", "pytest", *options, *files]
            done = subprocess.run(run, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit)
            if done.returncode not in (0, 5):
                failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return False, failed[0][:200] if failed else "error"
    except subprocess.TimeoutExpired:
        return None, "time ran out"
    finally:
        target.write_bytes(source)
    return True, ""


def main() -> None:
    """Draw a sample, run it, and print the score and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--sample", type=int, default=50, help="mutants in all (default 50)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for the tests of one mutant (default 300)")
    parser.add_argument("--own", action="store_true", help="run the tests of the same name alone: a lower bound")
    parser.add_argument("--json", type=Path, help="append a line for each mutant")
    chosen = parser.parse_args()
    every = []
    for part in chosen.parts:
        place = ROOT / "src" / "nsr" / PARTS[part][0]
        files = [place] if place.is_file() else sorted(place.rglob("*.py"))
        if chosen.own:
            files = [file for file in files if _own(str(file.relative_to(ROOT / "src" / "nsr"))).exists()]
        every += [(part, mutant) for file in files for mutant in mutants(file)]
    sample = random.Random(chosen.seed).sample(every, min(chosen.sample, len(every)))
    print(f"{len(sample)} of {len(every)} mutants of {', '.join(chosen.parts)}", flush=True)
    killed = undecided = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src" / "nsr", Path(folder) / "nsr", ignore=shutil.ignore_patterns("__pycache__"))
        for number, (part, mutant) in enumerate(sample, 1):
            start = time.perf_counter()
            tests = tests_for(part, mutant.file, only_own=chosen.own)
            alive, by = survives(mutant, tests, Path(folder), chosen.limit)
            killed += alive is False
            undecided += alive is None
            verdict = {True: "SURVIVED", False: f"killed by {by}", None: by}[alive]
            print(f"{number} {mutant.file}:{mutant.line} {mutant.before} -> {mutant.after}: {verdict}", flush=True)
            if chosen.json:
                record = asdict(mutant) | {"part": part, "survived": alive, "by": by}
                record["seconds"] = round(time.perf_counter() - start, 1)
                with chosen.json.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(record) + "\n")
            decided = number - undecided
            if decided:
                low, high = wilson(killed, decided)
                score = f"{killed / decided:.3f} (95 % interval {low:.2f} to {high:.2f})"
                print(f"  killed {killed} of {decided}: {score}; undecided {undecided}", flush=True)


if __name__ == "__main__":
    main()
