"""Random programs and rows for them: ties, signed zeros, 2^53 and its neighbours, and numbers as large as 10^300."""

from fractions import Fraction

from hypothesis import strategies as st

from nsr.program import And, Compare, Constant, Linear, Not, Or, Program, Truth, Variable, Where
from nsr.tasks import COMPARISONS

NAMES = ("a", "b", "x10", "x2", "unit price", 'a"; drop table t; --', "__import__('os')", "größe", "class", "if(a>b)")
"""Plain names, names that are words of a language, and names that would be code if they were not quoted."""

WHOLE = st.one_of(st.integers(-12, 12), st.sampled_from([2**53 - 1, 2**53, -(2**53)]))
SIMPLE = st.one_of(st.integers(-9, 9), st.fractions(-9, 9, max_denominator=8))

FLOATS = st.one_of(
    st.integers(-4, 4).map(float),
    st.sampled_from([0.0, -0.0, 0.5, -1.5, 0.1, 2.0**53 - 1, 2.0**53, 2.0**53 + 2, 1e300, -1e300, 5e-324]),
    st.floats(-1e6, 1e6),
)
INTEGERS = st.one_of(
    st.integers(-4, 4), st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1]), st.integers(-(2**40), 2**40)
)


def variables(names=NAMES):
    return st.sampled_from(names).map(Variable)


def sums(atoms, coefficients=SIMPLE):
    """Sums of one to three different atoms, as the tree holds them: no coefficient is 0."""
    term = st.tuples(coefficients.filter(bool).map(Fraction), atoms)
    terms = st.lists(term, min_size=1, max_size=3, unique_by=lambda term: term[1]).map(tuple)
    return st.builds(Linear, terms, coefficients.map(Fraction))


def numbers(names=NAMES, coefficients=SIMPLE, depth=2):
    plain = st.one_of(variables(names), coefficients.map(Constant), sums(variables(names), coefficients))
    if depth == 0:
        return plain
    choice = st.builds(
        Where,
        formulas(names, coefficients, depth - 1),
        numbers(names, coefficients, depth - 1),
        numbers(names, coefficients, depth - 1),
    )
    return st.one_of(plain, choice, sums(st.one_of(variables(names), choice), coefficients))


def formulas(names=NAMES, coefficients=SIMPLE, depth=2):
    inner = numbers(names, coefficients, max(depth - 1, 0))
    compare = st.builds(Compare, st.sampled_from(sorted(COMPARISONS)), inner, inner)
    if depth == 0:
        return st.one_of(compare, st.booleans().map(Truth))
    below = formulas(names, coefficients, depth - 1)
    joined = st.lists(below, min_size=1, max_size=3)
    return st.one_of(
        compare, joined.map(lambda parts: And(*parts)), joined.map(lambda parts: Or(*parts)), below.map(Not)
    )


def expressions(names=NAMES, coefficients=SIMPLE, depth=2):
    return st.one_of(formulas(names, coefficients, depth), numbers(names, coefficients, depth))


def programs(names=NAMES, coefficients=SIMPLE, depth=2):
    """Programs over all of ``names`` in that order, whether their expression needs them or not."""
    return expressions(names, coefficients, depth).map(lambda expression: Program(expression, names))
