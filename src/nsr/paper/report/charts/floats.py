"""The maps of Section 4.2 and Appendix D."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from nsr.data import COMPARISONS
from nsr.html import Charts
from nsr.paper.experiments import floats
from nsr.paper.report.charts.common import colour, heat_map, perfect, sized
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary

_WORDS = {">": "greater", "<": "less", ">=": "greater-equal", "<=": "less-equal", "=": "equal", "!=": "unequal"}


def float_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """A map for each comparison, > and = first as in the paper's text, then those of the appendix."""
    for recipe in experiment.recipes:
        given = [s for s in summaries if s.recipe == recipe and s.cell.scale != "auto"]  # type: ignore[attr-defined]
        for comparison in (">", "=", "<", ">=", "<=", "!=") if given else ():
            title = f"{comparison}, recipe {recipe}, {given[0].seeds} seeds"
            name = f"floats-{recipe}-{_WORDS[comparison]}"
            yield name, title, sized(_map(given, [comparison], "scale", floats.SERIES[::-1], "lambda"))
        if given:
            title = f"Recipe {recipe}: seeds by lambda times delta and by their mean accuracy"
            yield f"floats-{recipe}-seeds", title, sized(_spread_over_product(given))
    auto = [s for s in summaries if s.cell.scale == "auto"]  # type: ignore[attr-defined]
    if auto:
        title = f"Beyond the paper: lambda from the data, recipe exact, {auto[0].seeds} seeds"
        yield "floats-auto", title, sized(_map(auto, list(COMPARISONS), "comparison", list(COMPARISONS), None))


def _spread_over_product(summaries: Sequence[Summary]) -> Any:
    """All squares of the maps of > and = on one axis, each value a dot as large as its number of seeds."""
    rows = [
        {
            "comparison": comparison,
            "log10 of lambda x delta": round(math.log10(s.cell.delta * s.cell.scale)),  # type: ignore[attr-defined]
            "mean accuracy": round(value, 2),
        }
        for s in summaries
        for comparison in (">", "=")
        for value in s.values[comparison]
    ]
    counted = pd.DataFrame(rows).value_counts().rename("seeds").reset_index()
    return (
        alt.Chart(counted)
        .mark_circle(opacity=0.7)
        .encode(
            alt.X("log10 of lambda x delta:Q", axis=alt.Axis(tickMinStep=1)),
            alt.Y("mean accuracy:Q", scale=alt.Scale(domain=[0.4, 1.02])),
            size=alt.Size("seeds:Q", scale=alt.Scale(range=[20, 300]), legend=alt.Legend(tickCount=3)),
            color=colour("comparison", [">", "="]),
            tooltip=["comparison", "log10 of lambda x delta", "mean accuracy", "seeds"],
        )
    )


def _map(summaries: Sequence[Summary], names: list[str], row: str, order: Sequence[Any], title: str | None) -> Any:
    cells = [
        {
            "delta": f"{s.cell.delta:g}",  # type: ignore[attr-defined]
            "scale": _text(s.cell.scale),  # type: ignore[attr-defined]
            "comparison": name,
            "accuracy": s.metrics[name],
            "perfect seeds": perfect(s, name),
        }
        for s in summaries
        for name in names
    ]
    x = alt.X("delta:O", sort=[f"{value:g}" for value in floats.LONG_SERIES], axis=alt.Axis(labelAngle=0))
    y = alt.Y(f"{row}:O", sort=[_text(value) for value in order], title=title)
    return heat_map(cells, x, y, ["comparison", "delta", "scale"], low=0.45)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"
