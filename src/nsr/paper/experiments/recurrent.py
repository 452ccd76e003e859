"""Section 4.5: a register in a loop learns the minimum of a list, and to count, on lists of 5 numbers from -10 to 9."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nsr.data import LOOPS, Rows, lists_around, random_lists
from nsr.ensemble import Ensemble
from nsr.html.charts import Chart, Dot, Line, name_axis, number_axis, power_text
from nsr.nn import MLP, NSR, Recurrent, RecurrentCount, RecurrentMinimum
from nsr.paper.cells import SOFT, Summary, by_recipe, grouped, metrics
from nsr.paper.claims import MARGIN, Claim, Ours, at_least, at_most, over, successes
from nsr.paper.figures import (
    HUES,
    NETWORK,
    NETWORK_HUE,
    PROGRAM,
    Figure,
    accuracy_axis,
    heat_map,
    magnitude_axis,
    perfect_seeds,
)
from nsr.paper.measure import GATES, WITHOUT_LABELS, Read, answers_of_each, read_each, tests_program
from nsr.paper.spec import PROFILES, Cell, Experiment, ExperimentRecipe, Metrics, Profile, grid
from nsr.paper.tables import Columns, Table, run_of
from nsr.program import Compare, Constant, Fold, Variable, Where
from nsr.program.folds import FIRST, ITEM, MINIMA
from nsr.training import EXACT, PAPER, fit

MODULES: Mapping[str, Callable[[NSR | MLP], Recurrent]] = {"minimum": RecurrentMinimum, "count": RecurrentCount}
LENGTHS = range(5, 55, 5)
FAILED = 0.3
"""The most accuracy of what fails: the paper gives words and no numbers."""
POWERS = range(1, 14)
"""Powers of 3."""
TOLERANCE = 0.001
"""Largest distance of a right answer from its target, relative to the target: the paper's 0.1 percent."""
ABSOLUTE = 0.1
"""The same for a target of 0, and in the second maps for every target: numbers 10 apart near 10^6 are all within 0.1
percent of one another, so there any number of a list passes for the minimum in the first maps."""
TRAIN_WITHIN = f"train within {ABSOLUTE}"
"""Metric: the share of the training lists within the absolute tolerance."""


@dataclass(frozen=True)
class RecurrentCell(Cell):
    """Which gate learns which loop."""

    model: str
    loop: str


def run_cell(
    cell: RecurrentCell, recipe: ExperimentRecipe, seeds: Sequence[int], _data: Path | None = None
) -> list[Metrics]:
    """Train one ensemble, each member on lists of its own; test every member at every length and magnitude.

    ``read`` is whether the loop that was read gives the right answer on any list; ``100,000 elements`` and
    ``100 digits`` are whether it did on lists of that kind, ``read without labels`` is whether it is right when read
    from the member's own answers alone. Where loops are tested, ``soft`` metrics are those of the members.
    """
    ensemble = Ensemble(lambda g: MODULES[cell.loop](GATES[cell.model](2, g)), seeds)
    rows = [random_lists(cell.loop, np.random.default_rng((seed, 0))) for seed in seeds]
    history = fit(ensemble, Rows.each(rows), recipe.of_model(cell.model))
    ensemble = ensemble.to(torch.float64)
    programs = read_each(ensemble, rows)
    soft: list[Read] = [None] * len(seeds)

    def measured(tests: list[Rows], loops: Sequence[Read]) -> tuple[Tensor, Tensor]:
        y = torch.stack([test.y for test in tests])
        wrong_by = (answers_of_each(ensemble, tests, loops) - y).abs()
        near = wrong_by <= torch.where(y == 0, ABSOLUTE, TOLERANCE * y.abs())
        return near.double().mean(-1), (wrong_by <= ABSOLUTE).double().mean(-1)

    columns: dict[str, Tensor] = {}
    tested = {"": programs if recipe.test_program else soft}
    for prefix, loops in (tested | ({SOFT: soft} if tests_program(cell.model, recipe) else {})).items():
        columns[f"{prefix}train"], columns[f"{prefix}{TRAIN_WITHIN}"] = measured(rows, loops)
        for length, power in itertools.product(LENGTHS, POWERS):
            generators = [np.random.default_rng((seed, length, power)) for seed in seeds]
            tests = [lists_around(cell.loop, generator, length=length, power=power) for generator in generators]
            relative, absolute = measured(tests, loops)
            columns[prefix + square(length, power)] = relative
            columns[prefix + square(length, power, absolute=True)] = absolute
    columns["read"] = torch.tensor([program in READ[cell.loop] for program in programs])
    unaided = read_each(ensemble, rows, labels=False)
    columns[WITHOUT_LABELS] = torch.tensor([program in READ[cell.loop] for program in unaided])
    columns["100,000 elements"] = torch.tensor([_right_when_long(program, cell.loop) for program in programs])
    columns["100 digits"] = torch.tensor([_right_when_large(program, cell.loop) for program in programs])
    columns["epochs"] = history.stopped
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(seeds))]


