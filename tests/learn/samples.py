"""Rows for the tests of this folder."""

import numpy as np
import torch

from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows


def labelled(x, classes, n_classes: int = 2, names: str = "abcdefgh") -> LabelledRows:
    """Rows of weight 1, with columns a, b, c and so on."""
    columns = Columns(torch.from_numpy(np.asarray(x, dtype=np.float64)), tuple(names[: np.shape(x)[1]]))
    return LabelledRows(columns, np.asarray(classes).astype(np.int64), np.ones(len(x)), n_classes)


def integers(rows: int = 300, columns: int = 4, seed: int = 0, low: int = -20, high: int = 21) -> np.ndarray:
    """Uniform integers as floats."""
    return np.random.default_rng(seed).integers(low, high, (rows, columns)).astype(np.float64)
