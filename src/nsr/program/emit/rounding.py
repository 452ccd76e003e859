"""How far floats may be off in a number: decimals are rounded when they are stored, and so is every sum and product.

The error is relative to the sizes of the terms: where large terms cancel out, the sum is small and its error is not.
It is bounded for each row, and for the branch of a choice that the row takes.
"""

from collections.abc import Collection, Iterable
from fractions import Fraction

from nsr.program.expressions import Constant, Count, Expression, Linear, Order, Product, Variable, Where, total
from nsr.program.times import TEMPORAL

RELATIVE = "1e-14"
"""How far a number may be off for terms of size 1: more than a sum of dozens of terms is, in float64, and less than
half a cent for terms of up to hundreds of billions."""

Sizes = dict[Expression, Fraction]
"""Absolute values of terms, each with its weight."""


def rounded_size(number: Expression, integers: Collection[str]) -> Expression | None:
    """The size of the terms by which floats are rounded; None if floats are exact, as they are for a column alone.

    Args:
        number: What is computed.
        integers: The columns that hold integers.
    """
    match number:
        case Where(condition, then, otherwise):
            sizes = [rounded_size(branch, integers) for branch in (then, otherwise)]
            return (
                None
                if sizes == [None, None]
                else Where(condition, *(Constant(0) if size is None else size for size in sizes))
            )
        case Order(_, parts):
            found = [_sizes(part, integers) for part in parts if not _is_exact(part, integers)]
            return _added(_largest(found)) if found else None
    return None if _is_exact(number, integers) else _added(_sizes(number, integers))


def _is_exact(number: Expression, integers: Collection[str]) -> bool:
    match number:
        case Linear() | Product():
            return _is_integral(number, integers)
        case Where(_, then, otherwise):
            return _is_exact(then, integers) and _is_exact(otherwise, integers)
        case Order(_, parts):
            return all(_is_exact(part, integers) for part in parts)
    return True


def _is_integral(number: Expression, integers: Collection[str]) -> bool:
    """Whether a number is computed from integers alone."""
    match number:
        case Variable(name, kind):
            return kind in TEMPORAL or name in integers
        case Constant(value):
            return value.denominator == 1
        case Count():
            return True
        case Where(_, then, otherwise):
            return _is_integral(then, integers) and _is_integral(otherwise, integers)
        case Linear(terms, constant) if any(weight.denominator > 1 for weight in (constant, *(w for w, _ in terms))):
            return False
    return all(_is_integral(child, integers) for child in number.children)


def _sizes(number: Expression, integers: Collection[str]) -> Sizes:
    """The terms of a number, including those of its parts that are rounded themselves."""
    match number:
        case Constant(value):
            return {Constant(1): abs(value)}
        case Count(formulas):
            return {Constant(1): Fraction(len(formulas))}
        case Linear(terms, constant):
            parts = [(abs(weight), _sizes(atom, integers)) for weight, atom in terms]
            return _sum([*parts, (abs(constant), {Constant(1): Fraction(1)})])
        case Product(factors) if not all(isinstance(factor, Variable) for factor in factors):
            return {Product(*(_added(_sizes(factor, integers)) for factor in factors)): Fraction(1)}
        case Where(condition, then, otherwise):
            branches = (_added(_sizes(branch, integers)) for branch in (then, otherwise))
            return {Where(condition, *branches): Fraction(1)}
        case Order(_, parts):
            rounded = _largest(_sizes(part, integers) for part in parts if not _is_exact(part, integers))
            return _sum([(Fraction(1), {_absolute(number): Fraction(1)}), (Fraction(1), rounded)])
    return {_absolute(number): Fraction(1)}


def _absolute(number: Expression) -> Expression:
    if isinstance(number, Order) and number.absolute is not None:
        return number
    return Order(2, number, Linear([(-1, number)]))


def _sum(parts: Iterable[tuple[Fraction, Sizes]]) -> Sizes:
    added: Sizes = {}
    for weight, sizes in parts:
        for term, each in sizes.items():
            added[term] = added.get(term, Fraction(0)) + weight * each
    return added


def _largest(each: Iterable[Sizes]) -> Sizes:
    """A bound for all of several numbers."""
    largest: Sizes = {}
    for sizes in each:
        largest |= {term: max(weight, largest.get(term, weight)) for term, weight in sizes.items()}
    return largest


def _added(sizes: Sizes) -> Expression:
    return total([(weight, term) for term, weight in sizes.items() if weight])
