"""What a decision tree makes of the same rows."""

from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

from nsr.learn.page.borders import classes_of
from nsr.learn.result import Learned

LEVELS = 3
HELD_OUT = 0.2


@dataclass(frozen=True)
class Tree:
    """A tree of scikit-learn, as it comes."""

    nodes: int
    depth: int
    text: str
    """Its first levels."""
    held_out_rows: int
    right: float | None
    """The share of the held-out rows of which a tree grown without them is right; None where there are none."""
    distance: float | None
    """For a number: how far it is from these rows' targets on average."""


def tree_of(learned: Learned) -> Tree | None:
    """Grow a tree on all rows for its size, and one on four fifths of them for its answers on the others.

    None where a number is beyond float32, which is what trees compute with.
    """
    classes = classes_of(learned)
    x, y = learned.x.to_numpy(dtype=np.float64), np.asarray(learned.y)
    if np.abs(x).max() > np.finfo(np.float32).max:
        return None
    kind = DecisionTreeRegressor if classes is None else DecisionTreeClassifier
    whole = kind(min_samples_leaf=1, random_state=0).fit(x, y)
    names = [" ".join(str(name).split()) or f"column {at}" for at, name in enumerate(learned.x.columns, 1)]
    labels = None if classes is None else [" ".join(str(each).split()) for each in classes]
    text = export_text(whole, feature_names=names, class_names=labels, max_depth=LEVELS - 1, decimals=4)
    order = np.random.default_rng(0).permutation(len(y))
    out, rest = np.split(order, [int(HELD_OUT * len(y))])
    right = distance = None
    if len(out):
        said = kind(min_samples_leaf=1, random_state=0).fit(x[rest], y[rest]).predict(x[out])
        if classes is None:
            right = float(np.isclose(said, y[out].astype(np.float64), rtol=1e-9, atol=1e-12).mean())
            distance = float(np.abs(said - y[out]).mean())
        else:
            right = float((said == y[out]).mean())
    return Tree(int(whole.tree_.node_count), int(whole.get_depth()), text.rstrip(), len(out), right, distance)
