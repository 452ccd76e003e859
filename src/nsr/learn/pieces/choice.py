"""What chooses between the pieces of a numeric target: their order, ranges of one column, or learned comparisons."""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import torch

from nsr.learn.attempt import Settings
from nsr.learn.diagnostics import margins, not_covered
from nsr.learn.evidence import RuleEvidence
from nsr.learn.pieces import Piece, Pieces, Targets, points, recognise_order, recognise_ranges
from nsr.learn.rules import Rule
from nsr.learn.search import search
from nsr.program.expressions import Compare, Constant, Expression, Order, Variable, Where, total
from nsr.program.program import Program
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.rounding import as_rational, simplest
from nsr.reading.rows import LabelledRows

TERMS = 3
"""How many columns the nearest line has at most."""
DIGITS = 3
"""And how many digits its weights have."""
MOST_DIGITS = 5
"""How many digits the weights of a sum have that is then rounded."""
FINE = 5.0
"""A target must spread over so many units before it is called rounded."""
EXACT = 1e-6
"""The share of a unit by which a target may differ from a sum that gives it."""
MANY = 4
"""If pieces explain too few rows, no comparisons are learned that choose between more than these."""
FEW_MISTAKEN = 3.0
"""So many rows may follow the wrong piece, and twice as many as chance would have."""
EPSILONS = 16
"""By how many times the precision of the numbers a constant and its float may differ."""
MOSTLY = 0.5
"""A target is called a rounded sum if it is one on at least this share of the rows."""
REMAINDERS = 3
"""Pieces are taken for one that is rounded if so many differ by less than a unit."""
LIMITED = 2
"""So many rows must have the target that is a limit of all others."""
FEW_PIECES = 4
"""Up to so many pieces, it is reported how near rows come to where two of them are equal."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A function made of pieces, and the evidence for what chooses between them."""

    expression: Expression
    evidence: RuleEvidence


def choose_between(pieces: Pieces, seen: np.ndarray, settings: Settings) -> Choice | None:
    """The best function made of pieces; None without pieces.

    Args:
        pieces: The pieces on all rows.
        seen: The rows to choose by.
        settings: How to search for comparisons, if these are needed.
    """
    some = pieces.of(pieces.targets.subset(seen))
    choice = _choice(pieces, some, settings) if len(pieces) else None
    return choice and (within_limits(choice, some) or choice)


def _choice(pieces: Pieces, some: Pieces, settings: Settings) -> Choice:
    """The best function made of pieces, by some of the rows."""
    simple = _without_search(some, settings.errors, settings.rng)
    if simple:
        return Choice(simple[0], _evidence(simple[0], pieces))
    if (added := added_points(some.targets)) is not None:
        return added
    enough = _weight(some, some.covered) >= (1 - settings.errors) * float(some.targets.weight.sum())
    for learned in _learned(pieces, some, settings) if enough or len(pieces) <= MANY else ():
        return learned
    return Choice(pieces.pieces[0].expression(pieces.targets), _evidence(None, pieces, unknown=enough))


def within_limits(choice: Choice, pieces: Pieces) -> Choice | None:
    """The function with a lower or an upper limit, or both, if that makes it right on all rows, else None.

    Two rows show a limit, although they are too few for a piece: wrong targets would not be equal and bound all others.
    """
    targets, expression, atoms = pieces.targets, choice.expression, list[Atom]()
    wrong = ~share_right(expression, pieces)
    answers = targets.columns.evaluate(Program(expression, targets.columns.names)).astype(np.float64)
    for rank, beyond, operator in ((1, answers > targets.y, ">"), (2, answers < targets.y, "<")):
        limits, counts = np.unique(targets.y[wrong & beyond], return_counts=True)
        if len(limits) > 1 or (counts < LIMITED).any():
            return None
        for limit in map(as_rational, limits.tolist()):
            atoms += filter(None, [Atom.from_comparison(Compare(operator, expression, Constant(limit)))])
            expression = Order(rank, expression, Constant(limit)).simplified()
    if not wrong.any() or not share_right(expression, pieces).all():
        return None
    known = _evidence_for(targets.columns, atoms, len(targets))
    evidence = replace(
        choice.evidence,
        margins={**choice.evidence.margins, **known.margins},
        not_covered=(*choice.evidence.not_covered, *known.not_covered),
    )
    return Choice(expression, evidence)


def added_points(targets: Targets) -> Choice | None:
    """The target as a sum of points, each given where a comparison holds, if that is exact."""
    found = points(targets)
    if found is None:
        return None
    expression, atoms = found
    return Choice(expression, _evidence_for(targets.columns, atoms, len(targets), origin="points"))


