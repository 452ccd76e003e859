"""A decision tree of the same rows, for comparison."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

from nsr.learn.page.borders import classes_of, milliseconds
from nsr.learn.result import Learned

LEVELS = 3
HELD_OUT = 0.2


@dataclass(frozen=True)
class Tree:
    """A decision tree of scikit-learn with default settings."""

    nodes: int
    depth: int
    text: str
    """Its first levels."""
    held_out_rows: int
    accuracy: float | None
    """On the held-out rows, of a tree grown without them; None if there are none."""
    mean_error: float | None
    """For a number: its mean absolute error on these rows."""


def tree_of(learned: Learned) -> Tree | None:
    """Grow a tree on all rows to see its size, and one on four fifths of them to test it on the others.

    None if a number exceeds float32, which scikit-learn's trees compute with.
    """
    classes = classes_of(learned)
    x, y = learned.x.to_numpy(dtype=np.float64), np.asarray(learned.y)
    if classes is not None:
        y = np.searchsorted(np.array(classes), y)  # trees take decimals such as 4.99 for numbers, not for classes
    if np.abs(x).max() > np.finfo(np.float32).max:
        return None
    kind = DecisionTreeRegressor if classes is None else DecisionTreeClassifier
    tree = kind(min_samples_leaf=1, random_state=0).fit(x, y)
    names = [" ".join(str(name).split()) or f"column {at}" for at, name in enumerate(learned.x.columns, 1)]
    labels = None if classes is None else [" ".join(str(each).split()) for each in classes]
    text = export_text(tree, feature_names=names, class_names=labels, max_depth=LEVELS - 1, decimals=4)
    text = with_dates(text, milliseconds(learned.estimator.meaning.derived))
    order = np.random.default_rng(0).permutation(len(y))
    out, rest = np.split(order, [int(HELD_OUT * len(y))])
    accuracy = mean_error = None
    if len(out):
        predicted = kind(min_samples_leaf=1, random_state=0).fit(x[rest], y[rest]).predict(x[out])
        if classes is None:
            accuracy = float(np.isclose(predicted, y[out].astype(np.float64), rtol=1e-9, atol=1e-12).mean())
            mean_error = float(np.abs(predicted - y[out]).mean())
        else:
            accuracy = float((predicted == y[out]).mean())
    return Tree(int(tree.tree_.node_count), int(tree.get_depth()), text.rstrip(), len(out), accuracy, mean_error)


def with_dates(text: str, times: Mapping[str, float]) -> str:
    """The text of a tree with dates in the place of their numbers; ``times`` are the milliseconds of their units."""
    for name, unit in times.items():

        def written(found: re.Match[str], unit: float = unit) -> str:
            moment = pd.Timestamp(round(float(found[2]) * unit), unit="ms")
            return f"{found[1]}{moment:%Y-%m-%d %H:%M}"

        text = re.sub(rf"(--- {re.escape(name)} (?:<=|> ) )(-?[0-9.]+)$", written, text, flags=re.MULTILINE)
    return text
