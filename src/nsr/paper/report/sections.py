"""What the page says of an experiment, computed from its summaries: coverage, differences, cost, table."""

from collections.abc import Mapping, Sequence
from typing import Any

from nsr.paper.experiments import comparisons, piecewise, redundancy
from nsr.paper.experiments.recurrent import ABSOLUTE, LENGTHS, POWERS, square
from nsr.paper.experiments.shortest_paths import AXES, error
from nsr.paper.measure import GATES
from nsr.paper.report.digits import digit_tables
from nsr.paper.spec import Cell, Experiment
from nsr.paper.summaries import Summary, wilson

DIFFERS = 0.05
"""From what difference of means the page says that we differ from the paper."""

WORDS: Mapping[str, str] = {
    "comparisons": (
        "Models learn one comparison on all pairs of integers from -10 to 9 and are asked about pairs of neighbours "
        "around a random number of each magnitude. Means over seeds; the paper's value is below ours. For = and != "
        "the test has 11 equal pairs and 10 unequal ones. The paper stops at 10^13."
    ),
    "floats": (
        "As before, with every number multiplied by delta, so that unequal numbers are at least delta apart, and with "
        "the bits sharpened by lambda. Each square is the mean accuracy over all magnitudes from 10^2 to 10^13. The "
        "paper says: = and != are learned where lambda is at least 1/delta, the other four also three orders of "
        "magnitude below; it prints no numbers, so none stand beside ours."
    ),
    "piecewise": (
        "A gate chooses between two sums, each a NAU with a learned constant: |x1 - x2|, and f, which is x5 + 4 where "
        "x1 > x2 and x4 - x3 elsewhere. x1 and x2 are all pairs of integers from -10 to 9 in training and neighbours "
        "around a random number of each magnitude in the tests; x3 to x5 are drawn from -100 to 100. An answer within "
        "0.1 is right. Under recipe exact a model that can be read is replaced by the program that was read; read "
        "counts the seeds whose program is the function itself. The paper stops at 3^13; beyond 2^53, near 3^33, the "
        "float64 sums of soft models round."
    ),
    "redundancy": (
        "The accuracy of =, != and f with 1 to 15 redundant units, averaged over all magnitudes of the tests before: "
        "10^2 to 10^13 for the comparisons, 3^2 to 3^13 for f. The paper says: = and != gain up to about 9 units, f "
        "hardly moves; it prints no numbers, so none stand beside ours."
    ),
    "recurrent": (
        "A gate in a loop: at each number of a list it decides whether to keep the least one so far, or whether to add "
        "1 to the count of what equals the first. Each seed learns from 500 lists of its own, 5 integers from -10 to 9 "
        "each, and is asked about 50 lists of every length and magnitude, whose numbers are at most 5 from a random "
        "one. An answer within 0.1 percent of the target is right, and within 0.1 where the target is 0. Beyond 3^8 "
        "all numbers of a list are within 0.1 percent of one another, so that any of them passes for the minimum: the "
        "maps within 0.1 ask for that distance everywhere, and the row within 0.1 is the mean over all of their "
        "squares; perfect seeds are right by both. Under recipe exact a model that can be read is replaced by the loop "
        "that was read; read counts the seeds whose loop is right on any list, and the last two rows those whose loop "
        "was right on a list of 100,000 numbers and on lists of numbers of 100 digits. The paper prints maps without "
        "numbers. It says: the MLP finds no minimum from 3^4 on and cannot count; the NSR finds every minimum, and its "
        "counting falls to around 86 percent with the length of the list."
    ),
    "shortest_paths": (
        "The loop for the minimum inside a graph: in each round a node folds its distance and its messages, the "
        "distances of its neighbours plus the weights of the edges, and the gate learns how. Each seed learns single "
        "rounds from the Bellman-Ford tables of 25 graphs of its own, of 10 nodes with weights from 1 to 10, and is "
        "asked to run as many rounds as there are nodes on 10 graphs for each point: more nodes, larger weights, or "
        "both. An error is the mean absolute one over the nodes, in parts of the largest possible weight; exact graphs "
        "have every distance right. Under recipe exact a model that can be read is replaced by the program that was "
        "read, and in a third column the message is learned too, as a sum of the distance and the weight with unknown "
        "factors and an unknown constant. The paper prints a figure and no numbers, so none stand beside ours."
    ),
    "digits": (
        "A small convolutional network reads each of 50 images as a number, class probabilities times [0, 1, ..., "
        "9], and a register, or an MLP, compares every pair of the 50 numbers: only its answer is told. Accuracies "
        "are over all pairs of each 50 test images, beside what the same network reaches on the same pairs when it "
        "is told the digits. A pair may be an image and itself. For = one pair in nine is equal, and whoever always "
        "says unequal is right on 0.886 of MNIST: so equal and unequal pairs also stand apart, and balanced is their "
        "mean. Profile paper learns from the 60,000 images of MNIST, the others from the 1,347 images of 8x8 pixels "
        "that come with scikit-learn. Beyond the paper: the digit is recovered from the number read, through a "
        "monotone map (isotonic regression, rounded) that 100 labelled training images fix after training; the "
        "number lines show histograms of the numbers that the first seed read in the test images of each digit; and "
        "models that were shown only pairs of the digits 0 to 4, or only pairs up to 3 apart, are asked about all "
        "pairs (a network that never saw a 5 cannot recover more than half of the digits). A network may count "
        "downwards, and for = in any order. The paper prints curves and no numbers, so none stand beside ours."
    ),
}

