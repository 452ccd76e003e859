"""The search for the pieces of a numeric target."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from nsr.learn.pieces.piece import Piece
from nsr.learn.pieces.products import likely_products, sums_of_products
from nsr.learn.pieces.proposals import (
    MOST_PAIRS,
    SAMPLE,
    Proposal,
    Sample,
    differences,
    forward,
    least_squares,
    lines,
    planes,
    ratios,
    scored,
    signed_sums,
    trimmed,
)
from nsr.learn.pieces.reading import FEWEST, Judge, Valued, read_piece, with_constant
from nsr.learn.pieces.targets import Numbers, Targets
from nsr.reading.rounding import as_rational

MOST_PIECES = 16
"""How many pieces a function may have."""
MOST_VALUES = 12
"""Targets with at most so many values may be nothing but constants."""
MOST_ROWS = 4_000
"""Pieces are read from this many rows at most, and then verified on all."""
KEPT = 12
"""How many proposals of each kind are read."""
HOPE = 40.0
"""Pieces that are short of so many bits are tried again once other pieces have explained more rows."""
SIMILAR = 0.8
"""Of pieces that are worth at least this share of the best one, the one with the fewest columns is taken."""
RARE = 0.002
"""Rows that are left are not searched once they are fewer than this share."""
FEW_LEFT = 30
"""So few rows do not show how often a piece would hold by chance."""
PLENTY, MOST = 0.4, 0.9
"""If a piece gives the target on this share of the rows, dearer ones are not tried; beside products, which agree with
others at few values of a column, if it does on the second one."""
REFILLED = 3
"""How often the search goes on where pieces were joined, which makes room for others."""
ALONE = 0.9
"""Many pieces are joined to one that holds on this share of their rows: on others some held by chance."""
JOINED, MOST_FURTHER = 3, 3
"""So many pieces are joined to one, or more, with so many further columns at most."""
CLOSE = 1e-6
"""The share of their spread by which constants may differ from what further columns give, before they are read."""
NEAR = 24
"""Of very many columns, sums of two with free weights and sums of three are tried among so many."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of a target, those that explain the most rows first, and on which rows each holds."""

    targets: Targets
    """The rows, with the products that pieces use as further columns."""
    pieces: tuple[Piece, ...]
    holds: np.ndarray
    """(pieces, rows)"""
    bits: float = 0.0
    """What the pieces are worth beyond chance and their own length."""

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def covered(self) -> np.ndarray:
        """The rows on which a piece holds."""
        return np.asarray(self.holds.any(0))

    @property
    def clear(self) -> np.ndarray:
        """The rows on which exactly one piece holds: where two agree, neither has evidence."""
        return np.asarray(self.holds.sum(0) == 1)

    def of(self, targets: Targets) -> "Pieces":
        """The same pieces on other rows, which must have the same columns."""
        holds = np.array([piece.holds(targets.numbers) for piece in self.pieces]).reshape(
            len(self.pieces), len(targets)
        )
        return Pieces(targets, self.pieces, holds, self.bits)


def find_pieces(
    targets: Targets, rng: np.random.Generator, *, deadline: float | None = None, products: bool = True
) -> Pieces:
    """The pieces of a target: sums of columns, each exact on more rows than chance explains; none if there are none.

    Args:
        targets: Rows and their targets.
        rng: Chooses the rows to solve.
        deadline: When to stop, on the clock of ``time.monotonic``; what was found until then is returned.
        products: Whether pieces may have products of two columns.
    """
    with threadpool_limits(1, "blas"):  # the systems are small, and threads would wait for each other
        return _find_pieces(targets, rng, deadline) if products else _Search(targets, rng, deadline).run()


def _find_pieces(targets: Targets, rng: np.random.Generator, deadline: float | None) -> Pieces:
    """The pieces without products, unless a product explains more at once or is needed to explain all rows."""
    search = _Search(targets, rng, deadline)
    pool = search.pool()
    found: Pieces | None = search.run(pool) if most_rows(pool) >= PLENTY else None
    best = 0.0 if found is not None else max((one.gain for one in pool), default=0.0)
    for propose in (partial(likely_products, worth=best), sums_of_products):
        if found is not None and _is_complete(found):
            return found
        products = propose(targets, rng) if in_time(deadline) else []
        if products:
            wider = _Search(targets.with_products(products), rng, deadline).run()
            found = wider if found is None or _explains_more(wider, found) else found
        elif found is None:
            found = search.run(pool)
    assert found is not None
    used = {name for piece in found.pieces for name in piece.columns}
    return replace(found, targets=targets.with_products_of(found.targets, used))


