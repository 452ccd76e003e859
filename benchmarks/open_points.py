"""What the paper leaves open in Section 4.3, tried one at a time: can the printed rows of Table 2 be met?

Recipe ``paper`` with one change each, few seeds. Records are appended to the file of ``--json`` as they arrive, one
JSON object a line with the machine it comes from; a rerun does what is missing. The second command repeats what was
chosen with the first on seeds that had no part in the choice.

    python benchmarks/open_points.py --seeds 10 --json results/open_points.jsonl
    python benchmarks/open_points.py --first 10 --seeds 90 --variants "gate starts three times as large"
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nsr.data import FUNCTIONS, Rows, function_around, function_of_all_pairs
from nsr.ensemble import Ensemble
from nsr.nn import MLP, NSR, Piecewise
from nsr.paper.experiments.piecewise import EXPERIMENT
from nsr.paper.measure import GATES, nearness_of_each
from nsr.paper.sweep.environment import environment
from nsr.training import Recipe, fit

POWERS = (3, 4, 5, 6, 8, 10, 13)


def start_of_arms(factor: float) -> Callable[[Piecewise], None]:
    """Multiply the weights with which the arms start."""

    def change(module: Piecewise) -> None:
        module.arms.weight.mul_(factor)

    return change


def start_of_gate(factor: float) -> Callable[[Piecewise], None]:
    """Multiply the weights with which the gate starts."""

    def change(module: Piecewise) -> None:
        for parameter in module.gate.parameters():
            parameter.mul_(factor)

    return change


def scale(value: float) -> Callable[[Piecewise], None]:
    """Another lambda; the MLP has none."""

    def change(module: Piecewise) -> None:
        if isinstance(module.gate, NSR):
            module.gate.scale = value

    return change


def nothing(_: Piecewise) -> None:
    """As it is."""


VARIANTS: dict[str, tuple[dict[str, Any], Callable[[Piecewise], None]]] = {
    "as in `paper`": ({}, nothing),
    "arms without snapping": ({"sparsity": 0.0}, nothing),
    "squared error": ({"loss": "mse"}, nothing),
    "arms start at zero": ({}, start_of_arms(0.0)),
    "gate starts three times as large": ({}, start_of_gate(3.0)),
    "gate starts at a third": ({}, start_of_gate(1 / 3)),
    "lambda 0.1": ({}, scale(0.1)),
    "lambda 10": ({}, scale(10.0)),
    "gate starts six times as large": ({}, start_of_gate(6.0)),
    "gate starts ten times as large": ({}, start_of_gate(10.0)),
    "gate starts twice as large": ({}, start_of_gate(2.0)),
    "squared error, gate starts three times as large": ({"loss": "mse"}, start_of_gate(3.0)),
    "squared error, gate starts six times as large": ({"loss": "mse"}, start_of_gate(6.0)),
    "three times as many epochs": ({"epochs": 150_000}, nothing),
    "ten times as many epochs": ({"epochs": 500_000}, nothing),
    "ten times as many epochs, without snapping": ({"epochs": 500_000, "sparsity": 0.0}, nothing),
}
"""What is changed: fields of the recipe, and the module before training."""


def measure(variant: str, model: str, function: str, seeds: range) -> dict[str, Any]:
    """Train one ensemble under recipe ``paper`` with the change, and test it as Table 2 does."""
    changes, change = VARIANTS[variant]
    recipe: Recipe = replace(EXPERIMENT.recipes["paper"], **changes)
    inputs = FUNCTIONS[function].inputs

    def build(generator: torch.Generator) -> Piecewise:
        gate: NSR | MLP = GATES[model](inputs, generator)
        module = Piecewise(gate, generator=generator)
        with torch.no_grad():
            change(module)
        return module

    start = time.perf_counter()
    ensemble = Ensemble(build, seeds)
    rows = [function_of_all_pairs(function, np.random.default_rng((seed, 0))) for seed in seeds]
    fit(ensemble, Rows.each(rows), recipe)
    ensemble = ensemble.to(torch.float64)
    none = [None] * len(seeds)
    right = {"train": nearness_of_each(ensemble, rows, recipe.tolerance, none)}
    for power in POWERS:
        tests = [function_around(function, np.random.default_rng((seed, power)), power=power) for seed in seeds]
        right[f"3^{power}"] = nearness_of_each(ensemble, tests, recipe.tolerance, none)
    return {
        "variant": variant,
        "model": model,
        "function": function,
        "first_seed": seeds[0],
        "seeds": len(seeds),
        "means": {name: round(values.mean().item(), 4) for name, values in right.items()},
        "deviations": {name: round(values.std().item(), 4) for name, values in right.items()},
        "seconds": round(time.perf_counter() - start, 1),
        "machine": json.loads(environment()),
    }


def main() -> None:
    """Measure what is missing, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--json", type=Path, metavar="FILE", default=Path("results/open_points.jsonl"))
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), help="by default all")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    text = chosen.json.read_text(encoding="utf-8") if chosen.json.exists() else ""
    done = {
        (each["variant"], each["model"], each["function"], each.get("first_seed", 0))
        for each in map(json.loads, text.splitlines())
    }
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    for variant in chosen.variants:
        for model, function in (("nsr", "f"), ("mlp", "f"), ("mlp", "abs"), ("nsr", "abs")):
            if (variant, model, function, chosen.first) in done:
                continue
            record = measure(variant, model, function, seeds)
            with chosen.json.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record) + "\n")
            print(variant, model, function, record["means"], f"{record['seconds']} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
