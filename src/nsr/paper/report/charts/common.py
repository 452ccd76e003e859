"""What the charts share. Each chart is a single view, so that it fits its column on any screen."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from nsr.html import HEIGHT
from nsr.paper.summaries import Summary, wilson

OURS, PAPER = "ours", "paper"


def magnitudes(lines: Sequence[Mapping[str, Any]], field: str, domain: list[str], base: int, low: float) -> Any:
    """Accuracy against magnitude, a colour for each value of a field, ours solid and the paper's dashed."""
    return sized(
        alt.Chart(pd.DataFrame(lines))
        .mark_line(point=alt.OverlayMarkDef(size=18))
        .encode(
            alt.X("magnitude:Q", title=f"numbers of about {base}^n", axis=alt.Axis(tickMinStep=1)),
            alt.Y("accuracy:Q", scale=alt.Scale(domain=[low, 1.02], clamp=True), title="accuracy"),
            color=colour(field, domain),
            strokeDash=alt.StrokeDash(
                "from:N",
                scale=alt.Scale(domain=[OURS, PAPER], range=[[1, 0], [4, 4]]),
                legend=None,
            ),
            tooltip=[field, "magnitude", "from", alt.Tooltip("accuracy:Q", format=".4f")],
        )
    )


def accuracies(summary: Summary, field: str, base: int) -> list[dict[str, Any]]:
    """The points of ``magnitudes`` for one cell: ours, and the paper's where it prints them."""
    return [
        {field: getattr(summary.cell, field), "magnitude": int(name.split("^")[1]), "accuracy": value, "from": source}
        for source, metrics in ((OURS, summary.metrics), (PAPER, summary.published))
        for name, value in metrics.items()
        if name.startswith(f"{base}^")
    ]


def heat_map(squares: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y, tooltip: Sequence[str], low: float) -> Any:
    """The field ``accuracy`` of each square as a colour and in digits; accuracies up to ``low`` look alike."""
    base = alt.Chart(pd.DataFrame(squares)).encode(
        x, y, tooltip=[*tooltip, alt.Tooltip("accuracy:Q", format=".4f"), "perfect seeds"]
    )
    colours = alt.Scale(domain=[low, 1], scheme="viridis", clamp=True)
    bright = alt.datum.accuracy > low + 0.64 * (1 - low)  # from there on dark digits are the readable ones
    digits = base.mark_text(fontSize=9).encode(
        text=alt.Text("accuracy:Q", format=".2f"),
        color=alt.condition(bright, alt.value("#111"), alt.value("#eee")),
    )
    return base.mark_rect().encode(color=alt.Color("accuracy:Q", scale=colours)) + digits


def perfect(summary: Summary, name: str) -> str:
    """How many seeds are perfect, and the interval of their share."""
    low, high = wilson(summary.perfect(name), summary.seeds)
    return f"{summary.perfect(name)} of {summary.seeds} (95 %: {low:.2f} to {high:.2f})"


def colour(field: str, domain: list[str], legend: bool = True) -> alt.Color:
    """A colour for each value of a field."""
    options: dict[str, Any] = {} if legend else {"legend": None}
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=domain, scheme="tableau10"), title=None, **options)


def sized(chart: Any) -> Any:
    """As wide as its place on the page."""
    return chart.properties(width="container", height=HEIGHT)