def _is_complete(pieces: Pieces) -> bool:
    """Whether pieces explain the rows, and hardly stand for a product, as ``rate + c`` and ``2*rate + c`` may."""
    different = {piece.weights for piece in pieces.pieces if piece.weights}
    alike = Counter(tuple(name for name, _ in weights) for weights in different)
    return pieces.covered.mean() > 1 - RARE and max(alike.values(), default=0) < 2


def _explains_more(wider: Pieces, found: Pieces) -> bool:
    """Whether pieces with products are to be taken: the others explain fewer rows, or as many with more pieces."""
    if found.covered.mean() > 1 - RARE:
        return len(wider) < len(found) and wider.covered.sum() >= found.covered.sum() and not _has_flags(wider)
    return wider.bits >= found.bits


def _has_flags(pieces: Pieces) -> bool:
    """Whether a piece multiplies a column of 0 and 1: a choice is plainer."""
    flags, products = pieces.targets.flags, pieces.targets.columns.products
    used = {name for piece in pieces.pieces for name in piece.columns if name in products}
    return any(flags & set(products[name].variables) for name in used)


def most_rows(pool: list[Valued]) -> float:
    """The largest share of the rows that a piece explains."""
    return max((float(one.holds.mean()) for one in pool if one.gain > 0), default=0.0)


def in_time(deadline: float | None) -> bool:
    """Whether there is time left."""
    return deadline is None or time.monotonic() < deadline


def value_pieces(targets: Targets) -> Pieces:
    """The values of a target that has few as constant pieces, the most frequent one first; none if it has many."""
    values, counts = np.unique(targets.y, return_counts=True)
    frequent = values[np.argsort(-counts, kind="stable")] if len(values) <= MOST_VALUES else values[:0]
    pieces = tuple(Piece((), as_rational(float(each))) for each in frequent)
    return Pieces(targets, pieces, targets.y == frequent[:, None])


