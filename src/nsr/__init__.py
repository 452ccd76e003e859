"""Neural Status Registers: learn exact comparisons and conditionals from data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nsr.data import Rows
    from nsr.ensemble import Ensemble
    from nsr.nn import MLP, NAU, NSR, Piecewise
    from nsr.program import Program
    from nsr.reading import UnreadableError, harden
    from nsr.training import EXACT, PAPER, History, Recipe, fit

__version__ = "0.1.0"

__all__ = [
    "EXACT",
    "MLP",
    "NAU",
    "NSR",
    "PAPER",
    "Ensemble",
    "History",
    "Piecewise",
    "Program",
    "Recipe",
    "Rows",
    "UnreadableError",
    "fit",
    "harden",
]

_HOMES = {
    "Ensemble": "ensemble",
    "Rows": "data",
    **dict.fromkeys(("MLP", "NAU", "NSR", "Piecewise"), "nn"),
    "Program": "program",
    **dict.fromkeys(("UnreadableError", "harden"), "reading"),
    **dict.fromkeys(("EXACT", "PAPER", "History", "Recipe", "fit"), "training"),
}


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``nsr --help`` does not wait for torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'nsr' has no attribute {name!r}")
    return getattr(import_module(f"nsr.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
