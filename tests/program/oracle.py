"""The value of an expression, computed with Fractions independently of the library's evaluation."""

from fractions import Fraction
from math import prod

from nsr.program import And, Compare, Constant, Count, Linear, Not, Or, Order, Product, Truth, Variable, Where


def holds(operator, left, right):
    sign = (left > right) - (left < right)
    return sign in {">": (1,), "<": (-1,), ">=": (0, 1), "<=": (-1, 0), "=": (0,), "!=": (-1, 1)}[operator]


def worth(node, row):
    """The exact value of ``node`` where ``row`` has a number for each name."""
    match node:
        case Constant(value) | Truth(value):
            return value
        case Compare(operator, left, right):
            return holds(operator, worth(left, row), worth(right, row))
        case And(parts):
            return all(worth(part, row) for part in parts)
        case Or(parts):
            return any(worth(part, row) for part in parts)
        case Not(part):
            return not worth(part, row)
    return worth_of_number(node, row)


def worth_of_number(node, row):
    match node:
        case Variable(name):
            return Fraction(row[name])
        case Linear(terms, constant):
            return sum((coefficient * worth(atom, row) for coefficient, atom in terms), constant)
        case Product(factors):
            return prod(worth(factor, row) for factor in factors)
        case Where(condition, then, otherwise):
            return worth(then if worth(condition, row) else otherwise, row)
        case Count(formulas):
            return sum(worth(formula, row) for formula in formulas)
        case Order(rank, parts):
            return sorted(worth(part, row) for part in parts)[rank - 1]
    raise AssertionError(node)
