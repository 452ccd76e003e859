"""Programs on integers: comparisons with their denominators multiplied out, and how large numbers in them can get."""

from fractions import Fraction
from math import lcm

from nsr.program.expressions import And, Compare, Constant, Expression, Linear, Not, Or, Variable, Where


def whole(node: Expression) -> Expression:
    """The expression with both sides of every comparison multiplied until only integers are left in them.

    Numbers that are integers wherever the variables are have no fraction left in them either. On integers the result
    is exactly equal; on floats its roundings differ.
    """
    if not node.is_truth and denominator(node) == 1:
        return _times(1, node)
    match node:
        case Compare(operator, left, right):
            factor = lcm(denominator(left), denominator(right))
            return Compare(operator, _times(factor, left), _times(factor, right))
        case And(parts) | Or(parts):
            return type(node)(*map(whole, parts))
        case Not(part):
            return Not(whole(part))
        case Where(condition, then, otherwise):
            return Where(whole(condition), whole(then), whole(otherwise))
        case Linear(terms, constant):
            return Linear(tuple((c, whole(atom)) for c, atom in terms), constant)
    return node


def denominator(number: Expression) -> int:
    """What to multiply a number with, so that it is an integer wherever the variables are."""
    match number:
        case Constant(value):
            return value.denominator
        case Linear(terms, constant):
            return lcm(constant.denominator, *((c / denominator(atom)).denominator for c, atom in terms))
        case Where(_, then, otherwise):
            return lcm(denominator(then), denominator(otherwise))
    return 1


def _times(factor: int, number: Expression) -> Expression:
    """A number times a multiple of its denominator, carried into the branches of choices."""
    match number:
        case Linear(terms, constant):
            own = [(c, denominator(atom), atom) for c, atom in terms]
            return Linear(tuple((c * factor / d, _times(d, atom)) for c, d, atom in own), constant * factor)
        case Where(condition, then, otherwise):
            return Where(whole(condition), _times(factor, then), _times(factor, otherwise))
    return number * factor


def reach(number: Expression, largest: int) -> Fraction:
    """How large a number, or what is computed on the way to it, can get where no variable is larger than ``largest``.

    Denominators are left out: ``n * x / d`` passes through ``n * x``.
    """
    match number:
        case Variable():
            return Fraction(largest)
        case Constant(value):
            return abs(value)
        case Linear(terms, constant):
            return sum((abs(c.numerator) * reach(atom, largest) for c, atom in terms), abs(constant))
        case Where(_, then, otherwise):
            return max(reach(then, largest), reach(otherwise, largest))
    raise TypeError(f"no reach for {number!r}")
