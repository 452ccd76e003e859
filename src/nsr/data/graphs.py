"""Weighted graphs as lists of edges, and the paper's random graphs (Section 4.6)."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
import torch

from nsr.data.rows import Rows
from nsr.errors import InputError


@dataclass(frozen=True, eq=False)
class Graph:
    """Directed edges with weights. An undirected edge is two directed ones.

    ``edges`` is (2, edges), from the nodes in the first row to those in the second. ``weights`` are integers, floats,
    or Python objects where integers exceed int64 or there are fractions. ``names`` are the names of the nodes, if they
    have any; otherwise nodes are numbered from 0.
    """

    nodes: int
    edges: np.ndarray
    weights: np.ndarray
    names: tuple[Hashable, ...] | None = None

    @classmethod
    def of(cls, graph: Any, *, nodes: int | None = None, weight: str = "weight") -> "Graph":
        """A graph from a scipy sparse matrix, a networkx graph, or edges as rows (from, to, weight).

        Args:
            graph: The graph. Zeros stored in a sparse matrix are edges; parallel edges of a COO matrix are kept.
            nodes: The number of nodes. By default as many as the graph has, or the edges mention.
            weight: The attribute of a networkx edge that holds its weight; without it the weight is 1.
        """
        if isinstance(graph, Graph):
            return graph
        if hasattr(graph, "tocoo"):
            matrix = graph.tocoo()
            if matrix.shape[0] != matrix.shape[1]:
                raise InputError(f"a matrix of distances must be square, got shape {matrix.shape}")
            return cls._checked(matrix.shape[0], matrix.row, matrix.col, matrix.data)
        if hasattr(graph, "number_of_nodes"):
            names = list(graph.nodes)
            index = {name: at for at, name in enumerate(names)}
            rows = [(index[a], index[b], w) for a, b, w in graph.edges(data=weight, default=1)]
            rows += [] if graph.is_directed() else [(b, a, w) for a, b, w in rows if a != b]
            return replace(cls._from_rows(rows, len(names)), names=tuple(names))
        return cls._from_rows(graph, nodes)

    @classmethod
    def _from_rows(cls, rows: Iterable[Sequence[Any]], nodes: int | None) -> "Graph":
        try:
            rows = [tuple(row) for row in rows]
        except TypeError:
            raise InputError(f"a graph must be edges, a sparse matrix or a networkx graph, got {rows!r}") from None
        if any(len(row) != 3 for row in rows):
            raise InputError("an edge must be (from, to, weight)")
        sources, targets = (np.array([row[at] for row in rows]) if rows else np.zeros(0, int) for at in range(2))
        weights = _exact([row[2] for row in rows])
        if nodes is None:
            named = [int(ends.max()) for ends in (sources, targets) if ends.dtype.kind in "iu" and len(ends)]
            nodes = max(named, default=-1) + 1
        return cls._checked(nodes, sources, targets, weights)

    @classmethod
    def _checked(cls, nodes: int, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> "Graph":
        if not isinstance(nodes, int | np.integer) or nodes < 0:
            raise InputError(f"nodes must be an integer of at least 0, got {nodes}")
        for ends in (sources, targets):
            if ends.dtype.kind not in "iu":
                raise InputError(f"a node must be an integer, got {_odd(ends, Integral)!r}")
            outside = ends[(ends < 0) | (ends >= nodes)]
            if len(outside):
                raise InputError(f"a node must be from 0 to {nodes - 1}, got {outside[0]}")
        if weights.dtype == object:
            weights = _exact(weights.tolist())
        if weights.dtype.kind not in "iufbO" or not all(isinstance(weight, Rational) for weight in _objects(weights)):
            raise InputError(f"a weight must be a number, got {_odd(weights, Real)!r}")
        if weights.dtype.kind == "f" and not np.isfinite(weights).all():
            at = np.flatnonzero(~np.isfinite(weights))[0]
            raise InputError(f"a weight must be finite, got {weights[at]} from {sources[at]} to {targets[at]}")
        return cls(nodes, np.stack([sources, targets]).astype(np.int64), weights)

    def position(self, node: Any) -> int:
        """The number of a node, given its name, or its number if nodes have no names."""
        if self.names is not None:
            if not isinstance(node, Hashable) or node not in self.names:
                raise InputError(f"source must be a node of the graph, got {node!r}")
            return self.names.index(node)
        if not isinstance(node, int | np.integer) or isinstance(node, bool) or not 0 <= node < self.nodes:
            raise InputError(f"source must be a node from 0 to {self.nodes - 1}, got {node}")
        return int(node)

    def name(self, position: int) -> Hashable:
        """The name of a node, or its number if nodes have no names."""
        return position if self.names is None else self.names[position]

    def __len__(self) -> int:
        return int(self.edges.shape[1])


def _odd(values: np.ndarray, kind: type) -> Any:
    """The first value of the wrong kind. Numpy may have converted all values to texts or floats because of it."""
    for value in values.tolist():
        converted = (isinstance(value, str) and value.lstrip("-").isdecimal()) or (
            isinstance(value, float) and value % 1 == 0
        )
        if not isinstance(value, kind) and not converted:
            return value
    return values.tolist()[0]


def _exact(values: Sequence[Any]) -> np.ndarray:
    """Numbers as an array: integers of any size and fractions stay what they are, beside a float all are floats."""
    if not values:
        return np.zeros(0, int)
    if not all(isinstance(value, Real) for value in values):
        return np.array(values)
    if not all(isinstance(value, Rational) for value in values):
        return np.array([_float(value) for value in values])
    try:
        return np.array(values, dtype=np.int64 if all(isinstance(value, Integral) for value in values) else object)
    except OverflowError:
        return np.array(values, dtype=object)


def _objects(values: np.ndarray) -> np.ndarray:
    return values if values.dtype == object else values[:0]


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"a weight must be within float64, got one of {len(str(value))} digits") from None


def union(graphs: Sequence[Graph]) -> Graph:
    """Several graphs as one: the nodes of each follow those of the graph before."""
    shifts = np.cumsum([0, *(graph.nodes for graph in graphs[:-1])])
    edges = [graph.edges + shift for graph, shift in zip(graphs, shifts, strict=True)]
    return Graph(
        sum(graph.nodes for graph in graphs),
        np.concatenate(edges, axis=1),
        np.concatenate([graph.weights for graph in graphs]),
    )


def bellman_ford_table(graph: Graph, *, source: int = 0, unreached: int) -> np.ndarray:
    """(nodes + 1, nodes): the distances of Bellman-Ford before the first round and after each round."""
    table = np.full((graph.nodes + 1, graph.nodes), float(unreached))
    table[0, source] = 0
    for before, after in pairwise(table):
        after[:] = before
        np.minimum.at(after, graph.edges[1], before[graph.edges[0]] + graph.weights)
    return table


def node_update_rows(graphs: Sequence[Graph], *, messages: int, largest: int = 10) -> Rows:
    """One row per node and round, starting from node 0, with the next distance as target (teacher forcing).

    A row holds the number of messages, the distance of the node, and for each message the distance it comes from and
    the weight of its edge, padded with zeros to ``messages``. Nodes that are not reached yet have the distance
    ``largest``, the largest possible weight, times the number of nodes.
    """
    rows, targets = [], []
    if not graphs:
        raise InputError("graphs must hold at least one graph, got none")
    most = max(int(np.bincount(graph.edges[1], minlength=1).max()) for graph in graphs)
    if most > messages:
        raise InputError(f"messages must be at least {most}, the largest number that a node gets, got {messages}")
    for graph in graphs:
        table = bellman_ford_table(graph, unreached=graph.nodes * largest)
        for node in range(graph.nodes):
            arriving = np.flatnonzero(graph.edges[1] == node)
            row = np.zeros((graph.nodes, 2 + 2 * messages))
            row[:, 0], row[:, 1] = len(arriving), table[:-1, node]
            row[:, 2 : 2 + 2 * len(arriving) : 2] = table[:-1, graph.edges[0, arriving]]
            row[:, 3 : 3 + 2 * len(arriving) : 2] = graph.weights[arriving]
            rows.append(row)
            targets.append(table[1:, node])
    return Rows.of(torch.as_tensor(np.concatenate(rows)), torch.as_tensor(np.concatenate(targets)))


def random_graph(generator: np.random.Generator, *, nodes: int = 10, largest: int = 10) -> Graph:
    """The paper's graphs: a random spanning tree, and every other edge with probability 1 / (2 nodes).

    Undirected, with integer weights from 1 to ``largest``. The number of other edges is drawn first, so that the cost
    is proportional to the number of edges.
    """
    if nodes < 1 or largest < 1:
        raise InputError(f"nodes and largest must be at least 1, got {nodes} and {largest}")
    order = generator.permutation(nodes)
    parents = [int(generator.integers(0, at)) for at in range(1, nodes)]
    chosen = {(min(pair), max(pair)) for at, up in enumerate(parents, 1) for pair in [(int(order[at]), int(order[up]))]}
    further = int(generator.binomial(nodes * (nodes - 1) // 2, 1 / (2 * nodes)))
    drawn: set[tuple[int, int]] = set()
    while len(drawn) < further:
        a, b = (int(value) for value in generator.integers(0, nodes, 2))
        if a != b:
            drawn.add((min(a, b), max(a, b)))
    pairs = np.array(sorted(chosen | drawn), dtype=np.int64).reshape(-1, 2)
    weights = generator.integers(1, largest + 1, len(pairs))
    return Graph(nodes, np.concatenate([pairs, pairs[:, ::-1]]).T.copy(), np.concatenate([weights, weights]))
