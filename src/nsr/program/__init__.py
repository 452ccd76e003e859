"""Exact programs: build them from expressions or read them from a model, then run, print and export them."""

from fractions import Fraction

from nsr.program.emit.json import load
from nsr.program.expressions import And, Compare, Constant, Expression, Linear, Not, Or, Truth, Variable, Where
from nsr.program.folds import Fold
from nsr.program.paths import NegativeCycleError, Paths
from nsr.program.program import Evidence, Program

__all__ = [
    "And",
    "Compare",
    "Constant",
    "Evidence",
    "Expression",
    "Fold",
    "Fraction",
    "Linear",
    "NegativeCycleError",
    "Not",
    "Or",
    "Paths",
    "Program",
    "Truth",
    "Variable",
    "Where",
    "load",
]
