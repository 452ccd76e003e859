"""From a proposal to a piece: the simplest rationals that the rows allow, and what such a piece is worth."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nsr.learn.pieces.piece import Piece, chance_of_hit, length, surprise
from nsr.learn.pieces.proposals import LOOSE, Proposal, modes
from nsr.learn.pieces.targets import Numbers, Targets
from nsr.reading.rounding import as_rational, rounding_tolerance, simplest

STEPS = (2.0**4, 2.0**8, 2.0**12, 2.0**17, 2.0**22)
"""How many rounding errors a weight may be off, from few to many."""
FEWEST = 4
"""On how many rows a piece must hold, in addition to one for each of its terms."""
LARGEST_DENOMINATOR = 60
"""Weights that are no short decimal may be fractions with denominators up to this."""
LONGEST = 64.0
"""Weights with more bits than this, about nine digits, are no weights that a person wrote."""
NEIGHBOURS = 12
"""Among so many values on either side, those that occur much more often than the others are special."""
MUCH = 8
"""How much more often."""
CLEAR = 8.0
"""Bits by which a piece must be better than chance."""


@dataclass(frozen=True, eq=False)
class Valued:
    """A piece, the rows on which it holds, and the bits that these are worth beyond chance and its own length."""

    piece: Piece
    holds: np.ndarray
    gain: float


class Judge:
    """Says what pieces are worth on rows of a table."""

    def __init__(self, targets: Targets, rng: np.random.Generator) -> None:
        self._rng = rng
        self._values, self._counts = np.unique(targets.y, return_counts=True)
        self._derived = tuple(targets.columns.products)
        self._n_columns = len(targets.columns.names) - len(self._derived)

    def value(self, piece: Piece, targets: Numbers, *, among: Numbers | None = None) -> Valued:
        """What a piece is worth on some rows; ``among`` shows how often it holds by chance, if it is not these."""
        holds = piece.holds(targets)
        hits, rows = int(holds.sum()), len(targets)
        bits = piece.bits(self._n_columns, self._derived) + CLEAR
        if hits < FEWEST + len(piece.weights):
            return Valued(piece, holds, -bits)
        return Valued(
            piece, holds, surprise(hits, rows, self._chance(piece, targets if among is None else among)) - bits
        )

    def constants(self, targets: Numbers, most: int) -> list[Valued]:
        """The values that the target has far more often than their neighbours."""
        values, counts = np.unique(targets.y, return_counts=True)
        frequent = values[np.argsort(-counts, kind="stable")[:most]]
        pieces = (Piece((), as_rational(float(each)), "enumeration") for each in frequent)
        return [valued for valued in (self.value(piece, targets) for piece in pieces) if valued.gain > 0]

    def _chance(self, piece: Piece, targets: Numbers) -> float:
        """How probable it is that a row agrees with a piece that has nothing to do with the target."""
        if not piece.weights:
            return self._chance_of_constant(float(piece.constant))
        slack = 2 * float(piece.tolerance(targets).max())
        return chance_of_hit(targets.y[self._rng.permutation(len(targets))] - piece.values(targets), slack)

    def _chance_of_constant(self, constant: float) -> float:
        """How often a value would occur if it were nothing special: as often as its neighbours.

        Neighbours that are special themselves do not count. At an end of the range, the nearest two are extrapolated.
        """
        n = int(self._counts.sum())
        at = int(np.abs(self._values - constant).argmin())
        below, above = _usual(self._counts[:at][::-1])[:2], _usual(self._counts[at + 1 :])[:2]
        if len(below) and len(above):
            usual = float(max(below.max(), above.max()))
        else:
            usual = max((float(max(c.max(), c[0] ** 2 / c[-1])) for c in (below, above) if len(c)), default=0.0)
        others = np.delete(self._counts, at)
        others = others[others <= MUCH * (1 + np.median(others))] if len(others) else others
        pairs = max(float(others.sum()) * (float(others.sum()) - 1), 1.0)
        repeated = float((others * (others - 1)).sum()) / pairs
        return min(max(usual / n if usual > 1 else 0.0, repeated, 1 / n**2), 1.0)


def _usual(counts: np.ndarray) -> np.ndarray:
    """Counts of the neighbours on one side, without the nearest if these occur far more often than those behind."""
    near = counts[:NEIGHBOURS]
    drops = np.flatnonzero(near[:-1] > MUCH * (1 + near[1:]))
    return counts[drops[-1] + 1 :] if len(drops) else counts


def read_piece(proposal: Proposal, targets: Numbers, judge: Judge) -> Valued | None:
    """The piece that a proposal stands for, if its weights are rationals that the rows allow."""
    columns = list(proposal.columns)
    x, y = targets.x[:, columns], targets.y
    weights = np.array(proposal.weights)
    for loose in (LOOSE, LOOSE / 16):
        sizes = np.abs(x) @ np.abs(weights) + np.abs(y)
        inside = _agreeing(y - x @ weights, loose * targets.resolution * sizes.max())
        if len(inside) < FEWEST + len(columns) or not (np.ptp(x[inside], axis=0) > 0).all():
            return None
        weights, errors = _refined(x[inside], y[inside])
    names = [targets.names[at] for at in columns]
    best: Valued | None = None
    tried = set()
    for step in STEPS:
        away = step * targets.resolution * float(sizes[inside].max()) * errors
        exact = [simplest_weight(float(w), float(d)) for w, d in zip(weights, away, strict=True)]
        if not any(exact) or tuple(exact) in tried or max(map(length, exact)) > LONGEST:
            continue
        tried.add(tuple(exact))
        piece = with_constant({n: w for n, w in zip(names, exact, strict=True) if w}, targets, proposal.origin)
        found = judge.value(piece, targets)
        if best is None or found.gain > best.gain:
            best = found
    return best


def _agreeing(rest: np.ndarray, slack: float) -> np.ndarray:
    """The rows that leave the most frequent remainder."""
    _, at = modes(rest[None], slack)
    return np.flatnonzero(np.abs(rest - rest[at[0, 0]]) <= 4 * slack)


def _refined(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights by least squares, and how far each is off for an error of 1 in the targets."""
    middle, spread = x.mean(0), x.std(0)
    scaled = (x - middle) / spread
    solved = np.linalg.lstsq(scaled, y - y.mean(), rcond=None)[0]
    inverse = np.linalg.pinv(scaled.T @ scaled / len(y))
    return solved / spread, np.sqrt(np.maximum(np.diag(inverse), 1e-30)) / spread


