"""The paper's explanatory figures (Sections 3.2 and 3.3)."""

import altair as alt
import pandas as pd
import torch

from nsr.html import Charts
from nsr.nn.bits import exact_bits, status_bits
from nsr.paper.report.charts.common import colour, sized


def status_bit_charts() -> Charts:
    """The paper's explanatory figures: discrete and relaxed bits, and what lambda does to them."""
    d = torch.linspace(-3, 3, 121, dtype=torch.float64)
    whole = torch.arange(-3, 4, dtype=torch.float64)
    relaxed = _long(d, {"sign": status_bits(d)[0], "zero": status_bits(d)[1]})
    discrete = _long(whole, dict(zip(("sign", "zero"), exact_bits(whole), strict=True)))
    lines = alt.Chart(relaxed).mark_line().encode(_difference(), _bit(), color=colour("bit", ["sign", "zero"]))
    points = (
        alt.Chart(discrete)
        .mark_point(filled=True, size=60)
        .encode(_difference(), _bit(), color=colour("bit", ["sign", "zero"]), shape=alt.Shape("bit:N", legend=None))
    )
    yield "bits", "Sign and zero bit: of a CPU (points) and relaxed (lines)", sized(points + lines)

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
            color=colour("bit", ["sign", "zero"]),
            strokeDash=alt.StrokeDash(
                "lambda:N",
                scale=alt.Scale(domain=["1", "3", "1/3"], range=[[1, 0], [8, 4], [2, 3]]),
                legend=alt.Legend(symbolType="stroke"),
            ),
            detail="lambda:N",
        )
    )
    yield "bits-lambda", "The same bits with lambda 3 and 1/3", sized(chart)


def _long(d: torch.Tensor, bits: dict[str, torch.Tensor]) -> pd.DataFrame:
    return pd.concat([pd.DataFrame({"d": d.numpy(), "value": v.numpy(), "bit": name}) for name, v in bits.items()])


def _difference() -> alt.X:
    return alt.X("d:Q", title="difference")


def _bit() -> alt.Y:
    return alt.Y("value:Q", title="bit")
