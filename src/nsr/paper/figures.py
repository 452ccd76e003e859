"""What the figures of the experiments share. Each chart is a single view, so that it fits its column on any screen.

altair and pandas are extras and slow to import: the functions that draw import them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from nsr.paper.cells import Z_95, Summary, wilson

Figure = tuple[str, str, Any]
"""Name of the file, title, altair chart."""
Point = Mapping[str, Any]
"""One mark of a chart: the value of each field."""
OURS, PAPER = "ours", "paper"


def magnitude_lines(points: Sequence[Point], field: str, domain: Sequence[str], *, base: int, lowest: float) -> Any:
    """Accuracy against magnitude, a colour for each value of a field; ours solid, the paper's dashed."""
    import altair as alt

    return sized(
        chart_of(points)
        .mark_line(point=alt.OverlayMarkDef(size=18))
        .encode(
            alt.X("magnitude:Q", title=f"numbers of about {base}^n", axis=alt.Axis(tickMinStep=1)),
            alt.Y("accuracy:Q", scale=alt.Scale(domain=[lowest, 1.02], clamp=True), title="accuracy"),
            color=colour(field, domain),
            strokeDash=alt.StrokeDash(
                "from:N",
                scale=alt.Scale(domain=[OURS, PAPER], range=[[1, 0], [4, 4]]),
                legend=None,
            ),
            tooltip=[field, "magnitude", "from", alt.Tooltip("accuracy:Q", format=".4f")],
        )
    )


def magnitude_points(summary: Summary[Any], field: str, base: int) -> list[Point]:
    """The points of ``magnitude_lines`` for one cell: ours, and the paper's where it prints them."""
    return [
        {field: getattr(summary.cell, field), "magnitude": int(name.split("^")[1]), "accuracy": value, "from": source}
        for source, metrics in ((OURS, summary.metrics), (PAPER, summary.published))
        for name, value in metrics.items()
        if name.startswith(f"{base}^")
    ]


def lines_with_bands(
    points: Sequence[Point],
    *,
    x: Any,
    y: str,
    band: tuple[str, str],
    colours: Any,
    tooltip: Sequence[Any],
    title: str,
    point_size: int = 18,
    **options: Any,
) -> Any:
    """Lines with markers over shaded bands; the options (scale, axis) are those of both vertical channels."""
    import altair as alt

    base = chart_of(points).encode(x, color=colours)
    lines = base.mark_line(point=alt.OverlayMarkDef(size=point_size)).encode(
        alt.Y(f"{y}:Q", title=title, **options), tooltip=list(tooltip)
    )
    low, high = band
    bands = base.mark_area(opacity=0.15).encode(alt.Y(f"{low}:Q", title=title, **options), y2=f"{high}:Q")
    return sized(lines + bands)


def heat_map(squares: Sequence[Point], *, x: Any, y: Any, tooltip: Sequence[str], lowest: float) -> Any:
    """The field ``accuracy`` of each square as a colour and in digits; accuracies up to ``lowest`` look alike."""
    import altair as alt

    base = chart_of(squares).encode(x, y, tooltip=[*tooltip, alt.Tooltip("accuracy:Q", format=".4f"), "perfect seeds"])
    colours = alt.Scale(domain=[lowest, 1], scheme="viridis", clamp=True)
    bright = alt.datum.accuracy > lowest + 0.64 * (1 - lowest)  # from there on dark digits are the readable ones
    digits = base.mark_text(fontSize=9).encode(
        text=alt.Text("accuracy:Q", format=".2f"),
        color=alt.condition(bright, alt.value("#111"), alt.value("#eee")),
    )
    return sized(base.mark_rect().encode(color=alt.Color("accuracy:Q", scale=colours)) + digits)


def seed_dots(points: Iterable[Point], *, x: Any, y: Any, colours: Any, largest: int, opacity: float) -> Any:
    """One dot for each distinct point, sized by the number of seeds there."""
    import altair as alt
    import pandas as pd

    seeds = pd.DataFrame(points).value_counts().rename("seeds").reset_index()
    return sized(
        alt.Chart(seeds)
        .mark_circle(opacity=opacity)
        .encode(
            x,
            y,
            size=alt.Size("seeds:Q", scale=alt.Scale(range=[20, largest]), legend=alt.Legend(tickCount=3)),
            color=colours,
            tooltip=list(seeds.columns),
        )
    )


def perfect_seeds(summary: Summary[Any], metric: str) -> str:
    """The number of perfect seeds, and the interval of their share."""
    number = summary.perfect(metric)
    low, high = wilson(number, summary.seeds)
    return f"{number} of {summary.seeds} (95 %: {low:.2f} to {high:.2f})"


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """A 95 % interval of a mean over seeds, from their standard error, within [0, 1]."""
    mean = fmean(values)
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return max(0.0, mean - Z_95 * error), min(1.0, mean + Z_95 * error)


def colour(field: str, domain: Sequence[str], *, legend: bool = True) -> Any:
    """A colour for each value of a field."""
    import altair as alt

    options: dict[str, Any] = {} if legend else {"legend": None}
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=list(domain), scheme="tableau10"), title=None, **options)


def sized(chart: Any) -> Any:
    """As wide as its place on the page."""
    from nsr.html import HEIGHT

    return chart.properties(width="container", height=HEIGHT)


def chart_of(points: Sequence[Point]) -> Any:
    """A chart of these points, to be given marks and encodings."""
    import altair as alt
    import pandas as pd

    return alt.Chart(pd.DataFrame(points))
