"""Reading a register: which comparisons its units make, and which formula of them it computes.

The weights say what is compared; what the register does on rows says how. A unit's difference is a sum of the inputs
with the weights softmax(v1) - softmax(v2). Its operands are the extremes of these weights: the arg-max of each
selection where the selections are sharp, and the right pair where they are not. With learned offsets, the difference is
compared with constants: those where the register's answer changes on the rows.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from nsr.nn import NSR
from nsr.program.expressions import And, Compare, Expression, Or
from nsr.reading.columns import Numbers, Probe, rational_of
from nsr.reading.formulas import smallest_formula
from nsr.reading.rounding import simplest
from nsr.reading.splits import nats_left

MOST_COMPARISONS = 4
"""A formula of more comparisons than this is not looked for."""
MOST_PROBES = 12
"""And only among this many."""
SELECTED = 1e-4
"""A unit that weighs its operands less than this compares nothing."""

Ask = Callable[[Tensor], np.ndarray]
"""What a register answers on rows."""


@dataclass(frozen=True)
class Unit:
    """What one redundant unit compares: ``x[first] - x[second]`` with ``threshold``, and how far it moves the logit."""

    first: int
    second: int
    threshold: float
    influence: float

    @property
    def pair(self) -> tuple[int, int]:
        """What it compares."""
        return self.first, self.second


def pairs(own: Sequence[Unit]) -> list[tuple[int, int]]:
    """What the units compare, each pair once."""
    return list(dict.fromkeys(unit.pair for unit in own))


def units(register: NSR) -> list[Unit]:
    """What each unit compares, the lower operand first; those that compare nothing are left out."""
    selection = (register.v1.softmax(0) - register.v2.softmax(0)).detach().double()
    found = []
    for r in range(register.redundancy):
        first, second = int(selection[:, r].argmax()), int(selection[:, r].argmin())
        reach = float(selection[first, r] - selection[second, r]) / 2
        if first == second or reach < SELECTED:
            continue
        threshold = float(register.offset[r].detach()) / reach if register.constants else 0.0
        influence = abs(float(register.w_sign[r].detach())) + abs(float(register.w_zero[r].detach()))
        low, high = sorted((first, second))
        found.append(Unit(low, high, threshold if first < second else -threshold, influence))
    return sorted(found, key=lambda unit: -unit.influence)


@dataclass(frozen=True)
class Reading:
    """A formula, the same with the simplest constants that the rows allow, and what the rows did not show."""

    formula: Expression
    rounded: Expression
    used: frozenset[tuple[int, int]]
    unseen: tuple[str, ...]


@dataclass(frozen=True)
class Observed:
    """What a register is read on: numbers, its answers there, and on which rows they matter."""

    numbers: Numbers
    answers: np.ndarray
    matters: np.ndarray
    ask: Ask
    slack: float | None = None
    """How far from a learned threshold its constant may be; None: as far as the rows allow."""


def readings(register: NSR, rows: Observed) -> Iterator[Reading]:
    """Formulas for what a register does, those of fewest comparisons first, the best of each number."""
    own = units(register)
    known = _candidates(own, rows, constants=register.constants)
    signs = np.stack([rows.numbers.signs(probe) for probe in known]) if known else np.zeros((0, len(rows.numbers)))
    weight = {pair: sum(unit.influence for unit in own if unit.pair == pair) for pair in pairs(own)}
    for count in range(min(MOST_COMPARISONS, len(known)) + 1):
        best: tuple[int, float, tuple[int, ...]] = len(rows.numbers) + 1, 0.0, ()
        for chosen in itertools.combinations(range(len(known)), count):
            wrong = _contradictions(signs[list(chosen)], rows)
            candidate = wrong, -sum(weight[known[at].pair] for at in chosen), chosen
            best = min(best, candidate)
        some = [known[at] for at in best[2]]
        yield _read(register, own, some, signs[list(best[2])], rows)


def _candidates(own: Sequence[Unit], rows: Observed, *, constants: bool) -> list[Probe]:
    """Comparisons that a formula may use: those of the units, or with constants those that tell the answers apart."""
    if not constants:
        return [Probe(*pair, Fraction(0)) for pair in pairs(own)][:MOST_PROBES]
    answers = rows.answers[rows.matters]
    differences = {pair: rows.numbers.difference(*pair)[rows.matters] for pair in pairs(own)}
    found: dict[tuple[tuple[int, int], object], Probe] = {}
    for _ in range(MOST_PROBES // MOST_COMPARISONS):
        codes = np.zeros(len(answers), dtype=np.int64)
        for _ in range(MOST_COMPARISONS):
            splits = {}
            for pair in differences:
                taken = [value for other, value in found if other == pair]
                splits[pair] = _best_split(differences[pair], answers, codes, taken)
            pair = min(splits, key=lambda pair: splits[pair][0])
            left, value = splits[pair]
            if left == np.inf:
                break
            probe = Probe(*pair, rows.numbers.value(pair, value))
            found[pair, value] = probe
            codes = codes * 3 + rows.numbers.signs(probe)[rows.matters] + 1
            if left == 0:
                break
    return list(found.values())


def _best_split(
    difference: np.ndarray, answers: np.ndarray, codes: np.ndarray, taken: Sequence[object]
) -> tuple[float, np.generic]:
    """The value that tells the answers best apart, below it, at it and above it, within groups of equal codes.

    Returns what uncertainty is left, in nats over all rows, and the value.
    """
    values, column = np.unique(difference, return_inverse=True)
    groups = np.unique(codes, return_inverse=True)[1]
    left = nats_left(column, len(values), groups, answers.astype(np.int64), np.ones(len(answers)), 2)
    out = np.isin(values, np.array(list(taken), dtype=values.dtype)) | ~np.isfinite(values)
    left = np.where(out, np.inf, left)
    best = int(left.argmin())
    return float(left[best]), values[best]


def _codes(signs: np.ndarray) -> np.ndarray:
    """Each row's pattern as a number: the digits of base 3 are its signs."""
    powers = 3 ** np.arange(len(signs))[::-1]
    return np.asarray(((signs.astype(np.int64) + 1) * powers[:, None]).sum(0, dtype=np.int64))


