"""Three hundred tables without a rule: random labels, curves, clusters, noise, and real tables of scikit-learn.

A rule that is claimed for one of them is false if it is wrong on more than 1 % of fresh rows. For the real tables these
are 30 % of the rows, held out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from rule_tables import Columns, Distractor, Kind, add_distractors, draw_distractors

ROWS = (100, 300, 2000)
"""A fifth of the tables has the first number of rows, the others between the second and the third."""
SMALL = 0.2
HELD_OUT = 0.3
CLUSTER_POINTS = 5000
MEDIAN_ROWS = 20_001

Answer = Callable[[Columns, np.random.Generator], np.ndarray]


@dataclass(frozen=True, eq=False)
class NoRuleTable:
    """A table without a rule. ``fresh`` rows show whether a claimed rule is false."""

    name: str
    kind: Kind
    columns: Columns
    y: np.ndarray
    draw: Callable[[np.random.Generator, int], tuple[Columns, np.ndarray]] | None = None
    """Draws further rows; None for a real table."""
    held_out: tuple[Columns, np.ndarray] | None = None
    """The rows of a real table that are not shown."""
    rule: None = None

    @property
    def classification(self) -> bool:
        """Whether y holds labels rather than numbers."""
        return self.kind != "number"

    def near(self, rng: np.random.Generator, rows: int = 2000) -> "NoRuleTable":
        """Fresh rows, or those of a real table that were held out."""
        if self.draw is None:
            assert self.held_out is not None
            columns, y = self.held_out
        else:
            columns, y = self.draw(rng, rows)
        return replace(self, columns={name: columns[name] for name in self.columns}, y=y)


@dataclass(frozen=True)
class NoRule:
    """One kind of table without a rule, and how many of them are in the battery."""

    name: str
    title: str
    tables: int
    make: Callable[[np.random.Generator, int, int], NoRuleTable]
    """From a generator, the number of rows, and the number of the table."""


def no_rule_table(name: str, rng: np.random.Generator, *, table: int | None = None) -> NoRuleTable:
    """A table of a kind of ``RULELESS``.

    Args:
        name: Its kind.
        rng: Everything is drawn from it.
        table: Its number in the battery; real tables depend on it, and every fifth table has 100 rows.
    """
    number = int(rng.integers(10**6)) if table is None else table
    small = table is not None and number % round(1 / SMALL) == round(1 / SMALL) - 1
    rows = ROWS[0] if small else round(np.exp(rng.uniform(*np.log(ROWS[1:]))))
    return RULELESS[name].make(rng, rows, number)


def _drawn(
    name: str, kind: Kind, rng: np.random.Generator, rows: int, relevant: Mapping[str, Distractor], answer: Answer
) -> NoRuleTable:
    """A table whose columns are drawn independently, some of which the answer uses."""
    distractors = draw_distractors(rng)
    order = rng.permutation([*relevant, *(f"n{position}" for position in range(1, len(distractors) + 1))])

    def draw(rng: np.random.Generator, rows: int) -> tuple[Columns, np.ndarray]:
        drawn = {name: column.draw(rng, rows, {}) for name, column in relevant.items()}
        y = answer(drawn, rng)
        return add_distractors(drawn, distractors, rng, rows), y

    columns, y = draw(rng, rows)
    while kind != "number" and min(np.unique(y, return_counts=True)[1]) < 0.05 * rows:
        columns, y = draw(rng, rows)
    return NoRuleTable(name, kind, {str(each): columns[str(each)] for each in order}, y, draw)


def _column(rng: np.random.Generator, kinds: tuple[str, ...] = ("normal", "uniform")) -> Distractor:
    return Distractor(str(rng.choice(kinds)), float(10 ** rng.uniform(-2, 4)))


def _unit(rng: np.random.Generator, column: Distractor) -> Callable[[np.ndarray], np.ndarray]:
    """Standardises a column, so that a curve does not depend on its scale."""
    sample = column.draw(rng, 2000, {})
    return lambda values: (values - sample.mean()) / sample.std()


def _labels(score: Answer, rng: np.random.Generator, relevant: Mapping[str, Distractor], share: float) -> Answer:
    """1 where a score is above the value that leaves about ``share`` of the rows above it."""
    sample = {name: column.draw(rng, MEDIAN_ROWS, {}) for name, column in relevant.items()}
    cut = float(np.quantile(score(sample, rng), 1 - share))
    return lambda t, rng: (score(t, rng) > cut).astype(np.int64)


def _random(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:
    share, classes = rng.uniform(0.2, 0.5), 2 + number % 3 // 2
    weights = np.array([1 - share, share]) if classes == 2 else rng.dirichlet([5.0] * classes)
    relevant = {name: _column(rng) for name in "ab"}

    def answer(t: Columns, rng: np.random.Generator) -> np.ndarray:
        return rng.choice(classes, len(t["a"]), p=weights)

    return _drawn("random", "binary" if classes == 2 else "classes", rng, rows, relevant, answer)


def _ellipse(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:
    relevant = {name: _column(rng) for name in ("abc" if number % 4 == 3 else "ab")}
    units = {name: _unit(rng, column) for name, column in relevant.items()}
    centre = {name: rng.uniform(-0.5, 0.5) for name in relevant}
    width = {name: rng.uniform(0.7, 1.5) for name in relevant}

    def score(t: Columns, _: np.random.Generator) -> np.ndarray:
        return -sum(((units[name](t[name]) - centre[name]) / width[name]) ** 2 for name in relevant)

    return _drawn("ellipse", "binary", rng, rows, relevant, _labels(score, rng, relevant, rng.uniform(0.25, 0.7)))


def _waves(rng: np.random.Generator, names: str) -> tuple[dict[str, Distractor], Answer]:
    relevant = {name: _column(rng) for name in names}
    units = {name: _unit(rng, column) for name, column in relevant.items()}
    speed, phase = ({name: rng.uniform(low, high) for name in names} for low, high in ((2.0, 6.0), (0.0, 6.3)))

    def score(t: Columns, _: np.random.Generator) -> np.ndarray:
        return sum(np.sin(speed[name] * units[name](t[name]) + phase[name]) for name in names)

    return relevant, score


def _sine_labels(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:
    relevant, score = _waves(rng, "ab" if number % 2 else "a")
    return _drawn("sine-class", "binary", rng, rows, relevant, _labels(score, rng, relevant, rng.uniform(0.3, 0.7)))


def _clusters(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:
    """Labels are the nearest of k centres that k-means finds in all columns that matter."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    k, names = 2 + number % 3, "abcd"[: 2 + number % 2]
    relevant = {name: _column(rng, ("normal",)) for name in names}
    units = {name: _unit(rng, column) for name, column in relevant.items()}
    sample = {name: column.draw(rng, CLUSTER_POINTS, {}) for name, column in relevant.items()}

    def points(t: Columns) -> np.ndarray:
        return np.column_stack([units[name](t[name]) for name in names])

    with threadpool_limits(1):
        centres = KMeans(k, n_init=1, random_state=int(rng.integers(2**31))).fit(points(sample)).cluster_centers_

    def answer(t: Columns, _: np.random.Generator) -> np.ndarray:
        return np.asarray(((points(t)[:, None] - centres) ** 2).sum(2).argmin(1))

    return _drawn("clusters", "binary" if k == 2 else "classes", rng, rows, relevant, answer)


