"""Choose the settings of Section 4.7 on a split of the training images.

Of MNIST 50,000 train and 10,000 are compared, of the 8x8 images 1,047 and 300; test images are never read by a network.
Each line of the record is one training: model, comparison, images, pairs, what differs from ``BASE``, seed, accuracies
on the held-out images, core seconds. Three lines of > with ``selection`` are from a time when it applied to every
comparison; ``order_selection`` does that for > now. In lines with ``geometric`` lambda grew by the same factor in every
step, which was tried and not kept.
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

from nsr.data import Digits, mnist, small_digits
from nsr.data.digits import Pictures
from nsr.paper.experiments.digits import EXPERIMENT, DigitsCell, run_on
from nsr.training import one_thread

HELD_OUT = {"MNIST": 10_000, "8x8": 300}
"""The number of last training images, on which settings are compared."""
BASE = {
    "learning_rate": 4e-3,
    "comparator_rate": 2.5,
    "first_scale": 0.0,
    "scale": 3.0,
    "selection": 0.0,
    "zero_bit": 0.0,
    "order_selection": 0.0,
    "order_scale": 0.0,
    "small_rate": 0.0,
    "balanced": True,
    "starts": 1,
}
"""What candidates leave as it is; the rest is that of recipe exact."""
ANNEALED = {"first_scale": 1.0, "scale": 5.0}
SHARP = {"selection": 3.0, "zero_bit": 1.0}
ORDER = {"learning_rate": 2e-3} | ANNEALED
UNWEIGHTED = {"learning_rate": 2e-3, "balanced": False}
SOFTER = {"first_scale": 0.5, "scale": 2.0}
SELECTIONS = ((3.0, 0.0), (6.0, 0.0), (6.0, 2.5), (6.0, 1.5), (12.0, 2.5), (20.0, 2.5))
"""For >: what is added to the selections, and the last lambda, 0 for that of ``ANNEALED``."""


def _selecting(*chosen: tuple[float, float]) -> list[Mapping[str, float]]:
    return [ORDER | {"order_selection": added} | ({"order_scale": scale} if scale else {}) for added, scale in chosen]


CANDIDATES: Mapping[DigitsCell, Sequence[Mapping[str, float]]] = {
    DigitsCell("nsr", ">", "MNIST"): (
        {"learning_rate": 4e-3},
        {"learning_rate": 2e-3} | ANNEALED,
        {"learning_rate": 4e-3} | ANNEALED,
        {"learning_rate": 1e-3} | ANNEALED,
        {"learning_rate": 2e-3, "comparator_rate": 1.0} | ANNEALED,
        *_selecting(*SELECTIONS),
        ORDER | {"first_scale": 2.0, "scale": 10.0},
        ORDER | SOFTER,
        ORDER | {"order_selection": 6.0, "order_scale": 2.5, "comparator_rate": 1.0},
        UNWEIGHTED | ANNEALED,
        UNWEIGHTED | ANNEALED | {"comparator_rate": 1.0},
        UNWEIGHTED | ANNEALED | {"comparator_rate": 0.5},
        UNWEIGHTED | {"first_scale": 1.0, "scale": 3.0},
        UNWEIGHTED | {"first_scale": 0.3, "scale": 1.0},
        UNWEIGHTED | {"first_scale": 0.1, "scale": 1.0},
        UNWEIGHTED | SOFTER,
        UNWEIGHTED | SOFTER | {"comparator_rate": 1.0},
        UNWEIGHTED | SOFTER | {"learning_rate": 1.5e-3},
    ),
    DigitsCell("nsr", ">", "MNIST", "3 apart"): (ORDER, *_selecting((3.0, 0.0), (6.0, 2.5), (20.0, 2.5))),
    DigitsCell("mlp", ">", "MNIST"): (
        {"learning_rate": 2e-3},
        {"learning_rate": 1e-3},
        {"learning_rate": 4e-3},
        {"learning_rate": 2e-3, "comparator_rate": 1.0},
        {"learning_rate": 2e-3, "comparator_rate": 5.0},
        {"learning_rate": 3e-3},
        UNWEIGHTED,
        UNWEIGHTED | {"learning_rate": 1.5e-3},
        UNWEIGHTED | {"learning_rate": 2.5e-3},
        UNWEIGHTED | {"comparator_rate": 1.0},
        UNWEIGHTED | {"comparator_rate": 5.0},
        UNWEIGHTED | {"comparator_rate": 10.0},
    ),
    DigitsCell("nsr", "=", "MNIST"): (
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
    DigitsCell("mlp", "=", "MNIST"): (
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
RATES = (1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3)
"""For the 8x8 images, with everything else as in recipe exact."""
METRICS = ("accuracy", "equal", "unequal", "shown", "not shown", "digits")


def small_candidates() -> Iterator[tuple[DigitsCell, Mapping[str, float]]]:
    """Every rate for both models and both comparisons."""
    for rate in RATES:
        for comparison in (">", "="):
            for model in ("nsr", "mlp"):
                cell = DigitsCell(model, comparison, "8x8")
                yield cell, acting_settings(cell) | {"small_rate": rate}


def acting_settings(cell: DigitsCell) -> dict[str, float]:
    """The settings of recipe exact that change how a cell is trained."""
    names = ["learning_rate", "comparator_rate", "balanced"]
    if cell.model == "nsr":
        names += ["first_scale", "scale"]
        names += ["selection", "zero_bit"] if cell.comparison == "=" else ["order_selection", "order_scale"]
    recipe = EXPERIMENT.recipes["exact"].of_cell(cell)
    return {name: getattr(recipe, name) for name in names}


def split(data: Digits, held_out: int) -> Digits:
    """The training images alone, the last of them in the place of the test images."""
    images, labels = data.train.images, data.train.labels
    train, compared = (Pictures(images[part], labels[part]) for part in (slice(-held_out), slice(-held_out, None)))
    return Digits(f"{data.name}, split", data.brightest, train, compared)


def measure(data: Digits, cell: DigitsCell, settings: Mapping[str, float], seed: int) -> dict[str, Any]:
    """Train one seed with these settings."""
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], **(BASE | settings))
    began = time.process_time()
    with one_thread():
        metrics = run_on(cell, recipe, seed, data)
    return {
        "model": cell.model,
        "comparison": cell.comparison,
        "images": cell.images,
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
        key = (record["comparison"], record["images"], record["pairs"], record["model"], settings)
        groups[key].append(record)
    shown = Table("comparison", "images", "pairs", "model", "settings", "seeds", "mean", "least", box=None)
    for (comparison, images, pairs, *rest), group in groups.items():
        names = ("equal", "unequal") if comparison == "=" else ("accuracy",) if pairs == "all" else ("not shown",)
        scores = [mean(record[name] for name in names) for record in group]
        shown.add_row(comparison, images, pairs, *rest, str(len(scores)), f"{mean(scores):.4f}", f"{min(scores):.4f}")
    return shown


def trainings(
    seeds: Sequence[int], images: Sequence[str], records: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[DigitsCell, Mapping[str, float], int]]:
    """What the record does not have yet."""
    names = ("model", "comparison", "images", "pairs", "settings", "seed")
    done = [[record[name] for name in names] for record in records]
    wanted = [(cell, settings) for cell, candidates in CANDIDATES.items() for settings in candidates]
    for seed in seeds:
        for cell, settings in [*wanted, *small_candidates()]:
            key = [cell.model, cell.comparison, cell.images, cell.pairs, settings, seed]
            if cell.images in images and key not in done:
                yield cell, settings, seed


def main() -> None:
    """Measure what is wanted and not recorded, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, help="folder of MNIST's files (default: a cache, filled on first use)")
    options.add_argument("--record", type=Path, default=Path("results/digits_settings.jsonl"), help="file of records")
    options.add_argument("--images", nargs="*", choices=HELD_OUT, default=list(HELD_OUT), help="images to train on")
    options.add_argument("--seeds", type=int, nargs="*", default=[], help="seeds to train (default: only print)")
    chosen = options.parse_args()
    records = [json.loads(line) for line in chosen.record.read_text().splitlines()] if chosen.record.exists() else []
    loaders = {"MNIST": lambda: mnist(chosen.data), "8x8": small_digits}
    data: dict[str, Digits] = {}
    for cell, settings, seed in trainings(chosen.seeds, chosen.images, records):
        if cell.images not in data:
            data[cell.images] = split(loaders[cell.images](), HELD_OUT[cell.images])
        records.append(measure(data[cell.images], cell, settings, seed))
        with chosen.record.open("a") as file:
            file.write(json.dumps(records[-1]) + "\n")
    Console(width=150).print(table(records))


if __name__ == "__main__":
    main()
