"""The paper's explanatory figures of the status bits (Sections 3.2 and 3.3)."""

from collections.abc import Iterator, Sequence

import torch

from nsr.html.charts import Chart, Dot, Line, number_axis
from nsr.nn.bits import exact_bits, status_bits
from nsr.paper.figures import Figure

COLOURS = {"sign": "blue", "zero": "orange"}


def status_bit_figures() -> Iterator[Figure]:
    """Discrete and relaxed bits, and the effect of lambda."""
    integers = torch.arange(-3, 4, dtype=torch.float64)
    points = [
        Dot(d, value, 4.5, colour)
        for (name, colour), bit in zip(COLOURS.items(), exact_bits(integers), strict=True)
        for d, value in zip(integers.tolist(), bit.tolist(), strict=True)
    ]
    yield "bits", "Sign and zero bit: of a CPU (points) and relaxed (lines)", _chart([*points, *_lines(1.0)])
    sharper, flatter = _lines(3.0, dash="8 4"), _lines(1 / 3, dash="2 3")
    yield (
        "bits-lambda",
        "The same bits with lambda 1 (solid), 3 (dashed), 1/3 (dotted)",
        (_chart([*_lines(1.0), *sharper, *flatter])),
    )


def _lines(scale: float, dash: str = "") -> list[Line]:
    difference = torch.linspace(-3, 3, 121, dtype=torch.float64)
    return [
        Line(list(zip(difference.tolist(), bit.tolist(), strict=True)), colour, "" if dash else name, dash, dots=False)
        for (name, colour), bit in zip(COLOURS.items(), status_bits(difference, scale), strict=True)
    ]


def _chart(marks: Sequence[Dot | Line]) -> Chart:
    return Chart(number_axis("difference d", range(-3, 4)), number_axis("bit", (-1, 0, 1), low=-1.1, high=1.1), marks)
