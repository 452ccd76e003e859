"""Who learns the tables of ``learn.py``: this library's estimators and what else a person would reach for.

Each contender is a pair of functions: an estimator for a table, and the size of it once it is fitted. Rivals have the
settings of their libraries, but for what is said here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

GENES = ("add", "sub", "mul", "div", "abs", "max", "min")
"""What gplearn may write with: its own four, and three that say some of the rules in one node."""


class LeftOutError(Exception):
    """A contender that cannot take part; its text says why."""


@dataclass(frozen=True)
class Contender:
    """An estimator for labels or numbers, and how large it is."""

    title: str
    unit: str
    make: Callable[[str], Any]
    """From the kind of a line: binary, classes or number."""
    size: Callable[[Any], int | None]


def _nsr(kind: str) -> Any:
    estimators = import_module("nsr.learn")
    return (estimators.NSRRegressor if kind == "number" else estimators.NSRClassifier)(random_state=0)


def _nsr_size(model: Any) -> int | None:
    return None if model.program_ is None else model.program_.expression.size


def _tree(kind: str) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return (DecisionTreeRegressor if kind == "number" else DecisionTreeClassifier)(random_state=0)


def _boosting(kind: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    return (HistGradientBoostingRegressor if kind == "number" else HistGradientBoostingClassifier)(random_state=0)


def _boosting_size(model: Any) -> int:
    return sum(len(tree.nodes) for stage in model._predictors for tree in stage)


def _mlp(kind: str) -> Any:
    """A network behind standardised columns, and before a standardised answer."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if kind != "number":
        return make_pipeline(StandardScaler(), MLPClassifier(random_state=0, max_iter=500))
    network = make_pipeline(StandardScaler(), MLPRegressor(random_state=0, max_iter=500))
    return TransformedTargetRegressor(network, transformer=StandardScaler())


def _mlp_size(model: Any) -> int:
    network = getattr(model, "regressor_", model)[-1]
    return sum(weights.size for weights in (*network.coefs_, *network.intercepts_))


def _gplearn(kind: str) -> Any:
    try:
        from gplearn.genetic import SymbolicClassifier, SymbolicRegressor
    except ModuleNotFoundError as missing:
        raise LeftOutError("gplearn is not installed: pip install 'neural-status-registers[bench]'") from missing
    if kind == "classes":
        raise LeftOutError("gplearn has two classes only")
    return (SymbolicRegressor if kind == "number" else SymbolicClassifier)(function_set=GENES, random_state=0)


CONTENDERS: Mapping[str, Contender] = {
    "nsr": Contender("NSR", "nodes", _nsr, _nsr_size),
    "tree": Contender("decision tree", "nodes", _tree, lambda model: model.tree_.node_count),
    "boosting": Contender("gradient boosting", "nodes", _boosting, _boosting_size),
    "mlp": Contender("MLP", "weights", _mlp, _mlp_size),
    "gplearn": Contender("gplearn", "nodes", _gplearn, lambda model: model._program.length_),
}
"""In the order of the tables that are printed."""
