"""How precisely the rows fix the numbers of a comparison, and the simplest numbers that they allow.

The rows that a comparison decides must be on the right side of its border. The weights and constants for which they are
form a polytope (the version space), and linear programs give the range of each number in it, given those before it. A
true rule has numbers that are simpler than their narrow ranges would lead one to expect; a border that only follows a
curve has not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from scipy.optimize import linprog

from nsr.learn.candidates import evenly_spaced
from nsr.learn.proposals import best_cut
from nsr.learn.ratios import POSITIVE, ROUNDING
from nsr.learn.rules import Reader, Rule
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.rounding import as_rational, number_nats
from nsr.reading.rows import LabelledRows
from nsr.reading.rules import SideClasses, gap_between
from nsr.reading.weights import integer_weights, ratio_nats, simple_ratios, simplest_ratio

MOST_ROWS = 1_500
"""Ranges are computed from this many rows at most."""
WIDEST = 50.0
"""Weights, in standard deviations and relative to the leading one, are looked for up to this size."""
LEVEL = 1.6
"""Nats to say of which power of ten all constants are multiples."""
EDGE = 1e-7
"""By how much ranges are taken wider or narrower, relatively."""
FEW_ROWS = 25
"""Substitutes are looked for where a comparison decides at most this many rows."""
SUBSTITUTE = 4.0
"""Nats by which they may be longer."""
ABSENT = math.log(2)
"""Nats to say that a column is not compared."""


@dataclass(frozen=True)
class Precision:
    """For one comparison: nats by which its numbers are simpler than their ranges would lead one to expect."""

    weights: float
    """For the ratios of weights."""
    zeros: float
    """For the columns of the rule that it does not compare."""
    constant: float
    width: float
    """Nats by which the rows fix the constant."""
    reach: float
    """The largest absolute value of the sum, in units of the constant."""
    open: bool
    """Whether there could be rows between the border and the nearest rows on both sides."""

    @property
    def total(self) -> float:
        """For all of its numbers together."""
        return self.weights + self.zeros + self.constant


class VersionSpace:
    """The borders that put the rows which a comparison decides on the right side."""

    def __init__(self, x: np.ndarray, side: np.ndarray, *, through_zero: bool = False) -> None:
        self.spread = np.where(x.std(0) > 0, x.std(0), 1.0)
        # Variables: weights in standard deviations, then the constant, measured from the middle of the rows.
        scaled = (x if through_zero else x - x.mean(0)) / self.spread
        self._limits = -side[:, None] * np.column_stack([scaled, np.full(len(x), 0.0 if through_zero else -1.0)])
        self._fixed: dict[int, float] = {}

    def fix(self, variable: int, value: float) -> None:
        """Give a variable a value."""
        self._fixed[variable] = value

    def range(self, variable: int) -> tuple[float, float] | None:
        """The smallest and the largest value of a variable, given those that are fixed; None if there is none."""
        n = self._limits.shape[1]
        bounds = [(-WIDEST, WIDEST)] * (n - 1) + [(-WIDEST * n, WIDEST * n)]
        for at, value in self._fixed.items():
            bounds[at] = (value, value)
        found = []
        for direction in (1.0, -1.0):
            goal = np.zeros(n)
            goal[variable] = direction
            result = linprog(goal, self._limits, np.full(len(self._limits), 1e-9), bounds=bounds)
            if not result.success:
                return None
            found.append(direction * float(result.fun))
        return found[0], found[1]


def _space(
    reader: Reader, atoms: Sequence[Atom], position: int, names: Sequence[str], *, through_zero: bool = False
) -> VersionSpace | None:
    """The version space of one of several atoms over some columns; None where equality is a case of its own."""
    rows = reader.rows
    sides = reader.side_classes(atoms, position)
    if sides is None:
        return None
    deciding = (sides.below != sides.above) & ((sides.below == rows.classes) | (sides.above == rows.classes))
    wanted = np.where(sides.above == rows.classes, 1, -1)
    signs = rows.signs(atoms[position])
    right = deciding & ((signs == wanted) | (signs == 0))  # rows that contradict the rule are taken for wrong labels
    at = np.flatnonzero(right)
    at = at[evenly_spaced(at, MOST_ROWS)] if len(at) > MOST_ROWS else at
    if len(at) < 2 or len(set(wanted[at].tolist())) < 2:
        return None
    x = rows.columns.x.double().numpy()[at][:, [rows.columns.names.index(name) for name in names]]
    return VersionSpace(x, wanted[at], through_zero=through_zero)


def precision(reader: Reader, rule: Rule, position: int) -> Precision | None:
    """How much simpler the numbers of one comparison are than their ranges; None where that cannot be known."""
    atom = rule.atoms[position]
    own = [name for name, _ in atom.weights]
    others = sorted({name for each in rule.atoms for name in each.columns} - set(own))
    space = _space(reader, rule.atoms, position, [*own, *others])
    if space is None:
        return None
    real = np.array([float(weight) for _, weight in atom.weights])
    lead = int(np.abs(real * space.spread[: len(own)]).argmax())
    scale = real[lead] * space.spread[lead]
    space.fix(lead, math.copysign(1.0, scale))
    zeros = 0.0
    for variable in range(len(own), len(own) + len(others)):
        zeros += _nats(space.range(variable)) - ABSENT
        space.fix(variable, 0.0)
    weights = 0.0
    for variable in range(len(own)):
        if variable != lead:
            ratio = Fraction(atom.weights[variable][1], atom.weights[lead][1])
            weights += _nats(space.range(variable)) - ratio_nats(ratio)
            space.fix(variable, real[variable] * space.spread[variable] / abs(scale))
    intended = reader.rows.columns.intended_constant(atom)
    cost = ABSENT if intended == 0 and len(own) > 1 else number_nats(intended) or ABSENT
    known = _nats_of_constant(reader, atom, space.range(len(own) + len(others)), abs(scale))
    reach = float(np.abs(reader.rows.columns.distances(atom)).max())
    return Precision(weights, zeros, known - cost, known, reach, _is_open(reader, rule.atoms, position))


def total_surprise(rule: Rule, known: Sequence[Precision | None]) -> float:
    """Nats by which all numbers of a rule are simpler than their ranges; constants may share a power of ten.

    That two columns are compared without weights does not count: so do the stairs along ``a + b > c``.
    """
    pairs = [(atom, each) for atom, each in zip(rule.atoms, known, strict=True) if each is not None]
    apart = sum(each.constant for _, each in pairs)
    constants = [(atom.constant, each) for atom, each in pairs if atom.constant]
    level = min((_power(constant) for constant, _ in constants), default=0)
    together = sum(each.width - math.log(max(each.reach / 10.0**level, 2.0)) for _, each in constants) - LEVEL
    return sum(each.weights for atom, each in pairs if not is_plain(atom)) + max(apart, together)


def is_plain(atom: Atom) -> bool:
    """Whether an atom compares a column, or two, without weights."""
    return sorted(weight for _, weight in atom.weights) in ([1], [-1, 1])


def _power(constant: Fraction) -> int:
    """The largest power of ten of which a decimal is a multiple."""
    digits = next((places for places in range(13) if (constant * 10**places).denominator == 1), 13)
    if digits:
        return -digits
    text = str(abs(constant.numerator))
    return len(text) - len(text.rstrip("0"))


def _is_open(reader: Reader, atoms: Sequence[Atom], position: int) -> bool:
    """Whether other constants, between those of the rows, would do as well; where labels are wrong, nearly as well."""
    sides, columns, atom = reader.side_classes(atoms, position), reader.rows.columns, atoms[position]
    gap = None if sides is None else gap_between(reader.rows, atom, sides)
    step = columns.grid(atom.weights)
    return gap is None or step is None or gap.high - gap.low > step


def _nats_of_constant(reader: Reader, atom: Atom, bounds: tuple[float, float] | None, scale: float) -> float:
    """How surprising it is to know a constant so well: it might be anywhere among the values of the sum."""
    if bounds is None:
        return 0.0
    sums = np.sort(reader.rows.columns.distances(atom))
    width = max((bounds[1] - bounds[0]) * scale, 0.0)
    reach = max(np.quantile(np.abs(sums), 0.2), width)
    density = ((sums > -reach) & (sums < reach)).mean() / (2 * reach) if reach > 0 else 0.0
    return -math.log(min(max(width * density, 0.5 / len(sums)), 1.0))


def _nats(bounds: tuple[float, float] | None) -> float:
    """How surprising it is to know a ratio of weights so well: all directions of a border are equally likely."""
    if bounds is None:
        return 0.0
    share = (math.atan(bounds[1]) - math.atan(bounds[0])) / math.pi
    return -math.log(min(max(share, 1e-6), 1.0))


def simpler_sums(reader: Reader, atoms: Sequence[Atom], position: int) -> list[Weights]:
    """Sums with the simplest weights that the rows allow for one of several atoms: without a constant, and with one."""
    found = (
        _simplest(reader, atoms, position, through_zero, margin)
        for through_zero in (True, False)
        for margin in (-EDGE, EDGE)
    )
    return list(dict.fromkeys(weights for weights in found if weights is not None))


def multiples(reader: Reader, atoms: Sequence[Atom], position: int) -> list[Weights]:
    """Simple multiples, such as 1.1 and 1/0.9, that the rows allow for an atom of two columns without a constant."""
    names = [name for name, _ in atoms[position].weights]
    found: list[Fraction] = []
    for low, high in ranges_of_factor(reader, atoms, position):
        found += simple_ratios(low, high)
        found += simple_ratios(low * (1 - ROUNDING), high * (1 + ROUNDING))
    return list(
        dict.fromkeys(integer_weights(names, [Fraction(1), -each]) for each in found if each.denominator < 10**6)
    )


def ranges_of_factor(reader: Reader, atoms: Sequence[Atom], position: int) -> list[tuple[Fraction, Fraction]]:
    """From where to where the rows allow the factor of an atom of two columns without a constant; none for others.

    ``a > r*b`` is ``a / b > r`` where b is positive, so r is read as any constant is. Rows on the border are at an end
    of the range, but for the rounding of a / b.
    """
    names = [name for name, _ in atoms[position].weights]
    sides = None if len(names) != 2 else reader.side_classes(atoms, position)
    if sides is None:
        return []
    rows = reader.rows
    one, two = (rows.columns.x[:, rows.columns.names.index(name)].double().numpy() for name in names)
    usable = np.flatnonzero((one > 0) & (two > 0))
    if len(usable) < POSITIVE * len(rows):
        return []
    ratio = Columns(torch.from_numpy(one[usable] / two[usable]).unsqueeze(-1), ["ratio"], units=[None])
    of_ratio = LabelledRows(ratio, rows.classes[usable], rows.weight[usable], rows.n_classes)
    ways = [(sides.below, sides.above), (sides.above, sides.below)]
    gaps = (
        gap_between(of_ratio, Atom((("ratio", 1),)), SideClasses(below[usable], above[usable], slack))
        for below, above in ways
        for slack in (0.0, sides.slack)
    )
    return [(gap.low, gap.high) for gap in gaps if gap is not None]


def substitutes(reader: Reader, atoms: Sequence[Atom], position: int, sums: Sequence[Weights]) -> list[Atom]:
    """Other comparisons, not much longer, that put the few rows which an atom decides on the same sides.

    Sums with all of its columns, one more and a constant do not count: they only blur it.
    """
    sides, atom = reader.side_classes(atoms, position), atoms[position]
    if sides is None:
        return []
    rows = reader.rows
    deciding = np.flatnonzero(sides.below != sides.above)
    if not 0 < len(deciding) <= FEW_ROWS:
        return []
    side = np.where(sides.above[deciding] == rows.classes[deciding], 1, -1)
    columns, weight = rows.columns.subset(deciding), rows.weight[deciding]
    most = best_cut(columns, atom.weights, side, weight).wrong
    cuts = [best_cut(columns, weights, side, weight) for weights in sums if weights != atom.weights]
    found = [Atom(cut.weights, cut.constant) for cut in cuts if cut.wrong <= most]
    found = [each for each in found if not (each.constant and set(atom.columns) <= set(each.columns))]
    if not atom.has_constant:
        turned = SideClasses(sides.above, sides.below, sides.slack)
        most = reader.misplaced(atom, sides)
        plain = [Atom(weights) for weights in sums if len(weights) == 2 and weights != atom.weights]
        found += [each for each in plain if min(reader.misplaced(each, way) for way in (sides, turned)) <= most]
    return [each for each in found if reader.price(each) <= reader.price(atom) + SUBSTITUTE]


def _simplest(
    reader: Reader, atoms: Sequence[Atom], position: int, through_zero: bool, margin: float
) -> Weights | None:
    """The simplest weights, chosen one after the other, the smallest first.

    Rows on the border put the true weights at the very end of a range, so ranges are taken a little wider as well as a
    little narrower; which weights are right is for the rows to say.
    """
    names = [name for name, _ in atoms[position].weights]
    space = None if len(names) < 2 else _space(reader, atoms, position, names, through_zero=through_zero)
    if space is None:
        return None
    real = np.array([float(weight) for _, weight in atoms[position].weights]) * space.spread
    lead = int(np.abs(real).argmax())
    sign = math.copysign(1.0, real[lead])
    space.fix(lead, sign)
    ratios = [Fraction(0)] * len(names)
    ratios[lead] = Fraction(1)
    for variable in np.argsort(np.abs(real)).tolist():
        if variable == lead:
            continue
        bounds = space.range(variable)
        if bounds is None:
            return None
        unit = sign * space.spread[variable] / space.spread[lead]
        low, high = sorted(bound / unit for bound in bounds)
        ratios[variable] = _simplest_between(low, high, margin)
        space.fix(variable, float(ratios[variable]) * unit)
    return None if max(ratio.denominator for ratio in ratios) > 10**6 else integer_weights(names, ratios)


def _simplest_between(low: float, high: float, margin: float) -> Fraction:
    if low <= 0 <= high:
        return Fraction(0)
    inward = min((high - low) / 2, margin * max(abs(low), abs(high)))
    return simplest_ratio(as_rational(low + inward), as_rational(high - inward))
