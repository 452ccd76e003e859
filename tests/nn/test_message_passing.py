import numpy as np
import torch

from nsr import NSR
from nsr.nn import RecurrentMinimum
from nsr.nn.message_passing import ShortestPaths
from nsr.program.paths import Paths
from nsr.tasks.graphs import random_graph, union
from tests.program.registers import written


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
