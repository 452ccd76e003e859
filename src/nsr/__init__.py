"""Neural Status Registers: learn exact comparisons and conditionals from data."""

from nsr.ensemble import Ensemble
from nsr.nn import MLP, NAU, NSR
from nsr.training import EXACT, PAPER, History, Recipe, fit

__version__ = "0.1.0"

__all__ = ["EXACT", "MLP", "NAU", "NSR", "PAPER", "Ensemble", "History", "Recipe", "fit"]
