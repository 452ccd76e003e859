"""The figure of Section 4.7, and what the network learned to read."""

from collections.abc import Sequence
from statistics import stdev
from typing import Any

import altair as alt
import pandas as pd

from nsr.html import Charts
from nsr.paper.experiments.digits import BIN, BINS, after, read_as
from nsr.paper.report.charts.common import colour, sized
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary

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
    """For each digit a histogram of the numbers that were read in its images, one above the other."""
    shares = {(digit, start): summary.values[read_as(digit, start)][0] for digit in range(10) for start in BINS}
    highest = max(shares.values())
    rows = [
        {"digit": str(digit), "from": start, "to": start + BIN, "share": share}
        | {"base": digit, "top": digit + 0.95 * share / highest}
        for (digit, start), share in shares.items()
        if share
    ]
    y = alt.Y("base:Q", scale=alt.Scale(domain=[0, 10]), title="digit shown", axis=alt.Axis(values=list(range(10))))
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_rect()
        .encode(
            alt.X("from:Q", scale=alt.Scale(domain=[0, 9], nice=False), title="number read"),
            y,
            x2="to",
            y2="top",
            color=colour("digit", [str(digit) for digit in range(10)], legend=False),
            tooltip=["digit", "from", "to", alt.Tooltip("share:Q", format=".1%")],
        )
    )
