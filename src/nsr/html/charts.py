"""Charts as values, drawn as SVG without a script.

On a page a chart is as wide as its place while its texts keep their size, and its colours follow the reader's light or
dark scheme. As a file it has a width, and the colours of the light scheme.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

Value = float | int
"""A number on an axis."""
LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#1c2126",
        "soft": "#5b6670",
        "line": "#d5dade",
        "blue": "#0067a5",
        "orange": "#b34700",
        "green": "#00734d",
        "purple": "#8c3a76",
        "brown": "#7a5a00",
        "grey": "#5b6670",
    }
)
"""Colours that colour-blind readers can tell apart, at least 4.5 to 1 against white; the page has a dark version."""
VIRIDIS = (
    *((68, 1, 84), (71, 45, 123), (59, 82, 139), (44, 114, 142), (33, 144, 141)),
    *((39, 173, 129), (92, 200, 99), (170, 220, 50), (253, 231, 37)),
)
"""Evenly spaced colours from dark to bright, readable for colour-blind readers."""
HEIGHT = 220
"""Height of the area inside the axes."""
FONT, LETTER, LINE = 12, 7.0, 14
"""Size of texts, their mean width for each character, and their distance, in pixels."""
TOP, BOTTOM = 10, 40
"""Space above the area, and below it for the labels and the title of the axis."""


def _same(value: Value) -> Value:
    return value


@dataclass(frozen=True)
class Axis:
    """An axis: its range, and the labels of its ticks."""

    title: str
    low: Value
    high: Value
    ticks: Sequence[tuple[Value, str]]
    transform: Callable[[Value], Value] = _same

    def at(self, value: Value) -> float:
        """The place of a value as a fraction of the axis; values beyond its ends are at the ends."""
        low, high = self.transform(self.low), self.transform(self.high)
        return min(1.0, max(0.0, (self.transform(value) - low) / (high - low)))


def number_axis(title: str, ticks: Sequence[Value], *, low: Value | None = None, high: Value | None = None) -> Axis:
    """An axis from its first tick to its last one, or beyond them."""
    labels = [(value, f"{value:g}") for value in ticks]
    return Axis(title, ticks[0] if low is None else low, ticks[-1] if high is None else high, labels)


def power_axis(
    title: str, base: int, ticks: Sequence[int], *, low: Value | None = None, high: Value | None = None
) -> Axis:
    """The same for exponents, labelled as powers of a base."""
    axis = number_axis(title, ticks, low=low, high=high)
    return Axis(title, axis.low, axis.high, [(value, power_text(base, value)) for value in ticks])


def name_axis(title: str, texts: Sequence[str], *, every: int = 1) -> Axis:
    """An axis of texts, evenly spaced, at 0, 1, 2 and so on; every nth is labelled, the middle one among them."""
    shown = [(i, text) for i, text in enumerate(texts) if (i - len(texts) // 2) % every == 0]
    return Axis(title, -0.5, len(texts) - 0.5, shown)


def error_axis(title: str, least: Value, largest: Value) -> Axis:
    """An axis for errors that are 0 or of any size: logarithmic above ``least``, which is next to 0."""
    exponents = range(round(math.log10(least)), math.ceil(math.log10(largest)) + 1)
    labels = [(0.0, "0"), *((10.0**n, power_text(10, n)) for n in exponents if n % 3 == 0 and n > exponents[0])]
    return Axis(title, 0.0, 10.0 ** exponents[-1], labels, lambda value: math.asinh(value / (2 * least)))


def power_text(base: int, exponent: Value) -> str:
    """A power with its exponent raised."""
    return f"{base}{str(round(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


@dataclass(frozen=True)
class Line:
    """Points joined by a line; its label is at the right of the area, as high as its last point."""

    points: Sequence[tuple[Value, Value]]
    colour: str = "blue"
    label: str = ""
    dash: str = ""
    """Lengths of its dashes and gaps; empty: none."""
    width: Value = 2
    dots: bool = True


@dataclass(frozen=True)
class Band:
    """The area between two curves: positions, lower and upper ends."""

    points: Sequence[tuple[Value, Value, Value]]
    colour: str = "blue"


@dataclass(frozen=True)
class Dot:
    """A filled circle; its text is shown when the pointer rests on it."""

    x: Value
    y: Value
    radius: Value
    colour: str = "blue"
    text: str = ""


@dataclass(frozen=True)
class Square:
    """A rectangle: from and to, on both axes; with a text in it, and one that is shown when the pointer rests on it."""

    x: tuple[Value, Value]
    y: tuple[Value, Value]
    fill: str
    """A colour of the page by name, or an RGB colour."""
    inside: str = ""
    text: str = ""


Mark = Line | Band | Dot | Square


@dataclass(frozen=True)
class Chart:
    """Axes and marks."""

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    height: int = HEIGHT
    grid: bool = True

    @property
    def left(self) -> float:
        """Space for the labels of the vertical axis, and for its title, which is turned."""
        return 16 + LETTER * max(len(text) for _, text in self.y.ticks) + (18 if self.y.title else 0)

    @property
    def right(self) -> float:
        """Space for the labels of the lines."""
        return max([14.0, *(12 + LETTER * len(line.label) for line in self._lines if line.label)])

    @property
    def _lines(self) -> list[Line]:
        return [mark for mark in self.marks if isinstance(mark, Line)]

    def on_page(self, title: str) -> str:
        """SVG that is as wide as its place on a page."""
        return (
            f'<div class="plot" style="padding:{TOP}px {self.right:.0f}px {BOTTOM}px {self.left:.0f}px">'
            f'<svg role="img" aria-label="{escape(title)}" width="100%" height="{self.height}">'
            f"{''.join(_Drawing(self, None).parts())}</svg></div>"
        )

    def as_file(self, title: str, width: int) -> str:
        """SVG of its own, with its title above it."""
        drawing = _Drawing(self, width - self.left - self.right)
        height = self.height + TOP + BOTTOM + 2 * LINE
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-size="{FONT}" '
            f'font-family="DejaVu Sans, Verdana, Arial, sans-serif"><rect width="100%" height="100%" fill="#fff"/>'
            f'<text x="{self.left:.0f}" y="{LINE + 4}" font-weight="bold">{escape(title)}</text>'
            f'<g transform="translate({self.left:.0f} {TOP + 2 * LINE})">{"".join(drawing.parts())}</g></svg>\n'
        )


class _Drawing:
    """A chart in percentages of an unknown width, or in pixels of a known one."""

    def __init__(self, chart: Chart, width: Value | None) -> None:
        self.chart, self.width = chart, width
        self.unit = 1000.0 if width is None else width

    def across(self, value: Value) -> str:
        fraction = self.chart.x.at(value)
        return f"{100 * fraction:.4g}%" if self.width is None else f"{fraction * self.width:.1f}"

    def down(self, value: Value) -> float:
        return self.chart.height * (1 - self.chart.y.at(value))

    def colour(self, name: str) -> str:
        return name if name.startswith("#") else f"var(--{name})" if self.width is None else LIGHT[name]

    def parts(self) -> Iterator[str]:
        marks = self.chart.marks
        yield from self._axes()
        yield '<g text-anchor="middle" font-size="11" shape-rendering="crispEdges">'
        for mark in marks:
            if isinstance(mark, Square):
                yield from self._square(mark)
        yield "</g>"
        curves = [self._curve(mark) for mark in marks if isinstance(mark, Line | Band)]
        if curves and self.width is None:
            yield f'<svg viewBox="0 0 1000 {self.chart.height}" preserveAspectRatio="none" width="100%" height="100%">'
            yield from curves
            yield "</svg>"
        else:
            yield from curves
        for mark in marks:
            if isinstance(mark, Dot):
                yield from self._dot(mark)
            elif isinstance(mark, Line) and mark.dots:
                for x, y in mark.points:
                    yield from self._dot(Dot(x, y, 1 + mark.width / 2, mark.colour, f"{y:.4g}"))
        yield from self._labels()

    def _axes(self) -> Iterator[str]:
        chart, ink, line = self.chart, self.colour("soft"), self.colour("line")
        yield f'<g stroke="{line}">'
        for value, _ in chart.y.ticks if chart.grid else ():
            yield f'<line x2="{self._all}" y1="{self.down(value):.1f}" y2="{self.down(value):.1f}"/>'
        yield f'<line x2="{self._all}" y1="{chart.height}" y2="{chart.height}"/></g>'
        yield f'<g fill="{ink}" font-size="{FONT}">'
        for value, text in chart.y.ticks:
            yield f'<text x="-7" y="{self.down(value) + 4:.1f}" text-anchor="end">{escape(text)}</text>'
        for value, text in chart.x.ticks:
            yield self._text(self.across(value), chart.height + 16, text, "middle")
        if chart.x.title:
            yield self._text("50%" if self.width is None else f"{self.width / 2:.0f}", chart.height + 33, chart.x.title)
        if chart.y.title:
            at = f"{-chart.left + 12:.0f}", f"{chart.height / 2:.0f}"
            yield (
                f'<text transform="translate({at[0]} {at[1]}) rotate(-90)" text-anchor="middle">'
                f"{escape(chart.y.title)}</text>"
            )
        yield "</g>"

    @property
    def _all(self) -> str:
        return "100%" if self.width is None else f"{self.width:.1f}"

    @staticmethod
    def _text(x: str, y: Value, text: str, anchor: str = "middle") -> str:
        return f'<text x="{x}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'

    def _curve(self, mark: Line | Band) -> str:
        def joined(points: Sequence[tuple[Value, Value]]) -> str:
            return " ".join(f"{self.unit * self.chart.x.at(x):.1f},{self.down(y):.1f}" for x, y in points)

        colour = self.colour(mark.colour)
        if isinstance(mark, Band):
            around = [(x, low) for x, low, _ in mark.points] + [(x, high) for x, _, high in reversed(mark.points)]
            return f'<polygon points="{joined(around)}" fill="{colour}" fill-opacity="0.16"/>'
        dash = f' stroke-dasharray="{mark.dash}"' if mark.dash else ""
        return (
            f'<polyline points="{joined(mark.points)}" fill="none" stroke="{colour}" stroke-width="{mark.width:g}"'
            f'{dash} stroke-linejoin="round" vector-effect="non-scaling-stroke"/>'
        )

    def _dot(self, dot: Dot) -> Iterator[str]:
        yield (
            f'<circle cx="{self.across(dot.x)}" cy="{self.down(dot.y):.1f}" r="{dot.radius:.3g}" '
            f'fill="{self.colour(dot.colour)}"{_titled("circle", dot.text)}'
        )

    def _square(self, square: Square) -> Iterator[str]:
        (left, right), (low, high) = square.x, square.y
        start, end = self.chart.x.at(left), self.chart.x.at(right)
        width = f"{100 * (end - start):.4g}%" if self.width is None else f"{(end - start) * self.width:.1f}"
        top, bottom = self.down(high), self.down(low)
        yield (
            f'<rect x="{self.across(left)}" y="{top:.4g}" width="{width}" height="{bottom - top:.4g}" '
            f'fill="{self.colour(square.fill)}"{_titled("rect", square.text)}'
        )
        if square.inside:
            yield (
                f'<text x="{self.across((left + right) / 2)}" y="{(top + bottom) / 2 + 4:g}" '
                f'fill="{readable_on(square.fill)}" class="in">{escape(square.inside)}</text>'
            )

    def _labels(self) -> Iterator[str]:
        """The labels of the lines, at the right of the area, moved apart where they would overlap."""
        lines = sorted(
            ((self.down(line.points[-1][1]), line) for line in self.chart._lines if line.label and line.points),
            key=lambda each: each[0],
        )
        for place, (_, line) in zip(apart([y for y, _ in lines], self.chart.height), lines, strict=True):
            yield (
                f'<text x="{self._all}" dx="8" y="{place + 4:.1f}" font-size="{FONT}" '
                f'fill="{self.colour(line.colour)}">{escape(line.label)}</text>'
            )


def apart(places: Sequence[Value], height: Value) -> list[Value]:
    """Places in rising order, moved so that texts do not overlap, as little as one pass down and one up can."""
    moved: list[Value] = []
    for place in places:
        moved.append(max(place, moved[-1] + LINE) if moved else place)
    limit = height + 4
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], limit)
        limit = moved[i] - LINE
    return moved


def _titled(element: str, text: str) -> str:
    return f"><title>{escape(text)}</title></{element}>" if text else "/>"


def shade(fraction: Value) -> str:
    """A colour of ``VIRIDIS``, from dark at 0 to bright at 1."""
    place = min(1.0, max(0.0, fraction)) * (len(VIRIDIS) - 1)
    i = min(int(place), len(VIRIDIS) - 2)
    mixed = (round(a + (b - a) * (place - i)) for a, b in zip(VIRIDIS[i], VIRIDIS[i + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def readable_on(colour: str) -> str:
    """Black or white, whichever has the higher contrast with an RGB colour: at least 4.5 to 1 with any."""
    return "#000" if luminance(colour) > 0.179 else "#fff"


def luminance(colour: str) -> float:
    """The relative luminance of an RGB colour, as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