RECURRENT_ROWS: Mapping[str, Sequence[str]] = {
    "train": ["train"],
    **{str(length): [square(length, power) for power in POWERS] for length in LENGTHS},
    f"within {ABSOLUTE}": [square(length, power, absolute=True) for length in LENGTHS for power in POWERS],
}
"""Rows of the tables of Section 4.5, and the metrics whose mean each shows."""
RECURRENT_COUNTS = ("read", "100,000 elements", "100 digits")
"""What is counted below them, besides perfect seeds."""

PATHS_ROWS: Mapping[str, str] = {
    f"3^{power} {axis}": error(axis, power) for axis, powers in AXES.items() for power in powers
}
"""Rows of the tables of Section 4.6, and the error that each shows."""


def paths_of(cell: Any) -> str:
    """A cell of Section 4.6 in a word or two."""
    return str(cell.model.upper()) + (", message learned" if cell.message == "learned" else "")


def section(experiment: Experiment, summaries: Sequence[Summary]) -> dict[str, Any]:
    """All that the template needs, but for the charts."""
    profile = summaries[0].profile if summaries else "paper"
    size = experiment.profiles[profile]
    expected = {(recipe, cell) for recipe in experiment.recipes for cell in experiment.cells_of(recipe, size)}
    there = {(summary.recipe, summary.cell) for summary in summaries if summary.seeds >= size.seeds}
    return {
        "name": experiment.name,
        "title": experiment.title,
        "section": experiment.section,
        "shows": experiment.shows,
        "words": WORDS[experiment.name],
        "profile": profile,
        "seeds": sorted({summary.seeds for summary in summaries}),
        "there": len(expected & there),
        "expected": len(expected),
        "minutes": {
            recipe: sum(s.seconds for s in summaries if s.recipe == recipe) / 60 for recipe in experiment.recipes
        },
        "memory": max((summary.memory for summary in summaries), default=0) / 2**20,
        "differences": differences(summaries),
        "tables": TABLES[experiment.name](experiment, summaries) if experiment.name in TABLES else [],
        "command": f"nsr reproduce {experiment.name} --profile {profile}",
    }


def differences(summaries: Sequence[Summary]) -> list[str]:
    """Where recipe ``paper`` differs from the printed numbers, the largest difference of each cell."""
    said = []
    for summary in summaries:
        if summary.recipe != "paper" or not summary.published:
            continue
        name = max(summary.published, key=lambda name: abs(summary.metrics[name] - summary.published[name]))
        ours, paper = summary.metrics[name], summary.published[name]
        if abs(ours - paper) >= DIFFERS:
            fields = " ".join(str(value) for value in vars(summary.cell).values())
            said.append(f"{fields}: at {name} ours is {ours:.3f}, the paper's {paper:.2f}")
    return said


