"""Programs on tables: each comparison and each branch in the types of its own columns.

A program on arrays converts all of them to floats if one is. In a table, an integer of 19 digits beside a price would
be rounded so, also in a comparison that does not involve the price.
"""

from collections.abc import Mapping
from functools import reduce

import numpy as np

from nsr.program.expressions import And, Expression, Not, Or, Where
from nsr.program.program import Program

LARGEST_FLOAT_INTEGER = 2**53
"""Up to this, all integers are floats."""


def evaluate_on_table(program: Program, columns: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
    """The values of a program on so many rows."""
    return np.broadcast_to(_value(program.expression, columns, rows), (rows,))


def _value(node: Expression, columns: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
    match node:
        case And() | Or():
            join = np.logical_and if isinstance(node, And) else np.logical_or
            return np.asarray(reduce(join, (_value(part, columns, rows) for part in node.parts)))
        case Not(part):
            return ~_value(part, columns, rows)
        case Where(condition, then, otherwise):
            one, other = _without_rounding(_value(then, columns, rows), _value(otherwise, columns, rows))
            return np.where(_value(condition, columns, rows), one, other)
    if not node.variables:
        return np.asarray(Program(node)(np.zeros((rows, 0), dtype=np.int64)))
    return np.asarray(Program(node)({name: columns[name] for name in node.variables}))


def _without_rounding(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two branches; of Python numbers where integers of one would be rounded beside floats of the other."""
    kinds = {one.dtype.kind, other.dtype.kind}
    if kinds == {"i", "f"}:
        integers = one if one.dtype.kind == "i" else other
        if len(integers) and max(abs(int(integers.min())), abs(int(integers.max()))) > LARGEST_FLOAT_INTEGER:
            return one.astype(object), other.astype(object)
    return one, other
