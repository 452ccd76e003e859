"""The curves of Section 4.4."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from nsr.html import Charts
from nsr.paper.experiments.redundancy import TASKS
from nsr.paper.report.charts.common import colour, perfect, sized
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary, mean_interval


def redundancy_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """Mean accuracy against the number of units, with the 95 % interval of the mean shaded."""
    for recipe in experiment.recipes:
        shown = [summary for summary in summaries if summary.recipe == recipe]
        if not shown:
            continue
        points = []
        for summary in shown:
            for task in TASKS:
                low, high = mean_interval(summary.values[task])
                points.append(
                    {
                        "task": task,
                        "units": summary.cell.redundancy,  # type: ignore[attr-defined]
                        "accuracy": summary.metrics[task],
                        "low": low,
                        "high": high,
                        "perfect seeds": perfect(summary, task),
                    }
                )
        base = alt.Chart(pd.DataFrame(points)).encode(
            alt.X("units:Q", title="redundant units", axis=alt.Axis(tickMinStep=1)),
            color=colour("task", list(TASKS)),
        )
        scale = alt.Scale(domain=[0.4, 1.02], clamp=True)
        lines = base.mark_line(point=alt.OverlayMarkDef(size=18)).encode(
            alt.Y("accuracy:Q", scale=scale, title="mean accuracy"),
            tooltip=["task", "units", alt.Tooltip("accuracy:Q", format=".4f"), "perfect seeds"],
        )
        bands = base.mark_area(opacity=0.15).encode(alt.Y("low:Q", scale=scale, title="mean accuracy"), y2="high:Q")
        yield (
            f"redundancy-{recipe}",
            f"Recipe {recipe}, {shown[0].seeds} seeds: mean over all magnitudes, 95 % of the mean shaded",
            sized(lines + bands),
        )
