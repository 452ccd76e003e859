"""Bellman-Ford as a program, against scipy."""

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse import csgraph

from nsr.program import Compare, Variable, Where
from nsr.program.folds import FIRST, ITEM, MINIMA, Fold
from nsr.program.paths import NegativeCycleError, Paths
from nsr.refusals import InputError
from nsr.tasks.graphs import Graph, random_graph

SHORTEST = Paths()


def oracle(graph: Graph, source: int = 0) -> np.ndarray:
    """scipy's distances. It takes the sum of parallel edges, so only the lightest of them is given to it."""
    lightest: dict[tuple[int, int], float] = {}
    for a, b, weight in zip(*graph.edges.tolist(), graph.weights.tolist(), strict=True):
        lightest[a, b] = min(weight, lightest.get((a, b), np.inf))
    ends = np.array(list(lightest)).reshape(-1, 2).T
    data = np.array(list(lightest.values()), dtype=float)
    matrix = sparse.csr_matrix((data, (ends[0], ends[1])), shape=(graph.nodes, graph.nodes))
    return (
        csgraph.bellman_ford(matrix, indices=source) if (data < 0).any() else csgraph.dijkstra(matrix, indices=source)
    )


def any_graph(generator: np.random.Generator, most: int = 60) -> Graph:
    """Ties, zero weights, self loops, parallel edges, nodes that nobody reaches; whole numbers or floats."""
    nodes = int(generator.integers(1, most))
    count = int(generator.integers(0, 4 * nodes))
    largest = 10 ** int(generator.integers(0, 13))
    weights = (
        generator.integers(0, largest + 1, count) if generator.random() < 0.5 else generator.random(count) * largest
    )
    return Graph(nodes, generator.integers(0, nodes, (2, count)), weights)


def test_a_thousand_random_graphs_of_all_kinds():
    for seed in range(1_000):
        generator = np.random.default_rng(seed)
        graph = any_graph(generator, 60 if seed % 20 else 3**7 + 1)
        source = int(generator.integers(0, graph.nodes))
        assert np.array_equal(SHORTEST(graph, source), oracle(graph, source)), seed


@pytest.mark.parametrize("nodes", [1, 2, 10, 3**7])
def test_the_papers_graphs(nodes):
    graph = random_graph(np.random.default_rng(nodes), nodes=nodes, largest=10**12)
    assert np.array_equal(SHORTEST(graph), oracle(graph))
    assert np.isfinite(SHORTEST(graph)).all()


def test_negative_edges_without_a_negative_cycle():
    for seed in range(60):
        generator = np.random.default_rng(seed)
        nodes = int(generator.integers(2, 30))
        ends = np.sort(generator.integers(0, nodes, (2, 60)), axis=0)  # edges lead up: there is no cycle
        ends = ends[:, ends[0] != ends[1]]
        graph = Graph(nodes, ends, generator.integers(-9, 10, ends.shape[1]))
        assert np.array_equal(SHORTEST(graph), oracle(graph)), seed


def test_a_negative_cycle_is_an_error_with_its_nodes():
    edges = [(0, 1, 1), (1, 2, 2), (2, 3, -5), (3, 1, 2), (3, 4, 1)]
    with pytest.raises(NegativeCycleError) as refusal:
        SHORTEST(edges)
    assert sorted(refusal.value.cycle) == [1, 2, 3]
    at = refusal.value.cycle
    assert all((a, b) in {(1, 2), (2, 3), (3, 1)} for a, b in zip(at, [*at[1:], at[0]], strict=True))
    assert "is a cycle of negative weight" in str(refusal.value)
    with pytest.raises(NegativeCycleError):
        SHORTEST([(0, 1, -1), (1, 0, -1)])
    with pytest.raises(NegativeCycleError):
        SHORTEST([(0, 0, -1)])
    assert SHORTEST([(0, 1, 1), (2, 3, -5), (3, 2, 1)]).tolist() == [0, 1, np.inf, np.inf]  # nobody gets there


def test_any_other_fold_is_run_as_it_stands():
    best = Variable("best")
    longest = Fold("best", FIRST, Where(Compare("<", best, ITEM), ITEM, best))
    slow = Paths(MINIMA[0], Variable("weight") + Variable("distance"))
    graph = random_graph(np.random.default_rng(0), nodes=12)
    assert np.array_equal(slow(graph), SHORTEST(graph))
    assert str(slow).splitlines() == [
        "until no distance changes, at every node:",
        "    first, rest = its distance, [distance + weight for every edge to it]",
        "    best = first",
        "    for x in rest:",
        "        best = x if best > x else best",
        "    its distance = best",
    ]
    assert Paths(longest) != SHORTEST
    assert not Paths(longest).shortest
    assert np.array_equal(Paths(MINIMA[0], Variable("distance") + Variable("weight") * 2)(graph), 2 * SHORTEST(graph))


def test_a_source_that_is_no_node_is_refused():
    with pytest.raises(InputError, match=r"^source must be a node from 0 to 1, got 5$"):
        SHORTEST([(0, 1, 1)], source=5)
    with pytest.raises(InputError, match=r"^source must be a node from 0 to 1, got 0.5$"):
        SHORTEST([(0, 1, 1)], source=0.5)
    with pytest.raises(InputError, match=r"^the graph has no nodes$"):
        SHORTEST([])
    assert SHORTEST(Graph.of([], nodes=3)).tolist() == [0, np.inf, np.inf]


def test_a_long_path_costs_as_much_as_its_edges():
    nodes = 20_000  # every round has one edge with news: rounds times edges would be 400 million steps
    ends = np.arange(nodes - 1)
    graph = Graph(nodes, np.stack([ends, ends + 1]), np.ones(nodes - 1, dtype=np.int64))
    assert np.array_equal(SHORTEST(graph), np.arange(nodes))


def test_a_message_of_anything_else_is_refused():
    with pytest.raises(ValueError, match=r"^message must be a number that uses distance and weight alone, got z$"):
        Paths(MINIMA[0], Variable("z"))
