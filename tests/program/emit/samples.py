"""Many random programs and rows for them, the same in every run: ties, signed zeros, 2^53, and numbers up to 1e300."""

import os
import random
from fractions import Fraction
from functools import cache

import numpy as np

from nsr.data import COMPARISONS
from nsr.program import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Or,
    Order,
    Product,
    Program,
    Truth,
    Variable,
    Where,
)
from nsr.program.emit import exactness
from nsr.program.evaluation import evaluate
from tests.program.strategies import NAMES

COUNT = int(os.environ.get("NSR_PROGRAMS", "150"))
FLOATS = [0.0, -0.0, 0.1, 0.5, -1.5, 2.0**53 - 1, 2.0**53, 2.0**53 + 2, -(2.0**53), 1e300, -1e300, 5e-324, 1e-3, 1e16]
INTEGERS = [2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**40, 10**12 + 1]


@cache
def programs(count: int = COUNT, fractions: bool = True, rounded: bool = False) -> list[Program]:
    """Different programs, none of them a mere constant or variable.

    Args:
        count: How many.
        fractions: Whether coefficients may be fractions; if so, a third of the programs have large integers instead.
        rounded: Those with integers that floats would round, rather than those without.
    """
    source, found = random.Random(count), {}
    while len(found) < count:
        kind = source.choice(["simple", "simple", "large"]) if fractions else "integers"
        make = source.choice([_number, _formula])
        expression = make(source, "large" if rounded else kind, source.choice([1, 2, 2, 3])).simplified()
        if isinstance(expression, Truth | Constant | Variable) or expression.size > 40:
            continue
        if not rounded and any(abs(value) > 2**63 - 1 for value in exactness.numbers_in(expression)):
            continue  # coefficients that were multiplied
        if rounded == (exactness.adds_as_integers(expression) or exactness.rounded_integer(expression) is not None):
            found[Program(expression, NAMES)] = None
    return list(found)


@cache
def float_rows(count: int = 24) -> dict[str, np.ndarray]:
    """A column for each name. Some rows are one number everywhere, others have few different ones: ties."""
    source = random.Random(1)
    rows = [[number] * len(NAMES) for number in (0.0, -0.0, 3.0, 2.0**53)]
    while len(rows) < count:
        pool = [source.choice([source.choice(FLOATS), float(source.randint(-4, 4)), source.uniform(-1e6, 1e6)])]
        pool += [source.choice(FLOATS), float(source.randint(-4, 4)), float(source.randint(-4, 4))]
        rows.append([source.choice(pool) for _ in NAMES])
    return dict(zip(NAMES, np.array(rows).T, strict=True))


@cache
def integer_rows(count: int = 8, largest: int = 10**100) -> list[dict[str, int]]:
    """Rows of Python integers, up to ``largest``."""
    source = random.Random(2)
    rows = [dict.fromkeys(NAMES, number) for number in (0, 3, min(largest, 2**53 + 1))]
    while len(rows) < count:
        pool = [source.randint(-4, 4), source.choice(INTEGERS), source.randint(-largest, largest)]
        pool = [number for near in (*pool, 0) for number in (near, near + 1) if abs(number) <= largest]
        rows.append({name: source.choice(pool) for name in NAMES})
    return rows


@cache
def answers(program: Program) -> np.ndarray:
    """The tree's values on ``float_rows``."""
    columns = {name: float_rows()[name] for name in program.inputs}
    return np.asarray(evaluate(program.expression, columns, rows=float_rows()[NAMES[0]]))


def agrees(found: object, program: Program) -> bool:
    """Whether answers are the tree's on ``float_rows``, but for a minimum, maximum or median of a NaN."""
    kept = np.full(len(answers(program)), True)
    for node in program.expression.walk():
        if isinstance(node, Order):
            kept &= ~np.any([np.isnan(answers(Program(part, NAMES))) for part in node.parts], axis=0)
    found = np.asarray(found)
    return found.shape == kept.shape and same(found[kept], answers(program)[kept])


def has_products(program: Program) -> bool:
    """Whether the program multiplies columns."""
    return any(isinstance(node, Product) for node in program.expression.walk())


def exact(program: Program, rows: list[dict[str, int]]) -> list[object]:
    """The tree's values on rows of Python integers."""
    columns = {name: np.array([row[name] for row in rows], dtype=object) for name in program.inputs}
    return program(columns).tolist()


def same(one: object, other: object) -> bool:
    """Whether two arrays of answers are equal; a NaN equals a NaN, and -0.0 equals 0.0."""
    one, other = np.asarray(one), np.asarray(other)
    equal_nan = one.dtype.kind == "f" and other.dtype.kind == "f"
    return one.shape == other.shape and bool(np.array_equal(one, other, equal_nan=equal_nan))


def _rational(source: random.Random, kind: str) -> Fraction:
    if kind == "simple" and source.random() < 0.4:
        return Fraction(source.randint(-20, 20), source.randint(1, 9))
    if kind == "large" and source.random() < 0.3:
        return Fraction(source.choice([2**53, 2**53 - 1, -(2**53), 2**31, 10**16]))
    return Fraction(source.randint(-9, 9))


def _number(source: random.Random, kind: str, depth: int) -> Expression:
    chosen = source.random()
    if depth and chosen < 0.2:
        branches = (_number(source, kind, depth - 1) for _ in range(2))
        return Where(_formula(source, kind, depth - 1), *branches)
    if depth and chosen < 0.4:
        return source.choice([_product, _count, _order])(source, kind, depth)
    if chosen < 0.55:
        return Variable(source.choice(NAMES))
    if chosen < 0.65:
        return Constant(_rational(source, kind))
    atoms = [Variable(name) for name in source.sample(NAMES, source.randint(1, 3))]
    if depth > 1 and source.random() < 0.4:
        atoms[0] = _number(source, kind, depth - 1)
    return Linear(tuple((_rational(source, kind) or Fraction(1), atom) for atom in atoms), _rational(source, kind))


def _product(source: random.Random, kind: str, depth: int) -> Expression:
    factors = [_number(source, kind, depth - 1) for _ in range(2)]
    return Product(*factors, *source.choice([(), factors[:1]]))


def _count(source: random.Random, kind: str, depth: int) -> Expression:
    return Count(*(_formula(source, kind, depth - 1) for _ in range(source.randint(1, 4))))


def _order(source: random.Random, kind: str, depth: int) -> Expression:
    first = _number(source, kind, depth - 1)
    others = [_number(source, kind, depth - 1) for _ in range(source.randint(1, 3))]
    limits = [Constant(_rational(source, kind)) for _ in range(2)]
    parts = [first, *source.choice([others, others, [-first], limits])]
    return Order(source.randint(1, len(parts)), *parts)


def _formula(source: random.Random, kind: str, depth: int) -> Expression:
    if depth and source.random() < 0.15:
        return Compare(source.choice(list(COMPARISONS)), _count(source, kind, depth), source.randint(1, 3))
    if depth and source.random() < 0.3:
        parts = [_formula(source, kind, depth - 1) for _ in range(source.randint(2, 3))]
        return source.choice([And, Or])(*parts)
    sides = (_number(source, kind, max(depth - 1, 0)) for _ in range(2))
    return Compare(source.choice(list(COMPARISONS)), *sides)
