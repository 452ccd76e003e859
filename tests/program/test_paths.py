"""Bellman-Ford as a program, against scipy."""

import math
from fractions import Fraction

import networkx
import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse import csgraph

from nsr.data.graphs import Graph, random_graph
from nsr.errors import InputError
from nsr.program import Compare, Variable, Where
from nsr.program.folds import FIRST, ITEM, MINIMA, Fold, minima
from nsr.program.paths import NegativeCycleError, Paths

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
    """Ties, zero weights, self loops, parallel edges, unreachable nodes; integers or floats."""
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


def exact_oracle(graph: Graph, source: int = 0) -> list:
    """Dijkstra with Python numbers of any size, by the definition: the nearest node is final."""
    distances = [math.inf] * graph.nodes
    distances[source] = 0
    left = set(range(graph.nodes))
    edges = list(zip(*graph.edges.tolist(), graph.weights.tolist(), strict=True))
    while near := [node for node in left if distances[node] is not math.inf]:
        at = min(near, key=distances.__getitem__)
        left.remove(at)
        for source, target, weight in edges:
            if source == at and (distances[target] is math.inf or distances[at] + weight < distances[target]):
                distances[target] = distances[at] + weight
    return distances


@pytest.mark.parametrize("largest", [2**50, 2**53, 2**58, 2**63, 10**40, 10**400])
def test_integers_of_any_size_are_added_exactly(largest):
    for seed in range(20):
        generator = np.random.default_rng(seed)
        nodes, count = int(generator.integers(2, 12)), int(generator.integers(1, 40))
        ends = generator.integers(0, nodes, (2, count)).T.tolist()
        sizes = [largest * int(n) // 1000 + int(one) for n, one in generator.integers(0, 1001, (count, 2))]
        graph = Graph.of([(a, b, weight) for (a, b), weight in zip(ends, sizes, strict=True)], nodes=nodes)
        assert SHORTEST(graph).tolist() == exact_oracle(graph), seed


def test_distances_beyond_2_to_the_53_do_not_round():
    assert SHORTEST([(0, 1, 2**53), (1, 2, 1)]).tolist() == [0, 2**53, 2**53 + 1]
    assert SHORTEST([(0, 1, 10**40), (1, 2, 1), (0, 2, 10**40 + 2)]).tolist() == [0, 10**40, 10**40 + 1]
    assert SHORTEST([(0, 1, 2**63), (1, 2, 1)]).tolist() == [0, 2**63, 2**63 + 1]
    assert SHORTEST([(0, 1, -(10**30)), (1, 2, 10**30 + 1), (3, 0, -5)]).tolist() == [0, -(10**30), 1, math.inf]
    assert SHORTEST([(0, 1, Fraction(1, 3)), (1, 2, Fraction(1, 6))]).tolist() == [0, Fraction(1, 3), Fraction(1, 2)]
    matrix = sparse.coo_matrix(([2**53, 1], ([0, 1], [1, 2])), shape=(3, 3))
    assert SHORTEST(matrix).tolist() == [0, 2**53, 2**53 + 1]


def test_ordinary_weights_stay_floats():
    assert SHORTEST([(0, 1, 5), (1, 2, 1)]).dtype == np.float64
    assert SHORTEST([(0, 1, 2**53 - 2), (0, 2, 1)]).dtype == np.float64  # not known before, but float64 holds these
    assert SHORTEST([(0, 1, 2**60), (1, 2, 0.5)]).dtype == np.float64


def test_a_cycle_of_large_integers_is_negative_if_it_is_by_one():
    edges = [(0, 1, 1), (1, 2, 10**20), (2, 1, -(10**20))]
    assert SHORTEST(edges).tolist() == [0, 1, 10**20 + 1]
    with pytest.raises(NegativeCycleError):
        SHORTEST([*edges[:2], (2, 1, -(10**20) - 1)])


def test_another_message_refuses_to_round():
    doubled = Paths(MINIMA[0], Variable("distance") + Variable("weight") * 2)
    assert doubled([(0, 1, 2**51), (1, 2, 1)]).tolist() == [0, 2**52, 2**52 + 2]
    with pytest.raises(InputError, match=r"^distances exceed 2\^53, where float64 rounds: "):
        doubled([(0, 1, 2**53), (1, 2, 1)])
    with pytest.raises(InputError, match=r"^a weight exceeds float64: "):
        doubled([(0, 1, 10**400)])
    assert doubled([(0, 1, 1e300)]).tolist() == [0, 2e300]


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
    with pytest.raises(NegativeCycleError) as error:
        SHORTEST(edges)
    assert sorted(error.value.cycle) == [1, 2, 3]
    at = error.value.cycle
    assert all((a, b) in {(1, 2), (2, 3), (3, 1)} for a, b in zip(at, [*at[1:], at[0]], strict=True))
    assert "is a cycle of negative weight" in str(error.value)
    with pytest.raises(NegativeCycleError):
        SHORTEST([(0, 1, -1), (1, 0, -1)])
    with pytest.raises(NegativeCycleError):
        SHORTEST([(0, 0, -1)])
    assert SHORTEST([(0, 1, 1), (2, 3, -5), (3, 2, 1)]).tolist() == [0, 1, np.inf, np.inf]  # nobody gets there


def test_any_other_fold_is_run_in_rounds():
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


def test_a_source_that_is_not_a_node_is_an_error():
    with pytest.raises(InputError, match=r"^source must be a node from 0 to 1, got 5$"):
        SHORTEST([(0, 1, 1)], source=5)
    with pytest.raises(InputError, match=r"^source must be a node from 0 to 1, got 0.5$"):
        SHORTEST([(0, 1, 1)], source=0.5)
    with pytest.raises(InputError, match=r"^the graph has no nodes$"):
        SHORTEST([])
    assert SHORTEST(Graph.of([], nodes=3)).tolist() == [0, np.inf, np.inf]


def test_the_cost_of_a_long_path_is_proportional_to_its_edges():
    nodes = 20_000  # every round has one edge with news: rounds times edges would be 400 million steps
    ends = np.arange(nodes - 1)
    graph = Graph(nodes, np.stack([ends, ends + 1]), np.ones(nodes - 1, dtype=np.int64))
    assert np.array_equal(SHORTEST(graph), np.arange(nodes))


def test_a_message_may_use_only_distance_and_weight():
    with pytest.raises(ValueError, match=r"^message must be a number that uses only distance and weight, got z$"):
        Paths(MINIMA[0], Variable("z"))


def test_a_cycle_that_is_negative_only_by_rounding_is_ignored():
    edges = [(0, 1, 1.9), (1, 2, 0.7), (2, 3, 0.2), (3, 4, 0.8), (4, 1, -1.7)]  # weighs 5.6e-17
    assert SHORTEST(edges) == pytest.approx([0, 1.9, 2.6, 2.8, 3.6])
    unreachable = 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        height, ends = generator.normal(size=12), generator.integers(0, 12, (2, 40))
        weights = np.where(generator.random(40) < 0.5, 0.0, generator.random(40)) + height[ends[0]] - height[ends[1]]
        found = SHORTEST(Graph(12, ends, weights))
        lifted = SHORTEST(Graph(12, ends, np.abs(weights - height[ends[0]] + height[ends[1]])))
        there = np.isfinite(lifted)
        assert found[there] == pytest.approx((lifted + height[0] - height)[there], abs=1e-12)
        unreachable += not there.all()
    assert unreachable  # in at least one of the graphs


def test_nodes_of_a_networkx_graph_are_named():
    graph = networkx.Graph([(2, 1, {"weight": 5}), (1, 0, {"weight": 1})])  # its order is 2, 1, 0
    assert SHORTEST(graph, 0).tolist() == [6, 1, 0]
    assert SHORTEST(graph, 2).tolist() == [0, 5, 6]
    named = networkx.DiGraph([("a", "b", {"weight": 1}), ("b", "c", {"weight": -3}), ("c", "b", {"weight": 1})])
    with pytest.raises(NegativeCycleError) as error:
        SHORTEST(named, "a")
    assert sorted(error.value.cycle) == ["b", "c"]
    with pytest.raises(InputError, match=r"^source must be a node of the graph, got 0$"):
        SHORTEST(named)


def test_a_minimum_with_another_state_name_is_recognised():
    least = minima("least")[0]
    assert Paths(least).shortest
    with pytest.raises(NegativeCycleError):
        Paths(least)([(0, 1, 1), (1, 2, -3), (2, 1, 1)])


def test_a_fold_that_does_not_converge_is_an_error():
    best = Variable("best")
    longest = Paths(Fold("best", FIRST, Where(Compare("<", best, ITEM), ITEM, best)), Variable("weight") + 0)
    with pytest.raises(InputError, match=r"^no convergence: distances still change"):
        Paths(MINIMA[0], Variable("distance") - 1)([(0, 1, 1), (1, 0, 1)])
    assert longest([(0, 1, 3), (2, 1, 4)]).tolist() == [0, np.inf, np.inf]
