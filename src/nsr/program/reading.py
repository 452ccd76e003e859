"""Reading a register: which comparisons its units make, and which formula of them it computes.

The weights say what is compared; what the register does on rows says how. A unit's difference is a sum of the inputs
with the weights softmax(v1) - softmax(v2). Its operands are the extremes of these weights: the arg-max of each
selection where the selections are sharp, and the right pair where they are not. With an offset, the unit compares the
difference of its operands with a constant.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import torch
from torch import Tensor

from nsr.nn import NSR
from nsr.nn.bits import exact_bits
from nsr.program.constants import simplest
from nsr.program.expressions import And, Compare, Constant, Expression, Or, Variable
from nsr.program.minimisation import Pattern, smallest_formula
from nsr.program.program import Program

MOST_COMPARISONS = 4
"""A formula of more comparisons than this is not looked for."""
MOST_PROBES = 12
"""And only among this many, the most influential ones."""
SELECTED = 1e-4
"""A unit that weighs its operands less than this compares nothing."""


@dataclass(frozen=True)
class Unit:
    """What one redundant unit compares: ``x[first] - x[second]`` with ``threshold``."""

    first: int
    second: int
    threshold: float
    w_sign: float
    w_zero: float
    bias: float

    @property
    def influence(self) -> float:
        """How far its bits can move the logit."""
        return abs(self.w_sign) + abs(self.w_zero)


def units(register: NSR) -> list[Unit]:
    """What each unit compares, the first operand before the second; those that compare nothing are left out."""
    selection = (register.v1.softmax(0) - register.v2.softmax(0)).detach().double()
    found = []
    for r in range(register.redundancy):
        first, second = int(selection[:, r].argmax()), int(selection[:, r].argmin())
        reach = float(selection[first, r] - selection[second, r]) / 2
        if first == second or reach < SELECTED:
            continue
        threshold = float(register.offset[r].detach()) / reach if register.constants else 0.0
        turned = -1 if first > second else 1
        low, high = sorted((first, second))
        weights = (float(w[r].detach()) for w in (register.w_sign, register.w_zero, register.bias))
        w_sign, w_zero, bias = weights
        # A sign bit of exactly 0 is off: turning a unit around turns its sign bit only where there is a difference.
        found.append(Unit(low, high, turned * threshold, turned * w_sign, w_zero, bias))
    return found


@dataclass(frozen=True)
class Probe:
    """A comparison that a formula may use: ``x[first] - x[second]`` against ``at``, a number that the rows show."""

    first: int
    second: int
    at: Fraction
    near: Fraction
    """The threshold that was learned."""
    influence: float


class Numbers:
    """Rows of numbers as the reading needs them: differences of two columns, and where they meet a constant."""

    def __init__(self, x: Tensor, names: Sequence[str], slack: float = math.inf) -> None:
        """``slack`` is how far a constant may be from the threshold that was learned, whatever the rows allow."""
        self.x = x.double().numpy() if x.is_floating_point() else x.to(torch.int64).numpy()
        self.names = tuple(names)
        self.slack = slack

    def __len__(self) -> int:
        return len(self.x)

    def of(self, program: Program) -> np.ndarray:
        """What a program says of each row."""
        return np.broadcast_to(np.asarray(program(self.x)), len(self))

    def difference(self, first: int, second: int) -> np.ndarray:
        """Column ``first`` minus column ``second``, where the column after the last one is 0."""
        one = self.x[:, first]
        return one if second == len(self.names) else one - self.x[:, second]

    def signs(self, probe: Probe) -> np.ndarray:
        """-1, 0 or 1 on each row: the probe's difference is less, equal or greater."""
        return np.sign(self.difference(probe.first, probe.second) - _plain(probe.at)).astype(np.int8)

    def around(self, first: int, second: int, threshold: float) -> list[Fraction]:
        """The values of a difference that lie next to a threshold, the nearest first."""
        values = np.unique(self.difference(first, second))
        place = int(np.searchsorted(values, threshold))
        near = [values[i] for i in (place - 1, place, place + 1) if 0 <= i < len(values)]
        return [_exact(value) for value in sorted(near, key=lambda value: abs(value - threshold))[:2]]

    def neighbours(self, probe: Probe) -> tuple[Fraction | None, Fraction | None]:
        """The values of the difference just below and just above the probe."""
        values, at = np.unique(self.difference(probe.first, probe.second)), _plain(probe.at)
        below, above = values[values < at], values[values > at]
        return (_exact(below[-1]) if len(below) else None), (_exact(above[0]) if len(above) else None)

    def sides(self, probe: Probe, constant: Fraction) -> tuple[Expression, Expression]:
        """What a comparison with the probe's difference has on its left and on its right."""
        left = Variable(self.names[probe.first])
        if probe.second == len(self.names):
            return left, Constant(constant)
        return left, Variable(self.names[probe.second]) + constant


def probes(own: Sequence[Unit], numbers: Numbers, *, constants: bool) -> list[Probe]:
    """The comparisons that the units make, each once, the most influential first."""
    found: dict[tuple[int, int, Fraction], Probe] = {}
    for unit in own:
        values = numbers.around(unit.first, unit.second, unit.threshold) if constants else [Fraction(0)]
        for at in values:
            key = unit.first, unit.second, at
            before = found[key].influence if key in found else 0.0
            near = found[key].near if key in found and before > unit.influence else rational_of(unit.threshold)
            found[key] = Probe(*key, near, before + unit.influence)
    return sorted(found.values(), key=lambda probe: -probe.influence)[:MOST_PROBES]


