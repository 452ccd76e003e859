"""The curves of Section 4.6."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from nsr.html import Charts
from nsr.paper.experiments.shortest_paths import AXES, error
from nsr.paper.report.charts.common import colour, sized
from nsr.paper.report.sections import paths_of
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary


def shortest_paths_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """Mean error against what grows: nodes, weights or both. The least and the largest of the seeds are shaded."""
    for recipe in experiment.recipes:
        shown = [summary for summary in summaries if summary.recipe == recipe]
        for axis, powers in AXES.items() if shown else ():
            rows = [
                {
                    "model": paths_of(summary.cell),
                    "power": power,
                    "error": summary.metrics[name],
                    "least": min(summary.values[name]),
                    "largest": max(summary.values[name]),
                }
                for summary in shown
                for power in powers
                for name in [error(axis, power)]
            ]
            base = alt.Chart(pd.DataFrame(rows)).encode(
                alt.X("power:Q", title=f"{axis} of about 3^n", axis=alt.Axis(tickMinStep=1)),
                color=colour("model", [paths_of(summary.cell) for summary in shown]),
            )
            scale = alt.Scale(type="symlog", constant=1e-10, domainMin=0)  # errors are 0, or of any size
            ticks = alt.Axis(
                values=[0, *(10.0**power for power in range(-9, 6, 2))],
                labelExpr="datum.value ? format(datum.value, '.0e') : '0'",
            )
            lines = base.mark_line(point=alt.OverlayMarkDef(size=18)).encode(
                alt.Y("error:Q", scale=scale, axis=ticks, title="mean error / largest weight"),
                tooltip=[
                    "model",
                    "power",
                    *(alt.Tooltip(f"{name}:Q", format=".3g") for name in ("error", "least", "largest")),
                ],
            )
            bands = base.mark_area(opacity=0.15).encode(alt.Y("least:Q", scale=scale, axis=ticks), y2="largest:Q")
            name = f"shortest-paths-{recipe}-{axis.replace(' ', '-')}"
            yield name, f"{axis.capitalize()}, recipe {recipe}, {shown[0].seeds} seeds", sized(lines + bands)
