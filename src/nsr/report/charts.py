"""Charts of the page, as altair describes them: each a single view, so that it fits its column on any screen."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import pandas as pd
import torch

from nsr.experiments import comparisons, floats
from nsr.experiments.spec import Experiment
from nsr.nn.bits import exact_bits, status_bits
from nsr.report.summaries import Summary, wilson
from nsr.tasks import COMPARISONS

OURS, PAPER = "ours", "paper"
HEIGHT = 240
Charts = Iterator[tuple[str, str, Any]]
"""Name of the file, title, chart."""


def status_bit_charts() -> Charts:
    """The paper's explanatory figures: discrete and relaxed bits, and what lambda does to them."""
    d = torch.linspace(-3, 3, 121, dtype=torch.float64)
    whole = torch.arange(-3, 4, dtype=torch.float64)
    relaxed = _long(d, {"sign": status_bits(d)[0], "zero": status_bits(d)[1]})
    discrete = _long(whole, dict(zip(("sign", "zero"), exact_bits(whole), strict=True)))
    lines = alt.Chart(relaxed).mark_line().encode(_difference(), _bit(), color=_colour("bit", ["sign", "zero"]))
    points = (
        alt.Chart(discrete)
        .mark_point(filled=True, size=60)
        .encode(_difference(), _bit(), color=_colour("bit", ["sign", "zero"]), shape=alt.Shape("bit:N", legend=None))
    )
    yield "bits", "Sign and zero bit: of a CPU (points) and relaxed (lines)", _sized(points + lines)

    parts = []
    for scale, name in ((3.0, "3"), (1.0, "1"), (1 / 3, "1/3")):
        sign, zero = status_bits(d, scale)
        parts.append(_long(d, {"sign": sign, "zero": zero}).assign(**{"lambda": name}))
    chart = (
        alt.Chart(pd.concat(parts))
        .mark_line()
        .encode(
            _difference(),
            _bit(),
            color=_colour("bit", ["sign", "zero"]),
            strokeDash=alt.StrokeDash(
                "lambda:N",
                scale=alt.Scale(domain=["1", "3", "1/3"], range=[[1, 0], [8, 4], [2, 3]]),
                legend=alt.Legend(symbolType="stroke"),
            ),
            detail="lambda:N",
        )
    )
    yield "bits-lambda", "The same bits with lambda 3 and 1/3", _sized(chart)


def comparison_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """Accuracy against magnitude with the paper's beside ours, and how the seeds are spread."""
    for recipe in experiment.recipes:
        for model in comparisons.MODELS:
            shown = [s for s in summaries if s.recipe == recipe and s.cell.model == model]  # type: ignore[attr-defined]
            if not shown:
                continue
            lines = [
                {"comparison": s.cell.comparison, "magnitude": int(name[3:]), "accuracy": value, "from": source}  # type: ignore[attr-defined]
                for s in shown
                for source, metrics in ((OURS, s.metrics), (PAPER, s.published))
                for name, value in metrics.items()
                if name.startswith("10^")
            ]
            chart = (
                alt.Chart(pd.DataFrame(lines))
                .mark_line(point=alt.OverlayMarkDef(size=18))
                .encode(
                    alt.X("magnitude:Q", title="numbers of about 10^n", axis=alt.Axis(tickMinStep=1)),
                    alt.Y("accuracy:Q", scale=alt.Scale(domain=[0.4, 1.02], clamp=True), title="accuracy"),
                    color=_colour("comparison", list(COMPARISONS)),
                    strokeDash=alt.StrokeDash(
                        "from:N",
                        scale=alt.Scale(domain=[OURS, PAPER], range=[[1, 0], [4, 4]]),
                        legend=None,
                    ),
                    tooltip=["comparison", "magnitude", "from", alt.Tooltip("accuracy:Q", format=".4f")],
                )
            )
            seeds = shown[0].seeds
            title = f"{model.upper()}, recipe {recipe}, {seeds} seeds: ours solid, the paper's dashed"
            yield f"comparisons-{recipe}-{model}", title, _sized(chart)
            yield (
                f"comparisons-{recipe}-{model}-seeds",
                f"{model.upper()}, recipe {recipe}: seeds by their mean accuracy over all magnitudes",
                _sized(_spread(shown)),
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
            color=_colour("comparison", list(COMPARISONS), legend=False),
            tooltip=["comparison", "mean accuracy", "seeds"],
        )
    )


