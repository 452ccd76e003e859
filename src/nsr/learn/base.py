"""What both estimators share: their settings, and whether the program or the model answers."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, check_random_state, validate_data

from nsr.learn.search import Evidence
from nsr.program.program import Program, default_names

USES = ("auto", "program", "model")


class Learner(BaseEstimator):  # type: ignore[misc]
    """An estimator that looks for an exact rule.

    Args:
        restarts: How many models are trained; half of them begin from a screen of the data, half at random.
        epochs: How long each is trained at most.
        errors: Which share of the rows may contradict a rule. They must look like chance, as wrong labels do.
        use: What predicts: the ``program``, the ``model``, or ``auto``: the program where there is one.
        random_state: Fixes everything that is drawn.
    """

    watch: Callable[[float], None] = staticmethod(lambda _: None)
    """Told which share of the search is done."""
    program_: Program | None
    evidence_: Evidence

    def __init__(
        self,
        *,
        restarts: int = 8,
        epochs: int = 300,
        errors: float = 0.1,
        use: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.restarts = restarts
        self.epochs = epochs
        self.errors = errors
        self.use = use
        self.random_state = random_state

    def _checked(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> tuple[Any, Any, Any]:
        """Rows, targets and weights, or a refusal in a sentence."""
        for name in ("restarts", "epochs"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
        if not 0 <= self.errors < 0.5:
            raise ValueError(f"errors must be a share from 0 to below 0.5, got {self.errors!r}")
        if self.use not in USES:
            raise ValueError(f"use must be one of {', '.join(USES)}, got {self.use!r}")
        names = list(getattr(X, "columns", ()))
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"columns must have names of their own, got {twice[0]!r} {names.count(twice[0])} times")
        table = X
        X, y = validate_data(self, X, y, dtype="numeric", ensure_min_samples=2, **options)
        if X.dtype == np.float64:
            _warn_of_rounding(table, names)
        return _numbers(X), y, _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _names(self) -> tuple[str, ...]:
        """The names of the columns, or x1, x2 and so on."""
        given = getattr(self, "feature_names_in_", None)
        return default_names(self.n_features_in_) if given is None else tuple(map(str, given))

    def _asked(self, X: Any) -> tuple[torch.Tensor, Program | None]:
        """Rows to answer, and the program where that is what answers."""
        check_is_fitted(self)
        rows = _numbers(validate_data(self, X, dtype="numeric", reset=False))
        if self.use == "program" and self.program_ is None:
            raise ValueError(f"there is no program to use: {self.evidence_.reason}")
        return rows, None if self.use == "model" else self.program_


def _warn_of_rounding(table: Any, names: list[Any]) -> None:
    """Say which whole numbers of a table become floats that do not hold them, as they stand beside fractions."""
    for name in names:
        column = table[name]
        if getattr(column.dtype, "kind", "") in "iu" and column.abs().max() > 2**53:
            warnings.warn(
                f"column {name!r} has whole numbers beyond 2^53 and is rounded, since others have fractions",
                DataConversionWarning,
                stacklevel=4,
            )


def _numbers(X: np.ndarray) -> torch.Tensor:
    """Rows as a tensor: whole numbers and true and false as int64, others as the float they are, or as float64."""
    if X.dtype.kind in "biu":
        if X.dtype.kind == "u" and X.size and X.max() > np.iinfo(np.int64).max:
            raise ValueError(f"whole numbers must fit in int64, got {X.max()}")
        return torch.tensor(X.astype(np.int64))
    return torch.tensor(X if X.dtype in (np.float32, np.float64) else X.astype(np.float64))
