"""Shortest paths from one source, side by side on one core: soft model, hardened model, scipy's two algorithms.

Graphs are the paper's: a random tree and half as many further edges, whole weights to 10. Each contender runs in a
process of its own, which also tells its peak memory; the time is that of the call alone, the least of several.
"""

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

SOFT, HARDENED = "soft model", "hardened"
SOFT_ROUNDS = 3
"""A round of the soft model costs the same as another: a few are timed, and given as the time of one."""


def graph_of(edges: int) -> Any:
    """A graph of about so many edges, each counted in both directions."""
    from nsr.data import random_graph

    return random_graph(np.random.default_rng(edges), nodes=int(edges / 2.5), largest=10)


def soft(graph: Any) -> Callable[[], np.ndarray]:
    """Some rounds of a register that is trained, or as good as: what its weights are makes no difference."""
    import torch

    from nsr.nn import NSR, RecurrentMinimum, ShortestPaths

    torch.set_num_threads(1)
    model = ShortestPaths(RecurrentMinimum(NSR(2, generator=torch.Generator().manual_seed(0)))).double()
    start = torch.full((graph.nodes,), 10.0 * graph.nodes, dtype=torch.float64)
    start[0] = 0
    edges, weights = torch.as_tensor(graph.edges), torch.as_tensor(graph.weights)

    def run() -> np.ndarray:
        with torch.no_grad():
            return np.asarray(model(edges, weights, start, rounds=SOFT_ROUNDS).numpy())

    return run


def hardened(graph: Any) -> Callable[[], np.ndarray]:
    """The program that trained models are read as."""
    from nsr.program import Paths

    return lambda: Paths()(graph)


def scipys(name: str) -> Callable[[Any], Callable[[], np.ndarray]]:
    """One of scipy's algorithms, with its matrix made beforehand."""

    def prepare(graph: Any) -> Callable[[], np.ndarray]:
        from scipy.sparse import csgraph, csr_matrix

        matrix = csr_matrix((graph.weights.astype(float), tuple(graph.edges)), shape=(graph.nodes, graph.nodes))
        return lambda: np.asarray(getattr(csgraph, name)(matrix, indices=0))

    return prepare


CONTENDERS = {
    SOFT: soft,
    HARDENED: hardened,
    "scipy bellman_ford": scipys("bellman_ford"),
    "scipy dijkstra": scipys("dijkstra"),
}


def measure(name: str, edges: int, repeats: int, answers: Any) -> None:
    """Time one contender and send its seconds, peak memory and distances' sum back."""
    graph = graph_of(edges)
    run = CONTENDERS[name](graph)
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    answers.put((min(seconds), memory, float(found.sum()), len(graph), graph.nodes, rounds_of(graph)))


def rounds_of(graph: Any) -> int:
    """How many rounds Bellman-Ford takes, the last of which changes nothing."""
    distances = np.full(graph.nodes, np.inf)
    distances[0] = 0
    for number in range(1, graph.nodes + 1):
        new = distances.copy()
        np.minimum.at(new, graph.edges[1], distances[graph.edges[0]] + graph.weights)
        if np.array_equal(new, distances):
            return number
        distances = new
    return graph.nodes


def main() -> None:
    """Measure every contender at every size, print the table, and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, nargs="*", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bellman-ford-to", type=int, default=10**4, help="scipy's is nodes times edges: not beyond")
    arguments = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    table = Table("edges", "nodes", "rounds", "", "seconds", "a round, ms", "/ dijkstra", "peak memory, MB", box=None)
    told: list[dict[str, Any]] = []
    for edges in arguments.edges:
        found: dict[str, tuple[float, float, float, int, int, int]] = {}
        for name in reversed(CONTENDERS):
            if name == "scipy bellman_ford" and edges > arguments.bellman_ford_to:
                continue
            answers = spawn.Queue()
            process = spawn.Process(target=measure, args=(name, edges, arguments.repeats, answers))
            process.start()
            found[name] = answers.get()
            process.join()
        exact = {round(total) for name, (_, _, total, *_) in found.items() if name != SOFT}
        assert len(exact) == 1, f"the distances differ: {exact}"
        for name, (seconds, memory, _, count, nodes, rounds) in found.items():
            a_round = seconds / (SOFT_ROUNDS if name == SOFT else rounds) if name in (SOFT, HARDENED) else None
            whole = a_round * rounds if name == SOFT and a_round else seconds
            ratio = whole / found["scipy dijkstra"][0]
            told.append({"edges": count, "contender": name, "seconds": whole, "round": a_round, "memory": memory})
            table.add_row(
                f"{count:,}",
                f"{nodes:,}",
                str(rounds),
                name,
                f"{whole:.4f}",
                f"{1e3 * a_round:.3f}" if a_round else "",
                f"{ratio:.2f}",
                f"{memory:,.0f}",
            )
    console = Console(width=110)
    console.print(table)
    console.print("The soft model's seconds are those of one round times the rounds that the exact algorithm takes.")
    print(json.dumps(told))


if __name__ == "__main__":
    main()
