"""SymPy: an expression over symbols named after the columns.

Its text is safe as well: ``sympify`` evaluates text, so a column whose name would be a number, a function or code there
gets a similar name; ``symbol_names`` has them.

Exact everywhere: numbers are integers and rationals of any size, whatever is substituted for the symbols.
"""

import builtins
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from keyword import softkwlist
from typing import Any

from nsr.errors import needs_extra
from nsr.program.emit.exactness import reject_cells
from nsr.program.emit.names import identifiers, is_python_name
from nsr.program.emit.targets import target
from nsr.program.expressions import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Or,
    Order,
    Product,
    Truth,
    Variable,
    Where,
    as_number,
)
from nsr.program.lowering import as_choices, without_count
from nsr.program.program import Program


@target("sympy")
def sympy_expression(program: Program, *, formula: bool = False) -> Any:
    """Build a SymPy object. A formula becomes a number, 1 or 0, that can be added to others.

    Args:
        program: The program to write.
        formula: Keep a formula as a SymPy Boolean, for functions that solve and simplify conditions.
    """
    reject_cells(program.expression, "sympy")
    with needs_extra("export"):
        import sympy

    built = _Builder(sympy, symbol_names(program)).build(program.expression)
    if not program.expression.is_boolean or formula:
        return built
    return sympy.Piecewise((sympy.Integer(1), built), (sympy.Integer(0), True), evaluate=False)


def symbol_names(program: Program) -> dict[str, str]:
    """The name of the symbol for each column: its own, unless that means something else to SymPy or Python."""
    with needs_extra("export"):
        import sympy

    taken = {*dir(sympy), *dir(builtins), *softkwlist}
    return identifiers(program.names, valid=lambda name: is_python_name(name) and name not in taken)


class _Builder:
    """Builds without evaluating, because SymPy would rewrite conditions, which takes long."""

    def __init__(self, sympy: Any, names: Mapping[str, str]) -> None:
        self.sympy, self.names = sympy, names
        relations = {">": sympy.Gt, "<": sympy.Lt, ">=": sympy.Ge, "<=": sympy.Le, "=": sympy.Eq, "!=": sympy.Ne}
        self.relations: dict[str, Any] = relations

    def build(self, node: Expression) -> Any:
        sympy = self.sympy
        match node:
            case Variable(name):
                return sympy.Symbol(self.names[name])
            case Truth(value):
                return sympy.true if value else sympy.false
            case Constant(value):
                return self.rational(value)
            case Linear(terms, constant):
                products = [self.rational(coefficient) * self.build(atom) for coefficient, atom in terms]
                return sympy.Add(*products, self.rational(constant))
            case Compare(operator, Count() as count, Constant(value)):
                return self.build(without_count(operator, count, int(value)))
            case Compare(operator, left, right):
                return self.relations[operator](self.build(left), self.build(right), evaluate=False)
            case And() | Or():
                joined = sympy.And if isinstance(node, And) else sympy.Or
                return joined(*map(self.build, node.parts), evaluate=False)
        return self.build_number(node)

    def build_number(self, node: Expression) -> Any:
        sympy = self.sympy
        match node:
            case Product(factors):
                return sympy.Mul(*map(self.build, factors))
            case Where(condition, then, otherwise):
                branches = (self.build(then), self.build(condition)), (self.build(otherwise), True)
                return sympy.Piecewise(*branches, evaluate=False)
            case Order() if (absolute := node.absolute) is not None:
                return sympy.Abs(self.build(absolute), evaluate=False)
            case Order() if (clipped := node.clipped) is not None:
                number, low, high = map(self.build, map(as_number, clipped))
                return sympy.Min(sympy.Max(number, low, evaluate=False), high, evaluate=False)
            case Order(rank, parts):
                return self.order(rank, [self.build(part) for part in parts])
            case Count():
                return self.build(as_choices(node))
        raise TypeError(f"cannot write {node!r} in SymPy")

    def order(self, rank: int, parts: list[Any]) -> Any:
        """The smallest of the maxima of all ``rank`` parts: SymPy takes long over choices between many cases."""
        maxima = [self.extreme(self.sympy.Max, some) for some in combinations(parts, rank)]
        return self.extreme(self.sympy.Min, maxima)

    def extreme(self, function: Any, parts: Sequence[Any]) -> Any:
        return function(*parts, evaluate=all(part.is_number for part in parts)) if len(parts) > 1 else parts[0]

    def rational(self, value: Fraction) -> Any:
        return self.sympy.Rational(value.numerator, value.denominator)