def _without_search(pieces: Pieces, errors: float, rng: np.random.Generator) -> list[Expression]:
    """Functions that are right on all rows; if there are none, on all rows but a few, the best one first."""
    for allowed in (0.0, errors):
        options = (recognise_order(pieces, errors=allowed), recognise_ranges(pieces, errors=allowed))
        right = [(share_right(one, pieces), one) for one in options if one is not None]
        few = _mistaken(pieces, rng) if right and allowed else 0.0
        right = [(rows, one) for rows, one in right if _weight(pieces, pieces.covered & ~rows) <= few]
        if right:
            return [one for _, one in sorted(right, key=lambda each: -_weight(pieces, each[0]))]
    return []


def _mistaken(pieces: Pieces, rng: np.random.Generator) -> float:
    """How many wrong targets are what another piece gives by chance, judging by those that no piece gives."""
    targets = pieces.targets
    shuffled = pieces.of(replace(targets, y=rng.permutation(targets.y)))
    by_chance = min(float(shuffled.covered.mean()), 0.9)
    return FEW_MISTAKEN + 2 * by_chance / (1 - by_chance) * _weight(pieces, ~pieces.covered)


def _weight(pieces: Pieces, rows: np.ndarray) -> float:
    return float(pieces.targets.weight[rows].sum())


def share_right(expression: Expression, pieces: Pieces) -> np.ndarray:
    """On which rows a function is right, up to rounding."""
    targets = pieces.targets
    answers = targets.columns.evaluate(Program(expression, targets.columns.names)).astype(np.float64)
    slack = EPSILONS * targets.resolution * np.abs(targets.y)
    for piece in pieces.pieces:
        slack = np.maximum(slack, piece.tolerance(targets.numbers))
    return np.asarray(np.abs(answers - targets.y) <= slack)


def _learned(pieces: Pieces, seen: Pieces, settings: Settings) -> Iterator[Choice]:
    """The comparisons that choose between pieces, learned as classes from the rows on which exactly one holds."""
    clear = np.flatnonzero(seen.clear)
    classes = seen.holds[:, clear].argmax(0)
    if len(seen) == 1 or len(np.unique(classes)) < len(seen):
        return
    rows = seen.targets.subset(clear)
    labelled = LabelledRows(rows.columns, classes, rows.weight, len(seen))
    gate = search(labelled, replace(settings, preferred={**settings.preferred, **_crossings(pieces)}))
    expression = gate.columns.written_out(_function(gate.rule.expression, pieces))
    evidence = replace(gate.evidence, origin="pieces", chosen_by=gate.evidence.origin)
    if {name for atom in gate.rule.atoms for name in atom.columns} <= set(pieces.targets.columns.names):
        evidence = replace(
            evidence,
            margins=margins(pieces.targets.columns, gate.rule),
            not_covered=not_covered(pieces.targets.columns, gate.rule),
        )
    yield Choice(expression, evidence)


def _function(gate: Expression, pieces: Pieces) -> Expression:
    """A choice between positions of pieces as a choice between the pieces."""
    sums = [piece.expression(pieces.targets) for piece in pieces.pieces]
    if gate.is_boolean:
        return Where(gate, sums[1], sums[0])
    if isinstance(gate, Where):
        return Where(gate.condition, _function(gate.then, pieces), _function(gate.otherwise, pieces))
    assert isinstance(gate, Constant)
    return sums[int(gate.value)]


def _evidence(expression: Expression | None, pieces: Pieces, *, unknown: bool = False) -> RuleEvidence:
    """How near rows come to where a function changes that needed no search."""
    columns, found = pieces.targets.columns, []
    if len(pieces) <= FEW_PIECES and expression is not None:
        compared = [node for node in expression.walk() if isinstance(node, Compare)]
        atoms = [Atom.from_comparison(one) for one in compared] or list(_borders(pieces))
        found = [atom for atom in dict.fromkeys(atoms) if atom is not None and set(atom.columns) <= set(columns.names)]
    reason = "no exact rule: the rows do not show which sum they follow" if unknown else None
    return _evidence_for(columns, found, len(pieces.targets), reason=reason)


def _evidence_for(
    columns: Columns, atoms: Sequence[Atom], rows: int, *, origin: str = "pieces", reason: str | None = None
) -> RuleEvidence:
    """How near rows come to the borders of some comparisons."""
    rule = Rule(Constant(0), tuple(atoms), 0.0, 0.0)
    return RuleEvidence(
        rows=rows,
        agreement=0.0,
        held_out=None,
        held_out_rows=0,
        origin=origin,
        margins=margins(columns, rule),
        not_covered=not_covered(columns, rule),
        reason=reason,
    )


def _borders(pieces: Pieces) -> Iterator[Atom | None]:
    """Where two pieces are equal."""
    for one, other in itertools.combinations(pieces.pieces, 2):
        comparison = Compare(">", _in_columns(one, pieces), _in_columns(other, pieces))
        yield Atom.from_comparison(comparison)


