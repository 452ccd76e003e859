"""Self-contained HTML files from a template."""

from pathlib import Path
from typing import Any

import jinja2

from nsr.files import write


def write_html(file: Path, package: str, template: str, *, script: str | None = None, **values: Any) -> None:
    """Render a package's template, which extends ``base.html.j2``. Values are escaped: they are text, not markup.

    Args:
        file: Where to write the page.
        package: Package of the template.
        template: Name of the template.
        script: What draws the charts of the page, from ``vega.bundle``.
        values: What the template shows.
    """
    loader = jinja2.ChoiceLoader([jinja2.PackageLoader(name, ".") for name in (package, "nsr.html")])
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    write(file, environment.get_template(template).render(script=script, **values))
