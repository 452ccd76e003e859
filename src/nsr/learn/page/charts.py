"""Charts of a learned rule: the rows, and where the comparisons of the rule change."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from nsr.html.vega import HEIGHT, Charts
from nsr.learn.page.borders import Points, borders, measured, wide_comparisons
from nsr.learn.result import Learned
from nsr.learn.tables import plural
from nsr.program.text import name as quoted
from nsr.reading.atoms import Atom

SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
BINS = 30
FEW = 40
"""Numbers with at most this many distinct values are counted value by value."""
RESERVED = {
    *("image", "title", "constructor", "__proto__", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toString", "toLocaleString", "valueOf"),
    *("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
}
"""Keys with a meaning in tooltips, and what every object of JavaScript has, which Vega refuses as keys."""
LEGEND_WIDTH = 42
"""How many characters of a legend fit in one line on a phone."""


def learned_charts(learned: Learned) -> Charts:
    """At most two charts: the rows and the borders in the most informative columns, and the rows near a border."""
    points = Points.of(learned)
    program = learned.estimator.program_
    derived = learned.estimator.meaning.derived
    conditions = {name for name, meant in derived.items() if meant.is_boolean}
    found = [] if program is None else borders(program.expression, conditions)
    if program is not None and not found and points.groups and (wide := wide_comparisons(program.expression)):
        points, border = points.with_sides(wide[0])
        found = [border]
    found.sort(key=points.information, reverse=True)
    sampled = f" {len(points.y):,} of the {len(learned.x):,} rows." if len(points.y) < len(learned.x) else ""
    charts = _with_borders(points, found, learned.target) if found else _without_borders(points, learned.target)
    for name, title, chart in charts:
        yield name, title + sampled, chart.properties(width="container", height=HEIGHT + 40)


def _with_borders(points: Points, found: Sequence[Atom], target: str) -> Charts:
    drawn: set[Atom] = set()
    views: list[tuple[str, str]] = []
    for border in found:
        view = None if border in drawn or len(views) == 2 else _view(points, border, found)
        if view is not None:
            views.append(view)
            drawn |= {each for each in found if set(each.columns) <= set(view)}
    for number, view in enumerate(views, 1):
        lines = [border for border in found if set(border.columns) <= set(view)]
        meaning = (
            f"The line is {_label(points, lines[0])}."
            if len(lines) == 1
            else "The lines are where the comparisons change."
        )
        title = f"{target} by {_short(view[1])} and {_short(view[0])}. {meaning}{_ringed(points)}"
        yield f"learned-{number}", title, _scatter(points, view, lines, target)
    if len(views) < 2 and points.groups:
        values, at = measured(found[0], points.x), float(found[0].constant)
        reach = float(np.quantile(np.abs(values - at), 0.5)) or float(np.abs(values - at).max())
        title = f"The half of the rows closest to {_label(points, found[0])} (the line)."
        near = np.abs(values - at) <= reach
        yield "learned-near", title, _counted(points, values, near, _unquoted(points, str(found[0].sum)), at)


def _without_borders(points: Points, target: str) -> Charts:
    """The most informative columns, or, with a rule for a number, its predictions against the target."""
    first, *others = points.ranked
    if points.predicted is not None:
        title = f"{target} against the prediction of the rule; on the line, they are equal.{_ringed(points)}"
        yield (
            "learned-1",
            title,
            _against(points, points.predicted.astype(np.float64), "prediction of the rule", target, diagonal=True),
        )
    elif others:
        title = f"{target} by the two columns that are most informative by themselves."
        yield "learned-1", title, _scatter(points, (others[0], first), [], target)
    if points.groups:
        everywhere = np.ones(len(points.y), dtype=bool)
        title = f"{target} by {_short(first)}, the most informative column."
        yield "learned-2", title, _counted(points, points.x[first].to_numpy(), everywhere, first, None)
    else:
        title = f"{target} by {_short(first)}, the most informative column."
        yield "learned-2", title, _against(points, points.x[first].to_numpy(), first, target)


def _view(points: Points, border: Atom, found: Sequence[Atom]) -> tuple[str, str] | None:
    """The columns on the x and y axes that show a border; one column is paired with the most informative other one."""
    first, *others = [name for name, _ in border.weights]
    if others:
        return others[0], first
    also = [name for each in found if len(each.weights) == 1 for name, _ in each.weights]
    beside = [name for name in (*also, *points.ranked) if name != first and points.x[name].nunique() > 1]
    return (first, beside[0]) if beside else None


def _scatter(points: Points, view: tuple[str, str], lines: Sequence[Atom], target: str) -> Any:
    across, up = (points.x[name].to_numpy() for name in view)
    ends = [
        _domain(values, [float(b.constant) for b in lines if b.columns == (name,)])
        for name, values in zip(view, (across, up), strict=True)
    ]
    x, y = (
        alt.X("x:Q", title=_short(view[0]), scale=alt.Scale(domain=ends[0], nice=False), axis=_axis(points, view[0])),
        alt.Y("y:Q", title=_short(view[1]), scale=alt.Scale(domain=ends[1], nice=False), axis=_axis(points, view[1])),
    )
    layers = _marks(points, across, up, (x, y), (view[0], view[1], target))
    if lines:
        labels = [_label(points, line) for line in lines]
        ends_of_lines = [
            {"x": end[0], "y": end[1], "line": label}
            for line, label in zip(lines, labels, strict=True)
            for end in _ends(line, view, ends)
        ]
        legend = _legend(labels, 500) if len(lines) > 1 else None
        dashes = alt.Scale(domain=labels, range=[[1, 0], [6, 4], [2, 3], [10, 3, 2, 3]][: len(labels)])
        layers.append(
            alt.Chart(pd.DataFrame(ends_of_lines))
            .mark_line(style="border", clip=True, strokeWidth=1.5, aria=False)
            .encode(x, y, strokeDash=alt.StrokeDash("line:N", scale=dashes, title=None, legend=legend))
        )
    return alt.layer(*layers)


def _against(points: Points, across: np.ndarray, name: str, target: str, diagonal: bool = False) -> Any:
    """The target, a number, against other numbers."""
    ends = [_domain(values) for values in (across, points.y)]
    if diagonal:
        ends = [[min(low for low, _ in ends), max(high for _, high in ends)]] * 2
    x, y = (
        alt.X("x:Q", title=_short(name), scale=alt.Scale(domain=ends[0], nice=False), axis=_axis(points, name)),
        alt.Y("y:Q", title=_short(target), scale=alt.Scale(domain=ends[1], nice=False), axis=_axis(points)),
    )
    layers = _marks(points, across, points.y, (x, y), (name, target, None))
    if diagonal:
        line = alt.Chart(pd.DataFrame({"x": ends[0], "y": ends[0]}))
        layers.insert(0, line.mark_line(style="border", strokeWidth=1, aria=False).encode(x, y))
    return alt.layer(*layers)


def _marks(
    points: Points, across: np.ndarray, up: np.ndarray, axes: tuple[Any, Any], names: tuple[str, str, str | None]
) -> list[Any]:
    """The rows as points, larger where several coincide, and rings around those that contradict the rule."""
    data = pd.DataFrame({"x": across, "y": up, "wrong": points.wrong})
    tooltip = [alt.Tooltip("x:Q", title=_key(names[0])), alt.Tooltip("y:Q", title=_key(names[1]))]
    more: dict[str, Any] = {}
    if points.groups:
        data["group"] = [points.groups[at] for at in points.group]
        legend, domain = _legend(points.groups), list(points.groups)
        more["color"] = alt.Color(
            "group:N", scale=alt.Scale(domain=domain, scheme="tableau10"), title=None, legend=legend
        )
        if len(domain) <= len(SHAPES):
            shapes = alt.Scale(domain=domain, range=SHAPES[: len(domain)])
            more["shape"] = alt.Shape("group:N", scale=shapes, title=None, legend=legend)
        tooltip.append(alt.Tooltip("group:N", title=_key(names[2] or "sum")))
    elif names[2] is not None:
        data["group"] = points.y
        colours = alt.Scale(scheme="viridis")
        bar = alt.Legend(orient="bottom", direction="horizontal", gradientLength=200, titleLimit=260, tickCount=4)
        more["color"] = alt.Color("group:Q", scale=colours, title=_short(names[2]), legend=bar)
        tooltip.append(alt.Tooltip("group:Q", title=_key(names[2])))
    fields = list(data.columns)
    data = data.groupby(fields, sort=False).size().rename("rows").reset_index()
    data = data.sort_values("rows", ascending=False, kind="stable")
    if data["rows"].max() > 1:
        most = max(10, int(data["rows"].max()))
        more["size"] = alt.Size("rows:Q", scale=alt.Scale(domain=[1, most], range=[36, 300]), legend=None)
        tooltip.append(alt.Tooltip("rows:Q"))
    chart = alt.Chart(data)
    layers = [chart.mark_point(filled=True, opacity=0.85, size=36, aria=False).encode(*axes, tooltip=tooltip, **more)]
    if points.wrong.any():
        rings = alt.Chart(data[data["wrong"]][["x", "y"]].drop_duplicates())
        layers.append(rings.mark_point(style="wrong", size=150, strokeWidth=1.5, opacity=1, aria=False).encode(*axes))
    return layers


def _counted(points: Points, values: np.ndarray, shown: np.ndarray, title: str, at: float | None) -> Any:
    """Stacked bars of how many rows each group has; no bar extends across ``at``, where a comparison changes."""
    values, group = values[shown], points.group[shown]
    edges, place = _bins(values, at)
    counts = np.zeros((len(edges), len(points.groups)), dtype=np.int64)
    np.add.at(counts, (place, group), 1)
    tops = counts.cumsum(1)
    bars = [
        {"from": edges[b, 0], "to": edges[b, 1], "group": name, "rows": int(counts[b, g])}
        | {"bottom": int(tops[b, g] - counts[b, g]), "top": int(tops[b, g])}
        for b in range(len(edges))
        for g, name in enumerate(points.groups)
        if counts[b, g]
    ]
    ends = _domain(edges.ravel(), [] if at is None else [at])
    x = alt.X(
        "from:Q", title=_short(title), scale=alt.Scale(domain=ends, nice=False, zero=False), axis=_axis(points, title)
    )
    colours = alt.Scale(domain=list(points.groups), scheme="tableau10")
    chart = (
        alt.Chart(pd.DataFrame(bars))
        .mark_rect(aria=False, stroke=None)
        .encode(
            x,
            alt.Y("bottom:Q", title="rows", axis=_axis(points, tickMinStep=1)),
            x2="to:Q",
            y2="top:Q",
            color=alt.Color("group:N", scale=colours, title=None, legend=_legend(points.groups)),
            tooltip=[alt.Tooltip("group:N", title="group"), alt.Tooltip("rows:Q"), "from:Q", "to:Q"],
        )
    )
    if at is None:
        return alt.layer(chart)
    line = alt.Chart(pd.DataFrame({"from": [at, at], "bottom": [0, int(tops[:, -1].max())]}))
    return chart + line.mark_line(style="border", strokeWidth=2, aria=False).encode(x, alt.Y("bottom:Q", title="rows"))


def _bins(values: np.ndarray, at: float | None) -> tuple[np.ndarray, np.ndarray]:
    """(bins, 2): the edges of the bins, one for each distinct value if there are few; and the bin of each value."""
    distinct = np.unique(values)
    if len(distinct) <= FEW:
        width = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
        edges = np.stack([distinct - 0.45 * width, distinct + 0.45 * width], 1)
        return edges, np.searchsorted(distinct, values)
    reach = 0.0 if at is None else float(np.abs(values - at).max())
    low, high = (values.min(), values.max()) if at is None else (at - reach, at + reach)
    cuts = np.linspace(low, high, BINS + 1)  # BINS is even: the middle cut is where the comparison changes
    return np.stack([cuts[:-1], cuts[1:]], 1), np.clip(np.searchsorted(cuts, values, side="right") - 1, 0, BINS - 1)


def _ends(line: Atom, view: tuple[str, str], ends: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Where a border enters and leaves a chart, or points just outside."""
    weights, at = {name: float(weight) for name, weight in line.weights}, float(line.constant)
    if line.columns == (view[0],):
        return [(at, ends[1][0]), (at, ends[1][1])]
    if line.columns == (view[1],):
        return [(ends[0][0], at), (ends[0][1], at)]
    return [(x, (at - weights[view[0]] * x) / weights[view[1]]) for x in ends[0]]