def simplest_weight(near: float, away: float) -> Fraction:
    """The shortest decimal or fraction in reach."""
    exact = as_rational(near)
    low, high = exact - as_rational(away), exact + as_rational(away)
    decimal = simplest(low, high, exact)
    for limit in (12, LARGEST_DENOMINATOR):
        fraction = exact.limit_denominator(limit)
        if low <= fraction <= high and length(fraction) < length(decimal):
            return fraction
    return decimal


def with_constant(weights: dict[str, Fraction], targets: Numbers, origin: str) -> Piece:
    """The piece with these weights and the simplest constant that fits most rows."""
    piece = Piece(tuple(sorted(weights.items())), Fraction(0), origin)
    rest = targets.y - piece.values(targets)
    slack = piece.tolerance(targets)
    at = [targets.names.index(name) for name in piece.columns]
    if all(w.denominator == 1 for w in weights.values()) and targets.integer_columns[at].all():
        slack = np.asarray(rounding_tolerance(np.abs(targets.y), targets.resolution)) * (not targets.integer_target)
    inside = _agreeing(rest, 2 * float(slack.max()))
    middle = float(np.median(rest[inside]))
    near = np.abs(rest[inside] - middle) <= slack[inside] / 2
    if not near.any():
        return Piece(piece.weights, as_rational(middle), origin)
    low = float((rest - slack / 2)[inside][near].max())
    high = float((rest + slack / 2)[inside][near].min())
    constant = simplest(as_rational(min(low, middle)), as_rational(max(high, middle)), as_rational(middle))
    return Piece(piece.weights, constant, origin)
