"""Expressions with other expressions in the place of variables."""

from collections.abc import Iterator, Mapping, Sequence

from nsr.program.conditions import Flag, Missing, OneOf
from nsr.program.expressions import (
    And,
    Compare,
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


def substitute(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """Put an expression in the place of each variable that has one.

    >>> from nsr.program import Variable
    >>> a, b = Variable("a"), Variable("b")
    >>> print(substitute(2 * a > b, {"a": a * b}))
    2*a*b > b
    """
    if isinstance(expression, Variable):
        return values.get(expression.name, expression)
    return rebuilt(expression, [substitute(child, values) for child in expression.children])


def rebuilt(expression: Expression, children: Sequence[Expression]) -> Expression:
    """A node of the same kind with other children."""
    match expression:
        case OneOf(_, holds, texts):
            return OneOf(_column(children), texts, holds)
        case Flag(_, holds) | Missing(_, holds):
            return type(expression)(_column(children), holds)
        case Linear(terms, constant):
            return total([(weight, part) for (weight, _), part in zip(terms, children, strict=True)], constant)
        case Compare(operator, _, _):
            return Compare(operator, *children)
        case Order(rank, _):
            return Order(rank, *children)
        case And() | Or() | Count() | Product() | Not() | Where():
            return type(expression)(*children)
    return expression


def without_parts(expression: Expression) -> Iterator[Expression]:
    """The expression with one operand of an ``and`` or an ``or`` left out, each in turn.

    >>> from nsr.program import Variable
    >>> a, b, c = Variable("a"), Variable("b"), Variable("c")
    >>> print(*without_parts((a > b) | (b > c) & (a > c)), sep="; ")
    a > c and b > c; a > b; a > b or a > c; a > b or b > c
    """
    children = expression.children
    for at, child in enumerate(children):
        before, after = children[:at], children[at + 1 :]
        if isinstance(expression, And | Or) and len(children) > 1:
            yield rebuilt(expression, [*before, *after]).simplified()
        for changed in without_parts(child):
            yield rebuilt(expression, [*before, changed, *after]).simplified()


def _column(children: Sequence[Expression]) -> Variable:
    (column,) = children
    if not isinstance(column, Variable):
        raise ValueError(f"only a column can be missing, true or one of several texts, got {column}")
    return column