def _in_columns(piece: Piece, pieces: Pieces) -> Expression:
    """A piece as a sum of columns in the order of the table, products among them."""
    order = {name: at for at, name in enumerate(pieces.targets.columns.names)}
    weights = sorted(piece.weights, key=lambda each: order[each[0]])
    return total([(weight, Variable(name)) for name, weight in weights], piece.constant)


def _crossings(pieces: Pieces) -> dict[Weights, list[Fraction]]:
    """Constants of sums for which two pieces are equal."""
    found: dict[Weights, list[Fraction]] = {}
    order = {name: at for at, name in enumerate(pieces.targets.columns.names)}
    for atom in _borders(pieces):
        if atom is not None:
            weights = tuple(sorted(atom.weights, key=lambda each: order[each[0]]))
            sign = 1 if weights[0][1] > 0 else -1
            key = tuple((name, sign * weight) for name, weight in weights)
            found.setdefault(key, []).append(sign * atom.constant)
    return found


def nearest_line(targets: Targets) -> Expression:
    """The sum of a few columns that comes nearest to the target by least squares, in few digits."""
    names, weights, constant = _line(targets)
    return _written(targets, names, [*(_short(w, DIGITS) for w in weights), _short(constant, DIGITS)])


def rounded_line(targets: Targets, errors: float) -> tuple[Expression, Fraction] | None:
    """A sum of a few columns that the target is once it is rounded, and the unit of that; None without one.

    All rows must lie within half a unit of it, and rounding must change more of them than may be ``errors``.
    """
    unit = Columns(torch.from_numpy(targets.y)[:, None], ["y"]).units[0]
    if unit is None or targets.y.std() < FINE * float(unit):
        return None
    names, weights, constant = _line(targets)
    x = targets.x[:, [targets.numbers.names.index(name) for name in names]]
    for digits in range(1, MOST_DIGITS + 1):
        short = [_short(w, digits) for w in weights]
        rest = targets.y - x @ np.array(short, dtype=np.float64)
        for level in (Fraction(0), _short(float(np.median(rest)), digits), as_rational(round(constant, 9))):
            off = np.abs(rest - float(level)) / float(unit)
            changed = targets.weight[off > EXACT].sum() > errors * targets.weight.sum()
            if changed and (off <= 0.5 + EXACT).all():
                return _written(targets, names, [*short, level]), unit
    return None


def rounded_pieces(pieces: Pieces) -> tuple[Expression, Fraction, np.ndarray] | None:
    """A sum that the target is once it is rounded, on most rows; the unit of that, and these rows.

    Cents make pieces of ``0.9*total``, ``0.9*total + 0.001`` and so on.
    """
    targets = pieces.targets
    unit = Columns(torch.from_numpy(targets.y)[:, None], ["y"]).units[0]
    weights = Counter(piece.weights for piece in pieces.pieces).most_common(1)
    if unit is None or not weights or weights[0][1] < REMAINDERS:
        return None
    constants = [piece.constant for piece in pieces.pieces if piece.weights == weights[0][0]]
    low, high = min(constants), max(constants)
    if high - low > unit:
        return None
    rounded = Piece(weights[0][0], simplest(low, high, (low + high) / 2))
    away = np.abs(targets.y - rounded.values(targets.numbers)) / float(unit)
    near = away <= 0.5 + EXACT
    if targets.weight[near].sum() < MOSTLY * targets.weight.sum():
        return None
    return rounded.expression(targets), unit, near


def _line(targets: Targets) -> tuple[list[str], list[float], float]:
    """Columns, weights and constant of a sum, chosen one by one by least squares."""
    numbers = targets.numbers
    y, spread = numbers.y - numbers.y.mean(), numbers.x.std(0)
    x = (numbers.x - numbers.x.mean(0)) / np.where(spread > 0, spread, 1.0)
    chosen: list[int] = []
    rest, solved = y, np.zeros(0)
    while len(chosen) < min(TERMS, x.shape[1]):
        follows = np.abs(x.T @ rest)
        follows[chosen] = -1
        trial = [*chosen, int(follows.argmax())]
        weights = np.linalg.lstsq(x[:, trial], y, rcond=None)[0]
        left = y - x[:, trial] @ weights
        if (left @ left) > 0.95 * (rest @ rest):
            break
        chosen, rest, solved = trial, left, weights
    weights = solved / spread[chosen]
    constant = float(np.median(numbers.y - numbers.x[:, chosen] @ weights))
    return [numbers.names[at] for at in chosen], weights.tolist(), constant


def _short(number: float, digits: int) -> Fraction:
    return as_rational(float(f"{number:.{digits}g}"))


def _written(targets: Targets, names: Sequence[str], parts: Sequence[Fraction]) -> Expression:
    terms = [(weight, targets.expression(name)) for name, weight in zip(names, parts, strict=False)]
    return total(terms, parts[-1]).simplified()
