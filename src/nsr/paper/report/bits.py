"""The paper's explanatory figures of the status bits (Sections 3.2 and 3.3)."""

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import pandas as pd
import torch

from nsr.nn.bits import exact_bits, status_bits
from nsr.paper.figures import Figure, colour, sized

BITS = ("sign", "zero")


def status_bit_figures() -> Iterator[Figure]:
    """Discrete and relaxed bits, and the effect of lambda."""
    difference = torch.linspace(-3, 3, 121, dtype=torch.float64)
    integers = torch.arange(-3, 4, dtype=torch.float64)
    relaxed = _points(difference, dict(zip(BITS, status_bits(difference), strict=True)))
    discrete = _points(integers, dict(zip(BITS, exact_bits(integers), strict=True)))
    lines = alt.Chart(relaxed).mark_line().encode(*_axes(), color=colour("bit", BITS))
    points = (
        alt.Chart(discrete)
        .mark_point(filled=True, size=60)
        .encode(*_axes(), color=colour("bit", BITS), shape=alt.Shape("bit:N", legend=None))
    )
    yield "bits", "Sign and zero bit: of a CPU (points) and relaxed (lines)", sized(points + lines)
    yield "bits-lambda", "The same bits with lambda 3 and 1/3", sized(_with_lambda(difference))


def _with_lambda(difference: torch.Tensor) -> Any:
    parts = [
        _points(difference, dict(zip(BITS, status_bits(difference, scale), strict=True))).assign(**{"lambda": name})
        for scale, name in ((3.0, "3"), (1.0, "1"), (1 / 3, "1/3"))
    ]
    dashes = alt.StrokeDash(
        "lambda:N",
        scale=alt.Scale(domain=["1", "3", "1/3"], range=[[1, 0], [8, 4], [2, 3]]),
        legend=alt.Legend(symbolType="stroke"),
    )
    chart = alt.Chart(pd.concat(parts)).mark_line()
    return chart.encode(*_axes(), color=colour("bit", BITS), strokeDash=dashes, detail="lambda:N")


def _points(difference: torch.Tensor, bits: Mapping[str, torch.Tensor]) -> pd.DataFrame:
    return pd.concat(
        [pd.DataFrame({"d": difference.numpy(), "value": bit.numpy(), "bit": name}) for name, bit in bits.items()]
    )


def _axes() -> tuple[alt.X, alt.Y]:
    return alt.X("d:Q", title="difference"), alt.Y("value:Q", title="bit")
