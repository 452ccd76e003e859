"""Shortest paths as a program: Bellman-Ford with the message and the fold read from a model (Section 4.6)."""

import html
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nsr.data.graphs import Graph
from nsr.errors import InputError
from nsr.program.evaluation import evaluate
from nsr.program.expressions import Expression, Variable
from nsr.program.folds import FIRST, ITEM, MINIMA, Fold, minima
from nsr.program.program import Evidence

DISTANCE, WEIGHT = Variable("distance"), Variable("weight")
SUM = (DISTANCE + WEIGHT).simplified()
SPARSE = 16
"""If fewer than one in this many edges leaves a changed node, only those edges are processed in a round."""

EXACT = 2**53
"""Up to here float64 holds every integer."""


class NegativeCycleError(InputError):
    """The graph has a cycle of negative weight and so no shortest paths. ``cycle`` lists its nodes, each once."""

    def __init__(self, cycle: list[Any]) -> None:
        walk = " -> ".join(map(str, [*cycle, cycle[0]]))
        super().__init__(f"there are no shortest paths: {walk} is a cycle of negative weight")
        self.cycle = cycle


@dataclass(frozen=True)
class Paths:
    """Distances in a graph: in every round each node folds its distance and its messages, until nothing changes.

    Args:
        fold: Combines a node's distance with each of its messages; the minimum by default.
        message: Sent along an edge, computed from ``distance`` and ``weight``; their sum by default.

    >>> from nsr.program import Paths
    >>> Paths()([(0, 1, 5), (1, 2, 1), (0, 2, 7)])
    array([0., 5., 6.])
    >>> Paths()([(0, 1, 2**53), (1, 2, 1)])
    array([0, 9007199254740992, 9007199254740993], dtype=object)
    """

    fold: Fold = MINIMA[0]
    message: Expression = SUM

    def __post_init__(self) -> None:
        known = {DISTANCE.name, WEIGHT.name}
        if self.message.is_boolean or not set(self.message.variables) <= known:
            raise ValueError(f"message must be a number that uses only distance and weight, got {self.message}")
        object.__setattr__(self, "message", self.message.simplified())

    @property
    def evidence(self) -> Evidence | None:
        """What supports it, if it was read from a model."""
        return self.fold.evidence

    @property
    def shortest(self) -> bool:
        """Whether this is Bellman-Ford: the minimum of sums."""
        return self.fold in minima(self.fold.state) and self.message == SUM

    def __call__(self, graph: Any, source: Any = 0) -> np.ndarray:
        """The distance of every node from the source as float64, infinite where there is no path.

        Integers and fractions are added exactly: where float64 cannot hold all distances, they are Python numbers in
        an array of objects.

        Args:
            graph: A ``Graph`` or anything that ``Graph.of`` accepts: a sparse matrix, a networkx graph, edges. The
                distances are in the order of its nodes.
            source: The node from which distances are measured: its index, or its name in a networkx graph.
        """
        graph = Graph.of(graph)
        if graph.nodes == 0:
            raise InputError("the graph has no nodes")
        at = graph.position(source)
        return _shortest(graph, at) if self.shortest else self._rounds(graph, at)

    def _rounds(self, graph: Graph, source: int) -> np.ndarray:
        """Rounds for any fold and message: all nodes at once, each with its messages in the order of its edges."""
        distances = np.full(graph.nodes, np.inf)
        distances[source] = 0.0
        ranks = _by_rank(graph)
        weights = _as_floats(graph.weights)
        for _ in range(graph.nodes):
            values = {DISTANCE.name: distances[graph.edges[0]], WEIGHT.name: weights}
            messages = evaluate(self.message, values, rows=weights)
            new = np.array(evaluate(self.fold.start, {FIRST.name: distances}, rows=distances))
            for edges in ranks:
                at = graph.edges[1, edges]
                now = {self.fold.state: new[at], FIRST.name: distances[at], ITEM.name: messages[edges]}
                new[at] = evaluate(self.fold.step, now, rows=messages[edges])
            if np.array_equal(new, distances):
                return distances
            if graph.weights.dtype.kind != "f" and (np.abs(new[np.isfinite(new)]) > EXACT).any():
                raise InputError("distances exceed 2^53, where float64 rounds: only the minimum of sums is exact there")
            distances = new
        raise InputError("no convergence: distances still change after as many rounds as there are nodes")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def __str__(self) -> str:
        step = [f"first, rest = its distance, [{self.message} for every edge to it]", *str(self.fold).splitlines()]
        lines = ["until no distance changes, at every node:", *step, f"its distance = {self.fold.state}"]
        return "\n    ".join(lines)


def _by_rank(graph: Graph) -> list[np.ndarray]:
    """The first edge into every node, then the second into every node, and so on."""
    by_target = np.argsort(graph.edges[1], kind="stable")
    targets = graph.edges[1, by_target]
    rank = np.arange(len(targets)) - np.searchsorted(targets, targets)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(by_target[by_rank], np.cumsum(np.bincount(rank))[:-1]) if len(rank) else []