def table_1(experiment: Experiment, summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """Table 1, a table for each model and recipe, a row for each magnitude; missing cells are marked."""
    columns = ["train", *(f"10^{power}" for power in comparisons.POWERS)]
    return [
        _table(
            f"{model.upper()}, recipe {recipe}",
            columns,
            {cell.comparison: _found(summaries, recipe, cell) for cell in experiment.cells if cell.model == model},  # type: ignore[attr-defined]
        )
        for recipe in experiment.recipes
        for model in GATES
    ]


def table_2(experiment: Experiment, summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """Table 2, a table for each recipe; beyond the paper's 3^13 every fifth magnitude is shown."""
    columns = ["train", *(f"3^{power}" for power in piecewise.SHOWN)]
    return [
        _table(
            f"Recipe {recipe}",
            columns,
            {
                f"{cell.model.upper()} {cell.function}": _found(summaries, recipe, cell)  # type: ignore[attr-defined]
                for cell in experiment.cells
            },
        )
        for recipe in experiment.recipes
    ]


def redundancy_table(experiment: Experiment, summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """The curves as numbers, a table for each recipe, a row for each number of units."""
    tables = []
    for recipe in experiment.recipes:
        shown = [summary for summary in summaries if summary.recipe == recipe]
        body = [
            (str(s.cell.redundancy), [(s.metrics[task], None) for task in redundancy.TASKS])  # type: ignore[attr-defined]
            for s in shown
        ]
        tables.append(
            {"title": f"Recipe {recipe}", "corner": "units", "head": redundancy.TASKS, "body": body, "foot": []}
        )
    return [table for table in tables if table["body"]]


def recurrent_table(experiment: Experiment, summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """The maps as numbers, a table for each recipe, a row for each length."""
    tables = []
    for recipe in experiment.recipes:
        found = {
            f"{cell.model.upper()} {cell.loop}": _found(summaries, recipe, cell)  # type: ignore[attr-defined]
            for cell in experiment.cells
        }
        tables.append(
            {
                "title": f"Recipe {recipe}: mean over all magnitudes",
                "corner": "length",
                "head": list(found),
                "body": [
                    (row, [s and (s.mean(names), None) for s in found.values()])
                    for row, names in RECURRENT_ROWS.items()
                ],
                "foot": _foot(list(found.values()), RECURRENT_COUNTS),
            }
        )
    return tables


def paths_table(experiment: Experiment, summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """The curves as numbers, a table for each recipe."""
    tables = []
    for recipe in experiment.recipes:
        cells = experiment.cells + (experiment.beyond if recipe == "exact" else ())
        found = {paths_of(cell): _found(summaries, recipe, cell) for cell in cells}
        tables.append(
            {
                "title": f"Recipe {recipe}: errors",
                "corner": "about",
                "head": list(found),
                "body": [
                    (row, [s and f"{s.metrics[name]:.3g}" for s in found.values()]) for row, name in PATHS_ROWS.items()
                ]
                + [("exact graphs", [s and (s.metrics["exact"], None) for s in found.values()])],
                "foot": _foot(list(found.values()), ["read"]),
            }
        )
    return tables


def _found(summaries: Sequence[Summary], recipe: str, cell: Cell) -> Summary | None:
    return next((summary for summary in summaries if (summary.recipe, summary.cell) == (recipe, cell)), None)


def _table(title: str, rows: Sequence[str], columns: Mapping[str, Summary | None]) -> dict[str, Any]:
    """Means beside the paper's, and below them how many seeds were perfect and how many were read as the rule."""
    body = [(row, [s and (s.metrics.get(row), s.published.get(row)) for s in columns.values()]) for row in rows]
    return {
        "title": f"{title}: ours, and below it the paper's",
        "corner": "",
        "head": list(columns),
        "body": body,
        "foot": _foot(list(columns.values()), ["read"]),
    }


def _foot(columns: Sequence[Summary | None], names: Sequence[str]) -> list[tuple[str, list[Any]]]:
    """How many seeds were perfect, and at how many each of the names holds, with the interval of that share."""

    def count(summary: Summary, number: int) -> tuple[int, int, tuple[float, float]]:
        return number, summary.seeds, wilson(number, summary.seeds)

    return [
        ("perfect", [s and count(s, s.perfect()) for s in columns]),
        *((name, [s and count(s, s.perfect(name)) for s in columns]) for name in names),
    ]


TABLES = {
    "comparisons": table_1,
    "piecewise": table_2,
    "redundancy": redundancy_table,
    "recurrent": recurrent_table,
    "shortest_paths": paths_table,
    "digits": digit_tables,
}
