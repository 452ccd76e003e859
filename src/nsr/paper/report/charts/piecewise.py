"""Charts of Table 2."""

from collections.abc import Sequence

from nsr.data import FUNCTIONS
from nsr.html import Charts
from nsr.paper.measure import GATES
from nsr.paper.report.charts.common import accuracies, magnitudes
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary


def piecewise_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """Accuracy against magnitude, abs and f in one chart for each gate and recipe."""
    for recipe in experiment.recipes:
        for model in GATES:
            shown = [s for s in summaries if s.recipe == recipe and s.cell.model == model]  # type: ignore[attr-defined]
            if shown:
                lines = [point for s in shown for point in accuracies(s, "function", 3)]
                title = f"{model.upper()} gate, recipe {recipe}, {shown[0].seeds} seeds: ours solid, the paper's dashed"
                yield f"piecewise-{recipe}-{model}", title, magnitudes(lines, "function", list(FUNCTIONS), 3, 0.0)
