"""The documentation as a site: Sphinx, MyST and furo. `make docs` builds it; a warning is an error."""

from pathlib import Path
from typing import Any

import nsr

project = "Neural Status Registers"
author = "The neural-status-registers maintainers"
copyright = "MIT licence"
version = release = nsr.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
highlight_language = "none"
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "Neural Status Registers"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

assert Path(nsr.__file__).is_relative_to(Path(__file__).parents[1]), "the API is that of another nsr"


def setup(app: Any) -> None:
    """Docstrings of attributes are sentences: before a colon stands no type, which napoleon takes it for."""

    def as_sentence(_app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
        if what in ("attribute", "data", "property"):
            lines.insert(0, "")

    app.connect("autodoc-process-docstring", as_sentence, priority=100)
