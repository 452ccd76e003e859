"""What the page says of an experiment, computed from its summaries: coverage, differences, cost, table."""

from collections.abc import Mapping, Sequence
from typing import Any

from nsr.experiments import comparisons
from nsr.experiments.spec import Experiment
from nsr.report.summaries import Summary, wilson

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
}


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
    tables = []
    columns = ["train", *(f"10^{power}" for power in comparisons.POWERS)]
    found = {(summary.recipe, summary.cell): summary for summary in summaries}
    for recipe in experiment.recipes:
        for model in comparisons.MODELS:
            cells = [cell for cell in experiment.cells if cell.model == model]  # type: ignore[attr-defined]
            row = [found.get((recipe, cell)) for cell in cells]
            body = [[(s.metrics.get(name), s.published.get(name)) if s else None for s in row] for name in columns]
            tables.append(
                {
                    "title": f"{model.upper()}, recipe {recipe}",
                    "head": [cell.comparison for cell in cells],  # type: ignore[attr-defined]
                    "body": list(zip(columns, body, strict=True)),
                    "perfect": [(s.perfect(), s.seeds, wilson(s.perfect(), s.seeds)) if s else None for s in row],
                }
            )
    return tables


TABLES = {"comparisons": table_1}
