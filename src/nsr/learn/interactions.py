"""Comparisons that say something about the class together, although none does alone: xor, counts and their like."""

from itertools import combinations

import numpy as np

from nsr.reading.atoms import Atom
from nsr.reading.screen import Screen

MOST = 500
"""How many comparisons are paired with each other."""
CLEAR = 4.0
"""Standard deviations by which a pair must be associated with a class beyond chance."""
STARTS = 60
"""How many pairs are extended to groups."""
LARGEST = 6
"""The most comparisons of a group."""


class Interactions:
    """How strongly the signs of two comparisons, multiplied, are associated with a class."""

    def __init__(self, screen: Screen) -> None:
        rows = screen.rows
        self.atoms = [_middle(screen, weights) for weights in screen.sums[:MOST]]
        signs = np.column_stack([np.where(rows.signs(atom) > 0, 1.0, -1.0) for atom in self.atoms])
        signs -= signs.mean(0)
        signs /= np.maximum(signs.std(0), 1e-9)
        self.strength = np.zeros((len(self.atoms), len(self.atoms)))
        """(comparisons, comparisons): standard deviations beyond chance."""
        for label in range(rows.n_classes):
            excess = (rows.classes == label) - (rows.classes == label).mean()
            deviation = excess.std() * np.sqrt(len(rows))
            if deviation > 0:
                self.strength = np.maximum(self.strength, np.abs(signs.T @ (signs * excess[:, None])) / deviation)
        first, second = np.triu_indices(len(self.atoms), 1)
        order = np.argsort(-self.strength[first, second], kind="stable")
        self._ranked = np.column_stack([first, second])[order]

    def pairs(self) -> list[list[Atom]]:
        """Pairs of comparisons, the one whose joint sign is most strongly associated with a class first."""
        return [self._named(pair) for pair in self._ranked[:20].tolist() if self._score(pair) > CLEAR]

    def groups(self) -> list[list[Atom]]:
        """Three comparisons or more of which every two are associated with a class, the strongest group first.

        Where a class is "exactly two of four", no pair may stand out among tens of thousands, but six of them agree.
        """
        found = {tuple(sorted(self._grown(pair))) for pair in self._ranked[:STARTS].tolist()}
        large = [list(group) for group in found if len(group) > 2]
        return [self._named(group) for group in sorted(large, key=lambda group: (-self._score(group), group))]

    def _grown(self, group: list[int]) -> list[int]:
        """A group with further comparisons as long as one is clearly associated with a class, with each of its own."""
        while len(group) < LARGEST:
            together = self.strength[group].sum(0) / np.sqrt(len(group))
            together[group] = 0.0
            if together.max() <= CLEAR:
                break
            group = [*group, int(together.argmax())]
        return group

    def _score(self, group: list[int]) -> float:
        every = [self.strength[one, two] for one, two in combinations(group, 2)]
        return float(sum(every) / np.sqrt(len(every)))

    def _named(self, group: list[int]) -> list[Atom]:
        return [self.atoms[at] for at in group]


def _middle(screen: Screen, weights: tuple[tuple[str, int], ...]) -> Atom:
    """A sum compared with 0 where that is among its values, else with their median."""
    sums = screen.rows.columns.sums(weights)
    low, middle, high = np.quantile(sums, (0.1, 0.5, 0.9), method="nearest")
    if len(weights) > 1 and low <= 0 <= high:
        return Atom(weights)
    return Atom(weights, screen.rows.columns.value(weights, middle))
