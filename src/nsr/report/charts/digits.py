"""The figure of Section 4.7, and what the network learned to read."""

from collections.abc import Sequence
from statistics import stdev
from typing import Any

import altair as alt
import pandas as pd

from nsr.experiments.digits import QUANTILES, after, quantile
from nsr.experiments.spec import Experiment
from nsr.report.charts.common import Charts, colour, sized
from nsr.report.summaries import Summary

LINES = {("nsr", "pairs"): "NSR", ("mlp", "pairs"): "MLP", ("classifier", "pairs"): "classifier"}
LINES |= {("classifier", "digits"): "classifier, digits"}
"""Whose accuracy on what, in the paper's order of colours, and what the legend says."""
COMPARED = {">": "greater", "=": "equal"}
NUMBER_LINES = (("nsr", ">"), ("mlp", ">"), ("nsr", "="))


def digit_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """Accuracy over the epochs with one standard deviation shaded, then the number lines of the first seed."""
    there = {(s.recipe, s.cell.model, s.cell.comparison): s for s in summaries if s.cell.pairs == "all"}  # type: ignore[attr-defined]
    for recipe in experiment.recipes:
        for comparison, word in COMPARED.items():
            points = [
                point
                for (model, what), name in LINES.items()
                if (recipe, model, comparison) in there
                for point in _over_epochs(there[recipe, model, comparison], what, name)
            ]
            if points:
                title = f"Pairs {comparison}, recipe {recipe}: mean over seeds, one standard deviation shaded"
                yield f"digits-{recipe}-{word}", title, sized(_curves(points))
        for model, comparison in NUMBER_LINES:
            summary = there.get((recipe, model, comparison))
            if summary is not None:
                title = f"The number line of {model.upper()} {comparison}, recipe {recipe}, first seed"
                yield f"digits-{recipe}-{model}-{COMPARED[comparison]}-line", title, sized(_number_line(summary))


def _over_epochs(summary: Summary, what: str, name: str) -> list[dict[str, Any]]:
    points, epoch = [], 1
    while (values := summary.values.get(after(epoch, what))) is not None:
        mean, deviation = summary.metrics[after(epoch, what)], stdev(values) if len(values) > 1 else 0.0
        low, high = max(0.0, mean - deviation), min(1.0, mean + deviation)
        told = {"epoch": epoch, "accuracy": mean, "low": low, "high": high}
        points.append(told | {"model": name, "seeds": summary.seeds})
        epoch += 1
    return points


def _curves(points: Sequence[dict[str, Any]]) -> Any:
    base = alt.Chart(pd.DataFrame(points)).encode(
        alt.X("epoch:Q", axis=alt.Axis(tickMinStep=1)), color=colour("model", list(LINES.values()))
    )
    scale = alt.Scale(zero=False)
    lines = base.mark_line(point=alt.OverlayMarkDef(size=14)).encode(
        alt.Y("accuracy:Q", scale=scale),
        tooltip=["model", "epoch", alt.Tooltip("accuracy:Q", format=".4f"), "seeds"],
    )
    return lines + base.mark_area(opacity=0.15).encode(alt.Y("low:Q", scale=scale, title="accuracy"), y2="high:Q")


def _number_line(summary: Summary) -> Any:
    """For each digit where the numbers read in its images lie: 90 percent thin, half of them thick, the median dark."""
    rows = [
        {"digit": str(digit)} | {f"{percent} %": summary.values[quantile(digit, percent)][0] for percent in QUANTILES}
        for digit in range(10)
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        alt.Y("digit:O", sort="descending", title="digit shown"),
        color=colour("digit", [str(digit) for digit in range(10)], legend=False),
        tooltip=["digit", *(alt.Tooltip(f"{percent} %:Q", format=".2f") for percent in QUANTILES)],
    )

    def at(percent: int) -> alt.X:
        return alt.X(f"{percent} %:Q", scale=alt.Scale(domain=[0, 9]), title="number read")

    thin = base.mark_bar(height=2).encode(at(5), x2="95 %")
    thick = base.mark_bar(height=10, opacity=0.6).encode(at(25), x2="75 %")
    return thin + thick + base.mark_tick(thickness=3, size=16).encode(at(50))