def square(length: int, power: int, *, absolute: bool = False) -> str:
    """The metric of one square of a map, with the relative tolerance or the absolute one."""
    return f"{length} x 3^{power}" + (f" within {ABSOLUTE}" if absolute else "")


COUNT = Variable("count")
READ: Mapping[str, Sequence[Fold]] = {
    "minimum": MINIMA,
    "count": (Fold("count", Constant(0), Where(Compare("=", FIRST, ITEM), COUNT + 1, COUNT)),),
}
"""The loops that are right."""


@cache
def _right_when_long(loop: Read, task: str) -> bool:
    """Whether a loop is right on a list of 100,000 numbers from -10 to 9, with the least one at the very end."""
    items = [*np.random.default_rng(100_000).integers(-10, 10, 99_999).tolist(), -11]
    return loop is not None and loop(items) == _truth(task, items)


@cache
def _right_when_large(loop: Read, task: str) -> bool:
    """Whether a loop is right on lists of integers of 100 digits within 5 of one another."""
    generator = np.random.default_rng(100)
    for _ in range(20):
        n = int("".join(map(str, generator.integers(1, 10, 100))))
        items = [n + int(step) for step in generator.integers(-5, 6, 50)]
        if loop is None or loop(items) != _truth(task, items):
            return False
    return True


def _truth(task: str, items: list[int]) -> int:
    return min(items) if task == "minimum" else items[1:].count(items[0])


DESCRIPTION = (
    "A gate in a loop decides, at each number of a list, whether to keep the least number so far, or whether to add 1 "
    "to the count of numbers that equal the first. Each seed learns from 500 lists of its own, each of 5 integers "
    "from -10 to 9, and is tested on 50 lists of every length and magnitude, whose numbers are at most 5 from a "
    "random one. An answer within 0.1 percent of the target is right, and within 0.1 where the target is 0. Beyond "
    "3^8 all numbers of a list are within 0.1 percent of one another, so that any of them passes for the minimum: the "
    "maps 'within 0.1' ask for that distance everywhere, and the row 'within 0.1' is the mean over all of their "
    "squares; perfect seeds are right by both. Under recipe exact, the loop read from a model is tested instead of "
    "the model, where it can be read, and the columns 'soft' show the models themselves; the row 'read' counts the "
    "seeds whose loop is right on any list, the row 'no labels' those whose loop is when nothing but the model's own "
    "answers decides, and the two rows '10^5 long' and '100 digits' those whose loop was right on a list of 100,000 "
    "numbers and on lists of numbers of 100 digits. The paper prints maps without numbers. It says that the MLP finds "
    "no minimum from 3^4 on and cannot count, and that the NSR finds every minimum, while its counting falls to "
    "around 86 percent with the length of the list."
)
ROWS: Mapping[str, Sequence[str]] = {
    "train": ["train"],
    f"train {ABSOLUTE}": [TRAIN_WITHIN],
    **{str(length): [square(length, power) for power in POWERS] for length in LENGTHS},
    f"within {ABSOLUTE}": [square(length, power, absolute=True) for length in LENGTHS for power in POWERS],
}
"""Rows of the tables, and the metrics whose mean each shows."""
MEASURED = [name for names in ROWS.values() for name in names]
FLAGS = ("read", WITHOUT_LABELS, "100,000 elements", "100 digits")
MAPS = (("minimum", False), ("minimum", True), ("count", False))
"""The loops, and whether every answer has to be within ``ABSOLUTE``."""


def tables(summaries: Sequence[Summary[RecurrentCell]]) -> list[Table]:
    """The maps as numbers: a row for each length, a column for each gate and loop."""
    return [_table(shown) for shown in by_recipe(summaries).values()]


def _table(summaries: Sequence[Summary[RecurrentCell]]) -> Table:
    cells = {f"{cell.model.upper()} {cell.loop}": cell for cell in EXPERIMENT.cells}
    columns = Columns.of(cells, summaries).with_soft()
    return Table(
        title=f"Recurrent maps: {run_of(summaries)}, mean over all magnitudes",
        corner="length",
        columns=columns.names,
        rows=tuple(columns.means(label, names) for label, names in ROWS.items()),
        foot=columns.counts(*FLAGS),
    )


def claims(summaries: Sequence[Summary[RecurrentCell]]) -> list[Claim]:
    """What the paper says about its maps, with its tolerance; then the share of perfect seeds."""

    def means(model: str, loop: str, squares: Sequence[str]) -> dict[str, Ours]:
        return over([summary for summary in summaries if summary.cell == RecurrentCell(model, loop)], squares)

    every = [square(length, power) for length in LENGTHS for power in POWERS]
    large = [square(length, power) for length in LENGTHS for power in POWERS if power >= 4]
    long = [square(LENGTHS[-1], power) for power in POWERS]
    count = f"count, lists of {LENGTHS[-1]}"
    found = [
        at_least("NSR", "minimum, all lengths and sizes", "perfect", 1 - MARGIN, means("nsr", "minimum", every)),
        Claim("NSR", count, "around 0.86", means("nsr", "count", long), (0.84, 0.88), True, 0.86),
        at_most("MLP", "minimum, sizes from 3^4 on", "fails", FAILED, means("mlp", "minimum", large)),
        at_most("MLP", count, "fails altogether", FAILED, means("mlp", "count", long)),
    ]
    for loop in LOOPS:
        shown = [summary for summary in summaries if summary.cell == RecurrentCell("nsr", loop)]
        found.append(Claim("NSR", f"{loop}: seeds right on every test", "", successes(shown, MEASURED)))
    return found