def _votes(signs: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each pattern, how many rows show it, and on how many of them the answer is yes."""
    codes, patterns = _codes(signs), 3 ** len(signs)
    return np.bincount(codes, minlength=patterns), np.bincount(codes[answers], minlength=patterns)


def _contradictions(signs: np.ndarray, rows: Observed) -> int:
    """On how many rows no function of these signs can say what is answered."""
    seen, true = _votes(signs[:, rows.matters], rows.answers[rows.matters])
    return int(np.minimum(true, seen - true).sum())


def _read(register: NSR, own: Sequence[Unit], some: Sequence[Probe], signs: np.ndarray, rows: Observed) -> Reading:
    """The formula of some comparisons. Of what no row shows, the register says what it would do there."""
    numbers = rows.numbers
    patterns = list(itertools.product((-1, 0, 1), repeat=len(some)))
    seen, true = _votes(signs[:, rows.matters], rows.answers[rows.matters])
    table = {pattern: bool(2 * t > s) for pattern, s, t in zip(patterns, seen, true, strict=True) if s}
    seen, true = _votes(*_imagined(some, rows, step=5 / register.scale))
    guess = {pattern: bool(2 * t > s) for pattern, s, t in zip(patterns, seen, true, strict=True) if s}
    sides = [numbers.sides(probe, probe.at) for probe in some]
    formula, whole = (smallest_formula(known, sides) for known in (table, guess | table))
    if _comparisons(whole) <= _comparisons(formula):
        formula = whole  # the register's answers in cases that no row shows come at no cost
    rounded = formula
    for probe in some:
        rounded = _rounded(rounded, probe, own, rows)
    unseen = tuple(_told(sides, pattern) for pattern in guess if pattern not in table)
    return Reading(formula, rounded, frozenset(probe.pair for probe in some), unseen)


def _comparisons(formula: Expression) -> int:
    return sum(isinstance(node, Compare) for node in formula.walk())


def _imagined(some: Sequence[Probe], rows: Observed, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows that show every pattern which can be shown: some real ones, moved to each side of each probe and onto it."""
    x = rows.numbers.x.double()
    base = x[:: max(1, len(x) // 20)][:20]
    moved, zero = [], torch.zeros(len(base), 1, dtype=torch.float64)
    for pattern in itertools.product((-1, 0, 1), repeat=len(some)):
        new = torch.cat([base, zero], dim=-1)
        for probe, sign in zip(some, pattern, strict=True):
            new[:, probe.first] = new[:, probe.second] + float(probe.at) + sign * step
        moved.append(new)
    every = torch.cat(moved)
    gaps = [every[:, probe.first] - every[:, probe.second] - float(probe.at) for probe in some]
    signs = [torch.where(gap.abs() < step / 2, 0, gap.sign()).numpy() for gap in gaps]  # short of rounding
    return np.stack(signs) if signs else np.zeros((0, len(every))), rows.ask(every[:, :-1])


def _rounded(formula: Expression, probe: Probe, own: Sequence[Unit], rows: Observed) -> Expression:
    """The formula with a simpler constant in its inequalities of one probe, where the rows leave room for it.

    On integers ``a > 3``, ``a > 3.7`` and ``a >= 4`` are the same: any number from 3 to 4 will do.
    """
    below, above = rows.numbers.neighbours(probe)
    old_sides = rows.numbers.sides(probe, probe.at)
    for operator, low, high in (
        (">", probe.at, above),
        ("<=", probe.at, above),
        (">=", below, probe.at),
        ("<", below, probe.at),
    ):
        if low is None or high is None:
            continue
        constant = _constant(probe, own, low, high, rows.slack)
        strict = constant == low or (constant != high and operator in (">", "<="))
        new = (">" if strict else ">=") if operator in (">", ">=") else ("<=" if strict else "<")
        old = Compare(operator, *old_sides).simplified()
        formula = _replaced(formula, old, Compare(new, *rows.numbers.sides(probe, constant)).simplified())
    return formula


def _constant(probe: Probe, own: Sequence[Unit], low: Fraction, high: Fraction, slack: float | None) -> Fraction:
    """The simplest number from low to high, near a threshold that was learned if one lies there."""
    learned = [rational_of(u.threshold) for u in own if u.pair == probe.pair]
    room = (high - low) / 100  # thresholds are learned, and 5.0000002 is 5
    near = next((min(max(t, low), high) for t in learned if low - room <= t <= high + room), None)
    if near is None or slack is None:
        return simplest(low, high, (low + high) / 2 if near is None else near)
    return simplest(max(low, near - rational_of(slack)), min(high, near + rational_of(slack)), near)


def _replaced(formula: Expression, old: Expression, new: Expression) -> Expression:
    if formula == old:
        return new
    if isinstance(formula, And | Or):
        return type(formula)(*(_replaced(part, old, new) for part in formula.parts))
    return formula


def _told(sides: Sequence[tuple[Expression, Expression]], pattern: tuple[int, ...]) -> str:
    names = {-1: "<", 0: "=", 1: ">"}
    return " and ".join(
        str(Compare(names[sign], *pair).simplified()) for pair, sign in zip(sides, pattern, strict=True)
    )
