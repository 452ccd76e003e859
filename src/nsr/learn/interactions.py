"""Pairs of comparisons that say something about the class together, although neither does alone: xor and its like."""

import numpy as np

from nsr.reading.atoms import Atom
from nsr.reading.screen import Screen

MOST = 500
"""How many comparisons are paired with each other."""
CLEAR = 4.0
"""Standard deviations by which a pair must be associated with a class beyond chance."""


def interactions(screen: Screen) -> list[list[Atom]]:
    """Pairs of comparisons, the one whose joint sign is most strongly associated with a class first."""
    rows = screen.rows
    atoms = [_middle(screen, weights) for weights in screen.sums[:MOST]]
    signs = np.column_stack([np.where(rows.signs(atom) > 0, 1.0, -1.0) for atom in atoms])
    signs -= signs.mean(0)
    signs /= np.maximum(signs.std(0), 1e-9)
    strongest = np.zeros((len(atoms), len(atoms)))
    for label in range(rows.n_classes):
        excess = (rows.classes == label) - (rows.classes == label).mean()
        deviation = excess.std() * np.sqrt(len(rows))
        if deviation > 0:
            strongest = np.maximum(strongest, np.abs(signs.T @ (signs * excess[:, None])) / deviation)
    first, second = np.triu_indices(len(atoms), 1)
    score = strongest[first, second]
    order = np.argsort(-score, kind="stable")
    return [[atoms[first[at]], atoms[second[at]]] for at in order[:20] if score[at] > CLEAR]


def _middle(screen: Screen, weights: tuple[tuple[str, int], ...]) -> Atom:
    """A sum compared with 0 where that is among its values, else with their median."""
    sums = screen.rows.columns.sums(weights)
    low, middle, high = np.quantile(sums, (0.1, 0.5, 0.9), method="nearest")
    if len(weights) > 1 and low <= 0 <= high:
        return Atom(weights)
    return Atom(weights, screen.rows.columns.value(weights, middle))
