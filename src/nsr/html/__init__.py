"""Self-contained HTML files from a template, with charts that the browser draws."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import jinja2
import vl_convert

from nsr.files import write

HEIGHT = 240
Charts = Iterator[tuple[str, str, Any]]
"""Name of the file, title, altair chart."""
VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def embedded(name: str, title: str, chart: Any) -> dict[str, Any]:
    """A chart as the template's macro ``figure`` expects it."""
    return {"name": name, "title": title, "specification": chart.to_dict()}


def write_html(file: Path, package: str, template: str, **values: Any) -> None:
    """Render a package's template, which extends ``base.html.j2``. Values are escaped: they are text, not markup."""
    loader = jinja2.ChoiceLoader([jinja2.PackageLoader(name, ".") for name in (package, "nsr.html")])
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    script = vl_convert.javascript_bundle(None, VEGA_LITE)  # type: ignore[arg-type]
    write(file, environment.get_template(template).render(script=script, **values))
