"""The documentation as a site: Sphinx, MyST and furo. `make docs` builds it; a warning is an error."""

from pathlib import Path
from typing import Any

from sphinx.ext.napoleon import Config, GoogleDocstring

import nsr

project = "Neural Status Registers"
author = "The neural-status-registers maintainers"
version = release = nsr.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
highlight_language = "none"
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "Neural Status Registers"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_show_sphinx = html_show_copyright = False
html_copy_source = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

assert Path(nsr.__file__).is_relative_to(Path(__file__).parents[1]), "the API is that of another nsr"


def setup(app: Any) -> None:
    """Sections such as Args are those of Google's style, except in attributes, whose sentences may have a colon."""

    def converted(_app: Any, what: str, name: str, documented: Any, options: Any, lines: list[str]) -> None:
        if what not in ("attribute", "data", "property"):
            lines[:] = GoogleDocstring(lines, Config(), app, what, name, documented, options).lines()

    app.connect("autodoc-process-docstring", converted)
