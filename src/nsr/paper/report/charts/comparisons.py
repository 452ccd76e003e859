"""Charts of Table 1."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from nsr.data import COMPARISONS
from nsr.html import Charts
from nsr.paper.measure import GATES
from nsr.paper.report.charts.common import accuracies, colour, magnitudes, sized
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary


def comparison_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """Accuracy against magnitude with the paper's beside ours, and how the seeds are spread."""
    for recipe in experiment.recipes:
        for model in GATES:
            shown = [s for s in summaries if s.recipe == recipe and s.cell.model == model]  # type: ignore[attr-defined]
            if not shown:
                continue
            lines = [point for s in shown for point in accuracies(s, "comparison", 10)]
            chart = magnitudes(lines, "comparison", list(COMPARISONS), 10, 0.4)
            seeds = shown[0].seeds
            title = f"{model.upper()}, recipe {recipe}, {seeds} seeds: ours solid, the paper's dashed"
            yield f"comparisons-{recipe}-{model}", title, chart
            yield (
                f"comparisons-{recipe}-{model}-seeds",
                f"{model.upper()}, recipe {recipe}: seeds by their mean accuracy over all magnitudes",
                sized(_spread(shown)),
            )


def _spread(summaries: Sequence[Summary]) -> Any:
    """Each comparison a row, each value a dot as large as its number of seeds."""
    rows = []
    for summary in summaries:
        names = [name for name in summary.values if name.startswith("10^")]
        for values in zip(*(summary.values[name] for name in names), strict=True):
            mean = round(sum(values) / len(values), 2)
            rows.append({"comparison": summary.cell.comparison, "mean accuracy": mean})  # type: ignore[attr-defined]
    counted = pd.DataFrame(rows).value_counts().rename("seeds").reset_index()
    return (
        alt.Chart(counted)
        .mark_circle(opacity=0.75)
        .encode(
            alt.X("mean accuracy:Q", scale=alt.Scale(domain=[0.4, 1.02])),
            alt.Y("comparison:N", sort=list(COMPARISONS), title=None),
            size=alt.Size("seeds:Q", scale=alt.Scale(range=[20, 400]), legend=alt.Legend(tickCount=3)),
            color=colour("comparison", list(COMPARISONS), legend=False),
            tooltip=["comparison", "mean accuracy", "seeds"],
        )
    )
