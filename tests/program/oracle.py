"""The value of an expression, computed with Fractions independently of the library's evaluation."""

from fractions import Fraction

from nsr.program import And, Compare, Constant, Linear, Not, Or, Truth, Variable, Where


def holds(operator, left, right):
    sign = (left > right) - (left < right)
    return sign in {">": (1,), "<": (-1,), ">=": (0, 1), "<=": (-1, 0), "=": (0,), "!=": (-1, 1)}[operator]


def worth(node, row):
    """The exact value of ``node`` where ``row`` has a number for each name."""
    match node:
        case Variable(name):
            return Fraction(row[name])
        case Constant(value) | Truth(value):
            return value
        case Linear(terms, constant):
            return sum((coefficient * worth(atom, row) for coefficient, atom in terms), constant)
        case Compare(operator, left, right):
            return holds(operator, worth(left, row), worth(right, row))
        case And(parts):
            return all(worth(part, row) for part in parts)
        case Or(parts):
            return any(worth(part, row) for part in parts)
        case Not(part):
            return not worth(part, row)
        case Where(condition, then, otherwise):
            return worth(then if worth(condition, row) else otherwise, row)
    raise AssertionError(node)
