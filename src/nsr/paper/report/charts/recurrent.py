"""The maps of Section 4.5."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from nsr.html import Charts
from nsr.paper.experiments.recurrent import ABSOLUTE, LENGTHS, POWERS, square
from nsr.paper.measure import GATES
from nsr.paper.report.charts.common import heat_map, perfect, sized
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary

MAPS = (("minimum", False), ("minimum", True), ("count", False))
"""The loops, and whether every answer has to be within ``ABSOLUTE``."""


def recurrent_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """Three maps for each recipe and gate: the minimum with either tolerance, and the count."""
    there = {(s.recipe, s.cell.model, s.cell.loop): s for s in summaries}  # type: ignore[attr-defined]
    for recipe in experiment.recipes:
        for model in GATES:
            for loop, absolute in MAPS:
                summary = there.get((recipe, model, loop))
                if summary is None:
                    continue
                name, what, how = f"recurrent-{recipe}-{model}-{loop}", f"{model.upper()} {loop}", f"recipe {recipe}"
                if absolute:
                    yield f"{name}-absolute", f"{what} within {ABSOLUTE}, {how}", _map(summary, absolute)
                else:
                    yield name, f"{what}, {how}, {summary.seeds} seeds", _map(summary, absolute)


def _map(summary: Summary, absolute: bool) -> Any:
    """Length to the right, magnitude upwards."""
    squares = [
        {
            "length": length,
            "magnitude": power,
            "accuracy": summary.metrics[name],
            "perfect seeds": perfect(summary, name),
        }
        for length in LENGTHS
        for power in POWERS
        for name in [square(length, power, absolute=absolute)]
    ]
    x = alt.X("length:O", title="length of the list", axis=alt.Axis(labelAngle=0))
    y = alt.Y("magnitude:O", sort="descending", title="numbers of about 3^n")
    return sized(heat_map(squares, x, y, ["length", "magnitude"], low=0.0))
