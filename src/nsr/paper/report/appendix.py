"""Appendices C and E beside ours: runtimes, and the paper's example weights with what they compute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from nsr.data import COMPARISONS, all_pairs
from nsr.nn import MLP
from nsr.nn.bits import exact_bits, status_bits
from nsr.paper.cells import Summary

NSR_WEIGHTS: Mapping[str, tuple[int, int, int]] = {
    ">": (100, 0, -50),
    "<=": (-100, 0, 50),
    "<": (-100, -100, 50),
    ">=": (100, 100, -50),
    "=": (0, 100, -50),
    "!=": (0, -100, 50),
}
"""Appendix E: the weights of the sign bit and of the zero bit, and the bias; x1 is operand one and x2 operand two."""
MLP_WEIGHTS: Mapping[str, tuple[tuple[int, ...], tuple[int, int], tuple[int, int], int]] = {
    ">": ((100, 0, -100, 0), (-50, -50), (100, 0), -50),
    "<=": ((100, 0, -100, 0), (50, -50), (-100, 0), 50),
    "<": ((-100, 0, 100, 0), (-50, -50), (100, 0), -50),
    ">=": ((-100, 0, 100, 0), (-50, -50), (-100, 0), 50),
    "=": ((100, -100, -100, 100), (-50, -50), (-100, -100), 50),
    "!=": ((100, -100, -100, 100), (-50, -50), (100, 100), -50),
}
"""Appendix E: V11, V12, V21, V22, the hidden biases, H, and the bias. Hidden unit one has the weights V11 and V21."""


@dataclass(frozen=True)
class PlainTable:
    """A table of texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def nsr_weights() -> PlainTable:
    """The weights for the NSR, and what they compute on all pairs of integers from -10 to 9."""
    rows = []
    for comparison, (w_sign, w_zero, bias) in NSR_WEIGHTS.items():
        pairs = all_pairs(comparison)
        difference = (pairs.x[:, 0] - pairs.x[:, 1]).double()

        def finding(bits: tuple[Tensor, Tensor], given: tuple[int, int, int], d: Tensor, y: Tensor) -> str:
            sign, zero = bits
            wrong = (given[0] * sign + given[1] * zero + given[2] > 0) != (y > 0.5)
            return "right" if not wrong.any() else f"wrong where x1 - x2 >= {d[wrong].min():.0f}"

        texts = [
            finding(bits, (w_sign, w_zero, bias), difference, pairs.y)
            for bits in (exact_bits(difference, off=0.0), status_bits(difference))
        ]
        rows.append((f"x1 {comparison} x2", str(w_sign), str(w_zero), str(bias), *texts))
    title = "Appendix E: weights for the NSR, and what they compute"
    return PlainTable(title, ("", "w+", "w0", "b", "bits 0 and 1", "relaxed bits"), tuple(rows))


def mlp_weights() -> PlainTable:
    """The weights for the MLP, and the comparison that each row computes on all pairs of integers from -10 to 9."""
    rows = []
    for comparison, (v, hidden, h, bias) in MLP_WEIGHTS.items():
        computed = computed_by(appendix_mlp(v, hidden, h, bias))
        finding = "right" if computed == comparison else f"computes {computed}"
        rows.append((f"x1 {comparison} x2", *map(str, (*v, *hidden, *h, bias)), finding))
    title = "Appendix E: weights for the MLP, and what they compute"
    return PlainTable(title, ("", "V11", "V12", "V21", "V22", "b1", "b2", "H1", "H2", "b", "finding"), tuple(rows))


def appendix_mlp(v: Sequence[int], hidden_bias: Sequence[int], h: Sequence[int], bias: int) -> MLP:
    """The paper's two-layer network with these weights."""
    mlp = MLP(2, hidden=2, dtype=torch.float64)
    with torch.no_grad():
        mlp.v.copy_(torch.tensor(v).reshape(2, 2))
        mlp.bias_v.copy_(torch.tensor(hidden_bias))
        mlp.h.copy_(torch.tensor(h))
        mlp.bias.fill_(bias)
    return mlp


def computed_by(mlp: MLP) -> str:
    """The comparison that a network computes; "none of the six" where it computes none."""
    for comparison in COMPARISONS:
        rows = all_pairs(comparison)
        if torch.equal(mlp(rows.x)[:, 0] > 0.5, rows.y > 0.5):
            return comparison
    return "none of the six"


MINUTES = "minutes on 2 CPU cores"
PAPER_RUNTIMES: Mapping[str, str] = {
    "comparisons": MINUTES,
    "floats": MINUTES,
    "piecewise": MINUTES,
    "redundancy": MINUTES,
    "recurrent": MINUTES,
    "shortest_paths": "less than 2 hours to train, at most 18 hours with all tests, on 8 CPU cores",
    "digits": "about 9 hours for 20 epochs on a GTX Titan",
}
"""Appendix C, by experiment; it does not say for how many seeds."""


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def runtimes(summaries: Mapping[str, Sequence[Summary[Any]]]) -> PlainTable:
    """Appendix C beside ours: seconds of one core for each seed of a cell, and minutes of one core for everything."""
    rows = []
    for name, paper in PAPER_RUNTIMES.items():
        texts = []
        for recipe in ("paper", "exact"):
            group = [summary for summary in summaries.get(name, []) if summary.recipe == recipe]
            per_seed = [summary.seconds / summary.seeds for summary in group]
            text = f"{_seconds(min(per_seed))} to {_seconds(max(per_seed))} s" if group else "missing"
            texts += [text, f"{sum(summary.seconds for summary in group) / 60:.1f}" if group else "missing"]
        rows.append((name.replace("_", " "), paper, *texts))
    columns = (
        *("", "the paper", "recipe paper: a seed", "recipe paper: all, minutes"),
        *("recipe exact: a seed", "recipe exact: all, minutes"),
    )
    return PlainTable("Appendix C: runtimes, ours on one core, training and tests together", columns, tuple(rows))
