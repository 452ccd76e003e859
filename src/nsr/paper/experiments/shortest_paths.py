"""Section 4.6: a register learns how nodes of small graphs combine their messages, and is tested on larger graphs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from nsr.data import Graph, Rows, node_update_rows, random_graph, union
from nsr.ensemble import Ensemble
from nsr.errors import needs_extra
from nsr.html.charts import Band, Chart, Line, Value, error_axis, power_axis
from nsr.nn import NAU, NodeUpdate, RecurrentMinimum, ShortestPaths
from nsr.paper.cells import SOFT, Summary, by_recipe, metrics
from nsr.paper.claims import Claim, at_most, between, over, ratio
from nsr.paper.figures import DASH, HUES, NETWORK, NETWORK_HUE, Figure, label_of
from nsr.paper.measure import GATES, WITHOUT_LABELS, Read, read_each, tests_program
from nsr.paper.spec import Cell, Experiment, ExperimentRecipe, Metrics, Profile, grid
from nsr.paper.tables import Columns, Table, run_of
from nsr.program import Paths
from nsr.training import EXACT, LATER, PAPER, fit

GRAPHS, NODES, LARGEST = 25, 10, 10
"""In training: number of graphs, nodes of each, and largest weight."""
SITUATIONS = 1_000
"""Number of rows to which those of each seed are padded: about 700 of its 2,500 (a node in a round) are distinct."""
CLOSE = 0.01
"""The largest error that is close to 0: the paper gives words and no numbers."""
TESTED = 10
"""Number of test graphs for each point."""
AXES: Mapping[str, Sequence[int]] = {"nodes": range(2, 6), "weights": range(2, 14), "nodes and weights": range(2, 6)}
"""What grows in the tests, and to which powers of 3: the number of nodes, the largest weight; else as in training."""


Answers = Callable[[Sequence[Graph], Sequence[int]], list[np.ndarray]]
"""Distances in graphs, given also the largest weight of each."""


@dataclass(frozen=True)
class PathsCell(Cell):
    """Which gate combines the messages, and whether the message is given, as in the paper, or learned too."""

    model: str
    message: str = "given"


@dataclass(frozen=True, kw_only=True)
class PathsRecipe(ExperimentRecipe):
    """How a model is trained on graphs."""

    equal_weights: bool = field(default=False, metadata=LATER)
    """Give distinct rows equal weights. Otherwise most of the weight is on nodes that are done already."""


def run_cell(cell: PathsCell, recipe: PathsRecipe, seeds: Sequence[int], _data: Path | None = None) -> list[Metrics]:
    """Train one ensemble, each member on graphs of its own; test every member on graphs of every size.

    An ``error`` is the mean absolute error over nodes, divided by the largest possible weight. ``exact`` is the share
    of the graphs on which every distance is right, by scipy's distances. ``train`` is the share of the training rows
    within the tolerance. Where programs are tested, ``soft`` metrics are those of the members.
    """
    ensemble = Ensemble(lambda generator: NodeUpdate(_paths(cell, generator)), seeds)
    rows = [_training_rows(seed, equal_weights=recipe.equal_weights) for seed in seeds]
    history = fit(ensemble, Rows.each([one.filled(SITUATIONS) for one in rows]), recipe.of_model(cell.model))
    ensemble = ensemble.to(torch.float64)
    found: list[Metrics] = []
    aided, unaided = (read_each(ensemble, rows, labels=labels) for labels in (True, False))
    for seed, one, read, alone, epochs in zip(seeds, rows, aided, unaided, history.stopped, strict=True):
        module: ShortestPaths = ensemble.member(seed).paths  # type: ignore[assignment]
        program = read if isinstance(read, Paths) and recipe.test_program else None
        found.append(
            _measured(module, program, seed, both=tests_program(cell.model, recipe))
            | {"train": _share_of_rows(module, one, recipe.tolerance)}
            | {"read": _is_shortest(read), WITHOUT_LABELS: _is_shortest(alone), "epochs": float(epochs)}
        )
    return found


def _share_of_rows(module: ShortestPaths, rows: Rows, tolerance: float) -> float:
    """The share of the training rows on which a trained model is within the tolerance."""
    with torch.no_grad():
        return float(((NodeUpdate(module)(rows.x.double()) - rows.y).abs() <= tolerance).double().mean())


def _is_shortest(read: Read) -> float:
    return float(isinstance(read, Paths) and read.shortest)


def _paths(cell: PathsCell, generator: torch.Generator) -> ShortestPaths:
    fold = RecurrentMinimum(GATES[cell.model](2, generator))
    return ShortestPaths(fold, NAU(2, bias=True, generator=generator) if cell.message == "learned" else None)


def _training_rows(seed: int, *, equal_weights: bool) -> Rows:
    """Every node in every round (teacher forcing), equal rows as one."""
    generator = np.random.default_rng((seed, 0))
    graphs = [random_graph(generator, nodes=NODES, largest=LARGEST) for _ in range(GRAPHS)]
    rows = node_update_rows(graphs, messages=NODES - 1, largest=LARGEST).distinct()
    return replace(rows, weight=torch.full_like(rows.weight, 1 / len(rows))) if equal_weights else rows


def error(axis: str, power: int) -> str:
    """The metric of one point of a curve."""
    return f"error 3^{power} {axis}"


def _measured(module: ShortestPaths, program: Paths | None, seed: int, *, both: bool) -> dict[str, float]:
    tested: dict[str, Answers] = {"": lambda graphs, _: [program(graph) for graph in graphs]} if program else {}
    if both or not program:
        tested[SOFT if both else ""] = lambda graphs, largest: _soft(module, graphs, largest)
    if both and not program:
        tested[""] = tested[SOFT]
    metrics: dict[str, float] = {}
    right: dict[str, list[bool]] = {prefix: [] for prefix in tested}
    for number, (axis, powers) in enumerate(AXES.items(), start=1):
        for power in powers:
            generator = np.random.default_rng((seed, number, power))
            sizes = _sizes(generator, power) if "nodes" in axis else [NODES] * TESTED
            largest = _sizes(generator, power) if "weights" in axis else [LARGEST] * TESTED
            graphs = [random_graph(generator, nodes=n, largest=w) for n, w in zip(sizes, largest, strict=True)]
            truths = [scipy_distances(graph) for graph in graphs]
            for prefix, answers in tested.items():
                pairs = zip(answers(graphs, largest), truths, strict=True)
                wrong_by = [np.abs(answer - truth) for answer, truth in pairs]
                relative = [errors.mean() / w for errors, w in zip(wrong_by, largest, strict=True)]
                metrics[prefix + error(axis, power)] = float(np.mean(relative))
                right[prefix] += [not errors.any() for errors in wrong_by]
    return metrics | {f"{prefix}exact": float(np.mean(found)) for prefix, found in right.items()}


def scipy_distances(graph: Graph) -> np.ndarray:
    """The truth, from an implementation that shares nothing with ours."""
    with needs_extra("reproduce"):
        from scipy.sparse import csgraph, csr_matrix
    matrix = csr_matrix((graph.weights.astype(np.float64), tuple(graph.edges)), shape=(graph.nodes, graph.nodes))
    return np.asarray(csgraph.dijkstra(matrix, indices=0))


def _sizes(generator: np.random.Generator, power: int) -> list[int]:
    return [int(generator.integers(3**power, 3 ** (power + 1))) for _ in range(TESTED)]


def _soft(module: ShortestPaths, graphs: Sequence[Graph], largest: Sequence[int]) -> list[np.ndarray]:
    """The distances that the model gives for several graphs at once: each runs as many rounds as it has nodes."""
    joined, nodes = union(graphs), np.array([graph.nodes for graph in graphs])
    sources = np.cumsum(nodes) - nodes
    start = np.repeat(nodes * np.array(largest, dtype=float), nodes)
    start[sources] = 0
    given = (torch.as_tensor(part) for part in (joined.edges, joined.weights, start))
    with torch.no_grad():
        answers = module(*given, rounds=torch.as_tensor(np.repeat(nodes, nodes)))
    return np.split(answers.numpy(), sources[1:])


DESCRIPTION = (
    "The loop for the minimum inside a graph: in each round a node reduces its distance and its messages, the "
    "distances of its neighbours plus the weights of the edges, to one number, and the gate learns how. Each seed "
    "learns single rounds from the Bellman-Ford tables of 25 graphs of its own, of 10 nodes with weights from 1 to "
    "10, and is tested by running as many rounds as there are nodes on 10 graphs for each point: more nodes, larger "
    "weights, or both. An error is the mean absolute error over the nodes, divided by the largest possible weight; "
    "exact graphs have every distance right, by the distances of scipy. Under recipe exact, the program read from a "
    "model is tested instead of the model, where it can be read, the columns 'soft' show the models themselves, and "
    "in a column of its own the message is learned too, as a sum of the distance and the weight with unknown factors "
    "and an unknown constant. The paper prints a figure and no numbers to compare ours with."
)
ROWS: Mapping[str, str] = {
    f"3^{power} {'both' if ' and ' in axis else axis}": error(axis, power)
    for axis, powers in AXES.items()
    for power in powers
}
"""Rows of the tables, and the error that each shows."""


def tables(summaries: Sequence[Summary[PathsCell]]) -> list[Table]:
    """The curves as numbers: a row for each point, a column for each model."""
    return [_table(shown) for shown in by_recipe(summaries).values()]


def _table(summaries: Sequence[Summary[PathsCell]]) -> Table:
    cells = EXPERIMENT.cells_of(summaries[0].recipe, EXPERIMENT.profiles[summaries[0].profile])
    columns = Columns.of({_name(cell): cell for cell in cells}, summaries).with_soft()
    errors = [columns.errors(label, metric) for label, metric in ROWS.items()]
    return Table(
        title=f"Shortest path errors: {run_of(summaries)}, mean over nodes / largest weight",
        corner="size about",
        columns=columns.names,
        rows=(*errors, columns.means("exact graphs", ["exact"]), columns.means("train, soft", ["train"])),
        foot=columns.counts("read", WITHOUT_LABELS),
    )


def _name(cell: PathsCell) -> str:
    return cell.model.upper() + (", learned" if cell.message == "learned" else "")


def claims(summaries: Sequence[Summary[PathsCell]]) -> list[Claim]:
    """What the paper says about its figure, then the share of the graphs that are right to the last node."""
    found = []
    given = {model: [summary for summary in summaries if summary.cell == PathsCell(model)] for model in ("nsr", "mlp")}
    for axis, powers_of in AXES.items():
        names = [error(axis, power) for power in powers_of]
        what = f"mean error, more {axis}" if axis != "weights" else "mean error, larger weights"
        found.append(at_most("NSR", what, "close to 0", CLOSE, over(given["nsr"], names)))
    first, last = (error("weights", power) for power in (AXES["weights"][0], AXES["weights"][-1]))
    change = between(over(given["nsr"], [last]), over(given["nsr"], [first]))
    found.append(at_most("NSR", "change of the error from weights 3^2 to 3^13", "falls", 0.0, change))
    every = [error(axis, power) for axis, powers_of in AXES.items() for power in powers_of]
    quotient = ratio(over(given["nsr"], every), over(given["mlp"], every))
    found.append(Claim("NSR", "mean error, everything, in that of the MLP", "", quotient))
    for model, shown in given.items():
        found.append(Claim(model.upper(), "mean error, everything", "", over(shown, every)))
        found.append(Claim(model.upper(), "graphs with every distance right", "", over(shown, ["exact"])))
    return found


def answer(summaries: Sequence[Summary[PathsCell]]) -> Iterator[Figure]:
    """Mean error against what grows: nodes, weights or both; ours, and what the paper calls close to 0."""
    for axis in AXES if summaries else ():
        marks: list[Line | Band] = [_close(axis)]
        for summary in summaries:
            key = summary.cell.model, summary.recipe
            if key in HUES and summary.cell.message == "given":
                marks.append(Line(_curve(summary, axis), HUES[key], label_of(summary)))
                if summary.soft:
                    marks.append(Line(_curve(summary.soft, axis), NETWORK_HUE, NETWORK))
        yield (
            f"shortest-paths-{axis.replace(' ', '-')}",
            f"Larger {axis}" if axis == "weights" else f"More {axis}",
            (_chart(axis, marks)),
        )


def figures(summaries: Sequence[Summary[PathsCell]]) -> Iterator[Figure]:
    """The same for each recipe. The range of the seeds is shaded, and the trained networks stand beside programs."""
    for recipe, shown in by_recipe(summaries).items():
        for axis in AXES:
            title = f"{axis.capitalize()}, {run_of(shown)}: mean error, range of the seeds shaded"
            yield f"shortest-paths-{recipe}-{axis.replace(' ', '-')}", title, _ranges(shown, axis)


def _ranges(summaries: Sequence[Summary[PathsCell]], axis: str) -> Chart:
    marks: list[Line | Band] = []
    for summary in summaries:
        hue = "orange" if summary.cell.model == "mlp" else "blue" if summary.cell.message == "given" else "brown"
        names = [(power, error(axis, power)) for power in AXES[axis]]
        band = [(power, min(summary.values[name]), max(summary.values[name])) for power, name in names]
        marks += [Band(band, hue), Line(_curve(summary, axis), hue, _name(summary.cell))]
        if summary.soft and summary.cell.message == "given":
            marks.append(Line(_curve(summary.soft, axis), NETWORK_HUE, NETWORK))
    return _chart(axis, marks)


def _curve(summary: Summary[PathsCell], axis: str) -> list[tuple[Value, Value]]:
    return [(power, summary.metrics[error(axis, power)]) for power in AXES[axis]]


def _close(axis: str) -> Line:
    ends = AXES[axis][0], AXES[axis][-1]
    return Line([(end, CLOSE) for end in ends], "grey", "close to 0", DASH, 1.5, dots=False)


def _chart(axis: str, marks: Sequence[Line | Band]) -> Chart:
    high = max([1.0, *(point[-1] for mark in marks for point in mark.points)])
    ticks = list(AXES[axis])[:: 2 if len(AXES[axis]) > 6 else 1]
    x = power_axis(axis, 3, ticks, high=AXES[axis][-1])
    return Chart(x, error_axis("mean error / largest weight", 1e-10, high), marks)


def _seconds(cell: PathsCell, recipe: PathsRecipe) -> float:
    """Measuring takes longer than training, and registers longer than an MLP."""
    return 10.0 + 60e-6 * recipe.epochs if cell.model == "nsr" else 4.0 + 50e-6 * recipe.epochs


EXPERIMENT = Experiment(
    name="shortest_paths",
    title="Shortest paths in graphs",
    section="4.6",
    shows="Shortest path errors",
    revision=2,
    seconds=_seconds,
    cells=grid(PathsCell, model=tuple(GATES)),
    beyond=(PathsCell("nsr", "learned"),),
    recipes={
        "paper": PathsRecipe.based_on(PAPER),
        "exact": PathsRecipe.based_on(
            EXACT,
            loss="mae",
            epochs=4_000,
            check_every=500,
            patience=0,
            sparsity=0.3,
            test_program=True,
            equal_weights=True,
        ),
    },
    run=run_cell,
    published={},
    profiles={
        "smoke": Profile(name="smoke", seeds=2, epochs=50),
        "quick": Profile(name="quick", seeds=2, epochs=4_000),
        "paper": Profile(name="paper", seeds=10),
    },
    metrics=metrics(
        accuracy=["exact"],
        error=ROWS.values(),
        flag=["read", WITHOUT_LABELS],
        count=["epochs"],
        share=["train"],
        soft=[*ROWS.values(), "exact"],
    ),
    question="Does a register that learns one round of Bellman-Ford find shortest paths in larger graphs?",
    description=DESCRIPTION,
    claims=claims,
    answer=answer,
    key=(
        "Errors of 0 are at the bottom, all others on a logarithmic scale. The paper says that the NSR comes "
        "close to 0. A hundredth of the largest weight (dashed) is a bound of our own; our MLP is below it as well in "
        "many places, so that it separates little: the table has the errors of the NSR in those of the MLP."
    ),
    tables=tables,
    figures=figures,
)
