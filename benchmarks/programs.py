"""Time of a hardened program on many rows, on one core: handwritten numpy, emitted numpy and emitted C.

Each figure is the minimum of several rounds. The contenders take turns, so that a temporary slowdown of the machine
affects all of them.
"""

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from nsr.program import Program, Variable, Where

X1, X2, X3, X4, X5 = (Variable(f"x{position}") for position in range(1, 6))
PROGRAM = Program(Where(X1 > X2, X5 + 4, X4 - X3))

Columns = list[np.ndarray]


def by_hand(x1: np.ndarray, x2: np.ndarray, x3: np.ndarray, x4: np.ndarray, x5: np.ndarray) -> np.ndarray:
    """The function as a person would write it."""
    return np.where(x1 > x2, x5 + 4, x4 - x3)


def emitted_numpy() -> Callable[..., np.ndarray]:
    """Execute the emitted source."""
    namespace: dict[str, Callable[..., np.ndarray]] = {}
    exec(PROGRAM.emit("python", numpy=True), namespace)
    return namespace["rule"]


def emitted_c(compiler: str, folder: Path) -> Callable[..., np.ndarray]:
    """Compile the emitted loop over arrays."""
    (folder / "rule.c").write_text(PROGRAM.emit("c", loop=True))
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(folder / "rule.c"), "-o", str(folder / "rule.so")], check=True)
    library = ctypes.CDLL(str(folder / "rule.so"))

    def rule(*columns: np.ndarray) -> np.ndarray:
        answers = np.empty_like(columns[0])
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (*columns, answers))
        library.rule_rows(ctypes.c_size_t(len(answers)), *pointers)
        return answers

    return rule


def seconds(rule: Callable[..., np.ndarray], columns: Columns) -> float:
    """Time one call."""
    start = time.perf_counter()
    rule(*columns)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="number of rows (default 10,000,000)")
    parser.add_argument("--rounds", type=int, default=9, help="number of rounds; the fastest counts (default 9)")
    options = parser.parse_args()
    console = Console(width=100)
    generator = np.random.default_rng(0)
    columns = [generator.integers(-10, 10, options.rows).astype(np.float64) for _ in PROGRAM.inputs]

    with tempfile.TemporaryDirectory() as folder:
        contenders = {"numpy, handwritten": by_hand, "numpy, emitted": emitted_numpy()}
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler:
            contenders["C, emitted loop over arrays"] = emitted_c(compiler, Path(folder))
        else:
            console.print("no C compiler found: emitted C is not measured")
        expected = by_hand(*columns)
        assert all(np.array_equal(rule(*columns), expected) for rule in contenders.values())
        rounds = [[seconds(rule, columns) for rule in contenders.values()] for _ in range(options.rounds)]

    best = dict(zip(contenders, map(min, zip(*rounds, strict=True)), strict=True))
    table = Table(f"{options.rows:,} rows of {PROGRAM}", "ms", "relative to handwritten", box=None)
    for name, fastest in best.items():
        table.add_row(name, f"{fastest * 1e3:,.0f}", f"{fastest / best['numpy, handwritten']:.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