def answer(summaries: Sequence[Summary[RecurrentCell]]) -> Iterator[Figure]:
    """Accuracy against length and against magnitude, both loops and gates, with the paper's one number."""
    paper = [Dot(LENGTHS[-1], 0.86, 5, "ink", "the paper: around 0.86")]
    label = Line([(LENGTHS[-1], 0.86)], "ink", "paper's count", "", 0, dots=False)
    for recipe, shown in by_recipe(summaries).items():
        run = run_of(shown)
        x = number_axis("length of the list", (10, 20, 30, 40, 50), low=5)
        marks = _lines(shown, {n: [square(n, power) for power in POWERS] for n in LENGTHS})
        chart = Chart(x, accuracy_axis(), [*marks, *paper, label])
        yield f"recurrent-{recipe}-length", f"Length, {run}: mean over all sizes", chart
        x = magnitude_axis(3, (1, 4, 7, 10, 13), 1, 13)
        by_size = {power: [square(n, power, absolute=True) for n in LENGTHS] for power in POWERS}
        chart = Chart(x, accuracy_axis(), _lines(shown, by_size))
        yield f"recurrent-{recipe}-size", f"Size, {run}: answers within {ABSOLUTE}, mean over all lengths", chart


def _lines(summaries: Sequence[Summary[RecurrentCell]], places: Mapping[int, Sequence[str]]) -> list[Line]:
    """A line for each loop and gate; for the programs that were read, and for the networks that they were read from."""
    found: list[Line] = []
    for summary in summaries:
        model = summary.cell.model
        name, hue = (PROGRAM, HUES[model, "exact"]) if summary.soft else (model.upper(), HUES[model, "paper"])
        drawn = {name: (summary, hue)}
        if summary.soft:
            drawn[NETWORK] = summary.soft, NETWORK_HUE
        short, dash = ("min", "") if summary.cell.loop == "minimum" else ("count", "2 3")
        for label, (shown, colour) in drawn.items():
            points = [(place, shown.mean(squares)) for place, squares in places.items()]
            found.append(Line(points, colour, f"{label} {short}", dash))
    return found


def figures(summaries: Sequence[Summary[RecurrentCell]]) -> Iterator[Figure]:
    """Three maps for each recipe and gate: the minimum with either tolerance, and the count."""
    for (recipe, model), shown in grouped(summaries, lambda summary: (summary.recipe, summary.cell.model)).items():
        present = {summary.cell.loop: summary for summary in shown}
        for loop, absolute in MAPS:
            if loop in present:
                name, title = f"recurrent-{recipe}-{model}-{loop}", f"{model.upper()} {loop}"
                if absolute:
                    name, title = f"{name}-absolute", f"{title} within {ABSOLUTE}"
                yield name, f"{title}, {run_of(shown)}", _map(present[loop], absolute)


def _map(summary: Summary[RecurrentCell], absolute: bool) -> Chart:
    """Length to the right, magnitude upwards."""
    squares = [
        (column, row, summary.metrics[name], perfect_seeds(summary, name))
        for column, length in enumerate(LENGTHS)
        for row, power in enumerate(POWERS)
        for name in [square(length, power, absolute=absolute)]
    ]
    x = name_axis("length of the list", [str(length) for length in LENGTHS])
    y = name_axis("size of the numbers", [power_text(3, power) for power in POWERS])
    return heat_map(squares, x=x, y=y, lowest=0.0)


EXPERIMENT = Experiment(
    name="recurrent",
    title="Recurrent minimum and count",
    section="4.5",
    shows="Recurrent maps",
    revision=2,
    seconds=lambda cell, recipe: 0.2 + 30e-6 * recipe.of_model(cell.model).epochs,
    cells=grid(RecurrentCell, model=tuple(GATES), loop=tuple(LOOPS)),
    recipes={
        "paper": ExperimentRecipe.based_on(PAPER),
        "exact": ExperimentRecipe.based_on(
            EXACT, loss="mse", check_every=500, patience=0, test_program=True, baseline_factor=10
        ),
    },
    run=run_cell,
    published={},
    profiles=PROFILES | {"quick": Profile(name="quick", seeds=5, epochs=4_000)},
    metrics=metrics(accuracy=MEASURED, flag=FLAGS, count=["epochs"], soft=MEASURED),
    question="Does a register in a loop find the minimum of a list, and count, on longer lists of larger numbers?",
    description=DESCRIPTION,
    claims=claims,
    answer=answer,
    key=(
        "Left in each pair: answers within 0.1 percent, as in the paper. Right: within 0.1, because beyond 3^8 "
        "any number of a list is within 0.1 percent of its minimum. Dotted: counting. Under recipe exact, program is "
        "what was read from a network, soft NSR that network."
    ),
    tables=tables,
    figures=figures,
)
