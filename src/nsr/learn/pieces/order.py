"""How a target chooses between its pieces, where that needs no search: by their order, or by ranges of one column."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from nsr.learn.pieces.finding import Pieces
from nsr.learn.pieces.piece import Piece
from nsr.learn.pieces.reading import CLEAR
from nsr.program.expressions import Compare, Constant, Expression, Order, Variable, Where
from nsr.program.program import Program
from nsr.reading.rounding import as_rational, simplest


def recognise_order(pieces: Pieces, *, errors: float = 0.0) -> Expression | None:
    """The target as the minimum, the maximum or another rank of its pieces, or as ranges of the one column they use.

    Args:
        pieces: The pieces and their rows; pieces that are not needed are left out.
        errors: The share of the rows that may contradict it.
    """
    if not len(pieces):
        return None
    if len(pieces) == 1:
        return pieces.pieces[0].expression(pieces.targets) if right(pieces.pieces, 1, pieces) >= 1 - errors else None
    if _reads_better_as_ranges(pieces):
        ranges = recognise_ranges(pieces, errors=errors)
        if ranges is not None:
            return ranges
    return _ranked(pieces, errors)


def _ranked(pieces: Pieces, errors: float) -> Expression | None:
    shares = [right(pieces.pieces, rank, pieces) for rank in range(1, len(pieces) + 1)]
    rank = int(np.argmax(shares)) + 1
    share, kept = shares[rank - 1], list(pieces.pieces)
    if share < 1 - errors:
        return None
    for piece in sorted(pieces.pieces, key=lambda one: len(one.weights), reverse=True):
        others = [one for one in kept if one is not piece]
        for other in (rank, rank - 1):
            if 1 <= other <= len(others) and right(others, other, pieces) >= share:
                kept, rank = others, other
                break
    parts = [piece.expression(pieces.targets) for piece in kept]
    if len(parts) == 1:
        return parts[0]
    if 1 < rank < len(kept) and (limited := _limited(kept, pieces)) is not None and agreement(limited, pieces) >= share:
        return limited
    return Order(rank, *parts).simplified()


def _limited(kept: Sequence[Piece], pieces: Pieces) -> Expression | None:
    """The least or the largest of several pieces, with a lower or an upper limit or both: what agrees better.

    Where hardly any row has all pieces beyond a limit, this is the same as a middle rank of pieces and limits.
    """
    sloped = [piece.expression(pieces.targets) for piece in kept if piece.weights]
    limits = sorted(piece.constant for piece in kept if not piece.weights)
    if len(sloped) < 2 or not 1 <= len(limits) <= 2:
        return None
    options: list[Expression] = []
    for extreme in (Order(1, *sloped), Order(len(sloped), *sloped)):
        at_most = Order(1, extreme, limits[-1])
        options += [at_most, Order(2, extreme, limits[0])] if len(limits) == 1 else [Order(2, at_most, limits[0])]
    return max(options, key=lambda each: agreement(each, pieces)).simplified()


def right(chosen: Sequence[Piece], rank: int, pieces: Pieces) -> float:
    """The share of the rows whose target is the rank-th smallest of some pieces."""
    targets, rows = pieces.targets, pieces.targets.numbers
    values = np.sort([piece.values(rows) for piece in chosen], axis=0)[rank - 1]
    slack = np.max([piece.tolerance(rows) for piece in chosen], axis=0)
    return float(targets.weight[np.abs(values - targets.y) <= slack].sum() / targets.weight.sum())


def _reads_better_as_ranges(pieces: Pieces) -> bool:
    """Whether several pieces are made of the same columns, as tax brackets are; abs(x) and clip(x, 0, 1) are not."""
    sloped = [piece for piece in pieces.pieces if piece.weights]
    columns = {piece.expression(pieces.targets).variables for piece in sloped}
    if len(columns) != 1 or len(sloped) < 2:
        return False
    first, second = sloped[:2]
    mirrored = {name: -weight for name, weight in first.weights} == dict(second.weights)
    return not (len(pieces) == 2 and mirrored and first.constant == -second.constant)


def recognise_ranges(pieces: Pieces, *, errors: float = 0.0) -> Expression | None:
    """The target as pieces that follow each other along one column, if there is such a column, not by chance."""
    clear = np.flatnonzero(pieces.clear)
    follows = pieces.holds[:, clear].argmax(0) if len(pieces) else clear
    counts = np.bincount(follows, minlength=len(pieces))
    if not len(clear) or not counts.all() or _bits_of_ranges(counts, pieces) < CLEAR:
        return None
    for column in _columns_first(pieces):
        x = pieces.targets.x[clear, column]
        low, high = (np.array([best(x[follows == at]) for at in range(len(pieces))]) for best in (np.min, np.max))
        order = np.argsort(low)
        if (high[order[:-1]] < low[order[1:]]).all():
            chain = _chain(pieces, column, order, low, high)
            if agreement(chain, pieces) >= 1 - errors:
                return chain
    return None


def _bits_of_ranges(counts: np.ndarray, pieces: Pieces) -> float:
    """How many bits it explains which piece each row follows, if ranges of a column do, after the price of these."""
    total = int(counts.sum())
    explained = (gammaln(total + 1) - gammaln(counts + 1).sum()) / math.log(2)
    return float(explained - math.log2(len(pieces.targets.columns.names)) - (len(counts) - 1) * math.log2(total))


def _columns_first(pieces: Pieces) -> Iterator[int]:
    """The positions of the columns, those that pieces use first; products are no columns."""
    names, products = pieces.targets.columns.names, pieces.targets.columns.products
    used = {name for piece in pieces.pieces for name in piece.columns}
    for wanted in (True, False):
        yield from (at for at, name in enumerate(names) if (name in used) == wanted and name not in products)


def _chain(pieces: Pieces, column: int, order: np.ndarray, low: np.ndarray, high: np.ndarray) -> Expression:
    """Pieces in the order of one column, changing where they are equal if the rows allow, else at a short number."""
    targets = pieces.targets
    name = targets.columns.names[column]
    chain: Expression = pieces.pieces[order[0]].expression(targets)
    for below, above in pairwise(order.tolist()):
        one, other = pieces.pieces[below], pieces.pieces[above]
        left, right_ = as_rational(float(high[below])), as_rational(float(low[above]))
        cut = crossing(one, other, name, pieces)
        if cut is None or not left <= cut <= right_:
            cut = simplest(left, right_, (left + right_) / 2)
        operator = ">=" if cut == right_ else ">"
        chain = Where(Compare(operator, Variable(name), Constant(cut)), other.expression(targets), chain)
    return chain


def crossing(one: Piece, other: Piece, name: str, pieces: Pieces) -> Fraction | None:
    """The number in a column at which two pieces are equal, whatever the other columns are; None if there is none."""
    slopes: dict[tuple[str, ...], Fraction] = {}
    levels: dict[tuple[str, ...], Fraction] = {(): other.constant - one.constant}
    for piece, sign in ((one, -1), (other, 1)):
        for term, weight in piece.weights:
            expression = pieces.targets.expression(term)
            factors = [node.name for node in expression.walk() if isinstance(node, Variable)]
            side = slopes if name in factors else levels
            if name in factors:
                factors.remove(name)
            if name in factors:
                return None
            side[tuple(factors)] = side.get(tuple(factors), Fraction(0)) + sign * weight
    changing = {key for key, slope in slopes.items() if slope}
    if not changing >= {key for key, level in levels.items() if level}:
        return None
    roots = {-levels.get(key, Fraction(0)) / slopes[key] for key in changing}
    return roots.pop() if len(roots) == 1 else None


def agreement(expression: Expression, pieces: Pieces) -> float:
    """The share of the rows on which an expression made of the pieces gives the target."""
    targets = pieces.targets
    answers = targets.columns.evaluate(Program(expression, targets.columns.names)).astype(np.float64)
    slack = np.max([piece.tolerance(targets.numbers) for piece in pieces.pieces], axis=0)
    return float(targets.weight[np.abs(answers - targets.y) <= slack].sum() / targets.weight.sum())
