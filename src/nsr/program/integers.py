"""Programs on integers: comparisons cleared of fractions, and bounds on the numbers computed on the way."""

from fractions import Fraction
from math import lcm, prod

from nsr.program.expressions import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Not,
    Or,
    Order,
    Product,
    Variable,
    Where,
    total,
)


def with_integer_coefficients(node: Expression) -> Expression:
    """Multiply both sides of every comparison until all coefficients and constants in them are integers.

    Numbers that are integers whenever the variables are lose their fractions too. The result is exactly equal on
    integers; on floats it rounds differently.
    """
    if not node.is_boolean and denominator(node) == 1:
        return _times(1, node)
    match node:
        case Compare(operator, left, right):
            factor = lcm(denominator(left), denominator(right))
            return Compare(operator, _times(factor, left), _times(factor, right))
        case And(parts) | Or(parts):
            return type(node)(*map(with_integer_coefficients, parts))
        case Not(part):
            return Not(with_integer_coefficients(part))
        case Where(condition, then, otherwise):
            return Where(*map(with_integer_coefficients, (condition, then, otherwise)))
        case Linear(terms, constant):
            return Linear(tuple((c, with_integer_coefficients(atom)) for c, atom in terms), constant)
        case Product(factors):
            return Product(*map(with_integer_coefficients, factors))
        case Order(rank, parts):
            return Order(rank, *map(with_integer_coefficients, parts))
    return node


def denominator(number: Expression) -> int:
    """A factor that makes a number an integer whenever the variables are; the smallest if there are no products."""
    match number:
        case Constant(value):
            return value.denominator
        case Linear(terms, constant):
            return lcm(constant.denominator, *((c / denominator(atom)).denominator for c, atom in terms))
        case Where(_, then, otherwise):
            return lcm(denominator(then), denominator(otherwise))
        case Product(factors):
            return prod(map(denominator, factors))
        case Order(_, parts):
            return lcm(*map(denominator, parts))
    return 1


def _times(factor: int, number: Expression) -> Expression:
    """Multiply a number by a multiple of its denominator, inside the branches of choices too."""
    match number:
        case Linear(terms, constant):
            cleared = [(c, denominator(atom), atom) for c, atom in terms]
            return Linear(tuple((c * factor / d, _times(d, atom)) for c, d, atom in cleared), constant * factor)
        case Where(condition, then, otherwise):
            return Where(with_integer_coefficients(condition), _times(factor, then), _times(factor, otherwise))
        case Product(factors):
            cleared_factors = [(denominator(part), part) for part in factors]
            rest = Fraction(factor, prod(d for d, _ in cleared_factors))
            return total([(rest, Product(*(_times(d, part) for d, part in cleared_factors)))])
        case Order(rank, parts):
            return Order(rank, *(_times(factor, part) for part in parts))
        case Count(formulas):
            return total([(Fraction(factor), Count(*map(with_integer_coefficients, formulas)))])
    return number * factor


def magnitude_bound(number: Expression, largest: int) -> Fraction:
    """Bound the magnitude of a number, and of all intermediate results, for variables of at most ``largest``.

    Denominators are ignored, because ``n * x / d`` passes through ``n * x``.
    """
    match number:
        case Variable():
            return Fraction(largest)
        case Constant(value):
            return abs(value)
        case Linear(terms, constant):
            return sum((abs(c.numerator) * magnitude_bound(atom, largest) for c, atom in terms), abs(constant))
        case Where(_, then, otherwise):
            return max(magnitude_bound(then, largest), magnitude_bound(otherwise, largest))
        case Product(factors):
            return prod((max(Fraction(1), magnitude_bound(part, largest)) for part in factors), start=Fraction(1))
        case Count(formulas):
            return Fraction(len(formulas))
        case Order(_, parts):
            return max(magnitude_bound(part, largest) for part in parts)
    raise TypeError(f"only numbers have a magnitude, got {number!r}")
