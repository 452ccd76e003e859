"""Shortest paths from one source on one core: the soft model, the hardened model and scipy's two algorithms.

The graphs are those of the paper: a random tree and half as many additional edges, with integer weights up to 10. Each
contender runs in a separate process, which also reports its peak memory. Times cover the call only and are the minimum
of several.
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
"""All rounds of the soft model cost the same: a few are timed, and the time of one is reported."""


def graph_of(edges: int) -> Any:
    """A graph of about this many edges, each counted in both directions."""
    from nsr.data import random_graph

    return random_graph(np.random.default_rng(edges), nodes=int(edges / 2.5), largest=10)


def soft(graph: Any) -> Callable[[], np.ndarray]:
    """A few rounds of a register; its weights do not affect the time."""
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
    """The program that trained models are hardened to."""
    from nsr.program import Paths

    return lambda: Paths()(graph)


def scipys(name: str) -> Callable[[Any], Callable[[], np.ndarray]]:
    """One of scipy's algorithms; building its matrix is not timed."""

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
    """Time one contender and send back its seconds, peak memory and sum of distances."""
    graph = graph_of(edges)
    run = CONTENDERS[name](graph)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        distances = run()
        seconds.append(time.perf_counter() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    answers.put((min(seconds), memory, float(distances.sum()), len(graph), graph.nodes, rounds_of(graph)))


def rounds_of(graph: Any) -> int:
    """Number of rounds of Bellman-Ford, including the last, which changes nothing."""
    distances = np.full(graph.nodes, np.inf)
    distances[0] = 0
    for number in range(1, graph.nodes + 1):
        new = distances.copy()
        np.minimum.at(new, graph.edges[1], distances[graph.edges[0]] + graph.weights)
        if np.array_equal(new, distances):
            return number
        distances = new
    return graph.nodes


Measured = tuple[float, float, float, int, int, int]
"""Seconds, peak memory in MB, sum of distances, edges, nodes, rounds."""


def measured_apart(edges: int, repeats: int, bellman_ford_to: int) -> dict[str, Measured]:
    """Measure every contender on the same graph, each in a new process."""
    spawn = multiprocessing.get_context("spawn")
    results: dict[str, Measured] = {}
    for name in reversed(CONTENDERS):
        if name == "scipy bellman_ford" and edges > bellman_ford_to:
            continue
        answers = spawn.Queue()
        process = spawn.Process(target=measure, args=(name, edges, repeats, answers))
        process.start()
        results[name] = answers.get()
        process.join()
    exact = {round(total) for name, (_, _, total, *_) in results.items() if name != SOFT}
    assert len(exact) == 1, f"the distances differ: {exact}"
    return results


def times(name: str, seconds: float, rounds: int) -> tuple[float, float | None]:
    """Seconds in total, and in one round for the algorithms that proceed in rounds."""
    if name == SOFT:
        return seconds / SOFT_ROUNDS * rounds, seconds / SOFT_ROUNDS
    return seconds, seconds / rounds if name == HARDENED else None


def main() -> None:
    """Measure every contender at every size, print the table, and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, nargs="*", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--bellman-ford-to",
        type=int,
        default=10**4,
        help="most edges for scipy's bellman_ford, which takes time in proportion to nodes times edges",
    )
    arguments = parser.parse_args()
    table = Table("edges", "nodes", "rounds", "", "seconds", "ms per round", "/ dijkstra", "peak memory, MB", box=None)
    records: list[dict[str, Any]] = []
    for edges in arguments.edges:
        results = measured_apart(edges, arguments.repeats, arguments.bellman_ford_to)
        for name, (seconds, memory, _, count, nodes, rounds) in results.items():
            total, one_round = times(name, seconds, rounds)
            records.append({"edges": count, "contender": name, "seconds": total, "round": one_round, "memory": memory})
            table.add_row(
                f"{count:,}",
                f"{nodes:,}",
                str(rounds),
                name,
                f"{total:.4f}",
                f"{1e3 * one_round:.3f}" if one_round else "",
                f"{total / results['scipy dijkstra'][0]:.2f}",
                f"{memory:,.0f}",
            )
    console = Console(width=110)
    console.print(table)
    console.print("The seconds of the soft model are those of one round times the rounds of the exact algorithm.")
    print(json.dumps(records))


if __name__ == "__main__":
    main()