def _domain(values: np.ndarray, more: Sequence[float] = ()) -> list[float]:
    """From the least to the greatest value, with a margin."""
    low, high = min([float(values.min()), *more]), max([float(values.max()), *more])
    beyond = 0.04 * (high - low) or 0.5
    return [low - beyond, high + beyond]


def _axis(points: Points, name: str | None = None, **options: Any) -> alt.Axis:
    """An axis; dates are written as dates."""
    if name is not None and name in points.milliseconds:
        options["labelExpr"] = f"utcFormat(datum.value * {points.milliseconds[name]}, '%Y-%m-%d')"
    return alt.Axis(titleLimit=260, labelOverlap=True, **options)


def _legend(labels: Sequence[str], size: int = 60) -> alt.Legend:
    """At the bottom, in as many columns as fit on a phone."""
    columns = max(1, min(4, LEGEND_WIDTH // (max(map(len, labels)) + 3)))
    return alt.Legend(orient="bottom", columns=columns, labelLimit=280, symbolOpacity=1, symbolSize=size)


def _label(points: Points, border: Atom) -> str:
    """Where a border is, in words of the rule."""
    return _unquoted(points, str(border))


def _unquoted(points: Points, text: str) -> str:
    """Text in which the sides of a comparison are not quoted, as the names of columns are."""
    for side in points.sides:
        text = text.replace(quoted(side), side)
    return text


def _ringed(points: Points) -> str:
    count = int(points.wrong.sum())
    return f" Rings mark {plural(count, 'row')} that contradict{'s' * (count == 1)} the rule." if count else ""


def _short(name: str) -> str:
    """A name in one line."""
    line = " ".join(name.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def _key(name: str) -> str:
    """A name as the key of a tooltip. Vega puts it into an expression, in which some names are special."""
    line = _short(name).replace("\\", "\\\\")
    return f"{line} " if line in RESERVED else line
