import numpy as np
import pytest
import torch

from nsr import NSR
from nsr.data.graphs import bellman_ford_table, node_update_rows, random_graph, union
from nsr.nn import MLP, NAU, NodeUpdate, RecurrentMinimum, ShortestPaths
from nsr.program.paths import Paths
from tests.reading.samples import written


def model() -> ShortestPaths:
    gate = written(2, (0, "<=", 1, 0.0), scale=20.0).double()
    with torch.no_grad():
        for weight in (gate.w_sign, gate.w_zero, gate.bias):
            weight *= 4  # sure enough that nothing of a far message is left after many rounds
    return ShortestPaths(RecurrentMinimum(gate))


def start(nodes: int, *sources: int) -> torch.Tensor:
    distances = torch.full((nodes,), 10.0 * nodes, dtype=torch.float64)
    distances[list(sources)] = 0
    return distances


def test_a_written_fold_finds_shortest_paths():
    graph = random_graph(np.random.default_rng(0), nodes=60)
    found = model()(torch.as_tensor(graph.edges), torch.as_tensor(graph.weights), start(60, 0))
    np.testing.assert_allclose(found.detach().numpy(), Paths()(graph), atol=1e-2)


def test_several_graphs_are_one_with_several_sources():
    graphs = [random_graph(np.random.default_rng(seed), nodes=10 + seed) for seed in range(3)]
    both = union(graphs)
    found = model()(torch.as_tensor(both.edges), torch.as_tensor(both.weights), start(both.nodes, 0, 10, 21))
    expected = np.concatenate([Paths()(graph) for graph in graphs])
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-2)


def test_a_round_folds_the_messages_of_a_node_in_the_order_of_its_edges():
    module = ShortestPaths(RecurrentMinimum(NSR(2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)))
    edges = torch.tensor([[1, 2, 0, 2, 1], [0, 0, 1, 1, 0]])
    weights = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0], dtype=torch.float64)
    distances = torch.tensor([7.0, 2.0, 6.0], dtype=torch.float64)
    new = module(edges, weights, distances, rounds=1)
    lists = [[7.0, 2.0 + 3.0, 6.0 + 1.0, 2.0 + 5.0], [2.0, 7.0 + 4.0, 6.0 + 1.0], [6.0]]
    expected = torch.stack([module.fold(torch.tensor(items, dtype=torch.float64)) for items in lists])
    torch.testing.assert_close(new, expected)
    assert repr(module) == "ShortestPaths(RecurrentMinimum(NSR(2, redundancy=10, scale=1.0, dtype=torch.float64)))"


def test_a_learned_message_that_is_the_sum_gives_the_same_distances():
    graph = random_graph(np.random.default_rng(1), nodes=20)
    message = NAU(2, bias=True, dtype=torch.float64)
    with torch.no_grad():
        message.weight.fill_(1)
    given = torch.as_tensor(graph.edges), torch.as_tensor(graph.weights), start(20, 0)
    learned = ShortestPaths(model().fold, message)
    torch.testing.assert_close(learned(*given), model()(*given))
    assert repr(learned).endswith(", message=NAU(2, 1, bias=True, dtype=torch.float64))")


def test_each_graph_has_its_own_number_of_rounds():
    graphs = [random_graph(np.random.default_rng(seed), nodes=12) for seed in range(2)]
    both = union(graphs)
    given = torch.as_tensor(both.edges), torch.as_tensor(both.weights), start(24, 0, 12)
    found = model()(*given, rounds=torch.tensor([1, 3]).repeat_interleave(12))
    for at, rounds in enumerate((1, 3)):
        one = torch.as_tensor(graphs[at].edges), torch.as_tensor(graphs[at].weights), given[2][12 * at : 12 * at + 12]
        torch.testing.assert_close(found[12 * at : 12 * at + 12], model()(*one, rounds=rounds))


