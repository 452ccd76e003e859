"""Named columns of numbers: exact weighted sums of them, and their neighbours."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from nsr.program.expressions import Compare, Expression, Product, Variable
from nsr.program.program import Program
from nsr.program.substitution import substitute
from nsr.program.text import sides
from nsr.reading.atoms import CASES, Atom, Weights
from nsr.reading.derived import Meaning
from nsr.reading.rounding import as_rational, number_nats, rounding_tolerance, simplest

Monomial = tuple[tuple[str, int], ...]
"""A product of columns: the name of each and its power."""

DECIMALS = 9
"""Floats that are decimals of at most this many places are counted in units of the last place."""
INT64_ROOM = 2**62
"""Sums below this are computed in int64."""


class Columns:
    """Rows (rows, columns) with the names of the columns.

    Floats such as 2.9 and 2.6 differ by 0.3 here, not by 0.2999999999999998: where all columns of a sum hold short
    decimals, the sum is computed in integers of a common unit.
    """

    def __init__(
        self,
        x: Tensor,
        names: Sequence[str],
        products: Mapping[str, Expression] | None = None,
        *,
        units: Sequence[Fraction | None] | None = None,
        meaning: Meaning | None = None,
        groups: np.ndarray | None = None,
    ) -> None:
        self.x = x if x.is_floating_point() else x.to(torch.int64)
        self.names = tuple(names)
        self.products = dict(products or {})
        """Columns that are products of others, and how a program writes them."""
        self.meaning = meaning or Meaning()
        self.groups = groups
        """The group of each row, if there are groups that are to be held out together."""
        self.units = [_unit(column) for column in self.x.T] if units is None else list(units)
        largest = self.x.double().abs().amax(0).tolist() if len(x) else [0.0] * len(self.names)
        self._position = {name: position for position, name in enumerate(self.names)}
        self._largest = dict(zip(self.names, largest, strict=True))

    def __len__(self) -> int:
        return len(self.x)

    def subset(self, rows: np.ndarray) -> "Columns":
        """Some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        return Columns(self.x[rows], self.names, self.products, units=self.units, meaning=self.meaning, groups=groups)

    def with_products(self, monomials: Iterable[Monomial]) -> "Columns":
        """The columns and products of them, computed as exactly as the columns are."""
        x, names, products = [self.x], list(self.names), dict(self.products)
        for monomial in monomials:
            name = product_name(monomial)
            if name in products:
                continue
            x.append(self._product(monomial).unsqueeze(-1))
            names.append(name)
            factors = [Variable(factor) for factor, power in monomial for _ in range(power)]
            products[name] = Product(*factors) if len(factors) > 1 else factors[0]
        dtype = torch.float64 if any(part.is_floating_point() for part in x) else torch.int64
        if len(x) == 1:
            return self
        every = torch.cat([part.to(dtype) for part in x], -1)
        return Columns(every, names, products, meaning=self.meaning, groups=self.groups)

    def _product(self, monomial: Monomial) -> Tensor:
        """Exact where the factors are short decimals and the product fits int64, else in float64."""
        factors = [name for name, power in monomial for _ in range(power)]
        units = [self.units[self._position[name]] for name in factors]
        known = [unit for unit in units if unit is not None]
        size = math.prod(
            max(self._largest[name], 1.0) / float(unit or 1) for name, unit in zip(factors, units, strict=True)
        )
        if len(known) < len(units) or size >= INT64_ROOM:
            columns = [self.x[:, self._position[name]].double() for name in factors]
            return torch.stack(columns).prod(0)
        exact = math.prod(self._scaled(name, unit) for name, unit in zip(factors, known, strict=True))
        unit = math.prod(known)
        return torch.from_numpy(exact if unit == 1 else exact / unit.denominator)

    def written_out(self, expression: Expression) -> Expression:
        """An expression in which products are products of columns again."""
        return substitute(expression, self.products).simplified() if self.products else expression

    def readable(self, expression: Expression) -> Expression:
        """An expression in terms of the table that the columns come from."""
        return self.meaning.of(self.written_out(expression))

    def readable_sides(self, atom: Atom) -> str:
        """Both sides of an atom as text: ``paid and invoiced + 30 days``."""
        equality = self.readable(atom.compare("="))
        return sides(equality) if isinstance(equality, Compare) else str(equality)

    def evaluate(self, program: Program) -> np.ndarray:
        """A program's answer for each row."""
        return np.asarray(program(self.x).numpy())

    @property
    def sizes(self) -> np.ndarray:
        """The sum of the absolute values of each row."""
        return np.asarray(self.x.double().abs().sum(-1).numpy())

    def tolerance(self, y: np.ndarray) -> np.ndarray:
        """How far a sum of each row's numbers may be from ``y`` by rounding: 0 where all of them are integers."""
        if not self.x.is_floating_point() and np.array_equal(y, np.rint(y)):
            return np.zeros(len(self))
        resolution = torch.finfo(self.x.dtype if self.x.is_floating_point() else torch.float64).eps
        return np.asarray(rounding_tolerance(self.sizes + np.abs(y), resolution))

    def unit(self, weights: Weights) -> Fraction | None:
        """A unit of which all columns of a sum are integer multiples; None without one, or where int64 has no room."""
        units = [self.units[self._position[name]] for name, _ in weights]
        known = [unit for unit in units if unit is not None]
        if len(known) < len(units):
            return None
        unit = min(known)
        largest = sum(abs(weight) * self._largest[name] for name, weight in weights)
        return unit if largest < INT64_ROOM * float(unit) else None

    def step(self, weights: Weights) -> Fraction | None:
        """What all values of a sum are multiples of; None where there is no such number."""
        unit = self.unit(weights)
        return None if unit is None else unit * math.gcd(*(weight for _, weight in weights))

    def grid(self, weights: Weights) -> Fraction | None:
        """What all values of a sum are multiples of, by the numbers that the columns hold: 0.5 for halves."""
        unit = self.unit(weights)
        if unit is None:
            return None
        steps = [weight * int(np.gcd.reduce(self._scaled(name, unit))) for name, weight in weights]
        return unit * max(math.gcd(*steps), 1)

    def sums(self, weights: Weights) -> np.ndarray:
        """A weighted sum of columns for each row, counted in its unit; in float64 where it has none."""
        unit = self.unit(weights)
        (first, weight), *others = weights
        result = weight * self._scaled(first, unit)
        with np.errstate(over="ignore"):  # floats only
            for name, weight in others:
                result = result + weight * self._scaled(name, unit)
        return result

    def _scaled(self, name: str, unit: Fraction | None) -> np.ndarray:
        column = self.x[:, self._position[name]].numpy()
        if unit is None:
            return column.astype(np.float64)
        if column.dtype == np.int64:
            return column
        return np.rint(column.astype(np.float64) * unit.denominator).astype(np.int64)

    def value(self, weights: Weights, scaled: np.generic) -> Fraction:
        """A number from ``sums`` as an exact rational."""
        unit = self.unit(weights)
        return as_rational(float(scaled)) if unit is None else int(scaled) * unit

    def signs(self, atom: Atom) -> np.ndarray:
        """-1, 0 or 1 for each row: its sum is less than, equal to or greater than the constant."""
        sums, unit = self.sums(atom.weights), self.unit(atom.weights)
        if unit is None:
            return np.sign(sums - float(atom.constant)).astype(np.int8)
        constant = atom.constant / unit
        floor = math.floor(constant)
        return np.where(sums > floor, 1, np.where(sums == floor, -(constant > floor), -1)).astype(np.int8)

    def floats_are_exact(self, atom: Atom) -> bool:
        """Whether floats give the sign of an atom as exact arithmetic does, also for rows that are not here.

        They do for integers, and where nothing is added or multiplied: ``a > b`` and ``a > 2.5``, not ``a + b > c``.
        """
        if not self.x.is_floating_point() or all(self.units[self._position[name]] == 1 for name in atom.columns):
            return atom.constant.denominator == 1 or len(atom.weights) == 1
        weights = [weight for _, weight in atom.weights]
        if any(name in self.products for name in atom.columns):
            return False
        return weights in ([1], [1, -1]) and (len(weights) == 1 or atom.constant == 0)

    def beside_the_grid(self, atom: Atom, below: Fraction, above: Fraction) -> Fraction:
        """A constant between two neighbouring values of a sum that no sum of short decimals is equal to.

        ``a + b > c`` on cents becomes ``a + b > c + 0.005``, which float sums get right.
        """
        step = self.step(atom.weights)
        if step is None:
            quarter = (above - below) / 4
            return simplest(below + quarter, above - quarter, (below + above) / 2)
        nearest = round(atom.constant / step) * step
        inside = [value for value in (nearest + step / 2, nearest - step / 2) if below < value < above]
        if atom.constant in (below, above) and inside:
            return inside[0]
        middle = (atom.constant // step + Fraction(1, 2)) * step
        return middle if below < middle < above else (below + above) / 2

    def intended_constant(self, atom: Atom) -> Fraction:
        """The constant before it was moved beside the grid: the simpler of the two multiples of the step next to it."""
        step = self.step(atom.weights)
        if step is None or (atom.constant / step).denominator != 2:
            return atom.constant
        return min((atom.constant - step / 2, atom.constant + step / 2), key=number_nats)

    def distances(self, atom: Atom) -> np.ndarray:
        """How far each row's sum is from the constant, with its sign."""
        unit = self.unit(atom.weights)
        away = self.sums(atom.weights) * float(1 if unit is None else unit) - float(atom.constant)
        return np.where(self.signs(atom) == 0, 0.0, away)

    def cases_not_covered(self, atom: Atom) -> list[str]:
        """Which of less, equal and greater no row shows, as text."""
        shown = set(np.unique(self.signs(atom)).tolist())
        return [str(self.readable(atom.compare(operator))) for sign, operator in CASES.items() if sign not in shown]

    def describe(self, row: int) -> str:
        """A row as text."""
        values = self.x[row].tolist()
        return ", ".join(f"{name} = {value!r}" for name, value in zip(self.names, values, strict=True))


def product_name(monomial: Monomial) -> str:
    """What a product is called among the columns of a table: a name that no column has, or that of its only column."""
    if len(monomial) == 1 and monomial[0][1] == 1:
        return monomial[0][0]
    return "\0" + "*".join(f"{name}^{power}" for name, power in monomial)


def _unit(column: Tensor) -> Fraction | None:
    """A power of ten of which all numbers are integer multiples, as they print; None where there is none."""
    if not column.is_floating_point() or not column.numel():
        return Fraction(1)
    for digits in range(DECIMALS + 1):
        scaled = (column.double() * 10**digits).round()
        if scaled.abs().max() >= 2**53:
            break
        if torch.equal((scaled / 10**digits).to(column.dtype), column):
            return Fraction(1, 10**digits)
    return None
