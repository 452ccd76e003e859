"""The site that `make docs` builds: no warning, no lost link, and pages that everyone can read, without a request."""

import importlib.util
import subprocess
import sys
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from urllib.parse import unquote

import pytest

pytestmark = [
    pytest.mark.outer,
    pytest.mark.skipif(importlib.util.find_spec("furo") is None, reason="no Sphinx: install the extra docs"),
]

ROOT = Path(__file__).parents[1]
AXE = ROOT / "playground" / "node_modules" / "axe-core" / "axe.min.js"
READ = ("index", "start", "learn", "how", "results", "battery", "programs", "api")
SHORT = ("index", "start", "how", "train")
"""Pages of every kind of content that axe can do in seconds."""
SMALLEST = """
() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), sizes = [];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const shown = walker.currentNode.textContent.trim() && !["SCRIPT", "STYLE"].includes(parent.tagName);
    if (shown && parent.checkVisibility()) sizes.push(parseFloat(getComputedStyle(parent).fontSize));
  }
  return Math.min(...sizes);
}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, built as `make docs` builds them."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "-d", str(folder / "doctrees")]
    build = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder / "html")]
    ran = subprocess.run(build, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return folder / "html"


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors.add(found.get("id") or "")
        address = found.get("href") if tag in ("a", "link") else found.get("src")
        if address:
            self.links.append(address)


def test_make_docs_builds_it_the_same_way():
    target = (ROOT / "Makefile").read_text().split("\ndocs: setup\n")[1].splitlines()[0]
    assert "-m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html" in target


def test_every_page_of_docs_is_in_the_navigation(site):
    shown = Page(site / "index.html").links
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= {link.removesuffix(".html") for link in shown} | {
        "index"
    }


def test_every_link_and_anchor_of_the_site_leads_somewhere(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    lost = []
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("http:", "https:", "data:")):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file.partition("?")[0])).resolve() if file else path
            known = pages[target].anchors if target in pages else {anchor}
            if not target.exists() or (anchor and unquote(anchor) not in known):
                lost.append(f"{path.name}: {link}")
    assert lost == []
    assert len(pages) > 15


def test_the_reference_has_every_public_name(site):
    import nsr
    import nsr.program

    names = {anchor.rsplit(".", 1)[-1] for anchor in Page(site / "api.html").anchors}
    assert {*nsr.__all__, "NSRClassifier", "NSRRegressor"} <= names
    assert {*nsr.program.__all__} - {"Fraction", "Kind"} <= names


@pytest.mark.parametrize(("width", "scheme"), list(product((1200, 390), ("light", "dark"))))
def test_pages_can_be_read_on_every_screen_without_a_request(site, browser, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    for name in READ:
        tab, logged, requested = context.new_page(), [], []
        tab.on("console", lambda message, logged=logged: logged.append(message.text))
        tab.on("pageerror", lambda error, logged=logged: logged.append(str(error)))
        tab.on("request", lambda request, requested=requested: requested.append(request.url))
        tab.goto(f"file://{site}/{name}.html")
        assert tab.evaluate(SMALLEST) >= 11, name
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
        assert logged == [], name
        assert [url for url in requested if not url.startswith("file:")] == [], name
        tab.close()
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_pages_are_accessible(site, browser, width, scheme):
    if not AXE.exists():
        pytest.skip("no axe-core: make playground installs it from npm")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    for name in SHORT:
        tab = context.new_page()
        tab.goto(f"file://{site}/{name}.html")
        tab.evaluate(AXE.read_text())
        found = tab.evaluate("async () => (await axe.run(document, {preload: false})).violations")
        assert [(rule["id"], [node["html"][:100] for node in rule["nodes"][:3]]) for rule in found] == [], name
        tab.close()
    context.close()
