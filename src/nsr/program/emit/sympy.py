"""SymPy: an expression over symbols named after the columns.

Exact everywhere: numbers are integers and rationals of any size, whatever is substituted for the symbols.
"""

from fractions import Fraction
from typing import Any

from nsr.errors import needs_extra
from nsr.program.emit.targets import target
from nsr.program.expressions import And, Compare, Constant, Expression, Linear, Or, Truth, Variable, Where
from nsr.program.program import Program


@target("sympy")
def sympy_expression(program: Program, *, formula: bool = False) -> Any:
    """Build a SymPy object. A formula becomes a number, 1 or 0, that can be added to others.

    Args:
        program: The program to write.
        formula: Keep a formula as a SymPy Boolean, for functions that solve and simplify conditions.
    """
    with needs_extra("export"):
        import sympy

    built = _Builder(sympy).build(program.expression)
    if not program.expression.is_boolean or formula:
        return built
    return sympy.Piecewise((sympy.Integer(1), built), (sympy.Integer(0), True), evaluate=False)


class _Builder:
    """Builds without evaluating, because SymPy would rewrite conditions, which takes long."""

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
        raise TypeError(f"cannot write {node!r} in SymPy")

    def rational(self, value: Fraction) -> Any:
        return self.sympy.Rational(value.numerator, value.denominator)
