"""Random programs and rows for them: ties, signed zeros, 2^53 and its neighbours, and numbers as large as 10^300."""

import functools
import random
from fractions import Fraction

from hypothesis import strategies as st

from nsr.data import COMPARISONS
from nsr.program import (
    And,
    Compare,
    Constant,
    Count,
    Linear,
    Not,
    Or,
    Order,
    Product,
    Program,
    Truth,
    Variable,
    Where,
)

NAMES = ("a", "b", "x10", "x2", "unit price", 'a"; drop table t; --', "__import__('os')", "größe", "class", "if(a>b)")
"""Plain names, keywords, and names that would be code if they were not quoted."""

INTEGRAL = st.one_of(st.integers(-12, 12), st.sampled_from([2**53 - 1, 2**53, -(2**53)]))
SIMPLE = st.one_of(st.integers(-9, 9), st.fractions(-9, 9, max_denominator=8))

FLOATS = st.one_of(
    st.integers(-4, 4).map(float),
    st.sampled_from([0.0, -0.0, 0.5, -1.5, 0.1, 2.0**53 - 1, 2.0**53, 2.0**53 + 2, 1e300, -1e300, 5e-324]),
    st.floats(-1e6, 1e6),
)
INTEGERS = st.one_of(
    st.integers(-4, 4), st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1]), st.integers(-(2**40), 2**40)
)


def composite(make):
    """``st.composite`` for trees: runtime type checks sample items at random, which hypothesis does not allow."""

    @functools.wraps(make)
    def calm(*arguments, **options):
        state = random.getstate()
        try:
            return make(*arguments, **options)
        finally:
            random.setstate(state)

    return st.composite(calm)


def variables(names=NAMES):
    return st.sampled_from(names).map(Variable)


@composite
def sums(draw, atoms, coefficients=SIMPLE):
    """Sums of one to three different atoms, as the tree holds them: no coefficient is 0."""
    term = st.tuples(coefficients.filter(bool).map(Fraction), atoms)
    terms = draw(st.lists(term, min_size=1, max_size=3, unique_by=lambda term: term[1]))
    return Linear(tuple(terms), Fraction(draw(coefficients)))


@composite
def choices(draw, names=NAMES, coefficients=SIMPLE, depth=1):
    below = (names, coefficients, depth - 1)
    return Where(draw(formulas(*below)), draw(numbers(*below)), draw(numbers(*below)))


@composite
def products(draw, names=NAMES, coefficients=SIMPLE, depth=1):
    """Products of two or three numbers, often with equal factors."""
    factors = draw(st.lists(numbers(names, coefficients, depth - 1), min_size=1, max_size=2))
    return Product(*factors, draw(st.one_of(st.sampled_from(factors), variables(names))))


@composite
def orders(draw, names=NAMES, coefficients=SIMPLE, depth=1):
    """The smallest, largest or another of up to five numbers; absolute values and limits among them."""
    first = draw(numbers(names, coefficients, depth - 1))
    more = st.one_of(numbers(names, coefficients, depth - 1), coefficients.map(Constant), st.just(-first))
    parts = [first, *draw(st.lists(more, max_size=4))]
    return Order(draw(st.integers(1, len(parts))), *draw(st.permutations(parts)))


@composite
def counts(draw, names=NAMES, coefficients=SIMPLE, depth=1):
    return Count(*draw(st.lists(formulas(names, coefficients, depth - 1), min_size=1, max_size=4)))


@composite
def numbers(draw, names=NAMES, coefficients=SIMPLE, depth=2):
    kinds = [variables(names), coefficients.map(Constant), sums(variables(names), coefficients)]
    if depth:
        below = [kind(names, coefficients, depth) for kind in (choices, products, orders, counts)]
        kinds += [*below, sums(st.one_of(variables(names), *below), coefficients)]
    return draw(st.one_of(kinds))


@composite
def formulas(draw, names=NAMES, coefficients=SIMPLE, depth=2):
    kind = draw(st.sampled_from([Compare, And, Or, Not, Count] if depth else [Compare, Truth]))
    if kind is Truth:
        return Truth(draw(st.booleans()))
    if kind is Count:
        limit = st.one_of(st.integers(-1, 5), coefficients)
        return Compare(
            draw(st.sampled_from(sorted(COMPARISONS))), draw(counts(names, coefficients, depth)), draw(limit)
        )
    if kind is Compare:
        inner = numbers(names, coefficients, max(depth - 1, 0))
        return Compare(draw(st.sampled_from(sorted(COMPARISONS))), draw(inner), draw(inner))
    below = formulas(names, coefficients, depth - 1)
    return Not(draw(below)) if kind is Not else kind(*draw(st.lists(below, min_size=1, max_size=3)))


@composite
def expressions(draw, names=NAMES, coefficients=SIMPLE, depth=2):
    return draw(draw(st.sampled_from([formulas, numbers]))(names, coefficients, depth))


@composite
def programs(draw, names=NAMES, coefficients=SIMPLE, depth=2):
    """Programs over all of ``names`` in that order, whether their expression needs them or not."""
    return Program(draw(expressions(names, coefficients, depth)), names)
