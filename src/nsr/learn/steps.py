"""Classes that follow one sum of columns in steps: grades, tiers, brackets."""

import numpy as np

from nsr.reading.atoms import Atom, Weights
from nsr.reading.rows import LabelledRows, times_log
from nsr.reading.screen import Screen

TRIED = 3
"""How many sums, those along which the class changes least often, are cut into steps."""
PRICE = 8.0
"""Nats that a further step must save."""
MOST = 40
"""The most steps."""


def steps_along_one_sum(screen: Screen) -> list[Atom] | None:
    """The cuts of the sum along which steps describe the classes best; None where there are no two cuts."""
    rows = screen.rows
    ranked = sorted(screen.sums, key=lambda weights: (_changes(rows, weights), len(weights)))
    found = [_steps(rows, weights) for weights in ranked[:TRIED]]
    atoms = min(found, key=lambda each: each[0], default=(0.0, []))[1]
    return atoms if len(atoms) >= 2 else None


def _changes(rows: LabelledRows, weights: Weights) -> float:
    """How often the class changes along a sum, with rows of equal sums in no particular order."""
    shuffled = np.random.default_rng(0).permutation(len(rows))
    order = shuffled[np.argsort(rows.columns.sums(weights)[shuffled], kind="stable")]
    return float((np.diff(rows.classes[order]) != 0).sum())


def _steps(rows: LabelledRows, weights: Weights) -> tuple[float, list[Atom]]:
    """Cuts made one after the other where they save most, and the nats that are left."""
    values, place = np.unique(rows.columns.sums(weights), return_inverse=True)
    counts = np.zeros((len(values), rows.n_classes))
    np.add.at(counts, (place, rows.classes), rows.weight)
    before = np.concatenate([np.zeros((1, rows.n_classes)), counts.cumsum(0)])
    ends: list[tuple[int, int]] = [(0, len(values))]
    cuts: list[int] = []
    while len(cuts) < MOST:
        best = max((_best_cut(before, low, high) for low, high in ends), key=lambda each: each[0])
        if best[0] < PRICE:
            break
        _, cut, (low, high) = best
        ends.remove((low, high))
        ends += [(low, cut), (cut, high)]
        cuts.append(cut)
    left = sum(float(_nats(before[high] - before[low])) for low, high in ends) + PRICE * len(cuts)
    columns = rows.columns
    middles = [(columns.value(weights, values[cut - 1]) + columns.value(weights, values[cut])) / 2 for cut in cuts]
    return left, [Atom(weights, middle) for middle in sorted(middles)]


def _best_cut(before: np.ndarray, low: int, high: int) -> tuple[float, int, tuple[int, int]]:
    """The nats that the best cut of a step saves, and where it is."""
    if high - low < 2:
        return 0.0, low, (low, high)
    middle = before[low + 1 : high]
    saved = _nats(before[high] - before[low]) - _nats(middle - before[low]) - _nats(before[high] - middle)
    at = int(saved.argmax())
    return float(saved[at]), low + 1 + at, (low, high)


def _nats(counts: np.ndarray) -> np.ndarray:
    """The entropy of classes in nats over all rows."""
    return np.asarray(times_log(counts.sum(-1)) - times_log(counts).sum(-1))
