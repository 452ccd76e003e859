"""Exact programs: build them from expressions or read them from a model, then run, print and export them."""

from fractions import Fraction

from nsr.program.conditions import Flag, Missing, OneOf
from nsr.program.emit.json import load
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
    Truth,
    Variable,
    Where,
)
from nsr.program.folds import Fold
from nsr.program.kinds import Kind
from nsr.program.paths import NegativeCycleError, Paths
from nsr.program.program import Evidence, Program

__all__ = [
    "And",
    "Compare",
    "Constant",
    "Count",
    "Evidence",
    "Expression",
    "Flag",
    "Fold",
    "Fraction",
    "Kind",
    "Linear",
    "Missing",
    "NegativeCycleError",
    "Not",
    "OneOf",
    "Or",
    "Order",
    "Paths",
    "Product",
    "Program",
    "Truth",
    "Variable",
    "Where",
    "load",
]
