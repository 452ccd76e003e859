"""What both estimators share: their settings, validation, and whether the program or the model predicts."""

import datetime
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, check_random_state, validate_data

from nsr.errors import check_error_rate, one_of, reject_masked, shortened
from nsr.learn.evidence import RuleEvidence
from nsr.nn.checks import positive_number
from nsr.program.cells import evaluate_cells
from nsr.program.program import Program, default_names
from nsr.reading.atoms import Weights
from nsr.reading.derived import Meaning

PROPOSALS = ("screen", "training", "products")
"""What may propose comparisons; see ``nsr.learn.stages``."""
USES = ("auto", "program", "model")


class Learner(BaseEstimator):  # type: ignore[misc]
    """An estimator that looks for an exact rule."""

    on_progress: Callable[[float], None] = staticmethod(lambda _: None)
    """Called with the share of the search that is done."""
    meaning: Meaning = Meaning()
    """What columns stand for in a table, if not for themselves: texts of rules and evidence are written so."""
    merge_equal: bool = True
    """Whether equal rows count once. They are copies if there are many possible rows, but not if there are few."""
    allowed: float | None = None
    """The time limit to name in messages, if a search is one of several that share it."""
    preferred: Mapping[Weights, Sequence[Fraction]] = MappingProxyType({})
    """Constants to prefer for sums of columns, where the rows leave one open."""
    program_: Program | None
    rule_: str | None
    evidence_: RuleEvidence
    members_: tuple[Any, ...]
    best_: Any

    def __init__(
        self,
        *,
        restarts: int = 128,
        errors: float = 0.1,
        time_limit: float = 120.0,
        proposals: Sequence[str] = PROPOSALS,
        use: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.restarts = restarts
        self.errors = errors
        self.time_limit = time_limit
        self.proposals = proposals
        self.use = use
        self.random_state = random_state

    def _validated(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> tuple[Any, Any, Any]:
        """Rows, targets and weights; wrong settings or data are a ValueError."""
        if not isinstance(self.restarts, int | np.integer) or self.restarts < 1:
            raise ValueError(f"restarts must be an integer of at least 1, got {self.restarts!r}")
        positive_number("time_limit", self.time_limit)
        for name in self.proposals:
            one_of("proposals", name, PROPOSALS)
        check_error_rate(self.errors)
        if self.use not in USES:
            raise ValueError(f"use must be one of {', '.join(USES)}, got {self.use!r}")
        names = list(getattr(X, "columns", ()))
        if repeated := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"column names must be unique, got {repeated[0]!r} {names.count(repeated[0])} times")
        _check_no_dates(X)
        _check_no_texts(X)
        reject_masked("X", X)
        reject_masked("y", y)
        table = X
        X, y = validate_data(self, X, y, dtype="numeric", ensure_min_samples=2, **options)
        if X.dtype == np.float64:
            _warn_about_rounding(table, names)
        return _as_tensor(X), y, _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _model(self) -> Any:
        """The trained model."""
        if self.best_ is None:
            raise ValueError("there is no model to use: a rule was found without training one; fit with use='model'")
        return self.best_

    def _forget_rule(self, reason: str) -> None:
        self.evidence_ = replace(self.evidence_, reason=reason, nearest=self.rule_)
        self.program_ = self.rule_ = None

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _names(self) -> tuple[str, ...]:
        """The names of the columns, or x1, x2 and so on."""
        given = getattr(self, "feature_names_in_", None)
        return default_names(self.n_features_in_) if given is None else tuple(map(str, given))

    def _rows_to_predict(self, X: Any) -> tuple[torch.Tensor, Program | None]:
        """Validated rows, and the program if that is what predicts."""
        check_is_fitted(self)
        _check_no_dates(X)
        reject_masked("X", X)
        rows = _as_tensor(validate_data(self, X, dtype="numeric", reset=False))
        if self.use == "program" and self.program_ is None:
            raise ValueError(f"there is no program to use: {self.evidence_.reason}")
        return rows, None if self.use == "model" else self.program_

    def _evaluate(self, program: Program, X: Any, rows: torch.Tensor) -> np.ndarray:
        """The values of a program; integers beside fractions are not rounded, as they are in a matrix of floats."""
        if not (rows.is_floating_point() and hasattr(X, "columns")):
            return np.asarray(program(rows))
        columns = {}
        for position, name in enumerate(self._names()):
            column = X[self.feature_names_in_[position]] if hasattr(self, "feature_names_in_") else X.iloc[:, position]
            exact = getattr(column.dtype, "kind", "") in "iu"
            columns[name] = np.asarray(column) if exact else rows[:, position].numpy()
        return evaluate_cells(program.expression, columns, len(rows))


def group_numbers(groups: Any, rows: int) -> np.ndarray | None:
    """A number for the group of each row; a ValueError for fewer than three groups, which cannot be held out."""
    if groups is None:
        return None
    names, numbers = np.unique(np.asarray(groups).astype(str), return_inverse=True)
    if len(numbers) != rows:
        raise ValueError(f"groups must have one group for each of the {rows:,} rows, got {len(numbers):,}")
    if len(names) < 3:
        raise ValueError(f"there must be at least three groups, got {len(names)}")
    return np.asarray(numbers.ravel())


def _check_no_dates(X: Any) -> None:
    """Raise a TypeError for columns of dates, times or durations, which numpy would take for numbers."""
    columns = [(f"column {name!r}", X[name]) for name in X.columns] if hasattr(X, "columns") else [("X", X)]
    for where, column in columns:
        kind = getattr(getattr(column, "dtype", None), "kind", "")
        first = next(iter(np.asarray(column).flat), None) if kind == "O" else None
        if kind in ("m", "M") or isinstance(first, datetime.date | datetime.time | datetime.timedelta):
            raise TypeError(f"{where} holds dates or times: give numbers, such as the days since a date")


def _check_no_texts(X: Any) -> None:
    """Raise a ValueError for columns of a data frame that hold texts other than numbers."""
    for name in getattr(X, "columns", ()):
        if getattr(getattr(X[name], "dtype", None), "kind", "") != "O":
            continue
        text = next((cell for cell in X[name] if isinstance(cell, str) and not _is_number(cell)), None)
        if text is not None:
            raise ValueError(
                f"column {name!r} holds texts, such as {shortened(repr(text), 42)}: the estimators take numbers; "
                "nsr learn and nsr.learn.commands.learn take texts, dates and missing cells, too"
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _warn_about_rounding(table: Any, names: list[Any]) -> None:
    """Warn about integer columns that are rounded because they become float64, as other columns are."""
    for name in names:
        column = table[name]
        if getattr(column.dtype, "kind", "") in "iu" and column.abs().max() > 2**53:
            warnings.warn(
                f"column {name!r} holds integers beyond 2^53, which are rounded because other columns hold fractions",
                DataConversionWarning,
                stacklevel=4,
            )


def _as_tensor(X: np.ndarray) -> torch.Tensor:
    """Rows as a tensor: integers and booleans as int64, floats in their own precision, anything else as float64."""
    if X.dtype.kind in "biu":
        if X.dtype.kind == "u" and X.size and X.max() > np.iinfo(np.int64).max:
            raise ValueError(f"integers must fit in int64, got {X.max()}")
        return torch.tensor(X.astype(np.int64))
    return torch.tensor(X if X.dtype in (np.float32, np.float64) else X.astype(np.float64))