def float_charts(experiment: Experiment, summaries: Sequence[Summary]) -> Charts:
    """A map for each comparison, > and = first as in the paper's text, then those of the appendix."""
    for recipe in experiment.recipes:
        given = [s for s in summaries if s.recipe == recipe and s.cell.scale != "auto"]  # type: ignore[attr-defined]
        for comparison in (">", "=", "<", ">=", "<=", "!=") if given else ():
            title = f"{comparison}, recipe {recipe}, {given[0].seeds} seeds"
            name = f"floats-{recipe}-{_WORDS[comparison]}"
            yield name, title, _sized(_map(given, [comparison], "scale", floats.SERIES[::-1], "lambda"))
        if given:
            title = f"Recipe {recipe}: seeds by lambda times delta and by their mean accuracy"
            yield f"floats-{recipe}-seeds", title, _sized(_spread_over_product(given))
    auto = [s for s in summaries if s.cell.scale == "auto"]  # type: ignore[attr-defined]
    if auto:
        title = f"Beyond the paper: lambda from the data, recipe exact, {auto[0].seeds} seeds"
        yield "floats-auto", title, _sized(_map(auto, list(COMPARISONS), "comparison", list(COMPARISONS), None))


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
            color=_colour("comparison", [">", "="]),
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
            "perfect seeds": _perfect(s, name),
        }
        for s in summaries
        for name in names
    ]
    base = alt.Chart(pd.DataFrame(cells)).encode(
        alt.X("delta:O", sort=[f"{value:g}" for value in floats.LONG_SERIES], axis=alt.Axis(labelAngle=0)),
        alt.Y(f"{row}:O", sort=[_text(value) for value in order], title=title),
        tooltip=["comparison", "delta", "scale", alt.Tooltip("accuracy:Q", format=".4f"), "perfect seeds"],
    )
    squares = base.mark_rect().encode(
        color=alt.Color("accuracy:Q", scale=alt.Scale(domain=[0.45, 1], scheme="viridis", clamp=True))
    )
    numbers = base.mark_text(fontSize=9).encode(
        text=alt.Text("accuracy:Q", format=".2f"),
        color=alt.condition(alt.datum.accuracy > 0.8, alt.value("#111"), alt.value("#eee")),
    )
    return squares + numbers


CHARTS = {"comparisons": comparison_charts, "floats": float_charts}
_WORDS = {">": "greater", "<": "less", ">=": "greater-equal", "<=": "less-equal", "=": "equal", "!=": "unequal"}


def _perfect(summary: Summary, name: str) -> str:
    low, high = wilson(summary.perfect(name), summary.seeds)
    return f"{summary.perfect(name)} of {summary.seeds} (95 %: {low:.2f} to {high:.2f})"


def _long(d: torch.Tensor, bits: dict[str, torch.Tensor]) -> pd.DataFrame:
    return pd.concat([pd.DataFrame({"d": d.numpy(), "value": v.numpy(), "bit": name}) for name, v in bits.items()])


def _difference() -> alt.X:
    return alt.X("d:Q", title="difference")


def _bit() -> alt.Y:
    return alt.Y("value:Q", title="bit")


def _colour(field: str, domain: list[str], legend: bool = True) -> alt.Color:
    options: dict[str, Any] = {} if legend else {"legend": None}
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=domain, scheme="tableau10"), title=None, **options)


def _sized(chart: Any) -> Any:
    return chart.properties(width="container", height=HEIGHT)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"
