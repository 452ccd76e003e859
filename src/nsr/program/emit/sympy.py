"""SymPy: an expression of symbols that have the names of the columns.

Exact everywhere: numbers are integers and rationals of any size, on whatever SymPy puts in the place of a symbol.
"""

from fractions import Fraction
from typing import Any

from nsr.program.expressions import And, Compare, Constant, Expression, Linear, Or, Truth, Variable, Where
from nsr.program.program import Program


def sympy_expression(program: Program, *, formula: bool = False) -> Any:
    """The program as a SymPy object. A formula is a number, 1 or 0, so that it can be added.

    Args:
        program: What to write.
        formula: Keep a formula as a SymPy Boolean, for what solves and simplifies conditions.
    """
    import sympy

    own = _Walk(sympy).build(program.expression)
    if not program.expression.is_truth or formula:
        return own
    return sympy.Piecewise((sympy.Integer(1), own), (sympy.Integer(0), True), evaluate=False)


class _Walk:
    """Nothing is evaluated on the way: SymPy would rewrite conditions, at length."""

    def __init__(self, sympy: Any) -> None:
        self.sympy = sympy
        relations = {">": sympy.Gt, "<": sympy.Lt, ">=": sympy.Ge, "<=": sympy.Le, "=": sympy.Eq, "!=": sympy.Ne}
        self.relations: dict[str, Any] = relations

    def build(self, node: Expression) -> Any:
        sympy = self.sympy
        match node:
            case Variable(name):
                return sympy.Symbol(name)
            case Truth(value):
                return sympy.true if value else sympy.false
            case Constant(value):
                return self.rational(value)
            case Linear(terms, constant):
                products = [self.rational(coefficient) * self.build(atom) for coefficient, atom in terms]
                return sympy.Add(*products, self.rational(constant))
            case Compare(operator, left, right):
                return self.relations[operator](self.build(left), self.build(right), evaluate=False)
            case And() | Or():
                joined = sympy.And if isinstance(node, And) else sympy.Or
                return joined(*map(self.build, node.parts), evaluate=False)
            case Where(condition, then, otherwise):
                branches = (self.build(then), self.build(condition)), (self.build(otherwise), True)
                return sympy.Piecewise(*branches, evaluate=False)
        raise TypeError(f"no SymPy expression for {node!r}")

    def rational(self, value: Fraction) -> Any:
        return self.sympy.Rational(value.numerator, value.denominator)
