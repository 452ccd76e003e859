"""What chooses between the pieces of a numeric target: their order, ranges of one column, or learned comparisons."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from nsr.learn.diagnostics import margins, not_covered
from nsr.learn.evidence import RuleEvidence
from nsr.learn.pieces import Piece, Pieces, Targets, recognise_order, recognise_ranges
from nsr.learn.rules import Rule
from nsr.learn.search import Settings, search
from nsr.program.expressions import Compare, Constant, Expression, Variable, Where, total
from nsr.program.program import Program
from nsr.reading.atoms import Atom, Weights
from nsr.reading.rounding import as_rational
from nsr.reading.rows import LabelledRows

TERMS = 3
"""How many columns the nearest line has at most."""
DIGITS = 3
"""And how many digits its weights have."""
MISTAKEN = 0.5
"""How many rows may follow the wrong piece, for each row that follows none."""
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
    if not len(pieces):
        return None
    some = pieces.of(pieces.targets.subset(seen))
    covered = _weight(some, some.covered)
    simple = _without_search(some, settings.errors)
    if simple and _weight(some, share_right(simple[0], some)) >= covered:
        return Choice(simple[0], _evidence(simple[0], pieces))
    learned = _learned(pieces, some, settings)
    options = [*(Choice(one, _evidence(one, pieces)) for one in simple), *learned]
    if not options:
        return Choice(pieces.pieces[0].expression(pieces.targets), _evidence(None, pieces, "which piece a row follows"))
    return max(options, key=lambda one: _weight(some, share_right(one.expression, some)))


def _without_search(pieces: Pieces, errors: float) -> list[Expression]:
    """Functions that are right on all rows; if there are none, on all rows but a few, the best one first.

    Where targets are wrong, a few of them are what another piece gives.
    """
    for allowed in (0.0, errors):
        options = (recognise_order(pieces, errors=allowed), recognise_ranges(pieces, errors=allowed))
        right = [(share_right(one, pieces), one) for one in options if one is not None]
        few = MISTAKEN * _weight(pieces, ~pieces.covered)
        right = [(rows, one) for rows, one in right if _weight(pieces, pieces.covered & ~rows) <= few]
        if right:
            return [one for _, one in sorted(right, key=lambda each: -_weight(pieces, each[0]))]
    return []


def _weight(pieces: Pieces, rows: np.ndarray) -> float:
    return float(pieces.targets.weight[rows].sum())


def share_right(expression: Expression, pieces: Pieces) -> np.ndarray:
    """On which rows a function is right, up to rounding."""
    targets = pieces.targets
    answers = targets.columns.evaluate(Program(expression, targets.columns.names)).astype(np.float64)
    slack = np.zeros(len(targets))
    for piece in pieces.pieces:
        slack = np.maximum(slack, piece.tolerance(targets.numbers))
    return np.asarray(np.abs(answers - targets.y) <= slack)


def _learned(pieces: Pieces, seen: Pieces, settings: Settings) -> Iterator[Choice]:
    """The comparisons that choose between pieces, learned as classes from the rows on which exactly one holds."""
    clear = np.flatnonzero(seen.clear)
    classes = seen.holds[:, clear].argmax(0)
    if len(np.unique(classes)) < len(seen):
        return
    rows = seen.targets.subset(clear)
    labelled = LabelledRows(rows.columns, classes, rows.weight, len(seen))
    gate = search(labelled, replace(settings, preferred=_crossings(pieces)))
    expression = gate.columns.written_out(_function(gate.rule.expression, pieces))
    evidence = gate.evidence
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


def _evidence(expression: Expression | None, pieces: Pieces, unknown: str | None = None) -> RuleEvidence:
    """How near rows come to where a function changes that needed no search."""
    columns, found = pieces.targets.columns, []
    if len(pieces) <= FEW_PIECES and expression is not None:
        compared = [node for node in expression.walk() if isinstance(node, Compare)]
        atoms = [Atom.from_comparison(one) for one in compared] or list(_borders(pieces))
        found = [atom for atom in dict.fromkeys(atoms) if atom is not None and set(atom.columns) <= set(columns.names)]
    rule = Rule(Constant(0), tuple(found), 0.0, 0.0)
    return RuleEvidence(
        rows=len(pieces.targets),
        agreement=0.0,
        held_out=None,
        held_out_rows=0,
        margins=margins(columns, rule),
        not_covered=not_covered(columns, rule),
        reason=None if unknown is None else f"no exact rule: the rows do not show {unknown}",
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
    numbers = targets.numbers
    y = numbers.y - numbers.y.mean()
    spread = numbers.x.std(0)
    x = (numbers.x - numbers.x.mean(0)) / np.where(spread > 0, spread, 1.0)
    chosen: list[int] = []
    rest, solved = y, np.zeros(0)
    while len(chosen) < min(TERMS, x.shape[1]):
        follows = np.abs(x.T @ rest)
        follows[chosen] = -1
        best = int(follows.argmax())
        trial = np.linalg.lstsq(x[:, [*chosen, best]], y, rcond=None)[0]
        left = y - x[:, [*chosen, best]] @ trial
        if (left @ left) > 0.95 * (rest @ rest):
            break
        chosen, rest, solved = [*chosen, best], left, trial
    weights = [float(f"{w:.{DIGITS}g}") for w in solved / spread[chosen]]
    constant = float(f"{np.median(numbers.y - numbers.x[:, chosen] @ np.array(weights)):.{DIGITS}g}")
    terms = [(as_rational(w), targets.expression(numbers.names[at])) for w, at in zip(weights, chosen, strict=True)]
    return total(terms, as_rational(constant)).simplified()
