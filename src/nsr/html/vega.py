"""Charts that the browser draws."""

from collections.abc import Iterator
from typing import Any

import altair as alt
import vl_convert

HEIGHT = 240
Charts = Iterator[tuple[str, str, Any]]
"""Name of the file, title, altair chart."""


def embedded(name: str, title: str, chart: Any) -> dict[str, Any]:
    """A chart as the template's macro ``figure`` expects it."""
    return {"name": name, "title": title, "specification": chart.to_dict()}


def bundle() -> str:
    """The script that draws embedded charts, about 800 kB: Vega-Lite in the version that altair writes for."""
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return vl_convert.javascript_bundle(None, version)  # type: ignore[arg-type]
