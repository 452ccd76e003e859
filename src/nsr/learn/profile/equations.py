"""Equations: columns that are equal, a multiple of another one, or a sum or a product of others."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np

from nsr.learn.profile.chance import Numbers, rarity, shuffled_chance
from nsr.learn.profile.columns import PROBE_SHARE, Sample, SampledColumn
from nsr.learn.profile.statements import Candidate, Family
from nsr.program.expressions import Compare, Constant, Expression, Order, total
from nsr.program.kinds import Kind

ROUNDING = 1e-9
"""Share of the largest number by which floats may differ."""
LARGEST_DENOMINATOR = 1_000
SUBSETS, SUBSET = 12, 3
"""A sum is tried first on so many small sets of rows: it must be constant on one of them."""
MOST_FOR_FOUR = 40
"""Sums of four columns are tried if there are at most so many columns of numbers."""
FACTORS = (Fraction(1), Fraction(1, 100), Fraction(100))
"""A product may be in percent."""
CONSTANT = math.log(LARGEST_DENOMINATOR)
"""Nats for the choice of a constant."""


@dataclass(frozen=True)
class Equation:
    """A sum of terms that is constant; a term is a coefficient and one or two columns that are multiplied."""

    terms: tuple[tuple[Fraction, tuple[SampledColumn, ...]], ...]
    constant: Fraction = Fraction(0)

    @property
    def columns(self) -> list[SampledColumn]:
        """The columns, in the order of the terms."""
        return list(dict.fromkeys(column for _, factors in self.terms for column in factors))

    def difference(self, values: Sequence[Numbers]) -> Numbers:
        """The sum minus the constant, for values of ``columns``."""
        by_column = dict(zip(self.columns, values, strict=True))
        sums = sum(
            float(coefficient) * np.prod([by_column[column] for column in factors], axis=0)
            for coefficient, factors in self.terms
        )
        return np.asarray(sums - float(self.constant))

    def sides(self) -> tuple[Expression, Expression]:
        """One column on the left if possible, and the rest on the right, without negative terms if possible."""
        terms = [(c, _multiply(factors)) for c, factors in self.terms]
        alone = [place for place, (c, _) in enumerate(terms) if abs(c) == 1 and len(self.terms[place][1]) == 1]
        signs = [c > 0 for c, _ in terms]
        apart = [place for place in alone if signs.count(signs[place]) == 1]
        if not apart and all(sign == signs[0] for sign in signs):
            sign = 1 if signs[0] else -1
            return total([(sign * c, e) for c, e in terms]), Constant(sign * self.constant)
        if apart:
            place = apart[-1]
            factor = -1 / terms[place][0]
            rest = [(factor * c, e) for at, (c, e) in enumerate(terms) if at != place]
            return terms[place][1], total(rest, -factor * self.constant)
        left = [(c, e) for c, e in terms if c > 0]
        right = [(-c, e) for c, e in terms if c < 0]
        return total(left), total(right, self.constant)

    def claim(self, tolerance: Fraction) -> Compare:
        """The equation, or that both sides differ by at most a tolerance."""
        left, right = self.sides()
        if not tolerance:
            return Compare("=", left, right)
        difference = right - left
        return Compare("<=", Order(2, difference, -difference), tolerance)


def _multiply(factors: Sequence[SampledColumn]) -> Expression:
    expression: Expression = factors[0].variable
    for factor in factors[1:]:
        expression = expression * factor.variable
    return expression


def find_equal(sample: Sample) -> Iterator[Candidate]:
    """Columns whose cells are equal."""
    tried = max(1, len(sample.columns) * (len(sample.columns) - 1) // 2)
    for one, other in combinations(sample.columns, 2):
        if sample.clock.over("equal columns"):
            return
        if not (one.comparable(other) and one.kind != Kind.BOOLEAN and len(one.values) > 1 and len(other.values) > 1):
            continue
        both = one.present & other.present
        equal = _equal(one, other)[both]
        if len(equal) and equal.mean() >= sample.least:
            chance = _equal_chance(one, other)
            claim = Compare("=", one.variable, other.variable)
            surprise = rarity(len(equal), int((~equal).sum()), 1 - chance)
            yield Candidate(Family.EQUALITY, claim, (one.name, other.name), chance, surprise, tried)


def _equal(one: SampledColumn, other: SampledColumn) -> np.ndarray:
    if one.is_category:
        code = {value: place for place, value in enumerate(one.values)}
        same = np.array([code.get(value, -2) for value in other.values])
        return np.asarray(np.where(other.present, same[other.codes], -3) == one.codes)
    return np.asarray(one.numbers == other.numbers)


def _equal_chance(one: SampledColumn, other: SampledColumn) -> float:
    """The chance that two cells are equal, each drawn from its own column."""
    both = one.present & other.present
    shares = [
        {c.values[code]: count / both.sum() for code, count in zip(*np.unique(c.codes[both], return_counts=True))}  # noqa: B905
        for c in (one, other)
    ]
    return min(1.0, float(sum(share * shares[1].get(value, 0.0) for value, share in shares[0].items())))


def find_equations(sample: Sample) -> Iterator[tuple[Equation, Candidate]]:
    """Multiples, sums and products, the shortest first; none that follows from shorter ones."""
    span = _Span(sample.measured)
    generator = sample.generator()
    for equation, tolerances, tried in _proposals(sample):
        if not span.adds(equation):
            continue
        candidate = _judge(sample, equation, tolerances, tried, generator)
        if candidate is not None and candidate.score > 0:
            span.add(equation)
            yield equation, candidate


Proposal = tuple[Equation, list[float], int]
"""An equation, the tolerances to try in turn, and the number of equations of its form."""


def _proposals(sample: Sample) -> Iterator[Proposal]:
    yield from _multiples(sample)
    yield from _sums(sample, 3)
    yield from _products(sample)
    if len(sample.numbers) <= MOST_FOR_FOUR:
        yield from _sums(sample, 4)
    else:
        sample.clock.skipped.append(f"sums of four columns, of which there are more than {MOST_FOR_FOUR}")


def _judge(
    sample: Sample, equation: Equation, tolerances: list[float], tried: int, generator: np.random.Generator
) -> Candidate | None:
    """The equation with the smallest tolerance that enough rows meet."""
    columns = equation.columns
    rows = np.logical_and.reduce([column.present for column in columns])
    values = [column.numbers[rows] for column in columns]
    if len(values[0]) < 3:
        return None
    difference = np.abs(equation.difference(values))
    floats = any(column.is_double for column in columns)
    rounding = ROUNDING * max(float(np.abs(part).max()) for part in [*values, difference])
    if not math.isfinite(rounding):  # sums or products beyond the largest float
        return None
    exactly = 0.0 if floats else rounding
    for tolerance in [exactly, *([rounding] if floats else []), *tolerances]:
        breaks = int((difference > tolerance * (1 + ROUNDING) + exactly).sum())
        if breaks <= (1 - sample.least) * len(difference):
            break
    else:
        return None
    limit = tolerance + max(rounding, exactly)
    chance = shuffled_chance(values, lambda cells: np.abs(equation.difference(cells)) <= limit, generator)
    written = Fraction(0) if tolerance == exactly else _written(tolerance, floats, is_rounding=tolerance == rounding)
    if written and chance > 0.5:
        return None
    return Candidate(
        Family.EQUALITY,
        equation.claim(written),
        tuple(column.name for column in columns),
        chance,
        rarity(len(difference), breaks, 1 - chance),
        tried,
        choices=CONSTANT * (equation.constant != 0) + CONSTANT * any(abs(c) not in (1,) for c, _ in equation.terms),
    )


def _written(tolerance: float, floats: bool, *, is_rounding: bool) -> Fraction:
    """A tolerance as it is written: a power of ten for the rounding of floats, else what was tried."""
    if is_rounding:
        return Fraction(10) ** math.ceil(math.log10(tolerance))
    return Fraction(repr(tolerance)) * (Fraction(51, 50) if floats else 1)


def _half_place(column: SampledColumn) -> list[float]:
    """Half of the last decimal place of a column, if it has any."""
    return [0.5 * 10.0**-column.decimals] if column.decimals else []


def _multiples(sample: Sample) -> Iterator[Proposal]:
    """a = k*b + c, with simple constants."""
    columns = sample.measured
    tried = len(columns) * (len(columns) - 1)
    alike = _correlated(sample, columns)
    for place, other in combinations(range(len(columns)), 2):
        if sample.clock.over("multiples of columns"):
            return
        one, two = columns[place], columns[other]
        if not alike[place, other] or not one.comparable(two):
            continue
        lines = [(_line(a, b), a, b) for a, b in ((one, two), (two, one))]
        known = [(line, a, b) for line, a, b in lines if line is not None]
        if known:
            (slope, constant), target, source = min(known, key=lambda found: _length(*found[0]))
            terms = ((Fraction(1), (target,)), (-slope, (source,)))
            yield Equation(terms, constant), _half_place(target), tried


def _length(slope: Fraction, constant: Fraction) -> tuple[bool, int]:
    """How long it is to write constants; multiples are better than parts."""
    numbers = (slope.numerator, slope.denominator, constant.numerator, constant.denominator)
    return abs(slope) < 1, sum(len(str(abs(number))) for number in numbers)


def _correlated(sample: Sample, columns: Sequence[SampledColumn]) -> np.ndarray:
    """Which pairs lie on a line in one of several small sets of rows."""
    matrix, rows = sample.probe_matrix(columns), min(6, len(sample.probes))
    generator = sample.generator()
    found = np.zeros((len(columns), len(columns)), dtype=bool)
    for _ in range(SUBSETS):
        part = matrix[generator.choice(len(matrix), rows, replace=False)]
        with np.errstate(invalid="ignore", divide="ignore"):
            part = part - part.mean(axis=0)
            part = part / np.sqrt((part**2).sum(axis=0))
            found |= np.abs(part.T @ part) > 0.999
    return found


def _line(target: SampledColumn, source: SampledColumn) -> tuple[Fraction, Fraction] | None:
    """Simple constants k and c with target = k*source + c for the median row, if there are any."""
    both = target.present & source.present
    y, x = target.numbers[both], source.numbers[both]
    order = np.argsort(x, kind="stable")
    quarter = max(1, len(x) // 4)
    low, high = order[:quarter], order[-quarter:]
    run = np.median(x[high]) - np.median(x[low])
    if not run:
        return None
    steps = (y[high] - y[low]) / np.where(x[high] == x[low], np.nan, x[high] - x[low])
    slope = Fraction(float(np.nanmedian(steps))).limit_denominator(100)
    if not slope or (target.kind != Kind.NUMBER and slope != 1):
        return None
    constant = float(np.median(y - float(slope) * x))
    if target.kind != Kind.NUMBER:
        return slope, Fraction(round(constant))
    simple = Fraction(constant).limit_denominator(LARGEST_DENOMINATOR)
    return slope, Fraction(0) if abs(constant) <= ROUNDING * float(np.abs(y).max()) else simple


def _sums(sample: Sample, size: int) -> Iterator[Proposal]:
    """Sums with weights 1 and -1 that are constant."""
    columns = sample.numbers
    patterns = [(1, *signs) for signs in product((1, -1), repeat=size - 1)]
    tried = math.comb(len(columns), size) * len(patterns)
    if len(columns) < size:
        return
    generator = sample.generator()
    rows = generator.choice(len(sample.probes), SUBSETS * SUBSET, replace=len(sample.probes) < SUBSETS * SUBSET)
    matrix = sample.probe_matrix(columns)[rows]
    places = np.array([10.0**-c.decimals if c.decimals else 0.0 for c in columns])
    loose = np.abs(np.nan_to_num(matrix)).max(axis=0) * ROUNDING * size + places
    for first in combinations(range(len(columns)), size - 1):
        if sample.clock.over(f"sums of {size} columns"):
            return
        rest = slice(first[-1] + 1, None)
        for signs in patterns:
            start = matrix[:, first] @ np.array(signs[:-1], dtype=float)
            sums = (start[:, None] + signs[-1] * matrix[:, rest]).reshape(SUBSETS, SUBSET, -1)
            spread = np.ptp(sums, axis=1)
            with np.errstate(invalid="ignore"):
                constant = (spread <= 2 * (loose[rest] + loose[list(first)].max())).any(axis=0)
            for last in (np.flatnonzero(constant) + first[-1] + 1).tolist():
                found = _constant_sum([columns[at] for at in (*first, last)], signs)
                if found is not None:
                    yield found, _place(found.columns), tried


def _constant_sum(columns: Sequence[SampledColumn], signs: Sequence[int]) -> Equation | None:
    """The equation of a sum that is its median on most rows."""
    both = np.logical_and.reduce([column.present for column in columns])
    sums = np.sum([sign * column.numbers[both] for sign, column in zip(signs, columns, strict=True)], axis=0)
    if len(sums) < 3:
        return None
    constant, largest = float(np.median(sums)), max(max(abs(column.low), abs(column.high)) for column in columns)
    close = ROUNDING * largest + sum(_place(columns))
    if (np.abs(sums - constant) <= close).mean() < PROBE_SHARE:
        return None
    simple = Fraction(constant).limit_denominator(LARGEST_DENOMINATOR)
    simple = Fraction(0) if abs(constant) <= close else Fraction(round(constant)) if constant > 10 else simple
    return Equation(tuple((Fraction(s), (c,)) for s, c in zip(signs, columns, strict=True)), simple)


def _place(columns: Sequence[SampledColumn]) -> list[float]:
    """The last decimal place of columns, if they have any."""
    places = [column.decimals for column in columns]
    return [] if None in places or not any(places) else [10.0 ** -max(place or 0 for place in places)]


def _products(sample: Sample) -> Iterator[Proposal]:
    """c = a*b, also in percent."""
    columns = sample.numbers
    matrix = sample.probe_matrix(columns)[:50]
    tried = len(FACTORS) * len(columns) * math.comb(len(columns) + 1, 2)
    halves = np.array([sum(_half_place(column)) for column in columns])
    loose = np.abs(np.nan_to_num(matrix)).max(axis=0, initial=0.0) * ROUNDING + halves * 1.01
    for factor, (one, other) in product(FACTORS, combinations_with_replacement(range(len(columns)), 2)):
        if sample.clock.over("products of two columns"):
            return
        gap = np.abs(matrix - float(factor) * matrix[:, [one]] * matrix[:, [other]])
        known = ~np.isnan(gap)
        with np.errstate(invalid="ignore"):
            fits = (gap <= loose).sum(axis=0) >= PROBE_SHARE * np.maximum(1, known.sum(axis=0))
        for target in np.flatnonzero(fits).tolist():
            if target not in (one, other):
                terms = ((-factor, (columns[one], columns[other])), (Fraction(1), (columns[target],)))
                yield Equation(terms), _half_place(columns[target]), tried


class _Span:
    """The equations that follow from those found, as vectors of coefficients."""

    def __init__(self, columns: Sequence[SampledColumn]) -> None:
        self.places = {column.name: place for place, column in enumerate(columns)}
        self.vectors: list[Numbers] = []
        self.products: set[str] = set()

    def vector(self, equation: Equation) -> Numbers | None:
        """The coefficients and the constant; None for products."""
        if any(len(factors) > 1 for _, factors in equation.terms):
            return None
        vector = np.zeros(len(self.places) + 1)
        for coefficient, (column,) in equation.terms:
            vector[self.places[column.name]] = float(coefficient)
        vector[-1] = float(equation.constant)
        return np.asarray(vector / np.abs(vector).max())

    def adds(self, equation: Equation) -> bool:
        """Whether an equation does not follow from those found."""
        vector = self.vector(equation)
        if vector is None:  # one product for a column is enough
            return equation.terms[-1][1][0].name not in self.products
        if not self.vectors:
            return True
        known = np.array(self.vectors)[:, :-1]  # a + b = 3 beside a + b = c would only say that c is constant
        return bool(np.linalg.matrix_rank(np.vstack([known, vector[:-1]])) > len(self.vectors))

    def add(self, equation: Equation) -> None:
        """Keep an equation."""
        vector = self.vector(equation)
        if vector is None:
            self.products.add(equation.terms[-1][1][0].name)
        else:
            self.vectors.append(vector)
