"""Choose the settings of Section 4.7 on a split of the training images of MNIST: 50,000 to train, 10,000 to compare.

The test images of MNIST are never read. Each line of the record is one training: model, comparison, pairs, what
differs from ``BASE``, seed, accuracies on the 10,000, core seconds. Three lines of > with ``selection`` are from a time
when it applied to every comparison; it did not help >, and applies to = alone.
"""

import argparse
import dataclasses
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

from nsr.data import Digits, mnist
from nsr.data.digits import Pictures
from nsr.paper.experiments.digits import EXPERIMENT, DigitsCell, run_on
from nsr.training import one_thread

HELD_OUT = 10_000
"""The last training images, on which settings are compared."""
BASE = {
    "learning_rate": 4e-3,
    "comparator_rate": 2.5,
    "first_scale": 0.0,
    "scale": 3.0,
    "selection": 0.0,
    "zero_bit": 0.0,
    "starts": 1,
}
"""What candidates leave as it is; the rest is that of recipe exact."""
ANNEALED = {"first_scale": 1.0, "scale": 5.0}
SHARP = {"selection": 3.0, "zero_bit": 1.0}
CANDIDATES: Mapping[tuple[str, str], Sequence[Mapping[str, float]]] = {
    (">", "nsr"): (
        {"learning_rate": 4e-3},
        {"learning_rate": 2e-3} | ANNEALED,
        {"learning_rate": 4e-3} | ANNEALED,
        {"learning_rate": 1e-3} | ANNEALED,
        {"learning_rate": 2e-3, "comparator_rate": 1.0} | ANNEALED,
    ),
    (">", "mlp"): (
        {"learning_rate": 2e-3},
        {"learning_rate": 1e-3},
        {"learning_rate": 4e-3},
        {"learning_rate": 2e-3, "comparator_rate": 1.0},
        {"learning_rate": 2e-3, "comparator_rate": 5.0},
    ),
    ("=", "nsr"): (
        {"learning_rate": 4e-3},
        {"learning_rate": 2e-3} | ANNEALED,
        {"learning_rate": 2e-3} | ANNEALED | SHARP,
        {"learning_rate": 1e-3} | ANNEALED | SHARP,
        {"learning_rate": 4e-3} | ANNEALED | SHARP,
        {"learning_rate": 2e-3, "comparator_rate": 1.0} | ANNEALED | SHARP,
        {"learning_rate": 2e-3, "comparator_rate": 0.5} | ANNEALED | SHARP,
        {"learning_rate": 2e-3, "first_scale": 1.0, "scale": 3.0} | SHARP,
        {"learning_rate": 2e-3, "first_scale": 1.0, "scale": 10.0} | SHARP,
        {"learning_rate": 2e-3, "first_scale": 0.3, "scale": 5.0} | SHARP,
    ),
    ("=", "mlp"): (
        {"learning_rate": 2e-3},
        {"learning_rate": 1e-3},
        {"learning_rate": 4e-3},
        {"learning_rate": 8e-3},
        {"learning_rate": 2e-3, "comparator_rate": 1.0},
        {"learning_rate": 2e-3, "comparator_rate": 5.0},
        {"learning_rate": 3e-3},
        {"learning_rate": 1e-3, "comparator_rate": 5.0},
        {"learning_rate": 2e-3, "comparator_rate": 10.0},
        {"learning_rate": 1.5e-3},
    ),
}
METRICS = ("accuracy", "equal", "unequal", "shown", "not shown", "digits")


def split(data: Digits) -> Digits:
    """The training images alone, the last of them in the place of the test images."""
    images, labels = data.train.images, data.train.labels
    train, held_out = (Pictures(images[part], labels[part]) for part in (slice(-HELD_OUT), slice(-HELD_OUT, None)))
    return Digits(f"{data.name}, split", data.brightest, train, held_out)


def measure(data: Digits, cell: DigitsCell, settings: Mapping[str, float], seed: int) -> dict[str, Any]:
    """Train one seed with these settings."""
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], **(BASE | settings))
    began = time.process_time()
    with one_thread():
        metrics = run_on(cell, recipe, seed, data)
    return {
        "model": cell.model,
        "comparison": cell.comparison,
        "pairs": cell.pairs,
        "settings": dict(settings),
        "seed": seed,
        **{name: round(metrics[name], 5) for name in METRICS if name in metrics},
        "core_seconds": round(time.process_time() - began, 1),
    }


def table(records: Sequence[Mapping[str, Any]]) -> Table:
    """Mean and least accuracy of all settings; balanced accuracy for =, that of unseen pairs where some are hidden."""
    groups = defaultdict(list)
    for record in records:
        settings = ", ".join(f"{name} {value:g}" for name, value in record["settings"].items())
        groups[record["comparison"], record["pairs"], record["model"], settings].append(record)
    shown = Table("comparison", "pairs", "model", "settings", "seeds", "mean", "least", box=None)
    for (comparison, pairs, *rest), group in groups.items():
        names = ("equal", "unequal") if comparison == "=" else ("accuracy",) if pairs == "all" else ("not shown",)
        scores = [mean(record[name] for name in names) for record in group]
        shown.add_row(comparison, pairs, *rest, str(len(scores)), f"{mean(scores):.4f}", f"{min(scores):.4f}")
    return shown


def trainings(seeds: Sequence[int], records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[DigitsCell, Any, int]]:
    """What the record does not have yet."""
    done = [[record[name] for name in ("comparison", "model", "pairs", "settings", "seed")] for record in records]
    for seed in seeds:
        for (comparison, model), candidates in CANDIDATES.items():
            for settings in candidates:
                if [comparison, model, "all", settings, seed] not in done:
                    yield DigitsCell(model, comparison, "MNIST"), settings, seed


def main() -> None:
    """Measure what is wanted and not recorded, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, help="folder of MNIST's files (default: a cache, filled on first use)")
    options.add_argument("--record", type=Path, default=Path("results/digits_settings.jsonl"), help="file of records")
    options.add_argument("--seeds", type=int, nargs="*", default=[], help="seeds to train (default: only print)")
    chosen = options.parse_args()
    records = [json.loads(line) for line in chosen.record.read_text().splitlines()] if chosen.record.exists() else []
    data = split(mnist(chosen.data)) if chosen.seeds else None
    for cell, settings, seed in trainings(chosen.seeds, records):
        assert data is not None
        records.append(measure(data, cell, settings, seed))
        with chosen.record.open("a") as file:
            file.write(json.dumps(records[-1]) + "\n")
    Console(width=140).print(table(records))


if __name__ == "__main__":
    main()