def _logistic(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:
    """Labels drawn with a chance that follows a weighted sum: at best some 75 to 90 % of them can be predicted."""
    names = "abcde"[: 2 + number % 4]
    relevant = {name: _column(rng) for name in names}
    units = {name: _unit(rng, column) for name, column in relevant.items()}
    weights = {name: rng.uniform(0.5, 1.5) * rng.choice([-1, 1]) for name in names}
    slope = rng.uniform(0.8, 2.0)

    def answer(t: Columns, rng: np.random.Generator) -> np.ndarray:
        score = slope * sum(weights[name] * units[name](t[name]) for name in names)
        return (rng.uniform(size=len(score)) < 1 / (1 + np.exp(-score))).astype(np.int64)

    return _drawn("logistic", "binary", rng, rows, relevant, answer)


def _numbers(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:
    """A sine, an exponential, a noisy sum or noise."""
    kind = ("sine", "exponential", "noisy sum", "noise")[number % 4]
    relevant, wave = _waves(rng, "ab" if number % 8 > 3 else "a")
    units = {name: _unit(rng, column) for name, column in relevant.items()}

    def answer(t: Columns, rng: np.random.Generator) -> np.ndarray:
        total = sum(units[name](t[name]) for name in relevant)
        noise = rng.normal(size=len(total))
        return {
            "sine": lambda: wave(t, rng),
            "exponential": lambda: np.exp(0.7 * total),
            "noisy sum": lambda: total + 0.3 * noise,
            "noise": lambda: noise,
        }[kind]()

    return _drawn("numbers", "number", rng, rows, relevant, answer)


REAL: tuple[tuple[str, str, int, int], ...] = (
    ("iris", "target", 0, 4),
    ("iris", "target", 0, 2),
    ("iris", "target", 2, 4),
    ("iris", "one of the last two classes", 0, 4),
    ("wine", "target", 0, 13),
    ("wine", "target", 0, 6),
    ("wine", "target", 6, 13),
    ("breast_cancer", "target", 0, 30),
    ("breast_cancer", "target", 0, 10),
    ("breast_cancer", "target", 10, 20),
    ("breast_cancer", "target", 20, 30),
    ("digits", "target", 16, 32),
    ("digits", "target > 4", 8, 24),
    ("digits", "target is even", 24, 40),
    ("diabetes", "target", 0, 10),
    ("diabetes", "target", 2, 6),
    ("diabetes", "target above its median", 0, 10),
    ("diabetes", "s5", 0, 10),
    ("wine", "proline", 0, 13),
    ("breast_cancer", "mean compactness", 0, 10),
)
"""Table, target, first column and the one after the last."""


@cache
def _bundled(name: str) -> Any:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(as_frame=True)


def _real(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:
    """Columns and target of a table of scikit-learn, with 30 % of the rows held out. The number chooses them."""
    name, target, first, last = REAL[number % len(REAL)]
    bundle = _bundled(name)
    x, y = bundle.data.iloc[:, first:last], bundle.target.to_numpy()
    kind: Kind = "number" if name == "diabetes" else "classes" if len(np.unique(y)) > 2 else "binary"
    if target in bundle.data:
        x, y, kind = x.drop(columns=target, errors="ignore"), bundle.data[target].to_numpy(), "number"
    elif target != "target":
        if target.startswith("one of"):
            x, y = x[y > 0], y[y > 0] == 2
        else:
            y = {
                "target > 4": lambda: y > 4,
                "target is even": lambda: y % 2 == 0,
                "target above its median": lambda: y > np.median(y),
            }[target]()
        y, kind = y.astype(np.int64), "binary"
    x = x.loc[:, x.nunique() > 1]
    order = rng.permutation(len(y))
    seen, unseen = np.split(order, [round((1 - HELD_OUT) * len(y))])
    seen = seen[: ROWS[0]] if rows == ROWS[0] else seen
    columns = {str(each): x[each].to_numpy() for each in x}
    held_out = {each: values[unseen] for each, values in columns.items()}, y[unseen]
    shown = {each: values[seen] for each, values in columns.items()}
    return NoRuleTable("real", kind, shown, y[seen], held_out=held_out)


def _sine_number(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:  # noqa: ARG001
    relevant, wave = _waves(rng, "a")
    return _drawn("sine", "number", rng, rows, relevant, wave)


def _product(above: bool) -> Callable[[np.random.Generator, int, int], NoRuleTable]:
    def make(rng: np.random.Generator, rows: int, number: int) -> NoRuleTable:  # noqa: ARG001
        relevant = {name: Distractor("uniform", 20.0) for name in "ab"}

        def product(t: Columns, _: np.random.Generator) -> np.ndarray:
            return t["a"] * t["b"]

        answer = _labels(product, rng, relevant, 0.5) if above else product
        return _drawn("product", "binary" if above else "number", rng, rows, relevant, answer)

    return make


RULELESS: Mapping[str, NoRule] = MappingProxyType(
    {
        each.name: each
        for each in (
            NoRule("random", "labels at random", 60, _random),
            NoRule("ellipse", "inside an ellipse", 60, _ellipse),
            NoRule("sine-class", "sines of one or two columns above a cut", 60, _sine_labels),
            NoRule("clusters", "clusters of k-means, k from 2 to 4", 40, _clusters),
            NoRule("logistic", "logistic noise on a weighted sum", 40, _logistic),
            NoRule("numbers", "numbers: sine, exponential, noisy sum, noise", 20, _numbers),
            NoRule("real", "real tables of scikit-learn", 20, _real),
            NoRule("sine", "sin(a)", 0, _sine_number),
            NoRule("product", "a * b", 0, _product(above=False)),
            NoRule("product-class", "a * b > median", 0, _product(above=True)),
        )
    }
)
"""The kinds of tables without a rule. Those of which the battery has none are for tests."""
