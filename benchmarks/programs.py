"""Seconds for many rows of a hardened program, side by side on one core: numpy by hand, emitted numpy, emitted C.

Each figure is the least of several rounds, and the rounds of all contenders alternate, so that a machine that
slows down for a while slows all of them.
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

from nsr.program import Compare, Program, Variable, Where

X1, X2, X3, X4, X5 = (Variable(f"x{position}") for position in range(1, 6))
PROGRAM = Program(Where(Compare(">", X1, X2), X5 + 4, X4 - X3))

Columns = list[np.ndarray]


def by_hand(x1: np.ndarray, x2: np.ndarray, x3: np.ndarray, x4: np.ndarray, x5: np.ndarray) -> np.ndarray:
    """What a person would write."""
    return np.where(x1 > x2, x5 + 4, x4 - x3)


def emitted_numpy() -> Callable[..., np.ndarray]:
    """The emitted source, executed."""
    namespace: dict[str, Callable[..., np.ndarray]] = {}
    exec(PROGRAM.emit("python", numpy=True), namespace)
    return namespace["rule"]


def emitted_c(compiler: str, folder: Path) -> Callable[..., np.ndarray]:
    """The emitted loop over arrays, compiled on the spot."""
    (folder / "rule.c").write_text(PROGRAM.emit("c", loop=True))
    options = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, str(folder / "rule.c"), "-o", str(folder / "rule.so")], check=True)
    library = ctypes.CDLL(str(folder / "rule.so"))

    def rule(*columns: np.ndarray) -> np.ndarray:
        answers = np.empty_like(columns[0])
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (*columns, answers))
        library.rule_rows(ctypes.c_size_t(len(answers)), *pointers)
        return answers

    return rule


def seconds(rule: Callable[..., np.ndarray], columns: Columns) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    rule(*columns)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=10_000_000, help="rows (default 10,000,000)")
    options.add_argument("--rounds", type=int, default=9, help="rounds, of which the least counts (default 9)")
    chosen = options.parse_args()
    console = Console(width=100)
    generator = np.random.default_rng(0)
    columns = [generator.integers(-10, 10, chosen.rows).astype(np.float64) for _ in PROGRAM.inputs]

    with tempfile.TemporaryDirectory() as folder:
        contenders = {"numpy, by hand": by_hand, "numpy, emitted": emitted_numpy()}
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler:
            contenders["C, emitted, a loop over arrays"] = emitted_c(compiler, Path(folder))
        else:
            console.print("no C compiler: the emitted C is left out")
        expected = by_hand(*columns)
        assert all(np.array_equal(rule(*columns), expected) for rule in contenders.values())
        rounds = [[seconds(rule, columns) for rule in contenders.values()] for _ in range(chosen.rounds)]

    best = dict(zip(contenders, map(min, zip(*rounds, strict=True)), strict=True))
    table = Table(f"{chosen.rows:,} rows of {PROGRAM}", "ms", "times numpy by hand", box=None)
    for name, least in best.items():
        table.add_row(name, f"{least * 1e3:,.0f}", f"{least / best['numpy, by hand']:.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
