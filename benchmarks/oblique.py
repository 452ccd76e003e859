"""A decision tree that splits by weighted sums of columns: scikit-learn's logistic regression at every node.

There is no oblique tree on PyPI that works with the scikit-learn of ``constraints.txt``: treeple is compiled for an
older one, and scikit-obliquetree needs an older rich. This is the textbook version: at each node the better of the best
sum that a logistic regression finds (the largest class against the others) and the best single column.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class _Split:
    weights: np.ndarray
    cut: float
    below: "_Split | int"
    above: "_Split | int"


class ObliqueTree:
    """A classifier of such splits.

    Args:
        depth: The most splits from the root to a leaf.
        rows: A node with fewer rows is a leaf.
    """

    def __init__(self, depth: int = 10, rows: int = 5) -> None:
        self.depth, self.rows = depth, rows

    def fit(self, X: Any, y: Any) -> "ObliqueTree":
        """Grow the tree."""
        X = np.asarray(X, dtype=np.float64)
        self.centre, self.scale = X.mean(0), np.where(X.std(0) > 0, X.std(0), 1.0)
        self.classes_, classes = np.unique(y, return_inverse=True)
        self.node_count = 0
        self.root = self._grow((X - self.centre) / self.scale, classes, 0)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        X = (np.asarray(X, dtype=np.float64) - self.centre) / self.scale
        classes = np.zeros(len(X), dtype=np.int64)
        pending = [(self.root, np.arange(len(X)))]
        while pending:
            node, rows = pending.pop()
            if isinstance(node, int):
                classes[rows] = node
            else:
                above = X[rows] @ node.weights > node.cut
                pending += [(node.below, rows[~above]), (node.above, rows[above])]
        return self.classes_[classes]

    def _grow(self, X: np.ndarray, classes: np.ndarray, depth: int) -> _Split | int:
        self.node_count += 1
        counts = np.bincount(classes, minlength=len(self.classes_))
        largest = int(counts.argmax())
        if depth == self.depth or len(X) < self.rows or counts[largest] == len(X):
            return largest
        one = np.eye(X.shape[1])
        tried = [self._logistic(X, classes == largest), *one]
        found = [(*_best_cut(X @ weights, classes, len(self.classes_)), at) for at, weights in enumerate(tried)]
        left, cut, at = min(found)
        if not np.isfinite(left):
            return largest
        above = X @ tried[at] > cut
        branches = (self._grow(X[side], classes[side], depth + 1) for side in (~above, above))
        return _Split(tried[at], cut, *branches)

    def _logistic(self, X: np.ndarray, target: np.ndarray) -> np.ndarray:
        from sklearn.linear_model import LogisticRegression

        return np.asarray(LogisticRegression(C=100.0, max_iter=200).fit(X, target).coef_[0])


def _best_cut(values: np.ndarray, classes: np.ndarray, n_classes: int) -> tuple[float, float]:
    """The entropy that is left after the best cut, in nats for all rows, and the cut."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    below = np.cumsum(np.eye(n_classes)[classes[order]], axis=0)[:-1]
    between = np.flatnonzero(np.diff(ordered) > 0)
    if not len(between):
        return np.inf, 0.0
    below = below[between]
    above = np.bincount(classes, minlength=n_classes) - below
    left = _entropy(below) + _entropy(above)
    best = int(left.argmin())
    return float(left[best]), float((ordered[between[best]] + ordered[between[best] + 1]) / 2)


def _entropy(counts: np.ndarray) -> np.ndarray:
    totals = counts.sum(1, keepdims=True)
    return -(counts * np.log(np.where(counts > 0, counts / totals, 1.0))).sum(1)
