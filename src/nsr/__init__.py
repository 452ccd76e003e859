"""Neural Status Registers: learn exact comparisons and conditionals from data."""

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


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``nsr --help`` does not wait for torch."""
    if name not in __all__:
        raise AttributeError(f"module 'nsr' has no attribute {name!r}")
    from nsr import data, ensemble, nn, program, reading, training

    homes = (data, ensemble, nn, program, reading, training)
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
