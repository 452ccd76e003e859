from fractions import Fraction

import networkx
import numpy as np
import pytest
import scipy.sparse as sparse

from nsr.data.graphs import Graph, node_update_rows, random_graph, union
from nsr.errors import InputError


def rows(graph: Graph) -> list[tuple]:
    return sorted(zip(*graph.edges.tolist(), graph.weights.tolist(), strict=True))


def test_the_papers_graphs_are_connected_undirected_and_sparse():
    sizes = []
    for seed in range(40):
        graph = random_graph(np.random.default_rng(seed))
        pairs = {(a, b): w for a, b, w in rows(graph)}
        assert all(pairs[b, a] == weight and a != b for (a, b), weight in pairs.items())
        assert networkx.is_connected(networkx.Graph(list(pairs)))
        assert {int(weight) for weight in graph.weights} <= set(range(1, 11))
        sizes.append(len(graph) / 2)
    assert 9 < np.mean(sizes) < 13  # a tree of 9 edges, and about 36 further pairs with probability 1/20


def test_edges_sparse_matrices_and_networkx_are_one_graph():
    edges = [(0, 1, 2.5), (1, 2, 0.0), (2, 0, 1.0)]
    expected = sorted(edges)
    assert rows(Graph.of(edges)) == expected
    a, b, w = zip(*edges, strict=True)
    assert rows(Graph.of(sparse.coo_matrix((w, (a, b)), shape=(3, 3)))) == expected
    named = networkx.DiGraph()
    named.add_weighted_edges_from([("p", "q", 2.5), ("q", "r", 0.0), ("r", "p", 1.0)])
    assert rows(Graph.of(named)) == expected
    plain = networkx.path_graph(3)
    assert rows(Graph.of(plain)) == [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)]
    graph = Graph.of(edges)
    assert Graph.of(graph) is graph


def test_a_union_keeps_its_parts_apart():
    both = union([Graph.of([(0, 1, 1)]), Graph.of([(0, 2, 5)], nodes=4)])
    assert both.nodes == 6
    assert rows(both) == [(0, 1, 1), (2, 4, 5)]


@pytest.mark.parametrize(
    ("edges", "text"),
    [
        ([(0, 5, 1)], "a node must be from 0 to 2, got 5"),
        ([(-1, 0, 1)], "a node must be from 0 to 2, got -1"),
        ([(0.5, 1, 1)], "a node must be an integer, got 0.5"),
        ([(0, 1, float("nan"))], "a weight must be finite, got nan from 0 to 1"),
        ([(0, 1, float("inf"))], "a weight must be finite, got inf from 0 to 1"),
        ([(0, 1, "far")], "a weight must be a number, got 'far'"),
        ([(0, 1)], "an edge must be (from, to, weight)"),
        ([("a", "b", 1)], "a node must be an integer, got 'a'"),
        ([(0, 1, 1), (1, 2, "far")], "a weight must be a number, got 'far'"),
        ([(0, 1, 1), (1, 2, None)], "a weight must be a number, got None"),
        ([(0, 1, 1), (1, 1.5, 1)], "a node must be an integer, got 1.5"),
        ([(0, 1, 10**400), (1, 2, 0.5)], "a weight must be within float64, got one of 401 digits"),
        (5, "a graph must be edges, a sparse matrix or a networkx graph, got 5"),
    ],
)
def test_what_is_no_graph_is_refused_in_a_sentence(edges, text, unchecked):
    with pytest.raises(InputError) as error:
        Graph.of(edges, nodes=3)
    assert str(error.value) == text
    with pytest.raises(InputError, match="must be square"):
        Graph.of(sparse.coo_matrix((2, 3)))
    with pytest.raises(InputError, match=r"^nodes must be an integer of at least 0, got -2$"):
        Graph.of([], nodes=-2)
    with pytest.raises(InputError, match=r"^nodes and largest must be at least 1, got 0 and 10$"):
        random_graph(np.random.default_rng(0), nodes=0)


def test_weights_of_any_size():
    assert Graph.of([(0, 1, 10**30), (1, 2, Fraction(1, 4))]).weights.tolist() == [10**30, Fraction(1, 4)]
    assert Graph.of([(0, 1, 10**30), (1, 2, 0.25)]).weights.tolist() == [1e30, 0.25]
    assert Graph.of([(0, 1, 2**63), (1, 2, 1)]).weights.tolist() == [2**63, 1]  # numpy alone would make floats of it
    assert Graph.of([(0, 1, 2**62), (1, 2, 1)]).weights.dtype == np.int64


def test_inboxes_need_room_for_every_message():
    star = Graph.of([(1, 0, 2), (2, 0, 3), (0, 1, 2)])
    rows = node_update_rows([star], messages=2)
    assert rows.x[0].tolist() == [2, 0, 30, 2, 30, 3]
    assert rows.y.tolist() == [0, 0, 0, 2, 2, 2, 30, 30, 30]
    with pytest.raises(InputError, match=r"^messages must be at least 2, the largest number that a node gets, got 1$"):
        node_update_rows([star], messages=1)
    with pytest.raises(InputError, match=r"^graphs must hold at least one graph, got none$"):
        node_update_rows([], messages=1)


def test_edges_beside_the_tree_have_probability_one_in_twice_the_nodes():
    nodes, tree = 400, 399
    beside = [len(random_graph(np.random.default_rng(seed), nodes=nodes)) / 2 - tree for seed in range(100)]
    # of the 79,800 pairs 399 are the tree's: 79,401 / 800 = 99.25 on average, with a standard error of 1
    assert 95.25 < np.mean(beside) < 103.25