def test_a_row_of_a_node_update_is_a_node_in_a_round():
    graphs = [random_graph(np.random.default_rng(seed), nodes=7) for seed in range(3)]
    rows = node_update_rows(graphs, messages=6)
    assert rows.x.shape == (3 * 7 * 7, 14)
    assert (
        rows.y.tolist() == np.concatenate([bellman_ford_table(g, unreached=70)[1:].T.ravel() for g in graphs]).tolist()
    )
    torch.testing.assert_close(NodeUpdate(model())(rows.x), rows.y, atol=1e-2, rtol=0)
    table = torch.as_tensor(bellman_ford_table(graphs[1], unreached=70))
    edges, weights = torch.as_tensor(graphs[1].edges), torch.as_tensor(graphs[1].weights)
    after = model()(edges, weights, table[2], rounds=1)
    torch.testing.assert_close(after, NodeUpdate(model())(rows.x)[49:98].reshape(7, 7)[:, 2])
    assert (
        repr(NodeUpdate(ShortestPaths(RecurrentMinimum(MLP(2)))))
        == "NodeUpdate(ShortestPaths(RecurrentMinimum(MLP(2, hidden=20))))"
    )


def test_a_node_update_takes_a_single_row_and_refuses_a_number(unchecked):
    rows = torch.tensor([[1, 7.0, 2.0, 3.0], [1, 2.0, 6.0, 1.0]], dtype=torch.float64)
    update = NodeUpdate(model())
    assert update(rows[1]) == update(rows)[1]
    with pytest.raises(ValueError, match=r"^a row must hold a count, a distance and pairs, got shape \(\)$"):
        update(torch.tensor(1.0))


def test_no_edges_and_no_rounds():
    none = torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0)
    assert model()(*none, start(3, 0)).tolist() == [0.0, 30.0, 30.0]
    assert model()(torch.tensor([[0], [1]]), torch.ones(1), start(2, 0), rounds=0).tolist() == [0.0, 20.0]


@pytest.mark.parametrize(
    ("edges", "weights", "from_", "text"),
    [
        ([[0], [3]], [1.0], [0.0, 9.0], r"^a node must be from 0 to 1, got 3$"),
        ([[-1], [0]], [1.0], [0.0, 9.0], r"^a node must be from 0 to 1, got -1$"),
        ([[0], [1]], [float("nan")], [0.0, 9.0], r"^weights must be finite, got nan$"),
        (
            [[0], [1]],
            [1.0],
            [0.0, float("inf")],
            r"^start must be finite: use more than any path can cost",
        ),
    ],
)
def test_bad_graphs_are_errors_in_a_sentence(edges, weights, from_, text):
    with pytest.raises(ValueError, match=text):
        model()(torch.tensor(edges), torch.tensor(weights), torch.tensor(from_, dtype=torch.float64))


def test_too_few_weights_and_a_wrong_message_are_refused(unchecked):
    with pytest.raises(ValueError, match=r"^there must be a weight for each of 1 edges, got \(2,\)$"):
        model()(torch.tensor([[0], [1]]), torch.ones(2), start(2, 0))
    with pytest.raises(ValueError, match=r"^edges must be integers of shape \(2, edges\), got torch.float32 of shape"):
        model()(torch.tensor([[0.5], [1.0]]), torch.ones(1), start(2, 0))
    with pytest.raises(ValueError, match=r"^a row must hold a count, a distance and pairs, got shape \(2, 5\)$"):
        NodeUpdate(model())(torch.ones(2, 5))
    with pytest.raises(ValueError, match=r"^message must map two numbers to one, got NAU\(3, 1, bias=False\)$"):
        ShortestPaths(model().fold, NAU(3))


def test_dtypes_are_promoted(unchecked):
    module = ShortestPaths(RecurrentMinimum(NSR(2)))
    edges, weights = torch.tensor([[0], [1]], dtype=torch.int32), torch.ones(1, dtype=torch.float64)
    assert module(edges, weights, torch.tensor([0.0, 20.0])).dtype == torch.float64
    assert module(edges, torch.ones(1, dtype=torch.int64), torch.tensor([0, 20])).dtype == torch.float32
    with pytest.raises(ValueError, match=r"^rounds must be an integer, or one for each of 2 nodes, got 1.5$"):
        module(edges, weights, torch.tensor([0.0, 20.0]), rounds=1.5)
    with pytest.raises(ValueError, match=r"^start must hold a distance for each node, got shape \(1, 2\)$"):
        module(edges, weights, torch.tensor([[0.0, 20.0]]))
