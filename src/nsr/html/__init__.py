"""Self-contained HTML files from a template, with charts that the browser draws, or with charts as SVG (``charts``).

jinja2, altair and vl-convert are extras and slow to import: the functions import them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nsr.files import write

HEIGHT = 240
Charts = Iterator[tuple[str, str, Any]]
"""Name of the file, title, altair chart."""


def embedded(name: str, title: str, chart: Any) -> dict[str, Any]:
    """A chart as the template's macro ``figure`` expects it."""
    return {"name": name, "title": title, "specification": chart.to_dict()}


def write_html(file: Path, package: str, template: str, *, vega: bool = False, **values: Any) -> None:
    """Render a package's template, which extends ``base.html.j2``. Values are escaped: they are text, not markup.

    Args:
        file: Where to write the page.
        package: Package of the template.
        template: Name of the template.
        vega: Include the script that draws ``embedded`` charts, about 800 kB.
        values: What the template shows.
    """
    import jinja2

    loader = jinja2.ChoiceLoader([jinja2.PackageLoader(name, ".") for name in (package, "nsr.html")])
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    script = _vega() if vega else None
    write(file, environment.get_template(template).render(script=script, **values))


def _vega() -> str:
    """Vega, Vega-Lite and vega-embed in one script, the version that altair writes for."""
    import altair as alt
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return vl_convert.javascript_bundle(None, version)  # type: ignore[arg-type]