def formulas(
    register: NSR, numbers: Numbers, answers: np.ndarray, matters: np.ndarray
) -> Iterator[tuple[int, Callable[[], "Reading"]]]:
    """Formulas for what a register does on rows, those of fewest comparisons first, the best of each number.

    Each comes with the number of rows on which it cannot say what the register says, and is only made when called.

    Args:
        register: The register.
        numbers: The rows.
        answers: What it answers on each row.
        matters: On which rows its answer matters.
    """
    own = units(register)
    known = probes(own, numbers, constants=register.constants)
    signs = np.stack([numbers.signs(probe) for probe in known]) if known else np.zeros((0, len(numbers)), np.int8)
    for count in range(min(MOST_COMPARISONS, len(known)) + 1):
        best: tuple[int, float, tuple[int, ...]] = len(numbers) + 1, 0.0, ()
        for chosen in itertools.combinations(range(len(known)), count):
            wrong = _contradictions(signs[list(chosen)], answers, matters)
            candidate = wrong, -sum(known[index].influence for index in chosen), chosen
            best = min(best, candidate)
        chosen = best[2]
        some = [known[index] for index in chosen]
        yield best[0], partial(_read, own, some, numbers, signs[list(chosen)], answers, matters)


@dataclass(frozen=True)
class Reading:
    """A formula, and what the rows did not show."""

    formula: Expression
    rounded: Expression
    """The same with the simplest constants that the rows allow."""
    used: frozenset[tuple[int, int]]
    unseen: tuple[str, ...]


def _codes(signs: np.ndarray) -> np.ndarray:
    """Each row's pattern as a number: the digits of base 3 are its signs."""
    powers = 3 ** np.arange(len(signs))[::-1]
    return np.asarray(((signs.astype(np.int64) + 1) * powers[:, None]).sum(0))


def _contradictions(signs: np.ndarray, answers: np.ndarray, matters: np.ndarray) -> int:
    """On how many rows no function of these signs can say what is answered."""
    codes, patterns = _codes(signs)[matters], 3 ** len(signs)
    seen = np.bincount(codes, minlength=patterns)
    true = np.bincount(codes[answers[matters]], minlength=patterns)
    return int(np.minimum(true, seen - true).sum())


def _read(
    own: Sequence[Unit],
    some: Sequence[Probe],
    numbers: Numbers,
    signs: np.ndarray,
    answers: np.ndarray,
    matters: np.ndarray,
) -> Reading:
    codes = _codes(signs)[matters]
    patterns = list(itertools.product((-1, 0, 1), repeat=len(some)))
    seen = np.bincount(codes, minlength=len(patterns))
    true = np.bincount(codes[answers[matters]], minlength=len(patterns))
    table = {pattern: bool(2 * t > s) for pattern, s, t in zip(patterns, seen, true, strict=True) if s}
    expected = {pattern: _by_weights(own, some, pattern) for pattern in patterns}
    formula = smallest_formula(table, [numbers.sides(probe, probe.at) for probe in some], expected)
    rounded = formula
    for probe in some:
        rounded = _rounded(rounded, probe, numbers)
    unseen = tuple(_told(numbers, some, p) for p in patterns if p not in table) if len(some) == 1 else ()
    return Reading(formula, rounded, frozenset((probe.first, probe.second) for probe in some), unseen)


def _by_weights(own: Sequence[Unit], some: Sequence[Probe], pattern: Pattern) -> bool:
    """What the exact bits of the units say of a pattern, those on other pairs left aside."""
    signs = {(probe.first, probe.second): sign for probe, sign in zip(some, pattern, strict=True)}
    z = 0.0
    for unit in own:
        sign = signs.get((unit.first, unit.second))
        if sign is not None:
            bits = exact_bits(torch.tensor(float(sign)))
            z += unit.w_sign * (float(bits[0]) if sign else 0.0) + unit.w_zero * float(bits[1]) + unit.bias
    return z > 0


def _rounded(formula: Expression, probe: Probe, numbers: Numbers) -> Expression:
    """The formula with a simpler constant in its inequalities of one probe, where the rows leave room for it."""
    below, above = numbers.neighbours(probe)
    left, right = numbers.sides(probe, probe.at)
    for operator, low, high in (
        (">", probe.at, above),
        ("<=", probe.at, above),
        (">=", below, probe.at),
        ("<", below, probe.at),
    ):
        if low is None or high is None:
            continue
        nearest = min(max(probe.near, low), high)
        least, most = low, high
        if numbers.slack < math.inf:
            slack = rational_of(numbers.slack)
            least, most = max(low, nearest - slack), min(high, nearest + slack)
        constant = simplest(least, most, nearest)
        strict = constant == low or (constant != high and operator in (">", "<="))
        new = ({True: ">", False: ">="} if operator in (">", ">=") else {True: "<=", False: "<"})[strict]
        old = Compare(operator, left, right).simplified()
        formula = _replaced(formula, old, Compare(new, *numbers.sides(probe, constant)).simplified())
    return formula


def _replaced(formula: Expression, old: Expression, new: Expression) -> Expression:
    if formula == old:
        return new
    if isinstance(formula, And | Or):
        return type(formula)(*(_replaced(part, old, new) for part in formula.parts))
    return formula


def _told(numbers: Numbers, some: Sequence[Probe], pattern: Pattern) -> str:
    names = {-1: "<", 0: "=", 1: ">"}
    parts = (Compare(names[s], *numbers.sides(p, p.at)).simplified() for p, s in zip(some, pattern, strict=True))
    return " and ".join(map(str, parts))


def rational_of(value: float) -> Fraction:
    """A float as the decimal that it prints as."""
    return Fraction(repr(float(value)))


def _exact(value: np.generic) -> Fraction:
    return Fraction(int(value)) if isinstance(value, np.integer) else rational_of(float(value))


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
