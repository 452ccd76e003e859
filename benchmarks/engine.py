"""Microseconds per model and epoch, measured side by side on one core: plain loop, torch.compile, native, a C loop.

Each figure is the least of several rounds, and the rounds of all contenders alternate, so that a machine that
slows down for a while slows all of them. ``--json`` writes a record with the machine it comes from.
"""

import argparse
import ctypes
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from nsr import MLP, NSR, Ensemble, Recipe, fit
from nsr.data import all_pairs
from nsr.paper.sweep.environment import environment

ROWS = all_pairs(">").to(torch.float32)
PLAIN_EPOCHS, EPOCHS, C_EPOCHS = 200, 1000, 5000


def plain(kind: type) -> float:
    """One seed at a time, as one would write it: module, torch.optim.Adam, a loop."""
    model = kind(2, generator=torch.Generator().manual_seed(0))
    optimiser = torch.optim.Adam(model.parameters())
    began = time.perf_counter()
    for _ in range(PLAIN_EPOCHS):
        optimiser.zero_grad()
        loss = (model(ROWS.x)[:, 0] - ROWS.y).abs().mean()
        loss.backward()
        optimiser.step()
    return (time.perf_counter() - began) / PLAIN_EPOCHS


def engine(kind: type, seeds: int, folded: bool, name: str) -> float:
    """The same training through ``fit``."""
    ensemble = Ensemble(lambda generator: kind(2, generator=generator), range(seeds))
    recipe = Recipe(name="bench", loss="mae", epochs=EPOCHS, check_every=EPOCHS)
    history = fit(ensemble, ROWS, recipe, folded=folded, engine=name)
    return history.seconds / EPOCHS / seeds


class CLoop:
    """The limit: the register's epoch written out in C, one model at a time, compiled on the spot."""

    def __init__(self) -> None:
        compiler = shutil.which("gcc") or shutil.which("cc")
        self.folder = tempfile.TemporaryDirectory()
        library = Path(self.folder.name) / "epoch.so"
        source = Path(__file__).with_name("epoch.c")
        options = ["-Ofast", "-march=native", "-mprefer-vector-width=512", "-shared", "-fPIC"]
        subprocess.run([compiler, *options, str(source), "-o", str(library), "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))

    def train(self, model: NSR, epochs: int) -> tuple[NSR, float]:
        """A trained copy and the seconds per epoch."""
        flat = torch.cat([value.detach().flatten() for value in model.parameters()]).contiguous()
        difference = (ROWS.x[:, 0] - ROWS.x[:, 1]).contiguous()
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (flat, difference, ROWS.y.contiguous())]
        began = time.perf_counter()
        self.library.train(*pointers, len(ROWS), epochs)
        seconds = (time.perf_counter() - began) / epochs
        trained = NSR(2)
        torch.nn.utils.vector_to_parameters(flat, trained.parameters())
        return trained, seconds

    def seconds(self) -> float:
        """Seconds per epoch."""
        return self.train(NSR(2, generator=torch.Generator().manual_seed(0)), C_EPOCHS)[1]

    def check(self) -> float:
        """How far the C loop's logits are from the engine's after 100 epochs of the same seed."""
        ours, start = (NSR(2, generator=torch.Generator().manual_seed(1)) for _ in range(2))
        fit(ours, ROWS, Recipe(name="check", loss="mae", epochs=100), engine="eager")
        theirs, _ = self.train(start, 100)
        return (ours.logit(ROWS.x) - theirs.logit(ROWS.x)).abs().max().item()


def measured(seeds: int, rounds: int, console: Console) -> dict[str, float]:
    """Microseconds per model and epoch of every contender."""
    loop = CLoop()
    contenders: dict[str, Callable[[], float]] = {}
    for kind in (NSR, MLP):
        contenders[f"{kind.__name__}, plain loop"] = partial(plain, kind)
        for name in ("compiled", "native"):
            contenders[f"{kind.__name__}, {name}"] = partial(engine, kind, seeds, False, name)
    for name in ("compiled", "native"):
        contenders[f"NSR, {name}, folded to 39 rows"] = partial(engine, NSR, seeds, True, name)
    contenders[LIMIT] = loop.seconds
    console.print(f"C loop and torch differ by at most {loop.check():.1e} in a logit after 100 epochs")
    console.print("warming up (torch.compile compiles a step for each kind) ...")
    for measure in contenders.values():
        measure()
    taken = [[measure() for measure in contenders.values()] for _ in range(rounds)]
    return {name: min(times) * 1e6 for name, times in zip(contenders, zip(*taken, strict=True), strict=True)}


LIMIT = "NSR, C loop"
HEADINGS = ("400 rows of Section 4.1", "us per model and epoch", "plain loop / this", "this / C loop")


def rows(microseconds: dict[str, float]) -> Iterator[tuple[str, ...]]:
    """The rows of the table: each contender, its time, and both ratios."""
    for name, time_taken in microseconds.items():
        faster = microseconds[f"{name[:3]}, plain loop"] / time_taken
        by_c = f"{time_taken / microseconds[LIMIT]:,.2f}" if name.startswith("NSR") else ""
        yield name, f"{time_taken:,.2f}", f"{faster:,.0f}", by_c


def markdown(microseconds: dict[str, float]) -> str:
    """The table for docs/engine.md."""
    lines = (HEADINGS, ("---",) * len(HEADINGS), *rows(microseconds))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure, or read a record, and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=100, help="members of an ensemble (default 100)")
    options.add_argument("--rounds", type=int, default=5, help="rounds, of which the least counts (default 5)")
    options.add_argument("--json", type=Path, help="file for the record")
    options.add_argument("--from", dest="record", type=Path, help="print the table of a record as Markdown")
    chosen = options.parse_args()
    if chosen.record:
        print(markdown(json.loads(chosen.record.read_text(encoding="utf-8"))["microseconds"]))
        return
    torch.set_num_threads(1)
    console = Console(width=100)
    microseconds = measured(chosen.seeds, chosen.rounds, console)
    table = Table(*HEADINGS, box=None)
    for row in rows(microseconds):
        table.add_row(*row)
    console.print(table)
    if chosen.json:
        record = {"machine": json.loads(environment()), "seeds": chosen.seeds, "microseconds": microseconds}
        chosen.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
