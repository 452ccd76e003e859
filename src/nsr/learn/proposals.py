"""From a trained network to the comparisons it makes: units that matter, and exact weights for each of them.

The logic of the network says for every row which class it would have on either side of a unit. Rows for which the two
differ say on which side of the unit they must be; the simplest sum of columns that puts them there is what the unit
compares.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from nsr.learn.networks import Inputs, Network, Unit
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns, Monomial, product_name
from nsr.reading.rounding import as_rational, number_nats, simplest
from nsr.reading.rows import LabelledRows
from nsr.reading.weights import rounded_weights, weights_nats

SUPPORTS = (0.5, 0.3, 0.18, 0.1, 0.05)
"""A sum keeps the columns whose weight, in standard deviations, is at least this share of the largest."""
TOLERANCES = (0.25, 0.1, 0.05, 0.02, 0.008)
"""By how much its weights may be off, relatively."""
MOST_COLUMNS = 6
LARGEST_POWER = 3
"""The largest power of a column in a product."""
FACTOR_TOLERANCES = (0.2, 0.05, 0.02, 0.008, 0.003, 0.001)
"""By how much the factor between two products may be off."""
CONSTANT = 3.0
"""Nats to say that a sum of several columns is compared with a constant and not with 0."""
MOST_FOR_CONSTANT = 9.0
"""Nats that a constant costs at most: the rows could name it too."""
SPARED = 0.002
"""A unit is left out if that costs no more than this share of the rows."""


@dataclass(frozen=True)
class Cut:
    """Where a sum separates rows best, and the weight of the rows that are on the wrong side."""

    weights: Weights
    constant: Fraction
    wrong: float

    def nats(self, n_columns: int, per_row: float) -> float:
        """Its price, and so much for each row on the wrong side."""
        constant = min(number_nats(self.constant), MOST_FOR_CONSTANT)
        if len(self.weights) > 1:
            constant = CONSTANT + constant if self.constant else 0.0
        return self.wrong * per_row + weights_nats(self.weights, n_columns) + constant


@dataclass(frozen=True)
class Proposal:
    """The comparisons that a network makes, and for the sum of each those that may stand in for it."""

    atoms: list[Atom]
    alternatives: dict[Weights, list[Weights]]
    products: tuple[Monomial, ...] = ()
    """The products of columns that they compare."""


def propose(network: Network, rows: LabelledRows, *, passes: int = 2) -> Proposal:
    """The comparisons that a network makes on rows, with the simplest weights that serve it as well."""
    units, logarithms = network.units(rows.columns.x), network.inputs.logarithms
    bits = network.bits(rows.columns.x)
    if logarithms:
        rows = logarithms_of(rows, network.inputs)
    state = _State(network, rows, bits, list(units))
    state.leave_out()
    candidates = {at: list(candidate_sums(units[at], integers=logarithms)) for at in state.active}
    atoms: dict[int, Atom] = {}
    for _ in range(passes):
        for at in state.active:
            cut = state.best_cut(at, candidates[at])
            if cut is not None:
                atoms[at] = Atom(cut.weights, cut.constant)
                state.replace(at, rows.signs(atoms[at]))
        state.leave_out()
    kept = [at for at in state.active if at in atoms]
    if logarithms:
        return _products([atoms[at] for at in kept])
    return Proposal([atoms[at] for at in kept], {atoms[at].weights: candidates[at] for at in kept})


def candidate_sums(unit: Unit, *, integers: bool = False) -> Iterator[Weights]:
    """Sums of columns near that of a unit, with few columns and simple weights first; or small integer weights only."""
    size = np.abs(unit.weights * unit.spread)
    seen: set[Weights] = set()
    previous = 0
    for share in SUPPORTS:
        kept = np.flatnonzero(size >= share * size.max())
        if not 0 < len(kept) <= MOST_COLUMNS or len(kept) == previous:
            continue
        previous = len(kept)
        names = [unit.names[at] for at in kept]
        for tolerance in TOLERANCES:
            weights = rounded_weights(names, unit.weights[kept], tolerance)
            if weights is None or (integers and max(abs(weight) for _, weight in weights) > LARGEST_POWER):
                continue
            if weights not in seen:
                seen.add(weights)
                yield weights


class _State:
    """The bits of a network on rows, some of them replaced by exact ones, and what its logic makes of them."""

    def __init__(self, network: Network, rows: LabelledRows, bits: torch.Tensor, active: list[int]) -> None:
        self.network, self.rows, self.bits = network, rows, bits
        self.active = active
        """Units that are not left out, the most influential first."""

    def _wrong(self, bits: torch.Tensor) -> float:
        return float(self.rows.weight[self.network.classes(bits).numpy() != self.rows.classes].sum())

    def leave_out(self) -> None:
        """Fix the bits of units that the network does not need."""
        allowed = self._wrong(self.bits) + SPARED * self.rows.total
        for at in reversed(self.active):
            for side in (-1.0, 1.0):
                bits = self.bits.clone()
                bits[:, at] = side
                if self._wrong(bits) <= allowed:
                    self.bits = bits
                    self.active = [each for each in self.active if each != at]
                    break

    def replace(self, at: int, signs: np.ndarray) -> None:
        """Set the bits of a unit, turned round where the network has them the other way."""
        bits = torch.from_numpy(np.where(signs > 0, 1.0, -1.0))
        if float((bits * self.bits[:, at]).mean()) < 0:
            bits = -bits
        self.bits[:, at] = bits

    def best_cut(self, at: int, candidates: list[Weights]) -> Cut | None:
        """The candidate that puts the rows a unit decides on the right side; simple ones may be wrong a bit more."""
        up, down = self.bits.clone(), self.bits.clone()
        up[:, at], down[:, at] = 1.0, -1.0
        above, below = self.network.classes(up).numpy(), self.network.classes(down).numpy()
        deciding = np.flatnonzero((above != below) & ((above == self.rows.classes) | (below == self.rows.classes)))
        if not len(deciding):
            return None
        side = np.where(above[deciding] == self.rows.classes[deciding], 1, -1)
        subset, weight = self.rows.columns.subset(deciding), self.rows.weight[deciding]
        cuts = [best_cut(subset, weights, side, weight) for weights in candidates]
        if not cuts:
            return None
        least = min(cut.wrong for cut in cuts)
        nats = math.log(len(self.rows) / max(least, 1.0))
        n_columns = len(self.rows.columns.names)
        return min(cuts, key=lambda cut: cut.nats(n_columns, nats))


def best_cut(
    columns: Columns, weights: Weights, side: np.ndarray, weight: np.ndarray, preferred: Sequence[Fraction] = ()
) -> Cut:
    """The constant at which a sum, or its negative, separates rows of side 1 from those of side -1 best.

    Of those that do as well, it is the first preferred one, else the simplest.
    """
    sums = columns.sums(weights)
    values, place = np.unique(sums, return_inverse=True)
    up, down = (np.bincount(place, weight * (side == each), len(values)) for each in (1, -1))
    # wrong[n]: with the n lowest values below the cut, rows of side 1 below and of side -1 above
    wrong = np.concatenate([[0], up.cumsum()]) + np.concatenate([down[::-1].cumsum()[::-1], [0]])
    turned = weight.sum() - wrong
    best = turned if turned.min() < wrong.min() else wrong
    fine = np.flatnonzero(best <= best.min() + 1e-9)
    at = int(fine[len(fine) // 2])
    low, high = (columns.value(weights, values[min(max(each, 0), len(values) - 1)]) for each in (at - 1, at))
    constant = next((each for each in preferred if low <= each <= high), None)
    return Cut(weights, simplest(low, high, (low + high) / 2) if constant is None else constant, float(best.min()))


def logarithms_of(rows: LabelledRows, inputs: Inputs) -> LabelledRows:
    """The rows with the logarithms of columns in the place of the columns."""
    x = torch.from_numpy(inputs.select(rows.columns.x))
    return LabelledRows(Columns(x, inputs.names), rows.classes, rows.weight, rows.n_classes)


def _products(atoms: Sequence[Atom]) -> Proposal:
    """Comparisons of sums of logarithms as comparisons of products: ``log a + log b > log c`` as ``a*b > c``.

    The constant becomes a factor; which one it is exactly is for the rows to say, so several are proposed.
    """
    proposed, alternatives, products = [], {}, []
    for atom in atoms:
        left, right = (
            tuple((name, abs(power)) for name, power in atom.weights if power * sign > 0) for sign in (1, -1)
        )
        factor = math.exp(min(max(float(atom.constant), -200.0), 200.0))
        products += [monomial for monomial in (left, right) if sum(power for _, power in monomial) > 1]
        if not right:
            proposed.append(Atom(((product_name(left), 1),), as_rational(factor)))
            continue
        names = product_name(left), product_name(right)
        sums = [rounded_weights(names, np.array([1.0, -factor]), tolerance) for tolerance in FACTOR_TOLERANCES]
        known = list(dict.fromkeys(weights for weights in sums if weights is not None))
        if known:
            proposed.append(Atom(known[-1]))
            alternatives[known[-1]] = known
    return Proposal(proposed, alternatives, tuple(dict.fromkeys(products)))