class _Search:
    """Proposes pieces for the rows that are left, takes the best ones, and goes on with the others."""

    def __init__(self, targets: Targets, rng: np.random.Generator, deadline: float | None) -> None:
        self.targets, self.rng, self.deadline = targets, rng, deadline
        self.rows = targets.numbers
        self.judge = Judge(targets, rng)
        self.taken: list[Valued] = []
        self.left = np.ones(len(targets), dtype=bool)
        self.complete = False
        """Whether the last pool has proposals of every kind."""

    def run(self, pool: list[Valued] | None = None) -> Pieces:
        """All pieces; ``pool`` are the first ones to take from."""
        best = found = self._taken_from(pool)
        for _ in range(REFILLED):
            if len(found) == len(self.taken):
                break
            self.taken = [self.judge.value(piece, self.rows) for piece in found.pieces]  # joined ones make room
            self.left = ~found.covered
            found = self._taken_from(None)
            best = max(best, found, key=lambda each: (int(each.covered.sum()), -len(each)))
        return best

    def _taken_from(self, pool: list[Valued] | None) -> Pieces:
        while len(self.taken) < MOST_PIECES and self.left.mean() > RARE and in_time(self.deadline):
            if not self._take(self.pool() if pool is None else pool):
                break
            pool = None
        return self._result()

    def _some_left(self) -> Numbers:
        return self.rows.some(np.flatnonzero(self.left), MOST_ROWS, self.rng)

    def _take(self, pool: list[Valued]) -> bool:
        """Take the pieces that are worth it, the best one first; whether there was any."""
        waiting = [one.piece for one in pool]
        some = False
        while waiting and len(self.taken) < MOST_PIECES and self.left.sum() > FEWEST:
            left = self._some_left()
            valued = [self._valued(piece, left) for piece in waiting]
            limit = SIMILAR * max(one.gain for one in valued)
            if limit <= 0:
                break
            similar = [one for one in valued if one.gain >= limit]
            best = min(similar, key=lambda one: (len(one.piece.weights), -one.gain))
            if some and not self.complete and best.holds.mean() < PLENTY:
                break  # dearer pieces, which were not tried yet, may explain more of the rows that are left
            self.taken.append(best)
            self.left &= ~best.piece.holds(self.rows)
            waiting = [one.piece for one in valued if one.gain > -HOPE and one is not best]
            if best.piece.weights and self.left.sum() > FEWEST:  # other rows may have the same weights
                waiting.append(with_constant(dict(best.piece.weights), self._some_left(), best.piece.origin))
                waiting += [one.piece for one in self.judge.constants(self._some_left(), 1)]
            some = True
        return some

    def _valued(self, piece: Piece, left: Numbers) -> Valued:
        """What a piece is worth on the rows that are left; if they are few, all rows show how rare its hits are."""
        return self.judge.value(piece, left, among=self.rows if len(left) < FEW_LEFT else left)

    def pool(self) -> list[Valued]:
        """Pieces for the rows that are left, by price: dearer ones only where cheaper ones explain little."""
        rows = self._some_left()
        pool = self.judge.constants(rows, KEPT)
        some = rows.some(np.arange(len(rows)), SAMPLE, self.rng)
        sample = Sample(some.x, some.y, some.resolution, self.rng)
        self.complete = False
        for stage in (self._cheap, self._sums, self._planes, self._least_squares):
            if not in_time(self.deadline):
                break
            found = (read_piece(one, rows, self.judge) for one in stage(sample, rows))
            pool += [one for one in found if one is not None and one.gain > -HOPE]
            if most_rows(pool) >= (MOST if self.targets.columns.products else PLENTY):
                break
        else:
            self.complete = True
        best: dict[Piece, Valued] = {}
        for one in pool:
            best.setdefault(replace(one.piece, origin=""), one)
        return list(best.values())

    def _cheap(self, sample: Sample, _: Numbers) -> Iterable[Proposal]:
        signed = [
            Proposal((column,), (sign,), "enumeration") for column in range(sample.x.shape[1]) for sign in (1.0, -1.0)
        ]
        return [
            *scored(sample, signed, 2 * KEPT),
            *scored(sample, [*ratios(sample), *lines(sample)], 2 * KEPT),
        ]

    def _sums(self, sample: Sample, rows: Numbers) -> Iterable[Proposal]:
        width = sample.x.shape[1]
        few = width <= 2 * NEAR
        pairs = signed_sums(sample, range(width), 2, KEPT) if few else differences(sample, 10 * KEPT)
        smaller = Sample(sample.x[: SAMPLE // 2], sample.y[: SAMPLE // 2], sample.resolution, self.rng)
        return [*scored(sample, pairs, KEPT), *signed_sums(smaller, self._near(rows), 3, KEPT)]

    def _planes(self, sample: Sample, rows: Numbers) -> Iterable[Proposal]:
        near = self._near(rows)
        pairs = np.array([(a, b) for at, a in enumerate(near) for b in near[at + 1 :]])[:MOST_PAIRS]
        return scored(sample, list(planes(sample, pairs)), KEPT) if len(pairs) else []

    def _least_squares(self, sample: Sample, rows: Numbers) -> Iterable[Proposal]:
        width = sample.x.shape[1]
        some = rows.some(np.arange(len(rows)), max(8 * width, 2 * SAMPLE), self.rng)
        larger = Sample(some.x, some.y, some.resolution, self.rng)
        found = list(least_squares(larger, int(max(2, 2e7 / (len(some) * width * width)))))
        if width > 2 * NEAR:
            near = self._near(rows)
            fewer = least_squares(Sample(some.x[:, near], some.y, some.resolution, self.rng), 2 * NEAR)
            found += [replace(one, columns=tuple(near[at] for at in one.columns)) for one in fewer]
        return scored(larger, found, KEPT)

    def _near(self, rows: Numbers) -> list[int]:
        """The columns to try in dear proposals: those of pieces that were taken, then those that follow the target."""
        names = self.rows.names
        used = {names.index(name) for one in self.taken for name in one.piece.columns}
        spread = rows.x.std(0)
        centred = (rows.x - rows.x.mean(0)) / np.where(spread > 0, spread, 1.0)
        follows = np.abs(centred.T @ (rows.y - rows.y.mean()))
        ranked = sorted(range(len(names)), key=lambda at: (at not in used, -follows[at]))
        return sorted(ranked[:NEAR])

    def _result(self) -> Pieces:
        """The pieces that are needed, or fewer and shorter ones that explain as many rows."""
        taken = [one.piece for one in self.taken]
        found, other = self._needed(taken), self._needed(list(dict.fromkeys([*taken, *self._shorter(taken)])))
        fewer = len(other) <= len(found) and other.covered.sum() >= found.covered.sum()
        best = other if fewer else found
        joined = self._needed(self._joined(best))
        enough = ALONE if len(joined) <= len(best) / 2 else 1.0
        best = joined if len(joined) < len(best) and joined.covered.sum() >= enough * best.covered.sum() else best
        plain = self._needed(list(dict.fromkeys(_constant_where_one_target(best))))
        best = plain if plain.covered.sum() >= best.covered.sum() else best
        return replace(best, bits=sum(one.gain for one in self.taken))

    def _joined(self, pieces: Pieces) -> list[Piece]:
        """Pieces of which several that weigh the same columns alike are one, with further columns.

        So ``a - 25``, ``a - 50`` and ``a - 75``, on different days, become ``a - 25*days``, and 10, 20 and 30 become
        ``10*days``.
        """
        flags = self.targets.flags
        families: dict[tuple[tuple[str, Fraction], ...], list[int]] = {}
        for at, piece in enumerate(pieces.pieces):
            shared = tuple((name, weight) for name, weight in piece.weights if name not in flags)
            families.setdefault(shared, []).append(at)
        found: list[Piece] = []
        for shared, family in families.items():
            several = [pieces.pieces[at] for at in family]
            flagged = bool(shared) and len(several) > 1 and any(flags & set(piece.columns) for piece in several)
            alone = pieces.holds[family].any(0) & ~np.delete(pieces.holds, family, 0).any(0)
            one = None
            if alone.any() and (flagged or len(several) >= JOINED):
                one = self._one_piece(shared, self.rows.subset(np.flatnonzero(alone)))
            found += several if one is None else [one]
        return found

    def _one_piece(self, shared: tuple[tuple[str, Fraction], ...], rows: Numbers) -> Piece | None:
        """The piece with some weights that holds on nearly all rows, with as few further columns as possible.

        Constants are only joined by one column, and not by a condition: those say better which constant it is.
        """
        columns = [self.rows.names.index(name) for name, _ in shared]
        weights = [float(weight) for _, weight in shared]
        rest = rows.y - rows.x[:, columns] @ np.array(weights)
        most, without = MOST_FURTHER, columns
        if not shared:
            most, without = 1, [at for at, name in enumerate(self.rows.names) if name in self.targets.flags]
        chosen, _ = forward(rows.x, rest, most, close=CLOSE, without=without)
        solved = trimmed(np.column_stack([rows.x[:, chosen], np.ones(len(rows))]), rest, np.ones(len(rows)))[:-1]
        proposal = Proposal((*columns, *chosen.tolist()), (*weights, *solved.tolist()), "consensus")
        found = read_piece(proposal, rows, self.judge)
        return found.piece if found is not None and found.holds.mean() >= (ALONE if shared else 1.0) else None

    def _shorter(self, pieces: list[Piece]) -> Iterator[Piece]:
        """Pieces without one of their columns, with the constants that most of their rows have.

        A column of few values can join halves of two pieces into one that is no piece of the target.
        """
        for piece in pieces:
            for name in piece.columns if len(piece.weights) > 1 else ():
                weights = {other: weight for other, weight in piece.weights if other != name}
                rows = self.rows.subset(np.flatnonzero(piece.holds(self.rows)))
                for _ in range(2):
                    if len(rows) > FEWEST:
                        shorter = with_constant(weights, rows, piece.origin)
                        rows = rows.subset(np.flatnonzero(~shorter.holds(rows)))
                        yield shorter

    def _needed(self, pieces: list[Piece]) -> Pieces:
        """The pieces without those that hold on hardly any rows on which no other piece holds, longest first."""
        pieces = sorted(pieces, key=lambda piece: len(piece.weights))
        holds = np.array([piece.holds(self.rows) for piece in pieces]).reshape(len(pieces), len(self.rows))
        for at in range(len(pieces) - 1, -1, -1):
            others = np.delete(holds, at, 0)
            alone = self.rows.subset(np.flatnonzero(~others.any(0)))
            if len(others) and (not len(alone) or self._valued(pieces[at], alone).gain <= 0):
                holds, pieces = others, pieces[:at] + pieces[at + 1 :]
        order = np.argsort(-holds.sum(1), kind="stable")
        return Pieces(self.targets, tuple(pieces[at] for at in order), holds[order])


def _constant_where_one_target(pieces: Pieces) -> Iterator[Piece]:
    """The pieces, with a constant in the place of a sum that is alone only on rows of one target.

    Where only ``hours = 0`` shows the sum ``2*hours``, any factor would do, and 0 says as much.
    """
    for at, piece in enumerate(pieces.pieces):
        alone = pieces.targets.y[pieces.holds[at] & pieces.clear]
        one = len(alone) > 0 and bool((alone == alone[0]).all())
        yield Piece((), as_rational(float(alone[0])), piece.origin) if piece.weights and one else piece
