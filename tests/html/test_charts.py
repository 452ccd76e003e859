"""Charts are SVG: places, texts that do not overlap, colours that can be distinguished."""

import itertools
import xml.etree.ElementTree as ET

import pytest

from nsr.html.charts import (
    LIGHT,
    LINE,
    VIRIDIS,
    Band,
    Chart,
    Dot,
    Line,
    Square,
    apart,
    error_axis,
    luminance,
    name_axis,
    number_axis,
    power_axis,
    power_text,
    readable_on,
    shade,
)

X, Y = number_axis("x", (0, 5, 10)), number_axis("y", (0, 1))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def drawn(chart: Chart, width: int = 400) -> ET.Element:
    return ET.fromstring(chart.as_file("A <title>", width))


def all_of(root: ET.Element, name: str) -> list[ET.Element]:
    return [element for element in root.iter() if element.tag.endswith("}" + name)]


def test_axes_place_values_and_keep_those_beyond_them_at_their_ends():
    assert [X.at(value) for value in (0, 5, 10, -3, 30)] == [0, 0.5, 1, 0, 1]
    three = name_axis("", ["a", "b", "c"])
    assert [three.at(i) for i in range(3)] == pytest.approx([1 / 6, 1 / 2, 5 / 6])
    assert [text for _, text in name_axis("", "abcdefg", every=3).ticks] == ["a", "d", "g"]
    assert power_axis("", 10, (-3, 0, 15)).ticks == [(-3, "10⁻³"), (0, "10⁰"), (15, "10¹⁵")]
    assert power_text(3, 12.0) == "3¹²"


def test_errors_of_zero_and_of_any_size_have_a_place():
    axis = error_axis("", 1e-10, 0.5)
    assert axis.at(0) == 0 < axis.at(1e-10) < axis.at(1e-9) < axis.at(1e-3) < axis.at(1) == 1
    steps = [axis.at(10.0**n) for n in range(-8, 1)]
    assert [b - a for a, b in itertools.pairwise(steps)] == pytest.approx([axis.at(1) - axis.at(0.1)] * 8, rel=1e-2)
    assert [text for _, text in axis.ticks] == ["0", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]


def test_labels_are_moved_apart_and_stay_in_the_picture():
    assert apart([10, 50, 120], 200) == [10, 50, 120]
    assert apart([10, 11, 12], 200) == [10, 10 + LINE, 10 + 2 * LINE]
    for places in ([0, 0, 0, 0], [198, 199, 200], [90, 91, 199, 200, 200]):
        moved = apart(places, 200)
        assert all(b - a >= LINE for a, b in itertools.pairwise(moved))
        assert max(moved) <= 204


def test_a_file_has_pixels_and_the_colours_of_the_light_scheme():
    marks = [Line([(0, 0), (10, 1)], "blue", "ours"), Band([(0, 0, 1), (10, 0, 1)], "orange"), Dot(5, 0.5, 3, "green")]
    root = drawn(Chart(X, Y, marks, height=100))
    text = ET.tostring(root, encoding="unicode")
    assert "var(" not in text
    assert "%" not in text.replace('width="100%" height="100%"', "")
    (line,) = all_of(root, "polyline")
    width = 400 - Chart(X, Y, marks).left - Chart(X, Y, marks).right
    assert line.get("points") == f"0.0,100.0 {width:.1f},0.0"
    assert line.get("stroke") == LIGHT["blue"]
    assert [float(c.get("cx")) for c in all_of(root, "circle")][-1] == pytest.approx(width / 2, abs=0.1)
    assert {"ours", "A <title>", "x", "y", "5"} <= {element.text for element in all_of(root, "text")}


def test_on_a_page_it_is_as_wide_as_its_place_and_follows_the_scheme():
    markup = Chart(X, Y, [Line([(0, 0), (10, 1)], "blue", "a <b>", dash="6 4")], height=100).on_page('"quoted"')
    root = ET.fromstring(markup)[0]
    assert root.get("aria-label") == '"quoted"'
    assert (root.get("width"), root.get("height"), root.get("role")) == ("100%", "100", "img")
    assert 'stroke="var(--blue)"' in markup
    assert 'vector-effect="non-scaling-stroke"' in markup
    assert "a &lt;b&gt;" in markup
    assert 'x="50%"' in markup


def test_a_square_has_its_place_its_text_and_what_the_pointer_shows():
    axis = name_axis("", ["a", "b"])
    root = drawn(Chart(axis, axis, [Square((-0.5, 0.5), (0.5, 1.5), "#fde725", "1", "all <right>")], height=100))
    square = all_of(root, "rect")[1]
    assert [float(square.get(name)) for name in ("x", "y", "height")] == [0, 0, 50]
    assert [element.text for element in square] == ["all <right>"]
    assert "1" in [element.text for element in all_of(root, "text")]


def test_texts_are_readable_on_every_shade_and_lines_on_white():
    for step in range(101):
        colour = shade(step / 100)
        assert contrast(colour, {"#000": "#000000", "#fff": "#ffffff"}[readable_on(colour)]) >= 4.5
    assert shade(-1) == shade(0) == "#440154"
    assert shade(2) == shade(1) == "#fde725"
    assert len({shade(step / 50) for step in range(51)}) == 51
    light = [luminance("#" + "".join(f"{part:02x}" for part in colour)) for colour in VIRIDIS]
    assert light == sorted(light)
    for name, colour in LIGHT.items():
        assert name == "line" or contrast(colour, "#ffffff") >= 4.5, name