def _shortest(graph: Graph, source: int) -> np.ndarray:
    """Bellman-Ford with array operations. Only nodes whose distance changed send messages again."""
    edges = _Edges(graph)
    distances = edges.unreached(graph.nodes)
    distances[source] = 0
    before = np.full(graph.nodes, -1)
    changed = np.array([source])
    for number in range(1, graph.nodes + 1):
        few = edges.sent[changed].sum() * SPARSE < len(graph)
        targets, least, origins = edges.from_nodes(distances, changed) if few else edges.from_all(distances)
        better = least < distances[targets]
        if edges.most is not None:
            better &= least <= edges.most
        changed = targets[better]
        if not len(changed):
            break
        if edges.negative:
            before[changed] = origins[better]
            if number & (number - 1) == 0 or number == graph.nodes:
                cycle = _cycle(before)
                if cycle and edges.are_negative(cycle):
                    raise NegativeCycleError([graph.name(node) for node in cycle])
        distances[changed] = least[better]
    return distances if edges.most is None else _compact(distances, edges.most)


def _as_floats(weights: np.ndarray) -> np.ndarray:
    try:
        return weights.astype(np.float64)
    except OverflowError:
        raise InputError("a weight exceeds float64: only the minimum of sums is exact there") from None


def _compact(distances: np.ndarray, most: Any) -> np.ndarray:
    """Exact distances as float64 if it holds all of them, else as Python numbers; infinite above ``most``."""
    reached = distances <= most
    exact = distances[reached].tolist()
    rounds = any(not isinstance(value, int) or abs(value) > EXACT for value in exact)
    result = np.full(len(distances), np.inf, dtype=object if rounds else np.float64)
    result[reached] = exact
    return result


class _Edges:
    """Edges sorted by target and by source."""

    def __init__(self, graph: Graph) -> None:
        self.weights, self.most = _exact(graph)
        self.sources, self.targets = graph.edges
        self.negative = bool((self.weights < 0).any())
        self.sent = np.bincount(self.sources, minlength=graph.nodes)
        self.first_sent = np.cumsum(self.sent) - self.sent
        self.by_source = np.argsort(self.sources, kind="stable")
        order = np.argsort(self.targets, kind="stable")
        self.in_order = self.sources[order], self.weights[order]
        self.reached, self.starts = np.unique(self.targets[order], return_index=True)
        self.received = np.diff([*self.starts, len(order)])

    def unreached(self, nodes: int) -> np.ndarray:
        """Distances of nodes that are not reached: infinite, or so large that no edge leads from one below ``most``."""
        return np.full(nodes, np.inf if self.most is None else 3 * self.most, dtype=self.weights.dtype)

    def are_negative(self, cycle: list[int]) -> bool:
        """Whether the weight of a cycle is negative, for floats by more than rounding errors."""
        weights = []
        for source, target in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            sent = self.by_source[self.first_sent[source] : self.first_sent[source] + self.sent[source]]
            weights.append(self.weights[sent[self.targets[sent] == target]].min())
        if self.weights.dtype != np.float64:
            return bool(sum(weights) < 0)
        return bool(math.fsum(weights) < -4 * np.finfo(np.float64).eps * math.fsum(map(abs, weights)))

    def from_all(self, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Nodes that receive messages, the least message of each, and its source if there are negative weights."""
        sources, weights = self.in_order
        messages = distances[sources] + weights
        least = np.minimum.reduceat(messages, self.starts)
        origins = np.full(len(least), -1)
        if self.negative:
            winners = np.flatnonzero(messages == np.repeat(least, self.received))
            origins[np.repeat(np.arange(len(least)), self.received)[winners]] = sources[winners]
        return self.reached, least, origins

    def from_nodes(self, distances: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for messages from the given nodes only, at a cost in proportion to their number."""
        counts = self.sent[nodes]
        along = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        edges = self.by_source[np.repeat(self.first_sent[nodes], counts) + along]
        messages, targets = distances[self.sources[edges]] + self.weights[edges], self.targets[edges]
        order = np.lexsort((messages, targets))
        reached, first = np.unique(targets[order], return_index=True)
        best = order[first]
        return reached, messages[best], self.sources[edges[best]]


def _exact(graph: Graph) -> tuple[np.ndarray, Any]:
    """Weights in a type in which no sum along a path rounds, and the largest such sum; None for floats.

    Floats where float64 holds every sum of integers, which is fastest; then int64, then Python numbers.
    """
    weights = graph.weights
    if weights.dtype.kind == "f" or not len(weights):
        return weights.astype(np.float64), None
    extremes = weights[[weights.argmin(), weights.argmax()]].tolist()  # as Python numbers, which do not overflow
    most = graph.nodes * max(1, *map(abs, extremes))
    if weights.dtype != object and most <= EXACT:
        return weights.astype(np.float64), None
    if weights.dtype != object and most < 2**61:
        return weights.astype(np.int64), most
    return weights.astype(object), most


def _cycle(before: np.ndarray) -> list[int]:
    """The nodes of a cycle of predecessors in the order of its edges; empty if there is none."""
    jump = np.where(before < 0, np.arange(len(before)), before)
    for _ in range(int(np.ceil(np.log2(len(before) + 1)))):
        jump = jump[jump]
    ends = np.unique(jump)
    ends = ends[before[ends] >= 0]  # so many steps back lead either to a start or onto a cycle
    if not len(ends):
        return []
    cycle = [int(ends[0])]
    while int(before[cycle[-1]]) != cycle[0]:
        cycle.append(int(before[cycle[-1]]))
    return cycle[::-1]
