"""Who learns the tables of ``learn.py``: this library's estimators, parts of them, and what else a person would try.

Each contender is a pair of functions: an estimator for a table, and the size of it once it is fitted. Other learners
have the settings of their libraries, except where it is said here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

GENES = ("add", "sub", "mul", "div", "abs", "max", "min")
"""The functions of gplearn's formulas: its default four, and three with which some of the rules are one node."""

TIME_LIMIT = 600.0
"""Seconds for each search of ours, so that a busy machine ends none; on a quiet one, none takes the default of 120."""


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
    optional: bool = False
    """Whether it takes part only if it is named."""

    @property
    def has_rules(self) -> bool:
        """Whether it is this library's, or a part of it: it may give a program."""
        return self.size is _nsr_size


def _nsr(kind: str, **options: Any) -> Any:
    estimators = import_module("nsr.learn")
    make = estimators.NSRRegressor if kind == "number" else estimators.NSRClassifier
    return make(random_state=0, time_limit=TIME_LIMIT, **options)


class _Untrained:
    """An estimator of ours whose networks keep the weights they start with: what they propose is random."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def fit(self, X: Any, y: Any) -> "_Untrained":
        """Fit, with a learning rate of 0."""
        with patch.object(import_module("nsr.learn.networks"), "LEARNING_RATE", 0.0):
            self._model.fit(X, y)
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def _untrained(kind: str) -> _Untrained:
    return _Untrained(_nsr(kind))


def _nsr_size(model: Any) -> int | None:
    return None if model.program_ is None else model.program_.expression.size


def _tree(kind: str) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return (DecisionTreeRegressor if kind == "number" else DecisionTreeClassifier)(random_state=0)


def differences(X: Any) -> np.ndarray:
    """The columns, and for every two of them the difference and its absolute value."""
    X = np.asarray(X, dtype=np.float64)
    left, right = np.triu_indices(X.shape[1], 1)
    pairs = X[:, left] - X[:, right]
    return np.hstack([X, pairs, np.abs(pairs)])


def _difference_tree(kind: str) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(FunctionTransformer(differences), _tree(kind))


def _oblique(kind: str) -> Any:
    from oblique import ObliqueTree

    if kind == "number":
        raise LeftOutError("the oblique tree has classes only")
    return ObliqueTree()


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


def _from_extra(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise LeftOutError(
            f"{missing.name} is not installed: pip install 'neural-status-registers[bench]'"
        ) from missing


def _rulefit(kind: str) -> Any:
    imodels = _from_extra("imodels")
    if kind == "classes":
        raise LeftOutError("RuleFit has two classes only")
    return (imodels.RuleFitRegressor if kind == "number" else imodels.RuleFitClassifier)(random_state=0)


def _gplearn(kind: str) -> Any:
    genetic = _from_extra("gplearn.genetic")
    if kind == "classes":
        raise LeftOutError("gplearn has two classes only")
    return (genetic.SymbolicRegressor if kind == "number" else genetic.SymbolicClassifier)(
        function_set=GENES, random_state=0
    )


CONTENDERS: Mapping[str, Contender] = {
    "nsr": Contender("NSR", "nodes", partial(_nsr), _nsr_size),
    "nsr-no-training": Contender("NSR, no training", "nodes", partial(_nsr, proposals=("screen",)), _nsr_size),
    "nsr-untrained": Contender("NSR, untrained", "nodes", _untrained, _nsr_size, optional=True),
    "nsr-no-screen": Contender("NSR, no screen", "nodes", partial(_nsr, proposals=("training", "products")), _nsr_size),
    "tree": Contender("decision tree", "nodes", _tree, lambda model: model.tree_.node_count),
    "difference-tree": Contender(
        "tree on differences", "nodes", _difference_tree, lambda model: model[-1].tree_.node_count
    ),
    "oblique": Contender("oblique tree", "nodes", _oblique, lambda model: model.node_count),
    "rulefit": Contender("RuleFit", "rules", _rulefit, lambda model: len(model.rules_)),
    "boosting": Contender("gradient boosting", "nodes", _boosting, _boosting_size),
    "mlp": Contender("MLP", "weights", _mlp, _mlp_size),
    "gplearn": Contender("gplearn", "nodes", _gplearn, lambda model: model._program.length_, optional=True),
}
"""In the order of the tables that are printed."""
